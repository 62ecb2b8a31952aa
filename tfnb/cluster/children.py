"""TensorFlow's servers as child processes: one for each task that this process is."""
from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from tfnb.core.errors import UnavailableError, UnimplementedError, error_of

PYTHON = "TFNB_TF_PYTHON"
LEVEL = "TF_CPP_MIN_LOG_LEVEL"
LINES = 20              # of a server's log that an error shows
_TASK = Path(__file__).with_name("tensorflow_task.py")
_RECORD = re.compile(r"(?:.*?: )?([IWEF])(?:\d{4} | \S+:\d+\])")      # as of absl's log or of TensorFlow's own
_children: list[subprocess.Popen[bytes]] = []


def tensorflow_python() -> str:
    """Return the Python that runs TensorFlow's servers: $TFNB_TF_PYTHON, or this one. Raises UnimplementedError."""
    named = os.environ.get(PYTHON)
    if named:
        return named
    # The finder of paths, since tfnb may answer to `import tensorflow` in this process.
    if PathFinder.find_spec("tensorflow") is None:
        raise UnimplementedError(
            None, None, "a cluster of several tasks is run by TensorFlow's own servers, and this Python has no "
            f"tensorflow: pip install tensorflow-cpu, or name a Python that has it, {PYTHON}=/path/to/python")
    return sys.executable


class Child:
    """A server process. It ends when this process does.

    server_def: its ServerDef. Raises UnimplementedError where there is no TensorFlow, the server's error if it can't
    start (its port is taken), UnavailableError if the process ends before.
    """

    def __init__(self, server_def: Any) -> None:
        # Else a line for each graph that is extended, and for each neighbour that ends; sessions get the errors.
        environment = {LEVEL: "3", **os.environ}
        if os.environ.get(PYTHON):
            environment.pop("PYTHONPATH", None)                 # of this Python, not of that
        self._process = subprocess.Popen([tensorflow_python(), str(_TASK)], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        _children.append(self._process)
        self._ready = False
        self._said: deque[str] = deque(maxlen=LINES)
        self._level = environment[LEVEL]
        self._listener = threading.Thread(target=self._listen, name="tfnb-server-log", daemon=True)
        self._listener.start()
        assert self._process.stdin is not None and self._process.stdout is not None
        text = server_def.SerializeToString()
        try:
            self._process.stdin.write(len(text).to_bytes(8, "little") + text)
            self._process.stdin.flush()
        except OSError:                                         # it has ended; its exit status says so
            pass
        word, _, rest = self._process.stdout.readline().decode().strip().partition(" ")
        if word == "ERROR":
            code, _, message = rest.partition(" ")
            self.stop()
            raise error_of(int(code), None, message)
        if word != "READY":
            status = self._process.wait()
            self.stop()
            raise UnavailableError(None, None, "TensorFlow's server ended before it was ready, with exit status "
                                   f"{status}: {tensorflow_python()} {_TASK}\n{''.join(self._said)}")
        self.target, self._ready = rest, True

    def _listen(self) -> None:
        """Pass on the ready server's log from its level on; keep the last lines of all, for an error."""
        assert self._process.stderr is not None
        shown = True
        with self._process.stderr as lines:
            for line in lines:
                text = line.decode(errors="replace")
                self._said.append(text)
                record = _RECORD.match(text)
                if record is not None:          # TensorFlow 2.21's servers write all levels; other lines belong to it
                    shown = str("IWEF".index(record[1])) >= self._level
                if self._ready and shown:
                    sys.stderr.write(text)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def running(self) -> bool:
        """Return whether the process is there."""
        return self._process.poll() is None

    def join(self) -> None:
        """Block until the process ends. Raises UnavailableError then: servers run for ever."""
        status = self._process.wait()
        self._listener.join(1)
        raise UnavailableError(None, None, f"TensorFlow's server has ended, with exit status {status}\n"
                               f"{''.join(self._said)}".rstrip())

    def stop(self) -> None:
        """End the process, and close the pipes to it."""
        _end(self._process)
        self._listener.join(1)                                  # which closes its pipe behind the end of the log
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):                             # what was not written has no reader
                pipe.close()
        if self._process in _children:
            _children.remove(self._process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait()


@atexit.register
def _end_all() -> None:
    for process in _children:
        _end(process)
