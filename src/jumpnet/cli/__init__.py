"""The command line: turns arguments into calls and results into text."""


def main() -> None:
    """The command `jumpnet`. Ctrl-C is taken care of before anything that takes time is imported."""
    from jumpnet.guard import interrupts

    interrupts.install()
    from jumpnet.cli.app import app

    app(prog_name="jumpnet")
