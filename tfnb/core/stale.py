"""What a notebook took out of a graph, or what stands on something that changed, must not be used by mistake.

The notebook layer marks: `op._dead` (the op left its graph, with the reason) and `graph.stale` (owner of ops -> the
reason). Building on such ops and running them raise StaleTensorError.
"""
from __future__ import annotations

from typing import Any


class StaleTensorError(RuntimeError):
    """A tensor or op is of an earlier run of its cell, or of a cell that must be run again; the message says which."""


def why_stale(op: Any) -> str | None:
    """Why `op` must not be used, in words that name the cells; None if it may be."""
    reason: str | None = op._dead
    return reason if reason is not None else op.graph.stale.get(op.owner)


def check_fresh(op: Any) -> None:
    """Raise StaleTensorError if `op` left its graph or stands in a cell that is stale."""
    reason = why_stale(op)
    if reason is not None:
        raise StaleTensorError(f"{op.name!r} ({op.type}): {reason}")
