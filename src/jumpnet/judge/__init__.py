"""The judge: solves for the error of any answer, from its residuals, by finite elements."""

import sys
from types import ModuleType
from typing import Any

from jumpnet.judge.judging import judge
from jumpnet.judge.options import JudgeOptions
from jumpnet.judge.verdict import Verdict

__all__ = ["JudgeOptions", "Verdict", "judge"]


class _Judge(ModuleType):
    """The package `jumpnet.judge`, which can be called like its function: `jn.judge(solution)`."""

    def __call__(self, *args: Any, **options: Any) -> Verdict:
        return judge(*args, **options)


sys.modules[__name__].__class__ = _Judge
