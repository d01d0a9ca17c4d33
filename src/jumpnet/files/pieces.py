"""The pieces of a file as shapes: copied about centres, wrapped around a periodic box, cut by each other."""

from jumpnet.errors import ProblemError
from jumpnet.files.messages import suggestion
from jumpnet.files.schema import MOST_PIECES, File, Piece
from jumpnet.files.shapes import make
from jumpnet.files.values import Scope, at
from jumpnet.geometry import Box, Shape
from jumpnet.geometry.shapes import wrapped


def _wrapped(found: list[Shape], domain: Shape, key: str) -> list[Shape]:
    if not isinstance(domain, Box):
        raise ProblemError(f"{key}: only a box has opposite sides; make the domain a box or leave wrap out.")
    with at(key):
        return wrapped(found, domain)


def shapes_of(file: File, scope: Scope, domain: Shape) -> dict[str, list[Shape]]:
    """The shapes of every entry, cut where the file says so."""
    shapes = {name: _copies(piece, scope, f"pieces.{name}") for name, piece in file.pieces.items()}
    for name, piece in file.pieces.items():
        if piece.wrap:
            shapes[name] = _wrapped(shapes[name], domain, f"pieces.{name}.wrap")
    if sum(len(group) for group in shapes.values()) > MOST_PIECES:
        raise ProblemError(f"pieces: there are more than {MOST_PIECES} of them, which is the most that are read.")
    cut = {}
    for name, piece in file.pieces.items():
        cut[name] = shapes[name]
        for other in piece.without:
            key = f"pieces.{name}.without"
            if other == name or other not in shapes:
                raise ProblemError(f"{key} has {other!r}; {suggestion(other, set(shapes) - {name}, 'other pieces')}")
            with at(key):
                cut[name] = [_less(shape, shapes[other]) for shape in cut[name]]
    return cut


def _less(shape: Shape, others: list[Shape]) -> Shape:
    for other in others:
        shape = shape - other
    return shape


def _copies(piece: Piece, scope: Scope, key: str) -> list[Shape]:
    """The shape of an entry, once or about each of its centres."""
    if piece.label is not None or piece.labels is not None:
        raise ProblemError(f"{key}.label is for pieces of an image; give the piece a shape.")
    if piece.shape is None:
        raise ProblemError(f"{key}.shape is missing; add it: shape = {{ kind = ... }}.")
    if piece.centers is None:
        return [make(piece.shape, scope, f"{key}.shape")]
    if not hasattr(piece.shape, "center"):
        raise ProblemError(f"{key}.centers: a {piece.shape.kind} has no center to move; leave centers out.")
    if getattr(piece.shape, "center", None) is not None:
        raise ProblemError(f"{key} has centers and shape.center; give one of them.")
    copies = (piece.shape.model_copy(update={"center": center}) for center in piece.centers)
    return [make(copy, scope, f"{key}.centers[{k}]") for k, copy in enumerate(copies)]
