"""Calls of ops by the examples in the docstrings of an op and its family: samples for all tests by kind.

`from_examples(op)` has inputs and attrs of each; `functions(op)` the same as functions of the inputs that are floats.
"""
from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

import tfnb as tf
from tests.example_run import step, steps
from tfnb.graph.parts.operation import Operation
from tfnb.opdef import registry
from tfnb.opdef.index import MODULE_OF
from tfnb.ops.declaration.raw import raw


@dataclass(frozen=True)
class Record:
    """A call: arrays in the order of the flat inputs, attrs that the signature does not infer.

    sizes: how many inputs each list argument has, by its position; the variables come as arrays too.
    """

    op: str
    arrays: tuple[np.ndarray, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    sizes: tuple[tuple[int, int], ...] = ()
    label: str = "valid"

    def given(self, inputs: list[Any]) -> list[Any]:
        """`inputs`, one for each array, as the constructor of the op takes them."""
        made, at, sizes = [], 0, dict(self.sizes)
        for i, _ in enumerate(registry.find(self.op).inputs):
            made.append(inputs[at:at + sizes[i]] if i in sizes else inputs[at])
            at += sizes.get(i, 1)
        return made

    def attrs_differ(self, other: Record) -> bool:
        """Return whether another call of the op has other attrs."""
        return repr(self.attrs) != repr(other.attrs)

    def changed(self, label: str, **changes: Any) -> Record:
        """Another call, whose label says what is other."""
        return replace(self, label=f"{self.label}, {label}" if self.label != "valid" else label, **changes)

    def with_array(self, i: int, array: np.ndarray, label: str) -> Record:
        """The call with another array as input `i`."""
        return self.changed(f"input {i} {label}", arrays=(*self.arrays[:i], array, *self.arrays[i + 1:]))


def explicit(op: str) -> tuple[str, ...]:
    """The attrs that a call has to give."""
    return getattr(raw, op)._explicit


def record(op: Operation, arrays: tuple[np.ndarray, ...]) -> Record:
    """Return the call that a node is, with the values of its inputs."""
    sizes = [(i, len(op.attrs[arg.type_list]) if arg.type_list else op.attrs[arg.number])
             for i, arg in enumerate(op.spec.inputs) if arg.is_list]
    return Record(op.type, arrays, {name: op.attrs[name] for name in explicit(op.type)}, tuple(sizes))


def documents(module: str) -> Iterator[str]:
    """Yield the docstrings of the functions and ops that a module declares."""
    for value in vars(importlib.import_module(module)).values():
        if getattr(value, "__module__", None) == module and callable(value):
            yield value.__doc__ or ""
    for op, home in MODULE_OF.items():
        if home == module:
            yield registry.find(op).doc


@cache
def of_module(module: str) -> dict[str, list[Record]]:
    """Return op -> the calls of it that the examples of a module make, without those that need variables or feeds."""
    found: dict[str, list[Record]] = {}
    for doc in dict.fromkeys(documents(module)):
        if ">>> " not in doc:
            continue
        with warnings.catch_warnings(), tf.Graph().as_default() as graph, tf.Session() as sess:
            warnings.simplefilter("ignore")
            names = {"tf": tf, "np": np, "sess": sess}
            for source, _ in steps(doc):
                step(source, names)
            for op in graph.get_operations():
                if op.inputs and MODULE_OF.get(op.type) == module:
                    with contextlib.suppress(tf.errors.OpError):
                        values = zip(op.inputs, sess.run(list(op.inputs)), strict=True)
                        arrays = tuple(np.asarray(a, object if x.dtype == tf.string else None) for x, a in values)
                        found.setdefault(op.type, []).append(record(op, arrays))
    return found


def from_examples(op: str) -> list[Record]:
    """Return the calls of an op in the examples of its family."""
    return of_module(MODULE_OF[op]).get(op, []) if op in MODULE_OF else []


def functions(op: str) -> list[tuple[Callable[..., Any], list[tuple[int, ...]]]]:
    """Return (function, shapes) for each example of an op: a function of those inputs that may be float64.

    The other inputs are the example's.
    """
    made = []
    for call in from_examples(op):
        free = [i for i, dtype in enumerate(_types(call)) if dtype]
        if free:
            made.append((_function(call, free), [call.arrays[i].shape for i in free]))
    return made


def _types(call: Record) -> list[bool]:
    """Return whether each input of a call may be of any float dtype."""
    spec, sizes = registry.find(call.op), dict(call.sizes)
    allowed = {attr.name: attr.allowed for attr in spec.attrs}
    return [arg.type in allowed and (not allowed[arg.type] or "double" in allowed[arg.type])
            for i, arg in enumerate(spec.inputs) for _ in range(sizes.get(i, 1))]


def _function(call: Record, free: list[int]) -> Callable[..., Any]:
    def run(*tensors: Any) -> Any:
        inputs = list(map(tf.constant, call.arrays))
        for i, tensor in zip(free, tensors, strict=True):
            inputs[i] = tensor
        return getattr(raw, call.op)(*call.given(inputs), **call.attrs)
    return run
