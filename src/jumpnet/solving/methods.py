"""The values of `method=`: a name, the options of an engine, or (deprecated) keywords of version 0.1."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from os import PathLike
from typing import Any, TypeAlias, TypedDict

from jumpnet.charts import Charts
from jumpnet.collocation import PointRule, Points
from jumpnet.engines.fem import FEM, FemEngine
from jumpnet.engines.network import Network, NetworkEngine
from jumpnet.engines.network.options import Preset
from jumpnet.engines.protocol import Engine
from jumpnet.engines.seeds import check_trials
from jumpnet.engines.trefftz import Trefftz, TrefftzEngine
from jumpnet.errors import ModelError, warn
from jumpnet.models import FrozenModel, Model
from jumpnet.optim import Direct, Optimizer
from jumpnet.rows import Weights


@dataclass(frozen=True)
class Auto:
    """`method="auto"`; the fields about seeds are used by engines that have seeds."""

    trials: int = 1
    workers: int | None = None
    checkpoint: str | PathLike[str] | None = None

    def __post_init__(self) -> None:
        check_trials(0, self.trials, self.workers)


Method: TypeAlias = str | Auto | Trefftz | FEM | Network
Chosen: TypeAlias = Auto | Trefftz | FEM | Network
# Methods by name: the options with their defaults.
NAMES = {"auto": Auto, "trefftz": Trefftz, "fem": FEM, "network": Network}
# What `method=` accepts, for messages.
CHOICE = '"auto", "trefftz", "fem", "network", or their options, jn.Trefftz(...), jn.FEM(...), jn.Network(...)'


class Deprecated(TypedDict, total=False):
    """Keywords of version 0.1, which are now options of a method."""

    model: Model | FrozenModel | None
    optimizer: Optimizer | Direct | None
    points: Points | PointRule | Sequence[int] | None
    charts: Charts | None
    weights: Weights | None
    preset: Preset | None
    trials: int
    workers: int | None
    checkpoint: str | PathLike[str] | None


# Deprecated keywords that selected the network engine.
OF_A_NETWORK = ("model", "optimizer", "points", "charts", "weights", "preset")
# Those about seeds, which did not.
OF_SEEDS = ("trials", "workers", "checkpoint")


def engine_of(method: Trefftz | FEM | Network) -> Engine:
    """The engine with these options."""
    if isinstance(method, Trefftz):
        return TrefftzEngine(method)
    return FemEngine(method) if isinstance(method, FEM) else NetworkEngine(method)


def resolved(method: object, old: Mapping[str, Any], call: str = "solve(problem, ") -> Chosen:
    """The method that is asked for; deprecated keywords become its options, with a warning that shows how."""
    unknown = [name for name in old if name not in (*OF_A_NETWORK, *OF_SEEDS)]
    if unknown:
        raise TypeError(f"{call.split('(')[0]}() got an unexpected keyword argument {unknown[0]!r}")
    given = {name: value for name, value in old.items() if value is not None}
    if isinstance(method, str) and method in NAMES:
        if not given:
            return NAMES[method]()
        made = _of_old(method, given)
        warn(
            f"{', '.join(f'{name}=' for name in given)} of jn.{call.split('(')[0]} will go with version 0.3; write "
            f"jn.{call}method={written(made)}).",
            DeprecationWarning,
        )
        return made
    if not isinstance(method, Auto | Trefftz | FEM | Network):
        raise ModelError(f"method is {method!r}; choose {CHOICE}.")
    if given:
        names = ", ".join(f"{name}=" for name in given)
        raise ModelError(f"method is {written(method)}, and {names} is given beside it; make it an option of a method.")
    return method


def _of_old(method: str, given: dict[str, Any]) -> Chosen:
    """The method that the keywords of version 0.1 selected; ModelError if they contradict the method or each other."""
    seeds = {name: given[name] for name in OF_SEEDS if name in given}
    chosen = [name for name in OF_A_NETWORK if name in given]
    if chosen and method not in ("auto", "network"):
        raise ModelError(
            f"method is {method!r}, and {', '.join(chosen)} is given, an option of another method; leave one out."
        )
    model, optimizer = given.get("model"), given.get("optimizer")
    if method == "auto" and (isinstance(optimizer, Direct) or isinstance(model, FrozenModel)):
        others = [name for name in chosen if name not in ("model", "optimizer")]
        if others:
            raise ModelError(f"{', '.join(others)} is an option of a training; leave it out.")
        if model is not None and not isinstance(model, FrozenModel):
            raise ModelError(f"jn.optim.Direct() needs frozen features, not {model!r}; leave one of them out.")
        if optimizer is not None and not isinstance(optimizer, Direct):
            raise ModelError(f"{model!r} has frozen features, which jn.optim.Direct() solves for; leave optimizer out.")
        solver = optimizer or Direct()
        return Trefftz(model, solver.cutoff, solver.refinements, int(seeds.get("trials", 1)))
    if chosen or method == "network":
        return Network(**given)
    if method == "auto":
        return Auto(**seeds)
    check_trials(0, seeds.get("trials", 1), seeds.get("workers"))
    return Trefftz(trials=int(seeds.get("trials", 1))) if method == "trefftz" else FEM()


# The public prefix of the classes of each module.
PLACES = {"jumpnet.models": "jn.models.", "jumpnet.optim": "jn.optim.", "jumpnet.": "jn."}


def written(method: Chosen) -> str:
    """The options as Python code, without those at their defaults."""
    if not isinstance(method, Auto):
        return _value(method)
    if method.workers is None and method.checkpoint is None:
        return _value(Trefftz(trials=method.trials))
    return _value(Network(trials=method.trials, workers=method.workers, checkpoint=method.checkpoint))


def _value(value: Any) -> str:
    """A value as Python code."""
    if not is_dataclass(value):
        return repr(value)
    place = next((name for start, name in PLACES.items() if type(value).__module__.startswith(start)), "")
    given = [f"{one.name}={_value(getattr(value, one.name))}" for one in fields(value) if _differs(value, one)]
    return f"{place}{type(value).__name__}({', '.join(given)})"


def _differs(value: Any, one: Field[Any]) -> bool:
    """Whether a field is not at its default."""
    default = one.default if one.default_factory is MISSING else one.default_factory()
    return one.init and getattr(value, one.name) != default
