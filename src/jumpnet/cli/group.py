"""The group of all commands: failures become one sentence and an exit code."""

from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from jumpnet.cli.endings import end, ended_by
from jumpnet.cli.session import SOLVED, Session, robust_streams


class Commands(TyperGroup):
    """A group of commands whose failures are one sentence on stderr and an exit code, never a traceback."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and leave with an exit code."""
        robust_streams()
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except Exception as problem:  # before a command is called: of the arguments
            code = ended_by(problem, Session())
        end(code if isinstance(code, int) else SOLVED)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; whatever ends it becomes an exit code here."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except (Exception, KeyboardInterrupt) as problem:
            session = ctx.obj if isinstance(ctx.obj, Session) else Session()
            raise typer.Exit(ended_by(problem, session)) from None
