"""A fresh process that imports a system, builds a program and runs steps of it: prints when it had done what.

`python -m benchmarks.start SYSTEM PROGRAM STEPS` prints two lists, seconds and processor seconds: until the system
was imported, and until each step was done. STEPS 0 imports only.
"""
import time

BEGIN = time.perf_counter(), time.process_time()

import json  # noqa: E402
import sys  # noqa: E402

from benchmarks.worker import System  # noqa: E402


def main(system: str, name: str, steps: int) -> None:
    loaded = System(system)
    times = [_since()]
    if steps:
        program = loaded.build(name)
        for _ in range(steps):
            program.step()
            times.append(_since())
    print(json.dumps(list(zip(*times, strict=True))))


def _since() -> tuple[float, float]:
    return time.perf_counter() - BEGIN[0], time.process_time() - BEGIN[1]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
