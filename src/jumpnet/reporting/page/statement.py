"""The statement of a problem for people: the equations, and the data of each piece, boundary part and interface."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from jumpnet.problem import Problem
from jumpnet.reporting.assets import asset
from jumpnet.reporting.page.escaping import escape
from jumpnet.reporting.page.formulas import formula, number

MOST_ROWS = 40  # of a table
NOTHING = number(0.0)  # zero as the page writes it
# Boundary conditions as HTML, by kind.
CONDITIONS = {
    "dirichlet": "<i>u</i> = {g}",
    "neumann": "<i>A</i>∇<i>u</i>·<i>n</i> = {g}",
    "periodic": "<i>u</i> rises by {g} from the lower side to the upper, with the same flux",
    "robin": "{alpha} <i>u</i> + <i>A</i>∇<i>u</i>·<i>n</i> = {g}",
}


def statement(problem: Problem) -> str:
    """The equations and their data as HTML."""
    spec = problem.spec()
    names = problem.partition.names
    parts = [
        asset("equations.html"),
        _pieces(spec, names),
        _boundary(spec["boundary"]),
        f"<p>Assumed: {escape(problem.assumed)}.</p>" if problem.assumed else "",
        _interfaces(spec["jumps"], names),
    ]
    if spec["sources"]:
        parts.append(_sources(spec["sources"]))
    if spec["mean"] is not None:
        parts.append(f"<p>The mean of <i>u</i> over the domain is {number(spec['mean'])}.</p>")
    if constants := _constants(spec):
        shown = ", ".join(f"{escape(name)} = {number(value)}" for name, value in sorted(constants.items()))
        parts.append(f"<p>with {shown}.</p>")
    return "\n".join(part for part in parts if part)


def datum(spec: Mapping[str, Any] | None) -> str:
    """A coefficient or a right-hand side as HTML, from its description."""
    if spec is None:
        return "a function"
    match spec.get("kind"):
        case "constant":
            return number(spec["value"])
        case "expression":
            return formula(spec["text"])
        case "scalar":
            return datum(spec["field"])
        case "entries":
            return _matrix([datum(entry) for entry in spec["entries"]], spec["dim"])
        case "manufactured":
            return "from the exact solution"
        case kind:
            return f"given as {escape(str(kind))}"


def _matrix(entries: list[str], dim: int) -> str:
    """A square matrix in brackets; entries that are not math are kept as text."""
    cells = [e.removeprefix("<math>").removesuffix("</math>") for e in entries]
    if any(not entry.startswith("<math>") for entry in entries):
        return "a matrix: " + ", ".join(entries)
    rows = "".join(
        "<mtr>" + "".join(f"<mtd>{cell}</mtd>" for cell in cells[dim * k : dim * (k + 1)]) + "</mtr>"
        for k in range(dim)
    )
    return f"<math><mrow><mo>(</mo><mtable>{rows}</mtable><mo>)</mo></mrow></math>"


def _pieces(spec: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The coefficients, one row for all pieces that share them."""
    columns = {"A": "<i>A</i>", "lam": "<i>λ</i>", "f": "<i>f</i>"} | (
        {"exact": "exact <i>u</i>"} if spec["exact"] else {}
    )
    data = {k: tuple(datum(spec[key][k]) for key in columns) for k in range(len(names))}
    rows = [(_listed([f"{k} {names[k]}" for k in group]), *values) for values, group in _grouped(data).items()]
    return _table(("piece", *columns.values()), rows)


def _boundary(boundary: Mapping[str, Any]) -> str:
    conditions = {}
    for part, condition in boundary.items():
        words = CONDITIONS.get(condition["kind"], escape(str(condition["kind"])) + " {g}")
        shown = {key: datum(value) for key, value in condition.items() if key != "kind"}
        conditions[part] = (condition["kind"], words.format_map({"g": "", "alpha": ""} | shown))
    rows = [(_listed(list(group)), *values) for values, group in _grouped(conditions).items()]
    return _table(("boundary", "condition", ""), rows)


def _interfaces(jumps: Iterable[Mapping[str, Any]], names: tuple[str, ...]) -> str:
    data = {}
    for jump in jumps:
        a, b = jump["pair"]
        data[f"{names[a]} | {names[b]}"] = tuple(datum(jump[key]) for key in ("v", "w", "R"))
    if not data:
        return ""
    rows = [(_listed(list(group)), *values) for values, group in _grouped(data).items()]
    heads = ("interface", "<i>v</i>", "<i>w</i>", "<i>R</i>")
    if all(row[-1] == NOTHING for row in rows):  # no contact resistance anywhere
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    return _table(heads, rows)


def _sources(sources: list[Mapping[str, Any]]) -> str:
    rows = [(", ".join(f"{x:.6g}" for x in source["x"]), number(source["q"])) for source in sources]
    return _table(("point source at", "<i>q</i>"), rows)


def _constants(spec: Any) -> dict[str, float]:
    """The user's named numbers that formulas use, wherever they stand in the description."""
    found: dict[str, float] = {}
    if isinstance(spec, Mapping):
        if spec.get("kind") == "expression":
            words = set("".join(c if c.isalnum() or c == "_" else " " for c in spec["text"]).split())
            return {name: value for name, value in spec["constants"].items() if name in words}
        spec = spec.values()
    if isinstance(spec, Iterable) and not isinstance(spec, str):
        for part in spec:
            found |= _constants(part)
    return found


def _grouped(data: Mapping[Any, Hashable]) -> dict[Any, list[Any]]:
    """The keys by what they hold, in order."""
    groups: dict[Any, list[Any]] = {}
    for key, value in data.items():
        groups.setdefault(value, []).append(key)
    return groups


def _listed(words: list[str]) -> str:
    """Names with commas; of many the first and the last."""
    shown = words if len(words) <= 6 else [*words[:3], "…", words[-1]]
    more = f" ({len(words)} in all)" if len(words) > 6 else ""
    return escape(", ".join(shown)) + more


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table of cells that are HTML already."""
    head = "".join(f"<th>{cell}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[:MOST_ROWS])
    more = f"<p>and {len(rows) - MOST_ROWS} more.</p>" if len(rows) > MOST_ROWS else ""
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>{more}'
