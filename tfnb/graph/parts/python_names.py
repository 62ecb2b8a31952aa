"""The Python names that a program binds to tensors, ops and variables: `loss`, `w["h1"]`, `model.logits`.

Errors name the operands of an op by them, from the frames of the user's code that are on the stack.
"""
from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from types import FrameType, TracebackType
from typing import Any

from tfnb.core import taps
from tfnb.core.source import NEWLOCALS, PACKAGE
from tfnb.graph.formats.nodes import VARIABLE_OPS
from tfnb.graph.parts.collection import op_of
from tfnb.graph.parts.operation import Operation, Tensor, brackets

HISTORY = ("In", "Out")     # IPython's own names for what cells held
MOST = 200          # entries of a container, or attributes of an object, that are looked at
OPERANDS = 6        # that an error tells of
STEPS = 8           # ops that a call of ours puts before the one that failed
FRAMES = 4          # of the user, that names are looked up in


def names_in(namespace: Mapping[str, Any], graph: Any) -> dict[str, list[str]]:
    """Return the Python names of the tensors and ops of a graph, those of variables of the namespace first.

    Entries of lists, tuples and dicts, and attributes of the user's own objects are named one level deep. Keys are
    names of ops, and of tensors beyond the first output ("split:1").
    """
    found: dict[str, list[str]] = {}
    known = [(name, value) for name, value in namespace.items() if not name.startswith("_") and name not in HISTORY]
    own = ("__main__", namespace.get("__name__"))
    inner = [pair for name, value in known for pair in _parts(name, value, own)]
    for name, value in [*known, *inner]:
        key = key_of(value, graph)
        if key and name not in found.setdefault(key, []):
            found[key].append(name)
    return found


def is_ours(value: Any) -> bool:
    """Return whether a value is an object of tfnb. Nothing of another is read: its attributes may be code."""
    return not issubclass(type(value), type) and any(base.__module__[:5] == "tfnb." for base in type(value).__mro__)


def key_of(value: Any, graph: Any) -> str:
    """Return the name of the op, or of the tensor beyond the first output, that a value is; "" for anything else."""
    op = op_of(value) if is_ours(value) else None
    if op is None or op.graph is not graph or op._dead:
        return ""
    return value.name if isinstance(value, Tensor) and value.value_index else op.name


def _parts(name: str, value: Any, own: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """The named parts of a container or of an object of the user's classes; a large one has none."""
    kind = type(value)
    if issubclass(kind, (list, tuple)) and len(value) <= MOST:
        fields = getattr(value, "_fields", None)
        yield from ((f"{name}.{fields[i]}" if fields else f"{name}[{i}]", part) for i, part in enumerate(value))
    elif issubclass(kind, dict) and len(value) <= MOST:
        yield from ((f"{name}[{key!r}]", part) for key, part in value.items() if isinstance(key, (str, int)))
    elif kind.__module__ in own:
        attributes = getattr(value, "__dict__", {})
        if len(attributes) <= MOST:
            yield from ((f"{name}.{key}", part) for key, part in attributes.items() if not key.startswith("_"))


def user_namespaces(frames: Iterable[FrameType]) -> list[dict[str, Any]]:
    """Return what names mean in the user's frames, of `frames` from the innermost out, to the first module or cell."""
    found = []
    for frame in frames:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            found.append({**frame.f_locals, **{k: v for k, v in frame.f_globals.items() if k not in frame.f_locals}})
            if len(found) == FRAMES or not frame.f_code.co_flags & NEWLOCALS:
                break
    return found or [vars(sys.modules["__main__"])]


def _frames(trace: TracebackType | None) -> Iterator[FrameType]:
    """The frames of an error, or those on the stack, and the callers of these: innermost first."""
    inner: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1) if trace is None else trace.tb_frame.f_back
    while trace is not None:
        inner.append(trace.tb_frame)
        trace = trace.tb_next
    yield from reversed(inner)
    while frame is not None:
        yield frame
        frame = frame.f_back


def told_operands(values: Iterable[Any], of: Operation | None = None, trace: TracebackType | None = None) -> str:
    """Describe operands for an error, a line each: "`h` ('Relu:0') is float32 [?,24], made at cell [12], line 3".

    values: tensors and variables, and lists of them; others are passed over. of: the op that takes them, or failed
    to be made of them. trace: of the error; by default the callers' frames. What a call of tfnb put between is
    skipped for what the user gave to the call. Never raises.
    """
    try:
        given = [each for value in values for each in _tensors(value)]
        if not given:
            return ""
        spaces = user_namespaces(_frames(trace))
        names: dict[tuple[Any, str], str] = {}
        for space, graph in product(spaces, dict.fromkeys(each.graph for each in given)):
            names = {(graph, key): found[0] for key, found in names_in(space, graph).items()} | names
        lines = [_line(each, names, of) for each in given]
        return "".join(f"\n{line}" for line in list(dict.fromkeys(filter(None, lines)))[:OPERANDS])
    except Exception:               # of what hostile objects do in a namespace; the error itself is what matters
        return ""


def told_value(value: Any) -> str:
    """Return a line for the error on a value that is used as a tensor: which name of the callers' was given to it.

    "" for what is no result of a run, or has no name.
    """
    try:
        names = [name for space in user_namespaces(_frames(None)) for name, held in space.items() if held is value
                 and not name.startswith("_")] if type(value).__module__ == "numpy" else []
        return f"\n`{names[0]}` is a value, no tensor: a line such as `{names[0]} = sess.run({names[0]})` gives the " \
               "name of a tensor to its value" if names else ""
    except Exception:
        return ""


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, (list, tuple)):
        return [each for part in value[:OPERANDS] for each in _tensors(part)]
    op = None if isinstance(value, (Tensor, Operation, type)) else op_of(value)
    return [value] if isinstance(value, Tensor) else op.outputs[:1] if op is not None else []


def _told_op(op: Operation, trace: TracebackType | None) -> str:
    """The Python name of the op that an error of a run is of, and its operands."""
    return told_operands([*op.outputs[:1 if not op.inputs else 0], *op.inputs], op, trace)


def _line(tensor: Tensor, names: Mapping[tuple[Any, str], str], of: Operation | None) -> str:
    """Describe a tensor, or what the user gave for it; "" for what the failing call made itself, of nothing."""
    site = of._recorded[:2] if of is not None else ()
    found, name = tensor, ""
    for _ in range(STEPS):
        name = names.get((found.graph, key_of(found, found.graph)), "")
        read = found.op.type in ("Identity", "ReadVariableOp") and bool(found.op.inputs) \
            and found.op.inputs[0].op.type in VARIABLE_OPS
        if name or not found.op.inputs or not read and found.op._recorded[:2] != site:
            break
        found = found.op.inputs[0]
    if found.op is of or not name and found.op._recorded[:2] == site:
        return f"`{name}` ({found.name!r}) is {_kind(found)}" if name else ""
    start = f"`{name}` ({found.name!r})" if name else f"{found.name!r}"
    return f"{start} is {_kind(found)}, made at {found.op.made_at}"


def _kind(tensor: Tensor) -> str:
    return f"{tensor.dtype.base_dtype.name} {brackets(tensor.static)}"


taps.tell_op = _told_op
