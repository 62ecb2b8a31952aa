"""A fresh process that imports a system and trains for two steps: prints when it had done what, in seconds."""
import time

BEGIN = time.perf_counter()

import json  # noqa: E402
import sys  # noqa: E402

from benchmarks.worker import System  # noqa: E402


def main(system: str, only_import: bool) -> None:
    loaded = System(system)
    times = [time.perf_counter() - BEGIN]
    if not only_import:
        program = loaded.build("mlp_small")
        for _ in range(2):
            program.step()
            times.append(time.perf_counter() - BEGIN)
    print(json.dumps(times))


if __name__ == "__main__":
    main(sys.argv[1], len(sys.argv) > 2)
