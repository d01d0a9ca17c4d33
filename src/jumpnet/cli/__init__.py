"""The command line: arguments to calls, and answers to text. It decides nothing of its own."""


def main() -> None:
    """The command `jumpnet`."""
    from jumpnet.cli.app import app

    app(prog_name="jumpnet")
