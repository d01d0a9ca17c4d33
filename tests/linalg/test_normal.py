"""Normal equations of frozen features give what QR gives, and leave to QR what they would do badly."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.engines.trefftz.assembly import DirectSolver
from jumpnet.engines.trefftz.spaces import first_space, space_of
from jumpnet.experiments import problems
from jumpnet.linalg.normal import normal_solution
from jumpnet.linalg.qr import by_cell_step
from jumpnet.models import LinearSystem
from jumpnet.rows.conditions import ConditionKey, Kind


def system_of(problem: jn.Problem, degree: int) -> LinearSystem:
    """The equations of a problem for polynomials of a degree."""
    space = space_of(jn.models.Polynomials(degree=degree), problem)
    network = space.network
    return LinearSystem(network, DirectSolver(problem, 0)._rows(space, network)[0])


def periodic() -> jn.Problem:
    """Rows with two sites in one piece."""
    parts = jn.Partition(jn.Box((0, 0), (1, 1)), [jn.Disk((0.5, 0.5), 0.3)])
    sides = {"x1": jn.Periodic(1.0), "x2": jn.Dirichlet("x1 + sin(2*pi*x1)*x2")}
    return jn.Problem(parts, A=["2 + x2", 5.0], boundary=sides)


@pytest.mark.parametrize("make", [problems.pde2, problems.pde4, lambda: problems.pde1(10), periodic])
@pytest.mark.parametrize("cutoff", [1e-14, 1e-2])
def test_the_weights_are_those_of_qr(make, cutoff):
    system = system_of(make(), 6)
    by_qr = by_cell_step(system.J, -system.rhs, cutoff**2)
    found = normal_solution(system, cutoff**2)
    assert by_qr is not None and found is not None
    assert np.linalg.norm(found - by_qr) < 1e-11 * np.linalg.norm(by_qr)


def test_dependent_columns_are_left_to_qr():
    assert normal_solution(system_of(problems.pde2(), 32), 1e-28) is None


def test_poles_are_left_to_qr():
    problem = problems.inclusion(2, 10.0)
    space = first_space(problem)
    for _ in range(4):
        space = space.grown([ConditionKey(Kind.BOUNDARY, part="x1-"), ConditionKey(Kind.JUMP, (0, 1))], 1.0)
    network = space.network
    system = LinearSystem(network, DirectSolver(problem, 0)._rows(space, network)[0])
    condition = np.linalg.cond(system.J.dense())
    assert condition > 1e8
    assert normal_solution(system, 1e-28) is None
