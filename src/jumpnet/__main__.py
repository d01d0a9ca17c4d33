"""`python -m jumpnet` is the command `jumpnet`."""

from jumpnet.cli import main

if __name__ == "__main__":
    main()
