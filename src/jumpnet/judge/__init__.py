"""The judge: solves for the error of any answer, from its residuals, by finite elements."""

import sys
from types import ModuleType
from typing import Any

from jumpnet.judge.judging import judge
from jumpnet.judge.options import JudgeOptions
from jumpnet.judge.verdict import Verdict

__all__ = ["JudgeOptions", "Verdict", "judge"]


class _Judge(ModuleType):
    """This package, which is called like the function that it is there for: `jn.judge(solution)`."""

    def __call__(self, *args: Any, **options: Any) -> Verdict:
        return judge(*args, **options)


sys.modules[__name__].__class__ = _Judge
