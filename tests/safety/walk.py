"""The walk over every op with arrays, by hand: `python -m tests.safety.walk [--limit SECONDS] [--small] [OP...]`.

Prints each call that has a problem, a line for each op, and the sums at the end.
"""
from __future__ import annotations

import argparse
from collections import Counter
from time import monotonic

from tests.safety.mutations import mutations
from tests.safety.records import records, walked
from tests.safety.service import COMMAND, LIMIT, Worker

SLOW = 5.0                        # seconds of a call that are worth a line


def calls(op: str) -> list[tuple[int, list[int]]]:
    """(number of the valid call, changes) of each valid call of an op and each single change of it."""
    return [(n, picks) for n, record in enumerate(records(op))
            for picks in [[], *([i] for i in range(len(mutations(record))))]]


def walk(ops: list[str], limit: float = LIMIT, small: bool = False) -> Counter[str]:
    """Run all calls of some ops; returns how many ops, calls, bad calls, and problems of each kind there were."""
    sums = Counter[str]()
    with Worker((*COMMAND, "--small") if small else COMMAND, limit) as worker:
        for op in ops:
            walk_op(worker, op, sums)
    return sums


def walk_op(worker: Worker, op: str, sums: Counter[str]) -> None:
    """Run all calls of an op, and count them in `sums`."""
    start, bad = monotonic(), 0
    for number, picks in calls(op):
        found = worker.ask(op, number, picks)
        kinds = {problem.split()[0] for problem in found["problems"]}
        bad += bool(kinds)
        sums.update(calls=1, **dict.fromkeys(kinds, 1))
        if kinds or found["seconds"] > SLOW:
            print(f"{op} {number} {picks} {found['label']} ({found['seconds']:.1f} s)\n    "
                  + "\n    ".join(problem[:300] for problem in found["problems"][:2]), flush=True)
    sums.update({"ops": 1, "bad ops": bool(bad), "bad calls": bad})
    print(f"{op}: {len(calls(op))} calls, {bad} bad, {monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--small", action="store_true", help="machine code for small arrays, too (worker.py)")
    parser.add_argument("ops", nargs="*")
    given = parser.parse_args()
    print(dict(walk(given.ops or walked(), given.limit, given.small)))
