"""Primitives as functions over symbols, while a scalar body is read (scalar.py).

The helpers that bodies and expansions call name the primitives that they use by `primitive(name)`: a body itself finds
them as if they were builtins, a function that it calls does not.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

reading = threading.local()               # .reader: records the body that this thread reads


def primitive(name: str) -> Callable[..., Any]:
    """Return the function that applies a primitive to the symbols of the body that is being read."""
    return lambda *args: reading.reader.step(name, *args)
