"""Stale ops: those that a notebook removed from a graph, and those that depend on something that changed.

The notebook layer marks: `op._dead` (the op left its graph, with the reason) and `graph.stale` (owner of ops -> the
reason). Building on such ops and running them raise StaleTensorError.
"""
from __future__ import annotations

from typing import Any


class StaleTensorError(RuntimeError):
    """A tensor or op is of an earlier run of its cell, or of a cell that must be rerun; the message says which.

    >>> issubclass(tf.StaleTensorError, RuntimeError)
    True
    """


def why_stale(op: Any) -> str | None:
    """Return the reason why `op` must not be used, naming the cells; None if it may be used."""
    reason: str | None = op._dead
    return reason if reason is not None else op.graph.stale.get(op.owner)


def check_fresh(op: Any) -> None:
    """Raise StaleTensorError if `op` left its graph or belongs to a stale cell."""
    reason = why_stale(op)
    if reason is not None:
        raise StaleTensorError(f"{op.name!r} ({op.type}): {reason}")
