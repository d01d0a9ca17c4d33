"""A problem without a boundary condition: u = 0 is assumed, and said where one looks."""

import copy
import warnings

import pytest

import jumpnet as jn
from jumpnet.reporting.page.statement import statement

ROD = jn.Partition(jn.Interval(0, 1))
SENTENCE = "no condition was given"
pytestmark = pytest.mark.filterwarnings("error:no boundary condition is given")


@pytest.mark.parametrize("kind", [jn.Problem, jn.NonlinearProblem])
def test_a_warning_points_at_the_users_line(kind: type) -> None:
    with pytest.warns(jn.JumpnetWarning, match="u = 0 on the whole boundary") as caught:
        kind(ROD, f=-2.0)
    assert len(caught) == 1 and caught[0].filename == __file__
    kind(ROD, f=-2.0, boundary=jn.Dirichlet(0))  # as stated: no warning


def test_reports_say_it_and_copies_do_not_warn_again() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.JumpnetWarning)
        problem = jn.Problem(ROD, A="k", f=-2.0, constants={"k": 1.0})
    again = copy.deepcopy(problem.with_constants({"k": 2.0}))
    assert SENTENCE in str(jn.solve(again).report()) and SENTENCE in statement(again)
    stated = jn.Problem(ROD, f=-2.0, boundary=jn.Dirichlet(0))
    assert SENTENCE not in str(jn.solve(stated).report()) + statement(stated)
