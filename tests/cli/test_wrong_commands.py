"""Wrong input from the command line: exit code 2, one line on stderr, and never a traceback."""

import json
import struct

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save

WRONG = {  # kind: (arguments, a word that the line must contain)
    "unknown command": ("dmeo", "dmeo"),
    "unknown global option": ("--loud demo", "--loud"),
    "global option with a value": ("--quiet=3 info", "quiet"),
    "demo: unknown option": ("demo --fast", "--fast"),
    "demo: an argument too many": ("demo pde4", "pde4"),
    "demo: seed is text": ("demo --seed one", "one"),
    "demo: seed is a fraction": ("demo --seed 1.5", "1.5"),
    "demo: seed is negative": ("demo --seed -1", "-1"),
    "demo: seed without a value": ("demo --seed", "--seed"),
    "demo: no steps": ("demo --steps 0", "0"),
    "demo: steps are text": ("demo --steps many", "many"),
    "demo: output without a value": ("demo -o", "-o"),
    "demo: output is a file": ("demo -o FILE", "notes.txt"),
    "demo: output below a file": ("demo -o FILE/out", "notes.txt"),
    "demo: output name with a null": ("demo -o NULL", "null"),
    "demo: output name too long": ("demo -o LONG", "too long"),
    "examples: unknown name": ("examples heat", "heat"),
    "examples: misspelt name": ("examples elipse", "did you mean ellipse"),
    "examples: name in capitals": ("examples PDE4", "PDE4"),
    "examples: two names": ("examples disk ball", "ball"),
    "examples: seed is negative": ("examples disk --seed -3", "-3"),
    "examples: output is a file": ("examples disk -o FILE", "notes.txt"),
    "examples: unknown option": ("examples disk --k 10", "--k"),
    "report: no file": ("report", "FILE"),
    "report: file missing": ("report nothing.jumpnet", "nothing.jumpnet"),
    "report: file is a directory": ("report .", "'.'"),
    "report: file is empty": ("report EMPTY", "empty.jumpnet"),
    "report: file is text": ("report FILE", "notes.txt"),
    "report: output is a directory": ("report SAVED -o .", "cannot be written"),
    "report: output directory missing": ("report SAVED -o no/out.html", "cannot be written"),
    "report: output is the solution": ("report SAVED -o SAVED", "take the place"),
    "report: unknown option": ("report SAVED --format pdf", "--format"),
    "report: two files": ("report SAVED SAVED", "unexpected"),
    "reproduce: unknown table": ("reproduce pde9", "pde9"),
    "reproduce: one of the tables unknown": ("reproduce pde4 heat", "heat"),
    "reproduce: unknown model": ("reproduce pde4 --models CE,MLP", "MLP"),
    "reproduce: no model": ("reproduce pde4 --models ,", "model"),
    "reproduce: unknown setting": ("reproduce pde4 --setting fast", "fast"),
    "reproduce: no jobs": ("reproduce pde4 --jobs 0", "0"),
    "reproduce: no trials": ("reproduce pde4 --trials 0", "0"),
    "reproduce: trials are text": ("reproduce pde4 --trials ten", "ten"),
    "reproduce: output is a file": ("reproduce pde4 -o FILE", "notes.txt"),
    "reproduce: steps are negative": ("reproduce pde4 --steps -5", "-5"),
    "info: an argument too many": ("info gpu", "gpu"),
}


def check(result, word: str) -> None:
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ") and line.endswith((".", "?"))
    assert word in line
    assert "Traceback" not in result.output
    assert isinstance(result.exception, SystemExit)  # anything else would be a traceback outside the tests


@pytest.mark.parametrize("kind", WRONG)
def test_one_line_and_code_2(jumpnet, saved, elsewhere, kind):
    (elsewhere / "notes.txt").write_text("not a solution, and not a directory either\n")
    (elsewhere / "empty.jumpnet").touch()
    names = {"FILE": "notes.txt", "SAVED": str(saved), "EMPTY": "empty.jumpnet", "NULL": "a\0b", "LONG": "x" * 300}
    words, word = WRONG[kind]
    arguments = []
    for argument in words.split():
        for name, value in names.items():
            argument = argument.replace(name, value)
        arguments.append(argument)
    check(jumpnet(*arguments), word)


def test_there_are_enough_kinds():
    assert len(WRONG) + len(TAMPERED) >= 30


def rewritten(saved, change) -> bytes:
    """The file with its description or its numbers changed."""
    with safe_open(saved, framework="np") as file:
        header = json.loads(file.metadata()["jumpnet"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    header = change(header, tensors) or header
    return save(tensors, metadata={"jumpnet": header if isinstance(header, str) else json.dumps(header)})


def entry(*path, value):
    """A change of one entry of the description."""

    def change(header, tensors):
        *parents, last = path
        place = header
        for name in parents:
            place = place[name]
        place[last] = value

    return change


def removed(name):
    def change(header, tensors):
        (header if name in header else tensors).pop(name)

    return change


TAMPERED = {  # kind: (change, a word that the line must contain)
    "format of the future": (entry("format", value=99), "99"),
    "no format": (removed("format"), "format"),
    "status unknown": (entry("status", value="SPLENDID"), "SPLENDID"),
    "no numbers": (removed("theta"), "theta"),
    "no history": (removed("history.loss"), "history.loss"),
    "numbers missing": (lambda h, t: t.update(theta=t["theta"][:-1].copy()), "parameters"),
    "description is not JSON": (lambda h, t: "{not json", "damaged"),
    "description is a list": (lambda h, t: "[1, 2]", "damaged"),
    "code in a formula": (entry("exact", 0, value={"formula": "__import__('os')"}), "."),
    "seed is text": (entry("seed", value="first"), "first"),
    "no pieces": (removed("pieces"), "pieces"),
}


@pytest.mark.parametrize("kind", TAMPERED)
def test_files_that_were_changed(jumpnet, saved, elsewhere, kind):
    change, word = TAMPERED[kind]
    (elsewhere / "changed.jumpnet").write_bytes(rewritten(saved, change))
    check(jumpnet("report", "changed.jumpnet"), word)


def test_files_of_other_programs_and_broken_ones(jumpnet, saved, elsewhere):
    content = saved.read_bytes()
    broken = {
        "other.jumpnet": save({"weights": np.zeros(3)}),
        "cut.jumpnet": content[: len(content) // 2],
        "head.jumpnet": content[:6],
        "noise.jumpnet": np.random.default_rng(0).bytes(5000),
        "huge.jumpnet": struct.pack("<Q", 2**60) + content,
    }
    for name, data in broken.items():
        (elsewhere / name).write_bytes(data)
        check(jumpnet("report", name), name)
