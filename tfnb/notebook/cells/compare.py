"""Comparison of the ops that a cell's new run made with those of its run before: op by op, by name."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.notebook.graph.details import attr_text
from tfnb.opdef import kinds

_missing = object()


@dataclass(frozen=True, slots=True)
class Changes:
    """old: name -> op of the run before, in order; new: likewise; why: name -> what is different, for ops of both runs;
    added: ops whose name is new; kept: variables that go on, for a session keeps a value by name, dtype and shape.

    An op is the same if type, attrs, device and static shapes are, and if it takes the same tensors, or the same
    outputs of ops of its cell that are the same themselves.
    """

    old: dict[str, Operation]
    new: dict[str, Operation]
    why: dict[str, str]
    added: tuple[Operation, ...] = ()
    kept: frozenset[str] = frozenset()

    def same(self, name: str) -> bool:
        """The op of that name is what it was."""
        return name in self.old and name in self.new and name not in self.why

    @property
    def removed(self) -> tuple[str, ...]:
        """Names of ops that are made no longer."""
        if len(self.old) + len(self.added) == len(self.new):
            return ()
        return tuple(name for name in self.old if name not in self.new)

    @property
    def identical(self) -> bool:
        """Nothing is new, changed or gone, and there was something."""
        return bool(self.old) and not self.why and not self.added and len(self.old) == len(self.new)


def compare(old: Iterable[Operation], new: Iterable[Operation]) -> Changes:
    """The changes between two runs of a cell, each given by its ops in the order they were made."""
    olds = {op.name: op for op in old}
    news = {op.name: op for op in new}
    moved: dict[Tensor, Tensor] = {}
    why: dict[str, str] = {}
    added, kept = [], []
    for name, op in news.items():               # creation order: inputs are judged before what takes them
        before = olds.get(name)
        if before is None:
            added.append(op)
            continue
        if _same(before, op, moved) and (not (before.control_inputs or op.control_inputs)
                                         or _waits_alike(before, op, olds, news, why)):
            if len(op.outputs) == 1:
                moved[before.outputs[0]] = op.outputs[0]
            else:
                moved.update(zip(before.outputs, op.outputs, strict=True))
        else:
            why[name] = _difference(before, op, moved)
        if isinstance(op.spec, kinds.Variable) and isinstance(before.spec, kinds.Variable) \
                and fits(before.outputs[0], op.outputs[0]):
            kept.append(name)
    return Changes(olds, news, why, tuple(added), frozenset(kept))


def _same(old: Operation, new: Operation, moved: dict[Tensor, Tensor]) -> bool:
    """Return whether the ops are equal, but perhaps for what they wait for. moved: outputs of equal ops, old -> new.

    It runs for every op of a cell that is run again: 1 us each.
    """
    if old.spec is not new.spec or old.device != new.device:
        return False
    if tuple(map(moved.get, old.inputs, old.inputs)) != new.inputs:
        return False
    mine, yours = old.attrs, new.attrs
    if "value" in yours:                        # of constants, an array
        if _other_attrs(mine, yours):
            return False
    elif mine != yours and _other_attrs(mine, yours):
        return False
    given, gives = old.outputs, new.outputs
    if len(given) == len(gives) == 1:
        return fits(given[0], gives[0])
    return len(given) == len(gives) and all(map(fits, given, gives))


def _waits_alike(old: Operation, new: Operation, olds: dict[str, Operation], news: dict[str, Operation],
                 why: dict[str, str]) -> bool:
    """Return whether `new` waits for the ops that `old` waits for, or for their equals in the new run."""
    return [news.get(op.name, op) if olds.get(op.name) is op and op.name not in why else op
            for op in old.control_inputs] == new.control_inputs


def _difference(old: Operation, new: Operation, moved: dict[Tensor, Tensor]) -> str:
    """Return the difference in words, "" where there is none."""
    if old.type != new.type:
        return f"it was {old.type} and is {new.type}"
    if len(old.inputs) != len(new.inputs):
        return f"it took {len(old.inputs)} inputs and takes {len(new.inputs)}"
    for a, b in zip(old.inputs, new.inputs, strict=True):
        if moved.get(a, a) is not b:
            return (f"its input {a.op.name!r} changed" if a.name == b.name else
                    f"it took {a.op.name!r} and takes {b.op.name!r}")
    difference = _other_attrs(old.attrs, new.attrs)
    if difference:
        return difference
    for a, b in zip(old.outputs, new.outputs, strict=False):
        if a.static != b.static or a.dtype != b.dtype:
            return f"it gave {form(a)} and gives {form(b)}"
    if len(old.outputs) != len(new.outputs):
        return f"it had {len(old.outputs)} outputs and has {len(new.outputs)}"
    if old.device != new.device:
        return f"its device was {old.device or 'any'} and is {new.device or 'any'}"
    return "it waits for other ops"


def _other_attrs(old: dict[str, Any], new: dict[str, Any]) -> str:
    for name, value in new.items():
        other = old.get(name, _missing)
        if other is not value and not same_value(other, value):
            return f"its {name} was {_attr(other)} and is {_attr(value)}"
    return "" if len(old) == len(new) else "it has fewer attrs"


def _attr(value: Any) -> str:
    return "missing" if value is _missing else attr_text(value) or "empty"


def fits(old: Tensor, new: Tensor) -> bool:
    """True if what took `old` can take `new`: equal dtype and equal static shape."""
    return old.static == new.static and (old.dtype is new.dtype or bool(old.dtype == new.dtype))


def form(t: Tensor) -> str:
    """The dtype and static shape of a tensor: "float32[?, 3]"."""
    shape = "?" if t.static is None else f"[{', '.join('?' if n is None else str(n) for n in t.static)}]"
    return f"{t.dtype.base_dtype.name}{shape}"


def same_value(a: Any, b: Any) -> bool:
    """Equality of attr values; arrays by dtype, shape and bytes, so that NaN equals NaN and 0.0 is not -0.0."""
    if type(a) is not type(b):
        return False
    if type(a) is np.ndarray:
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return bool(a.tolist() == b.tolist() if a.dtype.hasobject else a.tobytes() == b.tobytes())
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_value(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same_value, a, b))
    if isinstance(a, float):
        return bool(a == b or (a != a and b != b))
    return bool(a == b)
