"""The process that runs calls, so that one that dies is seen and told from the others: `python -m tests.safety.worker`.

With `--small`, machine code takes also what is left to Python's and NumPy's loops elsewhere because it is small.

Reads a line of JSON for each call: [op, number of the valid call, [numbers of changes]]; answers with its problems.
"""
from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from time import monotonic

from tests.safety.cases import outcomes, problems
from tests.safety.guard import watching
from tests.safety.mutations import mutations
from tests.safety.records import Record, harvested, records

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


def _limit(seconds: float) -> None:
    """End this process once it has computed for so many seconds from now on, where the system can do that."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def machine_code_for_all() -> None:
    """Set the sizes from which machine code is quicker to 1."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("tfnb.kernels.library.", "tfnb.ops.")) and name != "tfnb.ops.declaration.by_kernel":
            for size in ("LEAST", "MANY"):
                if isinstance(getattr(module, size, None), int):
                    setattr(module, size, 1)


def main() -> None:
    """Serve until stdin ends. The last argument of the process: the seconds that a call may compute."""
    seconds = float(sys.argv[-1])
    with contextlib.suppress(ImportError, ValueError):
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)                                  # what ops print is no answer
    harvested()
    if "--small" in sys.argv:
        machine_code_for_all()
    print(file=answers, flush=True)
    with watching():
        for line in sys.stdin:
            _limit(seconds)
            found = answer(*json.loads(line))
            _limit(0)
            print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
