"""Files of strangers: every one is read, or refused in one sentence, within its time; nothing else happens."""

import contextlib
import cProfile
import io
import json
import os
import re
import stat
import struct
import threading
import time
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import jumpnet as jn
from jumpnet.experiments.schema import checked
from jumpnet.expressions import Expression
from jumpnet.files.opening import read_as_file
from jumpnet.guard import budget as budget_module
from jumpnet.guard.budget import Budget, bounded
from jumpnet.guard.text import clean, shorten, spreadsheet
from jumpnet.guard.writing import PART, write_atomically

PLAIN = """
[domain]
kind = "box"
lower = [0, 0]
upper = [1, 1]
[background]
A = {A}
[boundary.rest]
kind = "dirichlet"
"""


def refusal(text: str, most: float = 10.0, **options: Any) -> str:
    """The sentence that refuses a file, within seconds of this process."""
    began = time.process_time()
    with pytest.raises(jn.JumpnetError) as refused:
        read_as_file(text, **options)
    assert time.process_time() - began < most
    sentence = str(refused.value)
    assert "\n" not in sentence and sentence.endswith((".", "?")) and len(sentence) < 700
    return sentence


# --- numbers and formulas --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["1" + "0" * 400, "0x" + "f" * 5000])
def test_integers_of_any_length(value: str) -> None:
    assert refusal(PLAIN.format(A=value)).startswith("background.A is ")
    for key in ("seed", "tol", "method"):
        assert refusal(PLAIN.format(A=1) + f"[solve]\n{key} = {value}\n").startswith(f"solve.{key} is ")


HUGE = "sin(exp(exp(20)))"


@pytest.mark.parametrize(
    "formula",
    [
        f"where({HUGE} > 0, 1, 2)",
        f"sign({HUGE})",
        f"abs({HUGE})",
        f"max({HUGE}, 1)",
        f"x1**{HUGE}",
        "asin(exp(exp(5)))",
        "x1**exp(exp(exp(exp(10))))",
        "pi**pi**pi**pi**pi",
        f"where(x1 < 0 and {HUGE} > 0, 1, 2)",
    ],
)
def test_numbers_are_decided_in_float64(formula: str) -> None:
    began = time.process_time()
    with pytest.raises(jn.ExpressionError):
        Expression.parse(formula, 2)
    assert time.process_time() - began < 5.0


@pytest.mark.parametrize("formula", ["cosh(x1**(2**(9**99 + x1)))", "tanh(x2**(x1 + 9**99))", "2**(x1 + 10**9)"])
def test_large_numbers_in_exponents_are_not_expanded(formula: str) -> None:
    """Sympy writes 2**(a + x1) as 2**a*2**x1 in passing, with an integer of a bits."""
    began = time.process_time()
    Expression.parse(formula, 2).compiled(2)(np.array([[0.3, 0.2]]))
    assert time.process_time() - began < 5.0


def test_cases_within_cases_are_not_folded_for_ever() -> None:
    inner = "atan2(where(not k >= k, k, r), x2*x)/where(not (-4) >= 1e300*1e300, -4, pi)"
    power = "0**abs(exp(where(1e300 < 2, 2, -3)))"
    formula = Expression.parse(f"where(({inner})*(pi - x + 20) < 1 and 2 > ({power}), {power}, 2)", 2, {"k": 3.0})
    value = formula(np.array([[0.3, -0.2], [0.1, 0.2]]))
    assert value.tolist() == [0.0, 0.0]
    found = Expression.parse("where(x1 < 0, where(x1 < -1, x1**2, -x1), where(1 < 2, sin(x1), 3))", 1)
    x = np.array([[-2.0], [-0.5], [0.0]])
    assert found(x).tolist() == [4.0, 0.5, 0.0] and found.compiled(1)(x)[:, 0].tolist() == [-4, -1, 1]


def test_what_float64_decides_is_what_python_says() -> None:
    x = np.array([[0.5, 0.25]])
    for formula, value in {
        "where(pi > 3, 1, 2)": 1.0,
        "sqrt(2)*x1": np.sqrt(2.0) * 0.5,
        "x1**(1/2)": np.sqrt(0.5),
        "max(1, 2, e)": np.e,
        "tanh(exp(1000))": 1.0,
        "sign(-3)*abs(-2.5)": -2.5,
        "where(not 1 > 2, x1, x2)": 0.5,
        "where(1 > 2 or x1 > 0, 3, 4)": 3.0,
        "2**(10**9 + x1 - 10**9)": np.sqrt(2.0),
        "9**99*x1/9**98": 4.5,
    }.items():
        assert Expression.parse(formula, 2)(x)[0] == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "name", ["select", "less", "greater", "logical_and", "arctan2", "array", "nan", "numpy", "abs_", "lambdify"]
)
def test_constants_may_be_called_like_generated_code(name: str) -> None:
    formula = f"where(x1 < {name} and x2 > 0, {name}*atan2(x2, x1), max({name}, x1))"
    found = Expression.parse(formula, 2, {name: 2.0})
    x = np.array([[0.5, 0.25], [3.0, 1.0]])
    assert found(x) == pytest.approx([2 * np.arctan2(0.25, 0.5), 3.0])
    assert np.all(np.isfinite(found.compiled(2)(x)))


def test_numbers_beside_coordinates_in_conditions() -> None:
    """Found by fuzzing: NumPy's `select` wants arrays everywhere."""
    x = np.array([[0.5, 0.25], [0.0, 0.0]])
    formula = "where(0.1 < 1 and 2 > x2, where(k < 1, 1, x1), 20)"
    assert Expression.parse(formula, 2, {"k": 2.0})(x) == pytest.approx([0.5, 0.0])
    assert np.all(np.isnan(Expression.parse("(-3)**x1", 2).compiled(1)(x)[:, 0]))


def test_what_sympy_refuses_is_a_sentence() -> None:
    """Found by fuzzing: comparisons of what is not real, integers beyond float64 in the middle of a formula."""
    for formula in ("where(not log(-3**x1) >= 1, 1, 2)", "where(asin(where(x1 < 0, 3, 2)) < x2, 1, 2)"):
        with pytest.raises(jn.ExpressionError, match="not real"):
            Expression.parse(formula, 2)
    x = np.array([[0.5, 0.25]])
    assert np.isinf(Expression.parse("x1/((k/9**99)**20)", 2, {"k": 3.0})(x)).all()
    assert Expression.parse("x1*(k/9**99)**20", 2, {"k": 3.0})(x) == pytest.approx(0.0)


def test_long_keys_and_deep_tables() -> None:
    assert "parts" in refusal(".".join("a" * 2000) + " = 1\n" + PLAIN.format(A=1), most=2.0)
    assert "parts" in refusal(".".join("a" * 40_000) + " = 1\n" + PLAIN.format(A=1), most=2.0)
    assert "nested" in refusal("x = " + "[" * 70 + "]" * 70 + PLAIN.format(A=1))
    shape = '{ kind = "complement", of = ' * 70 + '{ kind = "disk" }' + " }" * 70
    assert "nested" in refusal(PLAIN.format(A=1) + f"[pieces.a]\nA = 1\nshape = {shape}\n")
    assert refusal('"' * 500_000, most=5.0) and refusal("a" * 900_000, most=5.0)


# --- budgets ---------------------------------------------------------------------------------------------------------


def test_a_budget_names_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: Any, **__: Any) -> Any:
        while True:
            try:
                sum(range(1000))
            except Exception:  # a library that catches everything; the budget is not an Exception
                continue

    refusal("")  # imports what reading needs, which takes longer than the budget
    monkeypatch.setattr("jumpnet.files.values.tensor_field", endless)
    sentence = refusal(PLAIN.format(A='"x1"'), budget=Budget(seconds=0.2))
    assert sentence.startswith("background.A: ") and "0.2 seconds" in sentence and "--read-seconds" in sentence


def test_a_budget_of_memory() -> None:
    def greedy() -> list[bytearray]:
        return [bytearray(b"x" * 1_000_000) for _ in range(100_000)]

    with pytest.raises(jn.BudgetError, match=r"0\.1 GB of memory"):
        bounded(Budget(seconds=20, gigabytes=0.1), greedy)
    with pytest.raises(jn.BudgetError, match="memory"):  # one large array, refused by the system
        bounded(Budget(seconds=20, gigabytes=0.1, strict=True), lambda: np.ones(30_000_000))
    assert np.ones(30_000_000).size, "the limit is gone afterwards"


def test_a_budget_that_is_kept_leaves_nothing_behind() -> None:
    before = threading.active_count()
    for _ in range(20):  # the work ends about when the budget does: either may win, nothing may come after it
        with contextlib.suppress(jn.BudgetError):
            assert bounded(Budget(seconds=0.06), lambda: time.sleep(0.055) or 1) == 1
    time.sleep(0.2)
    assert threading.active_count() <= before
    with pytest.raises(jn.BudgetError, match="positive"):
        jn.Budget(seconds=0)


def test_a_budget_that_ends_just_before_its_watch_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exception may arrive on the way to `stop`; the watch must not go on and raise another later."""
    late, stop = [True], budget_module._Watch.stop

    def stopped(watch: Any) -> None:
        if late:
            late.clear()
            raise budget_module.Exceeded
        stop(watch)

    monkeypatch.setattr(budget_module._Watch, "stop", stopped)
    assert bounded(Budget(seconds=0.1), lambda: 1) == 1
    time.sleep(0.3)  # an exception of the watch would come up here
    assert not any(thread.name == "jumpnet-budget" for thread in threading.enumerate())


def test_a_budget_under_a_profiler_and_long_sentences() -> None:
    """A profiler hung once: an exception that was withdrawn leaves CPython looking for it."""

    def wrong() -> None:
        raise jn.GeometryError("a" * 100_000)

    with cProfile.Profile(), pytest.raises(jn.GeometryError) as refused:
        bounded(Budget(), wrong)
    assert len(str(refused.value)) < 1100


# --- what is no file -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_pipes_and_devices_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "pipe.svg")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(jn.ProblemError, match="pipe or a device"):
            jn.read_problem(path)
        with pytest.raises(jn.SolutionError, match="pipe or a device"):
            jn.load(path)
    with pytest.raises(jn.GeometryError, match="no file"):
        jn.shapes.from_svg(tmp_path / "pipe.svg")


# --- drawings, images, meshes ----------------------------------------------------------------------------------------


def drawing(folder: Path, body: str) -> Path:
    path = folder / "a.svg"
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{body}</svg>', encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "body",
    [
        f'<rect width="1" height="1" transform="{"a" * 300_000}"/>',
        f'<rect width="{"1" * 300_000}x" height="1"/>',
        f'<path d="M0 0 A{", " * 150_000}x"/>',
        "".join(f'<path d="M{k} 0 h.5 v.5 h-.5 z"/>' for k in range(20_000)),
    ],
    ids=["transform", "length", "arc", "many"],
)
def test_drawings_that_would_keep_their_reader_busy(body: str, tmp_path: Path) -> None:
    path, began = drawing(tmp_path, body), time.process_time()
    with pytest.raises(jn.GeometryError):
        jn.shapes.from_svg(path)
    assert time.process_time() - began < 5.0


@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_a_zigzag_of_long_edges(angle: float) -> None:
    """Twenty thousand edges side by side: all pairs of them would take gigabytes."""
    n = 8000
    zigzag = np.c_[np.arange(n) / n, np.arange(n) % 2.0]
    ring = np.concatenate([zigzag, [[1.0, -1.0], [0.0, -1.0]]])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shape = jn.Polygon(ring @ turn.T)
    assert shape.volume == pytest.approx(1.5, rel=1e-3)
    ring[[100, 4000]] = ring[[4000, 100]]
    with pytest.raises(jn.GeometryError, match="crosses"):
        jn.Polygon(ring @ turn.T)


def test_images_that_would_not_end() -> None:
    stripes = np.tile(np.arange(2048, dtype=np.uint8) // 2 % 2, (2048, 1))  # 4096 takes four times as long to look at
    noise = np.random.default_rng(0).integers(0, 2, (1024, 1024))
    for image in (stripes, noise):
        began = time.process_time()
        with pytest.raises(jn.GeometryError, match="coarsen"):
            jn.Partition.from_labels(image, small="keep")
        assert time.process_time() - began < 10.0


def test_labels_beyond_the_largest() -> None:
    image = np.zeros((8, 8), np.uint64)
    image[:4] = 2**64 - 1
    with pytest.raises(jn.GeometryError, match="at most 2147483648"):
        jn.Partition.from_labels(image)


def test_a_short_surface_mesh_and_warnings_of_readers(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.stl").write_bytes(b"\x93\x00\xfe")
    (tmp_path / "a.tif").write_bytes(b"II*\x00\x08\x00\x00\x00" + b"\xff" * 40)
    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    chunk = b"IHDR" + head
    png = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    (tmp_path / "a.png").write_bytes(png)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("a.tif", "a.png"):
            with pytest.raises(jn.GeometryError):
                jn.Partition.from_labels(tmp_path / name)
    assert capfd.readouterr() == ("", "")

    def guesses(*_: Any, **__: Any) -> Any:
        raise ModuleNotFoundError("No module named 'charset_normalizer'")

    monkeypatch.setattr("trimesh.load", guesses)
    with pytest.raises(jn.GeometryError, match="damaged, or of another kind") as refused:
        jn.shapes.from_mesh(tmp_path / "a.stl")
    assert "module" not in str(refused.value)


# --- saved solutions and records -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.2, 0.1), 0.4)], names=["plate", "hole"])
    problem = jn.Problem(parts, A=[1.0, 10.0], boundary=jn.Dirichlet("x1"))
    path = tmp_path_factory.mktemp("saved") / "a.jumpnet"
    jn.solve(problem, tol=1e-4).save(path)
    return path


def forged(saved: Path, folder: Path, change: Any) -> Path:
    from safetensors import safe_open

    with safe_open(saved, framework="np") as file:
        header = json.loads(file.metadata()["jumpnet"])
    tensors = load_file(saved)
    change(header, tensors)
    save_file(tensors, folder / "b.jumpnet", metadata={"jumpnet": json.dumps(header)})
    return folder / "b.jumpnet"


FORGED = {
    "surrogates in a name": lambda h, t: h["problem"]["partition"]["names"].__setitem__(0, "a\ud800b"),
    "a name of 5 MB": lambda h, t: h["problem"]["partition"]["names"].__setitem__(0, "a" * 5_000_000),
    "an infinite scale": lambda h, t: h.update(scale=float("inf")),
    "a scale of zero": lambda h, t: h.update(scale=0.0),
    "a term of 5 MB": lambda h, t: h["held_out"].append(["a" * 5_000_000, 1, 0.0, 0.0]),
    "steps of 400 digits": lambda h, t: h.update(steps=10**400),
    "a loss of 400 digits": lambda h, t: h.update(loss=10**400),
    "a formula without end": lambda h, t: h["problem"]["f"].__setitem__(
        0, {"kind": "expression", "text": f"where({HUGE} > 0, 1, 2)", "dim": 2, "constants": {}}
    ),
    "settings without end": lambda h, t: h.update(settings=[[[[[[[[[[[[[]]]]]]]]]]]]]),
}


@pytest.mark.parametrize("kind", FORGED)
def test_forged_solutions_are_refused(kind: str, saved: Path, tmp_path: Path) -> None:
    with pytest.raises(jn.JumpnetError) as refused:
        jn.load(forged(saved, tmp_path, FORGED[kind]))
    assert len(str(refused.value)) < 700 and clean(str(refused.value)) == str(refused.value)


def test_notes_in_a_solution_are_shown_clean(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jumpnet.reporting.figures.points import solve_points

    def change(header: dict[str, Any], tensors: Any) -> None:
        header["settings"] |= {"method": "\x1b[31m<b>\ud800" + "a" * 5_000_000, "interior": 10**9}
        header["settings"] |= {"boundary": 10**9, "interface": 10**9}

    found = jn.load(forged(saved, tmp_path, change))
    assert "\x1b" not in str(found.report()) and len(str(found.report())) < 10_000
    with pytest.raises(jn.SolutionError, match="too many"):
        solve_points(found)


def test_numbers_that_numpy_does_not_have(tmp_path: Path) -> None:
    header = json.dumps({"theta": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]}}).encode()
    (tmp_path / "a.jumpnet").write_bytes(struct.pack("<Q", len(header)) + header + b"1234")
    with pytest.raises(jn.SolutionError, match="cannot be read"):
        jn.load(tmp_path / "a.jumpnet")


RECORD = {
    "trial": "pde4/default/a/0", "spec": "x", "seconds": 1.0, "finished": "2026-01-01 10:00 UTC", "status": "converged",
    "versions": {"jumpnet": "0.1.0"}, "l2": 1e-3, "judged": None, "history": [[1, 0.5]], "parameters": 50,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seconds", "1"),
        ("seconds", -1.0),
        ("finished", "<script>"),
        ("status", "[a](javascript:b)"),
        ("versions", {"jumpnet": "| x |"}),
        ("versions", {"<b>": "1"}),
        ("l2", 10**400),
        ("l2", [1]),
        ("history", [[1]]),
        ("history", [["a", 1]]),
        ("parameters", 1.5),
        ("trial", 3),
    ],
)
def test_records_are_checked_field_by_field(name: str, value: Any) -> None:
    assert checked(RECORD) == RECORD and "other" not in checked(RECORD | {"other": 1})
    with pytest.raises(ValueError, match=name):
        checked(RECORD | {name: value})
    with pytest.raises(ValueError, match="missing"):
        checked({key: RECORD[key] for key in RECORD if key != "versions"})


# --- text and writing ------------------------------------------------------------------------------------------------


def test_text_is_cleaned() -> None:
    assert clean("a\x1b[31m\x9b\u202eb\ud800é\tx\ny") == "a\\u001b[31m\\u009b\\u202eb\\ud800é\tx\ny"
    assert len(clean("a" * 100_000)) < 2100 and "100000 characters" in clean("a" * 100_000)
    assert shorten(10**5000) == "a number of very many digits"
    assert [spreadsheet(cell) for cell in ("=1+1", "@a", "-b", "c", 2.0)] == ["'=1+1", "'@a", "'-b", "c", 2.0]


def test_threads_that_write_one_file_leave_one_of_their_contents(tmp_path: Path) -> None:
    contents = [bytes([65 + k]) * 200_000 for k in range(8)]
    threads = [
        threading.Thread(target=lambda c=c: [write_atomically(tmp_path / "a", c) for _ in range(5)]) for c in contents
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "a").read_bytes() in contents and os.listdir(tmp_path) == ["a"]


def test_unfinished_files_of_the_dead_are_removed(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", b"1")
    name = next(
        f".jumpnet-{_machine()}-{pid}-{'0' * 12}.part" for pid in range(4_000_000, 5_000_000) if not _alive(pid)
    )
    mine = f".jumpnet-{_machine()}-{os.getppid()}-{'0' * 12}.part"
    assert PART.fullmatch(name)
    (tmp_path / name).touch()
    (tmp_path / mine).touch()
    write_atomically(tmp_path / "a", b"2")
    assert sorted(os.listdir(tmp_path)) == sorted(["a", mine]), "that of a living process stays"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _machine() -> str:
    from jumpnet.guard import writing

    return writing._machine()


@pytest.mark.skipif(os.name == "nt", reason="directories cannot be opened there")
def test_a_file_is_on_the_disk_before_its_name_and_then_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power cut the old file or the new one is there: content, name, directory, in this order."""
    done: list[str] = []
    sync, replace = os.fsync, os.replace

    def synced(handle: int) -> None:
        done.append("directory" if stat.S_ISDIR(os.fstat(handle).st_mode) else "content")
        if done[-1] == "directory":
            assert os.path.samestat(os.fstat(handle), os.stat(tmp_path))
        sync(handle)

    def replaced(part: Any, target: Any) -> None:
        done.append("name")
        replace(part, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    write_atomically(tmp_path / "a", b"1")
    assert done == ["content", "name", "directory"]
    done.clear()
    write_atomically(tmp_path / "a", b"2", durable=False)
    assert done == ["name"]


def test_links_devices_and_permissions_are_respected(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"1")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", b"2")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"2"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640
    write_atomically(os.devnull, b"3")
    assert not Path(os.devnull).is_file()


def test_tables_for_spreadsheets_hold_no_formulas(tmp_path: Path) -> None:
    text = (
        PLAIN.format(A=1.0) + '[pieces."=cmd"]\nA = 2.0\nshape = { kind = "disk", center = [0.5, 0.5], radius = 0.2 }\n'
    )
    text += '[probes."=1+1"]\npoints = [[0.5, 0.5]]\n'
    from jumpnet.files.outputs import probed

    read = read_as_file(text)
    rows = io.StringIO(probed(read, read.solve(tol=1e-2))).read().splitlines()
    assert rows[1].startswith("'=1+1,") and ",'=cmd," in rows[1]


def test_nothing_but_one_function_writes_files() -> None:
    """The traceback of a fault has a name that the system chose, and a benchmark talks to the kernel."""
    allowed = {"guard/writing.py", "cli/endings.py", "experiments/bench/pieces.py"}
    writing = re.compile(
        r"""\bopen\([^)\n]*["'][wax]b?["']|\.write_(?:text|bytes)\(|\.savefig\((?!buffer)|\.tofile\("""
    )
    root = Path(jn.__file__).parent
    found = {
        str(path.relative_to(root).as_posix())
        for path in root.rglob("*.py")
        if writing.search(re.sub(r"(?m)^ *>>> .*", "", path.read_text(encoding="utf-8")))  # not in examples
    }
    assert found <= allowed
