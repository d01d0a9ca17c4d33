"""A run of `jumpnet reproduce`: which trials it needs, which of them are done, and how the rest are computed."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import cast

from jumpnet.experiments.cost import Clock
from jumpnet.experiments.store import Store
from jumpnet.experiments.summary import Summary, summarise
from jumpnet.experiments.tables import NAMES, STUDIES, Row, experiment_names, rows
from jumpnet.experiments.trial import DETERMINED, Record, Setting, Trial, run_until
from jumpnet.studies.running import results

# Steps of a training in a quick run, by setting: a test that everything works, not of accuracy.
QUICK_STEPS = 60
SETTINGS: tuple[Setting, ...] = ("default", "faithful")  # of this package, and those of the paper
# The same in both settings: nothing of the paper's is in them.
OURS = ("solve", "FEM", "FVM")


@dataclass(frozen=True)
class Wanted:
    """The options of a run."""

    experiments: tuple[str, ...] = (*NAMES, *STUDIES)
    methods: tuple[str, ...] | None = None
    settings: tuple[Setting, ...] = ("default",)
    trials: int = 10
    steps: int | None = None
    quick: bool = False

    def lines(self) -> list[tuple[Row, Setting]]:
        """Rows with the settings they are computed in, each once."""
        chosen = rows(self.experiments) if self.methods is None else rows(self.experiments, self.methods)
        found = {}
        for setting in self.settings:
            for row in chosen:
                if row.quick or not self.quick:
                    fixed = "default" if row.method in OURS else row.setting or setting
                    found[row, cast(Setting, fixed)] = None
        return list(found)

    def trials_of(self, row: Row, setting: Setting) -> list[Trial]:
        """The trials of a line: seeds from 0 on."""
        most = 1 if self.quick or row.method in DETERMINED else row.trials
        steps = min(self.steps or QUICK_STEPS, QUICK_STEPS) if self.quick else self.steps
        limit = None if row.method in OURS and not self.steps else steps
        return [Trial(row, setting, seed, limit) for seed in range(min(self.trials, most))]


class Reproduction:
    """The lines of a run with their results so far."""

    def __init__(self, wanted: Wanted, store: Store, *, again: bool = False):
        self.lines = wanted.lines()
        self._trials = {line: wanted.trials_of(*line) for line in self.lines}
        self._line_of = {trial.name: line for line, trials in self._trials.items() for trial in trials}
        self._store = store
        self._done: dict[str, Record] = {}
        for trial in (trial for trials in self._trials.values() for trial in trials):
            if not again and (record := store.get(trial)) is not None:
                self._done[trial.name] = record
        self.clock = Clock.of(self.waiting, [(t, self._done[t.name]) for t in self.trials if t.name in self._done])

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order of the lines."""
        return [trial for trials in self._trials.values() for trial in trials]

    @property
    def waiting(self) -> list[Trial]:
        """The trials that are not done."""
        return [trial for trial in self.trials if trial.name not in self._done]

    def run(self, jobs: int = 1, cluster: str | None = None) -> Iterator[tuple[Trial, Record]]:
        """Compute what is missing; each result is kept before it is handed on."""
        waiting = self.waiting
        if not waiting:
            return
        coming = results(run_until, waiting, jobs, cluster, lambda trial: trial.name)
        with closing(coming):  # pyright: ignore[reportArgumentType]
            for trial, record in coming:
                self._store.put(trial, record)
                record.pop("solution", None)
                self._done[trial.name] = record
                self.clock.tell(trial, record)
                yield trial, record

    def line_of(self, trial: Trial) -> tuple[Row, Setting]:
        """The line a trial belongs to."""
        return self._line_of[trial.name]

    def complete(self, line: tuple[Row, Setting]) -> bool:
        """Whether all trials of a line are done."""
        return all(trial.name in self._done for trial in self._trials[line])

    def summary(self, line: tuple[Row, Setting]) -> Summary:
        """The summary of a line's finished trials."""
        records = [self._done[trial.name] for trial in self._trials[line] if trial.name in self._done]
        return summarise(*line, records)

    def summaries(self) -> list[Summary]:
        """Of all lines with a result."""
        found = [self.summary(line) for line in self.lines]
        return [summary for summary in found if summary.records]

    def solutions(self, line: tuple[Row, Setting]) -> list:
        """The files of the solutions that a line keeps."""
        kept = (self._store.solution(trial) for trial in self._trials[line] if trial.name in self._done)
        return [path for path in kept if path is not None]


def by_experiment(summaries: Sequence[Summary]) -> dict[str, list[Summary]]:
    """Summaries by the experiment they belong to, in the order of the page."""
    found = defaultdict(list)
    for summary in summaries:
        found[summary.row.table].append(summary)
    return {name: found[name] for name in experiment_names() if name in found}
