"""Calls of layers that are under way: what an outer layer passes on to inner ones."""
from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Call:
    """A call under way. layer: the layer; training: its argument of that name, or that of an outer call."""

    layer: Any
    training: Any


class _Calls(threading.local):
    def __init__(self) -> None:
        self.stack: list[Call] = []


_calls = _Calls()


def outer_call() -> Call | None:
    """Return the innermost call under way, if there is one."""
    return _calls.stack[-1] if _calls.stack else None


@contextmanager
def entered(call: Call) -> Iterator[None]:
    """Have `call` under way in a block."""
    _calls.stack.append(call)
    try:
        yield
    finally:
        _calls.stack.pop()
