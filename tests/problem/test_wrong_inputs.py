"""Every wrong problem is refused in one sentence that names what was given."""

import jax.numpy as jnp
import numpy as np
import pytest

from jumpnet.errors import JumpnetError
from jumpnet.geometry import Box, Disk, Partition
from jumpnet.problem import Data, Dirichlet, Jump, Neumann, Periodic, PointSource, Problem, Robin, manufactured

SQUARE = Box((-1, -1), (1, 1))
PARTS = Partition(SQUARE, [Disk((0.2, 0.1), 0.4)])
TWO = Partition(SQUARE, [Disk((-0.5, 0.0), 0.3), Disk((0.5, 0.0), 0.3)])
ALL = dict.fromkeys(PARTS.boundary_parts, Dirichlet())

WRONG = {  # kind: (what is stated, a word that the sentence must contain)
    "parts is a shape": (lambda: Problem(SQUARE), "Box"),
    "parts is a list": (lambda: Problem([PARTS]), "a Partition is wanted"),
    "too many coefficients": (lambda: Problem(PARTS, A=[1.0, 2.0, 3.0]), "3 entries for 2 pieces"),
    "too few coefficients": (lambda: Problem(TWO, lam=[1.0, 2.0]), "2 entries for 3 pieces"),
    "too few sources": (lambda: Problem(PARTS, f=["x1"]), "1 entries for 2 pieces"),
    "coefficients by wrong names": (lambda: Problem(PARTS, A={0: 1.0, 1: 2.0}), "A has the key 0"),
    "coefficient is None": (lambda: Problem(PARTS, A=[1.0, None]), "None"),
    "coefficient is a boolean": (lambda: Problem(PARTS, lam=True), "True"),
    "coefficient is complex": (lambda: Problem(PARTS, f=2j), "2j"),
    "diagonal instead of matrix": (lambda: Problem(PARTS, A=[[4, 1], 2.0]), "A in piece 0"),
    "matrix of the wrong size": (lambda: Problem(PARTS, A=np.eye(3)), "2 x 2"),
    "matrix not symmetric": (lambda: Problem(PARTS, A=[[2, 1], [0, 2]]), "not symmetric"),
    "matrix not symmetric in one piece": (
        lambda: Problem(PARTS, A=[1.0, [[2, "x1"], ["x2", 2]]]),
        "A in piece 1 is not symmetric",
    ),
    "matrix indefinite": (lambda: Problem(PARTS, A=[[1, 2], [2, 1]]), "-1"),
    "coefficient negative": (lambda: Problem(PARTS, A=[1.0, -2.0]), "A in piece 1 is not positive definite"),
    "coefficient zero": (lambda: Problem(PARTS, A=0), "not positive definite"),
    "coefficient changes sign": (lambda: Problem(PARTS, A="x1"), "not positive definite"),
    "coefficient infinite": (lambda: Problem(PARTS, A=np.inf), "inf"),
    "coefficient not a number": (lambda: Problem(PARTS, lam=np.nan), "nan"),
    "formula not finite": (lambda: Problem(PARTS, f="log(x1)"), "f in piece 0 is not finite"),
    "matrix not finite": (lambda: Problem(PARTS, A="1/sqrt(x1)"), "A in piece 0 is not finite"),
    "lam not finite": (lambda: Problem(PARTS, lam="1/0.0"), "lam in piece 0"),
    "callable not finite": (lambda: Problem(PARTS, f=lambda x: jnp.sqrt(x[:, 0])), "f in piece 0"),
    "callable of the wrong shape": (lambda: Problem(PARTS, f=lambda x: x), "shape"),
    "callable of coordinates": (lambda: Problem(PARTS, f=lambda x, y: x + y), "(n, d)"),
    "callable that fails": (lambda: Problem(PARTS, f=lambda x: x @ jnp.ones(3)), "fails on an array x"),
    "matrix callable of the wrong shape": (lambda: Problem(PARTS, A=lambda x: jnp.eye(2)), "shape (2, 2)"),
    "callable not traceable": (lambda: Problem(PARTS, A=lambda x: 2 + np.sin(x[:, 0])), "div_A="),
    "divergence of the wrong shape": (
        lambda: Problem(PARTS, A=2.0, div_A=lambda x: x[:, 0]),
        "div_A in piece 0",
    ),
    "divergence with too few entries": (lambda: Problem(PARTS, A=2.0, div_A=["0"]), "div_A"),
    "unknown name": (lambda: Problem(PARTS, f="x3"), "x3"),
    "unknown name in a matrix": (lambda: Problem(PARTS, A=[["a", 0], [0, 1]]), "entry (1, 1) of A"),
    "unknown function": (lambda: Problem(PARTS, f="sinn(x1)"), "sinn"),
    "code in a formula": (lambda: Problem(PARTS, f="__import__('os').system('true')"), "by name"),
    "constant with a built-in name": (lambda: Problem(PARTS, constants={"x1": 2.0}), "x1"),
    "constant not finite": (lambda: Problem(PARTS, constants={"k": np.inf}), "inf"),
    "constants not a mapping": (lambda: Problem(PARTS, constants=[("k", 1.0)]), "constants"),
    "rest of the boundary is no condition": (lambda: Problem(PARTS, boundary={"rest": 0.0}), "Convection(h, ambient)"),
    "boundary is a number": (lambda: Problem(PARTS, boundary=0.0), "0.0"),
    "boundary is a formula": (lambda: Problem(PARTS, boundary="x1"), "x1"),
    "boundary is a list": (lambda: Problem(PARTS, boundary=[Dirichlet()] * 4), "Dirichlet"),
    "boundary is a class": (lambda: Problem(PARTS, boundary=Dirichlet), "Dirichlet(0.0)"),
    "boundary part unknown": (lambda: Problem(PARTS, boundary={**ALL, "middle": Dirichlet()}), "middle"),
    "boundary part without condition": (lambda: Problem(PARTS, boundary={"left": Dirichlet()}), "x1+"),
    "boundary part twice": (lambda: Problem(PARTS, boundary={**ALL, "left": Dirichlet()}), "twice"),
    "boundary part by number": (lambda: Problem(PARTS, boundary={0: Dirichlet()}), "key 0"),
    "boundary value not a condition": (lambda: Problem(PARTS, boundary={**ALL, "x1-": 1.0}), "1.0"),
    "boundary data not finite": (lambda: Problem(PARTS, boundary=Dirichlet("log(x1)")), "g on 'x1-'"),
    "boundary data unknown name": (lambda: Problem(PARTS, boundary=Dirichlet("u")), "'u'"),
    "boundary data missing": (lambda: Problem(PARTS, boundary=Dirichlet(None)), "None"),  # type: ignore[arg-type]
    "Robin alpha not finite": (lambda: Problem(PARTS, boundary=Robin("1/(x1 + 1)", 0.0)), "alpha on 'x1-'"),
    "Robin alpha not a number": (lambda: Problem(PARTS, boundary=Robin([1], 0.0)), "alpha"),  # type: ignore[arg-type]
    "pure Neumann": (lambda: Problem(PARTS, boundary=Neumann(1.0)), "balance"),
    "mean of a fixed problem": (lambda: Problem(PARTS, mean=1.0), "mean is 1"),
    "mean not a number": (lambda: Problem(PARTS, boundary=Neumann(0.0), mean="x1"), "mean is 'x1'"),
    "negative resistance": (lambda: Problem(PARTS, jumps=Jump(R="x1")), "R on interface (0, 1) is negative"),
    "resistance without a pair": (lambda: manufactured(PARTS, "x1", R={(0, 2): 1.0}), "(0, 2)"),
    "one periodic side": (lambda: Problem(PARTS, boundary=ALL | {"x1-": Periodic()}), "both sides at once"),
    "two periodic ways": (
        lambda: Problem(PARTS, boundary=ALL | {"left": Periodic(1.0), "right": Periodic(2.0)}),
        "twice",
    ),
    "periodic disk": (lambda: Problem(Partition(Disk((0, 0), 1.0)), boundary=Periodic()), "opposite sides"),
    "periodic class": (lambda: Problem(PARTS, boundary=ALL | {"left": Periodic}), "twice"),
    "source outside": (lambda: Problem(PARTS, sources=[PointSource((2, 0), 1.0)]), "outside the domain"),
    "source on an interface": (lambda: Problem(PARTS, sources=[PointSource((0.6, 0.1), 1.0)]), "on an interface"),
    "source where A varies": (
        lambda: Problem(PARTS, A="2 + x1", sources=[PointSource((0, 0), 1.0)]),
        "where A varies",
    ),
    "source where lam is": (lambda: Problem(PARTS, lam=1.0, sources=[PointSource((0, 0), 1.0)]), "lam is not zero"),
    "source of one coordinate": (lambda: Problem(PARTS, sources=[PointSource((1.0,), 1.0)]), "2 coordinates"),
    "source of no strength": (lambda: Problem(PARTS, sources=[PointSource((0, 0), np.nan)]), "sources[0].q"),
    "source not in a list": (lambda: Problem(PARTS, sources=PointSource((0, 0), 1.0)), "a list of PointSource"),
    "data outside": (lambda: Problem(PARTS, data=Data([(5, 5)], 1.0)), "outside the domain"),
    "data of the wrong length": (lambda: Problem(PARTS, data=Data([(0, 0)], [1.0, 2.0])), "data[0].u"),
    "data without weight": (lambda: Problem(PARTS, data=Data([(0, 0)], 1.0, 0.0)), "positive"),
    "data in an unknown piece": (lambda: Problem(PARTS, data=Data([(0, 0)], 1.0, piece=7)), "data[0].piece"),
    "data is a number": (lambda: Problem(PARTS, data=3.0), "Data(x, u)"),
    "jumps is a number": (lambda: Problem(PARTS, jumps=1.0), "1.0"),  # type: ignore[arg-type]
    "jump is a number": (lambda: Problem(PARTS, jumps={(0, 1): 2.0}), "2.0"),  # type: ignore[dict-item]
    "jump of a pair turned round": (lambda: Problem(PARTS, jumps={(1, 0): Jump()}), "(0, 1)"),
    "jump of a piece with itself": (lambda: Problem(PARTS, jumps={(1, 1): Jump()}), "(1, 1)"),
    "jump of pieces that do not touch": (lambda: Problem(TWO, jumps={(1, 2): Jump()}), "do not touch"),
    "jump of an unknown piece": (lambda: Problem(PARTS, jumps={(0, 5): Jump()}), "(0, 5)"),
    "jump of a single piece": (lambda: Problem(PARTS, jumps={1: Jump()}), "key 1"),  # type: ignore[dict-item]
    "jump not finite": (lambda: Problem(PARTS, jumps=Jump(v="sqrt(x1)")), "v on interface (0, 1)"),
    "exact with too few pieces": (lambda: Problem(TWO, exact=["x1", "x2"]), "exact has 2"),
    "exact not finite": (lambda: Problem(PARTS, exact="log(x1)"), "exact in piece 0"),
    "no exact solution": (
        lambda: Problem(PARTS).exact_values(np.zeros((1, 2)), np.zeros(1, dtype=int)),
        "exact=",
    ),
    "manufactured with too many solutions": (lambda: manufactured(PARTS, ["x1"] * 3), "u has 3"),
    "manufactured with an instance": (lambda: manufactured(PARTS, "x1", boundary=Neumann(1.0)), "Neumann"),
    "manufactured Robin without alpha": (lambda: manufactured(PARTS, "x1", boundary=Robin), "(Robin, alpha)"),
    "manufactured on a missing part": (lambda: manufactured(PARTS, "x1", boundary={"top": Neumann}), "x1-"),
    "manufactured not finite": (lambda: manufactured(PARTS, "sqrt(x1)"), "f in piece 0"),
    "manufactured from an untraceable u": (lambda: manufactured(PARTS, lambda x: np.sin(x[:, 0])), "jax.numpy"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_one_sentence(kind):
    state, word = WRONG[kind]
    with pytest.raises(JumpnetError) as caught:
        state()
    message = str(caught.value)
    assert word in message
    assert "\n" not in message and message[-1] in ".?" and message.count(". ") <= 1 and len(message) < 320
    assert "Traceback" not in message and "0x" not in message


def test_there_are_enough_kinds():
    assert len(WRONG) >= 30
