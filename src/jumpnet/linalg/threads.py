"""One BLAS thread while trainings run, however many of them run at once and in whichever order they end.

Some libraries limit a thread, others the whole process. For the latter the first training to begin sets the limit, and
the last one to end puts back what was there before.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import threadpoolctl

_lock = threading.Lock()
_inside = 0
_outer: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which linear algebra runs on the calling thread only."""
    global _inside, _outer
    with _lock:
        if _inside == 0:
            _outer = _limited()
        _inside += 1
    try:
        with _limited():
            yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _outer.restore_original_limits()
                # From threadpoolctl 3.8 on, a thread that has set OpenBLAS's limit keeps others from it until told.
                getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", lambda: None)()


def _limited() -> Any:
    return _libraries(len(sys.modules)).limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def _libraries(modules: int) -> threadpoolctl.ThreadpoolController:
    """The BLAS libraries of the process; looked up again after each import, as some bring one of their own (4 ms)."""
    return threadpoolctl.ThreadpoolController()
