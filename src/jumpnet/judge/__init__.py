"""The judge: solves for the error of any answer, from its residuals, by finite elements."""

from jumpnet.judge.judging import judge
from jumpnet.judge.options import JudgeOptions
from jumpnet.judge.verdict import Verdict

__all__ = ["JudgeOptions", "Verdict", "judge"]
