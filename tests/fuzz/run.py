"""Fuzz every reader for as long as there is time: `python tests/fuzz/run.py --seconds 600` (`make fuzz`).

Each reader runs in a process of its own, which is watched: what takes longer than the budget, more than two gigabytes,
or raises anything but an error of ours is a finding, kept in `corpus/` under the number of its case. The seconds of a
reader are CPU seconds, so that a busy machine tries as many cases as an idle one; those of the budget are by the clock.
"""

import argparse
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
BUDGET, GRACE, MOST_BYTES = 20.0, 30.0, 2e9


def worker(name: str, first: int, seconds: float, pipe: Any) -> None:
    """Tries the cases of one reader from `first` on for `seconds` of CPU time; each is reported before and after."""
    os.environ["JUMPNET_READ_SECONDS"] = str(BUDGET)
    from fuzzing import READERS

    from jumpnet.guard.budget import resident

    reader = READERS[name]
    reader.seeds()
    pipe.send(("ready", first, "", 0.0, 0.0, 0.0))
    start = time.process_time()
    end, number = start + seconds, first
    with tempfile.TemporaryDirectory() as folder:
        while time.process_time() < end:
            content = reader.case(number)
            pipe.send(("begin", number, "", 0.0, 0.0, time.process_time() - start))
            began = time.monotonic()
            try:
                how = reader.attempt(content, Path(folder))
            except BaseException:
                how = "fault: " + traceback.format_exc()[-2000:]
            pipe.send(("end", number, how, time.monotonic() - began, resident(), time.process_time() - start))
            number += 1
    pipe.send(("done", number, "", 0.0, 0.0, time.process_time() - start))


def fuzz(name: str, seconds: float, seed: int) -> dict[str, Any]:
    """Figures of one reader."""
    context = multiprocessing.get_context("spawn")
    found: dict[str, Any] = {"cases": 0, "ways": {}, "findings": {}, "slowest": 0.0, "memory": 0.0}
    number, left = seed, seconds
    while left > 0:
        ours, theirs = context.Pipe()
        process = context.Process(target=worker, args=(name, number, left, theirs))
        process.start()
        theirs.close()
        used, state = 0.0, "start"
        while True:
            try:
                heard = ours.recv() if ours.poll(BUDGET + GRACE + (120 if state == "start" else 0)) else None
            except EOFError:
                heard = ("dead", number, "", 0.0, 0.0, 0.0)
            if heard is None or heard[0] == "dead":
                process.join(0 if heard is None else 10)
                found["findings"][number] = f"the process ended with {process.exitcode}" if heard else "hang"
                process.kill()
                break
            state, number, how, took, memory, used = heard
            if state == "end":
                found["cases"] += 1
                way = how.split(":")[0]
                found["ways"][way] = found["ways"].get(way, 0) + 1
                found["slowest"], found["memory"] = max(found["slowest"], took), max(found["memory"], memory)
                if way == "fault" or memory > MOST_BYTES or took > BUDGET + 2.0:
                    found["findings"][number] = how if way == "fault" else f"{took:.1f} s, {memory / 1e9:.1f} GB"
            if state == "done":
                break
        process.join(10)
        left -= max(used, 1.0)
        number += 1
        if state == "done":
            break
    keep(name, found["findings"])
    return found


def keep(name: str, findings: dict[int, str]) -> None:
    """The inputs of findings, for the tests."""
    from fuzzing import CORPUS, READERS

    for number, how in findings.items():
        print(f"  {name} {number}: {how[-300:]}", file=sys.stderr, flush=True)
        (CORPUS / name).mkdir(parents=True, exist_ok=True)
        (CORPUS / name / str(number)).write_bytes(READERS[name].case(number)[:1_000_000])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("readers", nargs="*")
    parser.add_argument("--seconds", type=float, default=600.0, help="CPU seconds for each reader")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**40))
    parser.add_argument("--json", help="also write the figures here")
    given = parser.parse_args()
    from fuzzing import READERS

    names, figures, bad = given.readers or list(READERS), {}, 0
    print("reader      cases   refused  read    budget  slowest  memory   findings", flush=True)
    for name in names:
        figures[name] = found = fuzz(name, given.seconds, given.seed)
        ways = found["ways"]
        read, budget = ways.get("read", 0), ways.get("BudgetError", 0)
        refused = found["cases"] - read - budget - ways.get("fault", 0)
        bad += len(found["findings"])
        print(
            f"{name:<10}{found['cases']:>7}{refused:>10}{read:>7}{budget:>8}{found['slowest']:>8.1f}s"
            f"{found['memory'] / 1e9:>6.2f}GB{len(found['findings']):>8}",
            flush=True,
        )
    if given.json:
        Path(given.json).write_text(json.dumps(figures, indent=1), encoding="utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
