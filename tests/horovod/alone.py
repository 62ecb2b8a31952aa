"""Horovod in one process that no `mpiexec` has started: all examples in its docstrings; prints those that are wrong."""
from __future__ import annotations

import json
import types
from typing import Any

import tfnb as tf
import tfnb.horovod.keras as keras
import tfnb.horovod.tensorflow as hvd
from tests.example_run import run, same, steps

BEGIN = ["import tfnb.horovod.tensorflow as hvd", "import tfnb.horovod.keras", "hvd.keras = tfnb.horovod.keras",
         "hvd.shutdown()"]


def documented() -> dict[str, Any]:
    """Name -> each public function and class."""
    found = {}
    for module in (hvd, keras, keras.callbacks):
        for name, value in vars(module).items():
            if isinstance(value, (type, types.FunctionType)) and value.__module__.startswith("tfnb.horovod.") \
                    and not name.startswith("_"):
                found[f"{module.__name__}.{name}"] = value
    return found


def main() -> None:
    wrong = {}
    for name, value in documented().items():
        wanted = steps(value.__doc__ or "")
        got = run(tf, [*BEGIN, *(source for source, _ in wanted)])[len(BEGIN):]
        faults = [(source, text, want) for (source, want), text in zip(wanted, got, strict=True)
                  if not same(text, want)]
        if faults or not (wanted or name.endswith((".Compression", ".value_of"))):
            wrong[name] = faults
    print(json.dumps(wrong))


if __name__ == "__main__":
    main()
