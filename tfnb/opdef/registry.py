"""Registry of ops: all records by name, and the modules of those that are not imported yet."""
from __future__ import annotations

import importlib

from tfnb.core.interrupts import held_back
from tfnb.opdef.index import MODULE_OF
from tfnb.opdef.op import Op

OPS: dict[str, Op] = {}
CUSTOM: dict[str, Op] = {}              # of these, the ops that users declared


def find(name: str) -> Op | None:
    """Return the op of that name, or None. Imports the module that declares it, if nothing else did so far.

    Every look-up by a name that comes from outside (a NodeDef, a user) goes through here.
    """
    if name not in OPS and name in MODULE_OF:
        with held_back():
            importlib.import_module(MODULE_OF[name])
    return OPS.get(name)


def names() -> frozenset[str]:
    """Return the names of all ops, imported or not."""
    return frozenset(OPS) | MODULE_OF.keys()


def add(op: Op) -> None:
    """Register an op. Raises ValueError if the name is taken: an op is written once."""
    if op.name in OPS:
        raise ValueError(f"op {op.name!r} is declared twice")
    OPS[op.name] = op


def declare_custom(op: Op) -> None:
    """Register an op that a user declares, in place of the one that was declared by that name before."""
    if op.name not in CUSTOM:
        add(op)
    OPS[op.name] = CUSTOM[op.name] = op


def restore_custom(ops: dict[str, Op]) -> None:
    """Let the ops that users declared be these, and no others."""
    for name in CUSTOM:
        del OPS[name]
    CUSTOM.clear()
    CUSTOM.update(ops)
    OPS.update(ops)
