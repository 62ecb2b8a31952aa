"""The process that runs calls, so that one that dies is seen and told from the others: `python -m tests.safety.worker`.

Reads a line of JSON for each call: [op, number of the valid call, [numbers of changes]]; answers with its problems.
"""
from __future__ import annotations

import contextlib
import json
import os
import sys
from time import monotonic

from tests.safety.cases import outcomes, problems
from tests.safety.guard import watching
from tests.safety.mutations import mutations
from tests.safety.records import Record, records

MEMORY = 6 << 30                  # bytes of address space: what asks for more is told that there is none


def changed(op: str, number: int, picks: list[int]) -> tuple[Record, Record]:
    """A valid call, and what some changes, one after the other, make of it."""
    valid = made = records(op)[number]
    for pick in picks:
        choice = mutations(made)
        made = choice[pick % len(choice)] if choice else made
    return valid, made


def answer(op: str, number: int, picks: list[int], verbose: bool = False) -> dict[str, object]:
    """The label and the problems of one call, and the seconds that it took."""
    start = monotonic()
    valid, made = changed(op, number, picks)
    modes = outcomes(made, valid)
    reply: dict[str, object] = {"label": made.label, "problems": problems(made, modes), "seconds": monotonic() - start}
    if verbose:
        reply["modes"] = {mode: [str(run) for run in runs] for mode, runs in modes.items()}
    return reply


def main() -> None:
    """Serve until stdin ends."""
    with contextlib.suppress(ImportError, ValueError):
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)                                  # what ops print is no answer
    with watching():
        for line in sys.stdin:
            answers.write(json.dumps(answer(*json.loads(line))) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
