"""LAPACK without Python's lock, so that several trainings make their steps at the same time.

SciPy's wrappers of these routines hold the lock while they compute, and most of a training is spent in them. The
routines themselves are public in `scipy.linalg.cython_lapack`; called through ctypes they leave the lock alone. Names,
arguments and results, to the last bit, are those of SciPy's wrappers, as far as they are used here.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.linalg import cython_blas, cython_lapack, get_lapack_funcs  # pyright: ignore[reportAttributeAccessIssue]

# Matrices with fewer numbers use SciPy's wrapper, whose call is 15 microseconds faster.
SMALL = 20_000

_scipy_tpqrt, _scipy_tpmqrt = get_lapack_funcs(("tpqrt", "tpmqrt"), dtype=np.float64)

Matrix = Float[np.ndarray, "m n"]


def _routine(module: Any, name: str) -> Callable[..., None]:
    """A routine all of whose arguments are pointers, as Fortran has it."""
    capsule, api = module.__pyx_capi__[name], ctypes.pythonapi
    signature = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))(capsule)
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    arguments = [ctypes.c_void_p] * signature.count(b"*")
    return ctypes.CFUNCTYPE(None, *arguments)(pointer(capsule, signature))


_dtpqrt, _dtpmqrt, _dposv = (_routine(cython_lapack, name) for name in ("dtpqrt", "dtpmqrt", "dposv"))
_dsyrk = _routine(cython_blas, "dsyrk")


def tpqrt(l: int, nb: int, a: Matrix, b: Matrix, overwrite_a: int = 0, overwrite_b: int = 0) -> tuple[Any, ...]:
    """QR of a triangle `a` on top of `b`: R, V, T and info."""
    if b.size < SMALL:
        return _scipy_tpqrt(l, nb, a, b, overwrite_a=overwrite_a, overwrite_b=overwrite_b)
    a, b = _columns(a, overwrite_a), _columns(b, overwrite_b)
    m, n = b.shape
    t, work, info = np.zeros((nb, n), order="F"), np.empty(nb * n), ctypes.c_int()
    _call(_dtpqrt, m, n, l, nb, a, max(1, len(a)), b, max(1, m), t, nb, work, info)
    return a, b, t, info.value


def tpmqrt(
    l: int,
    v: Matrix,
    t: Matrix,
    a: Matrix,
    b: Matrix,
    side: str,
    trans: str,
    overwrite_a: int = 0,
    overwrite_b: int = 0,
) -> tuple[Any, ...]:
    """Q or its transpose, as `tpqrt` left it, times `a` on top of `b`; from the left only."""
    assert side == "L"
    if v.size < SMALL:
        return _scipy_tpmqrt(l, v, t, a, b, side=side, trans=trans, overwrite_b=overwrite_b)
    v, t, a, b = _columns(v, 1), _columns(t, 1), _columns(a, 0), _columns(b, overwrite_b)
    (m, n), (nb, k), info = b.shape, t.shape, ctypes.c_int()
    sizes = (m, n, k, l, nb)
    arrays = (v, max(1, len(v)), t, nb, a, max(1, len(a)), b, max(1, m), np.empty(max(1, n * nb)))
    _call(_dtpmqrt, side, trans, *sizes, *arrays, info)
    return a, b, info.value


def posv(a: Matrix, b: Float[np.ndarray, " n"], overwrite_a: int = 0) -> tuple[Any, ...]:
    """Cholesky factor and solution of a x = b; `a` is given by its upper triangle."""
    a, x, info = _columns(a, overwrite_a), np.array(b, float), ctypes.c_int()
    n = max(1, len(x))
    _call(_dposv, "U", len(x), 1, a, n, x, n, info)
    return a, x, info.value


def syrk(alpha: float, a: Matrix, trans: int = 0) -> Matrix:
    """alpha a^T a (with `trans`) or alpha a a^T: the upper triangle, zeros below."""
    a = _columns(a, 1)
    (k, n) = a.shape if trans else a.shape[::-1]
    c = np.zeros((n, n), order="F")
    _call(_dsyrk, "U", "T" if trans else "N", n, k, float(alpha), a, max(1, len(a)), 0.0, c, max(1, n))
    return c


def _columns(a: np.ndarray, may_stay: int) -> np.ndarray:
    """Column after column, as Fortran stores a matrix: the array itself where it is so and may be used."""
    fits = a.flags.f_contiguous and a.dtype == np.float64
    return a if may_stay and fits else np.array(a, float, order="F")


def _call(routine: Callable[..., None], *arguments: Any) -> None:
    """Numbers, letters and arrays as pointers to them; `held` keeps what they point to until the routine returns."""
    kinds = {int: ctypes.c_int, float: ctypes.c_double, str: lambda text: ctypes.c_char(text.encode())}
    held = [kinds[type(one)](one) if type(one) in kinds else one for one in arguments]
    routine(*(one.ctypes.data if isinstance(one, np.ndarray) else ctypes.addressof(one) for one in held))
