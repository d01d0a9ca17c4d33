"""How a process starts: what an import costs, and compiled code that is kept for the next process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import jumpnet as jn
from jumpnet import _compiled

SOLVE = """
import warnings, jax, jax.numpy as jnp
import jumpnet as jn
warnings.simplefilter("ignore", jn.JumpnetWarning)
events = []
jax.monitoring.register_event_listener(lambda name, **_: events.append(name.rsplit("/", 1)[-1]))
problem = jn.Problem(jn.Partition.chain([0.0, 0.5, 1.0]), f=1.0)
network = jn.Network(jn.models.CategoricalEmbedding(neurons=4), points=(30, 2, 1),
                     optimizer=jn.optim.LevenbergMarquardt(steps=3), charts="box")
found = jn.solve(problem, method=network, verify=False)
found([[0.25]])
misses, hits = events.count("cache_misses"), events.count("cache_hits")
with jax.enable_x64(False):
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.jit(lambda x: jnp.sin(x) * 3)(1.0).block_until_ready()  # the user's own program
print(misses, hits, events.count("cache_misses") - misses, found.theta.tobytes().hex())
"""


def run(script: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


# --- imports ---------------------------------------------------------------------------------------------------------


def test_the_package_and_its_help_wait_for_nothing_heavy() -> None:
    heavy = "[m for m in ('jax', 'numpy', 'scipy', 'sympy', 'matplotlib', 'optax') if m in sys.modules]"
    assert run(f"import sys, jumpnet; print(*{heavy})") == []
    assert run(f"import sys, jumpnet.cli.app; print(*{heavy})") == []
    rare = heavy.replace("'jax', 'numpy', 'scipy', ", "")
    assert run(f"import sys, jumpnet; jumpnet.solve; print(*{rare})") == []


def test_names_are_found_and_listed() -> None:
    assert set(jn.__all__) <= set(dir(jn)) and "__version__" in dir(jn)
    assert run("from jumpnet import *; print(Box.__name__, solve.__name__, optim.__name__)") == [
        "Box",
        "solve",
        "jumpnet.optim",
    ]
    with pytest.raises(AttributeError, match="'jumpnet' has no attribute 'sovle'"):
        jn.sovle  # type: ignore[attr-defined]  # noqa: B018


# --- compiled code ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not _compiled.reliable(), reason="JAX does not load compiled code back on this machine")
def test_a_second_process_compiles_nothing_and_computes_the_same(tmp_path: Path) -> None:
    first, second = (run(SOLVE, JUMPNET_CACHE=str(tmp_path)) for _ in range(2))
    compiled, found = int(first[0]), int(second[1])
    assert compiled > 0 and first[1] == "0", "the first process finds nothing"
    assert second[0] == "0" and found == compiled, "the second one finds everything"
    assert first[2] == second[2] == "0", "the user's own programs are not kept"
    assert first[3] == second[3], "the same bits"
    assert len(list(tmp_path.glob("*/*-cache"))) == compiled


@pytest.mark.slow
@pytest.mark.skipif(not _compiled.reliable(), reason="JAX does not load compiled code back on this machine")
def test_without_a_cache_and_with_a_damaged_one_the_bits_are_the_same(tmp_path: Path) -> None:
    first, off = run(SOLVE, JUMPNET_CACHE=str(tmp_path)), run(SOLVE, JUMPNET_CACHE="off")
    assert off[:3] == ["0", "0", "0"] and first[3] == off[3]
    files = list(tmp_path.glob("*/*-cache"))
    compiled = len(files)
    for path in files:  # as a killed process left them once; JAX complained about them for ever after
        os.truncate(path, path.stat().st_size // 2)
    mended = run(SOLVE, JUMPNET_CACHE=str(tmp_path))
    assert mended == first, "compiled once more, without a word, and the same bits"
    assert len(list(tmp_path.glob("*/*"))) == compiled, "nothing unfinished"


def test_compiled_code_is_what_was_put(tmp_path: Path) -> None:
    files = _compiled.Files(tmp_path)
    files.put("a", b"code")
    assert files.get("a") == b"code" and files.get("b") is None
    (tmp_path / "a-cache").write_bytes((tmp_path / "a-cache").read_bytes()[:-1])
    assert files.get("a") is None
    files.put("a", b"code")
    assert files.get("a") == b"code"
    _compiled.Files(tmp_path / "none").put("a", b"code")
    assert [path.name for path in tmp_path.iterdir()] == ["a-cache"]


def test_a_cache_of_the_users_own_is_used_instead(tmp_path: Path) -> None:
    mine, ours = tmp_path / "mine", tmp_path / "ours"
    environment = {"JAX_COMPILATION_CACHE_DIR": str(mine), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    assert int(run(SOLVE, JUMPNET_CACHE=str(ours), **environment)[0]) > 0
    assert list(mine.glob("*-cache")) and not list(ours.glob("*/*-cache"))


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"JUMPNET_CACHE": "{0}/there"}, "{0}/there"),
        ({"JUMPNET_CACHE": "off"}, None),
        ({"JUMPNET_CACHE": ""}, None),
        ({"JUMPNET_CACHE": "{0}/file/below"}, None),
        ({"XDG_CACHE_HOME": "{0}/users"}, "{0}/users/jumpnet"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "{0}/home"}, "{0}/home/.cache/jumpnet"),
        ({"XDG_CACHE_HOME": "{0}/file"}, None),
    ],
    ids=str,
)
def test_where_compiled_code_is_kept(
    environment: dict[str, str], expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.delenv("JUMPNET_CACHE")
    for name, value in environment.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    monkeypatch.setattr(_compiled, "reliable", lambda: True)
    folder = _compiled.directory.__wrapped__()
    assert (folder and str(folder.parent)) == (expected and expected.format(tmp_path))


@pytest.mark.skipif(os.name == "nt", reason="permissions of another kind")
def test_a_folder_that_cannot_be_written_is_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUMPNET_CACHE", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda *_: False)  # what a read-only disk says, also to root
    assert _compiled.directory.__wrapped__() is None


def test_processors_do_not_share_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUMPNET_CACHE", str(tmp_path))
    folders = set()
    for words in ("x86_64 flags: avx2", "x86_64 flags: avx2 avx512f"):
        monkeypatch.setattr(_compiled, "processor", lambda words=words: words)
        folders.add(_compiled.directory.__wrapped__())
    assert len(folders) == 2
    assert not _compiled.reliable(), "JAX refuses to load compiled code back where there is AVX-512"
