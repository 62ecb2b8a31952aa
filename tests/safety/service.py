"""Calls sent to a worker process, which is started anew where one kills it or does not end."""
from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 20.0                      # seconds of processor time that one call may take in all ways of running it
WAIT = 10                         # times that: the seconds after which a worker is stopped that is not at work
COMMAND = (sys.executable, "-W", "ignore", "-m", "tests.safety.worker")


class Worker:
    """A worker process, ended by `close` or at the end of a `with`. `ask` may be called by one thread."""

    def __init__(self, command: tuple[str, ...] = COMMAND, limit: float = LIMIT) -> None:
        self._command, self._limit = (*command, str(limit)), limit
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def ask(self, op: str, number: int, picks: list[int]) -> dict[str, Any]:
        """What `worker.answer` says of a call; where the process died, that as its problem."""
        process = self._process = self._process or self._start()
        assert process.stdin and process.stdout
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()
        timer = threading.Timer(WAIT * self._limit, stop)
        timer.start()
        try:
            process.stdin.write(json.dumps([op, number, picks]) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = ""
        finally:
            timer.cancel()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        code = process.wait()
        self.close()
        hangs = late.is_set() or code == -getattr(signal, "SIGPROF", 0)
        what = f"HANG more than {self._limit} s" if hangs else f"CRASH the process ended with {code}"
        return {"label": f"{op} {number} {picks}", "problems": [what], "seconds": 0.0}

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            process, self._process = self._process, None
            assert process.stdin and process.stdout
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()

    def _start(self) -> subprocess.Popen[str]:
        """A worker that has imported all it needs, and said so by an empty line."""
        process = subprocess.Popen(list(self._command), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True, encoding="utf-8")
        assert process.stdout
        process.stdout.readline()
        return process
