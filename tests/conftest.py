"""Tests leave the user's cache of compiled code alone, compile without optimisations, and can be interrupted."""

import gc
import os
import signal
from importlib.metadata import version

import pytest

os.environ["JUMPNET_CACHE"] = "off"

# Most of the time of small tests is compiling: a training of 20 steps in the plane takes 8.3 s of CPU as users compile,
# 3.5 s without LLVM's optimisations, 2.6 s without XLA's newer way to fuse either. What tests start inherits it, so
# bits are comparable. `make test-all` compiles as users do: JUMPNET_TEST_OPTIMISED=1.
if os.environ.get("JUMPNET_TEST_OPTIMISED", "0") in ("", "0"):
    quickly = ["--xla_backend_optimization_level=0"]
    if version("jaxlib").startswith("0.10."):  # unknown flags end the process, so only where it was tried
        # One module for LLVM in place of 32: a fifth less CPU for programs as small as those of tests.
        quickly += ["--xla_cpu_use_fusion_emitters=false", "--xla_cpu_parallel_codegen_split_count=1"]
    os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", ""), *quickly]).strip()

# Programs that JAX keeps are many small objects, and the collector visits them all at every turn: a tenth less CPU.
gc.set_threshold(50_000, 20, 20)

# Shells start what they put into the background with Ctrl-C ignored; tests of Ctrl-C would wait for ever there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Files that take longest, which go first: two workers then end at about the same time.
LONGEST = (
    "test_documentation.py",
    "test_closed_forms.py",
    "test_figures.py",
    "test_conventions.py",
    "test_commands.py",
    "test_reproduce.py",
    "test_checkpoint.py",
    "test_start.py",
    "test_accuracy.py",
    "test_judge.py",
    "test_training.py",
    "test_bench.py",
    "test_direct.py",
    "test_fuzz.py",
    "test_storage.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole files, the longest first and the others as they were collected."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))
