"""The command line: arguments to calls, and answers to text. It decides nothing of its own."""


def main() -> None:
    """The command `jumpnet`. Ctrl-C is taken care of before anything that takes time is imported."""
    from jumpnet.guard import interrupts

    interrupts.install()
    from jumpnet.cli.app import app

    app(prog_name="jumpnet")
