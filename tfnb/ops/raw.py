"""`raw.Sum(x, axes)`: the constructor of any declared op by its official name, looked up when it is called.

Gradients use it for ops of families that come after their own, so that the families import each other one way only.
"""
from __future__ import annotations

from tfnb.opdef import tables
from tfnb.ops.construct import Constructor


class _Raw:
    """Attributes are constructors, made at first use. Raises AttributeError for an op that is not declared."""

    def __getattr__(self, name: str) -> Constructor:
        if name not in tables.OPS:
            raise AttributeError(f"no op is called {name!r}")
        made = Constructor(tables.OPS[name])
        setattr(self, name, made)
        return made


raw = _Raw()
