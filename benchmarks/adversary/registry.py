"""All problems, and the part of them that is put aside."""

from functools import lru_cache
from pathlib import Path
from types import ModuleType

import numpy as np
from benchmarks.adversary import (
    asked,
    bodies,
    combined,
    corners,
    duals,
    fans,
    gaps,
    hidden,
    lines,
    materials,
    plates,
    rounds,
    seams,
    stacks,
)
from benchmarks.adversary.cases import Case

ASIDE = Path(__file__).with_name("aside.txt")
SEED = 20261117  # of the draw
# Files by the day of their draw; of the first a third is put aside, of those written later, half.
FIRST, SECOND = (lines, rounds, gaps, corners, plates, bodies, stacks), (fans, combined, hidden)
THIRD = (duals, seams, materials, asked)
DRAWN = ((FIRST, 3), (SECOND, 2), (THIRD, 2))


@lru_cache
def cases_of(module: ModuleType) -> list[Case]:
    """The problems of a file."""
    return module.cases()


@lru_cache
def all_cases() -> dict[str, Case]:
    """Every problem by name, in the order of the files."""
    listed = [case for module in (*FIRST, *SECOND, *THIRD) for case in cases_of(module)]
    found = {case.name: case for case in listed}
    if len(found) != len(listed):
        names = [case.name for case in listed]
        raise ValueError(f"names occur twice: {sorted({n for n in names if names.count(n) > 1})}")
    return found


def draw() -> list[str]:
    """A part of the names of each set of files, drawn at random with a fixed seed."""
    drawn: list[str] = []
    for modules, share in DRAWN:
        names = sorted(case.name for module in modules for case in cases_of(module))
        chosen = np.random.default_rng(SEED).permutation(len(names))[: len(names) // share]
        drawn += [names[k] for k in chosen]
    return sorted(drawn)


def aside() -> frozenset[str]:
    """The names that are put aside."""
    return frozenset(ASIDE.read_text().splitlines()) if ASIDE.exists() else frozenset()


def select(part: str, group: str | None, network: bool) -> list[Case]:
    """The problems of a part (seen, aside, all), of some classes and, if asked for, marked for networks."""
    apart, wanted = aside(), () if group is None else (group, *group.split(","))
    return [
        case
        for case in all_cases().values()
        if (part == "all" or (case.name in apart) == (part == "aside"))
        and (not wanted or case.group in wanted or case.name in wanted)
        and (case.network or not network)
    ]
