"""Commented problem files to start from, one for each kind of problem, with the data that they name."""

from importlib.resources import files as resources
from pathlib import Path

from jumpnet.errors import ProblemError
from jumpnet.files.messages import suggestion

KINDS = {
    "inclusion": "a disk in a plate: shapes with formulas",
    "layers": "layers in one dimension: a wall, a stack, with contact and film",
    "drawing": "regions of a drawing (SVG): a heated floor",
    "sink": "a heat sink from a drawing, with a contact resistance: what `jumpnet demo` solves",
    "image": "a label image (PNG, TIFF, NPY)",
    "stl": "a body from a surface mesh (STL, OBJ, PLY) in a box",
    "cell": "a periodic cell and its effective tensor",
    "network": "the paper's method: a network, on a problem with a known solution",
}
"""What each kind is, in the order in which they are listed."""
DATA = {"drawing": "drawing.svg", "sink": "sink.svg", "image": "image.png", "stl": "stl.stl"}
"""The file that the file of a kind names."""
SCHEMA = "jumpnet.schema.json"
"""The name of the schema that is written for editors."""


def started(kind: str, target: Path, schema: bool = False) -> dict[Path, bytes]:
    """What to write for a kind, by path: the problem file, its data beside it, and with `schema` that of its keys.

    In place of a kind the user's own drawing, image or mesh can be given: the file then names what is in it.
    Editors with a TOML server (taplo, Even Better TOML) complete and check the file by the schema in its first line.
    """
    if Path(kind).suffix:
        from jumpnet.files.own_data import file_for

        if Path(kind).parent.resolve() != target.parent.resolve():
            raise ProblemError(f"the data are {kind!r}; a problem file beside them is wanted, in the same folder.")
        return _with_schema(target, file_for(Path(kind), target), schema)
    if kind not in KINDS:
        raise ProblemError(f"the kind is {kind!r}; {suggestion(kind, KINDS, 'kinds')}")
    text = _template(f"{kind}.toml").decode().replace("FILE", target.name)
    found: dict[Path, bytes] = {}
    if kind in DATA:
        data = target.with_name(f"{target.stem}{Path(DATA[kind]).suffix}")
        text = text.replace(f'"{DATA[kind]}"', f'"{data.name}"')
        found[data] = _template(DATA[kind])
    return _with_schema(target, text, schema) | found


def _with_schema(target: Path, text: str, schema: bool) -> dict[Path, bytes]:
    if not schema:
        return {target: text.encode()}
    from jumpnet.files.schema import schema_text

    return {target: f"#:schema {SCHEMA}\n{text}".encode(), target.with_name(SCHEMA): schema_text().encode()}


def _template(name: str) -> bytes:
    return (resources("jumpnet.files") / "templates" / name).read_bytes()
