"""Attrs of nodes that come from outside, checked against the op's definition: kind, dtype, allowed values, minimum."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.errors import ResourceExhaustedError
from tfnb.graph.formats import protos
from tfnb.opdef import kinds
from tfnb.opdef.op import Op
from tfnb.opdef.signature import Arg, Attr

MOST_OUTPUTS = 1 << 22              # of one op: each is an object of 200 bytes
# The field of an AttrValue -> the official name of the kind of its value.
_KINDS = {"i": "int", "f": "float", "b": "bool", "s": "string", "type": "type", "shape": "shape", "tensor": "tensor",
          "func": "func"}


def native_attrs(spec: Op, given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return attrs of the node `name`, AttrValue protos or native values, as native values.

    An empty proto counts as absent, as in TensorFlow. Raises ValueError for a value of another kind than the op's attr,
    a dtype that is none or is a reference, a broken shape or tensor; TypeError for `_class` that is no list of strings.
    """
    kinds = {attr.name: attr.type for attr in spec.attrs}
    made: dict[str, Any] = {}
    for key, value in given.items():
        if not hasattr(value, "WhichOneof") or "AttrValue" not in type(value).__name__:
            made[key] = value
        elif value.WhichOneof("value") is not None:
            _check_kind(spec, key, kinds.get(key), value, name)
            if key != "_output_shapes" or kind_of(value) in ("list(shape)", "list"):
                made[key] = _native(spec, key, value, name)
    groups = made.get("_class", [])
    if not isinstance(groups, (list, tuple)) or not all(isinstance(group, bytes) for group in groups):
        raise TypeError(f"attr '_class' of node {name!r} ({spec.name}): expected a list of strings, got {groups!r}")
    return made


def kind_of(value: Any) -> str:
    """Return the kind of an AttrValue ("int", "list(type)"), "list" of an empty list."""
    field = str(value.WhichOneof("value"))
    if field != "list":
        return _KINDS.get(field, field)
    found = [kind for name, kind in _KINDS.items() if len(getattr(value.list, name))]
    return f"list({found[0] if len(found) == 1 else ', '.join(found)})" if found else "list"


def _check_kind(spec: Op, key: str, expected: str | None, value: Any, name: str) -> None:
    found = kind_of(value)
    if found == "placeholder":
        raise ValueError(f"attr {key!r} of node {name!r} ({spec.name}) has a value of the type 'placeholder'")
    if expected is not None and found != expected and not (found == "list" and expected.startswith("list(")):
        raise ValueError(f"AttrValue had value with type {found!r} when {expected!r} expected for attr {key!r} of node "
                         f"{name!r} ({spec.name})")


def _native(spec: Op, key: str, value: Any, name: str) -> Any:
    place = f"attr {key!r} of node {name!r} ({spec.name})"
    try:
        made = protos.native_attr(value)
    except MemoryError as error:
        raise ResourceExhaustedError(None, None, f"{place}: OOM: {error}") from None
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise ValueError(f"{place}: {error}") from None
    for part in made if isinstance(made, list) else [made]:
        if isinstance(part, DType) and part._is_ref_dtype:
            raise ValueError(f"{place} must not be the type of a reference, {part.name}")
    for shape in [value.shape] if value.WhichOneof("value") == "shape" else value.list.shape:
        if any(dim.size < -1 for dim in shape.dim):
            raise ValueError(f"{place}: shape {[dim.size for dim in shape.dim]} has dimensions with values below -1")
    return made


def check_values(spec: Op, attrs: Mapping[str, Any], name: str) -> None:
    """Raise ValueError for an attr whose value the op's definition does not allow, or is below its minimum."""
    for attr in spec.attrs:
        if attr.allowed and attr.name in attrs:
            _check_allowed(spec, attr, attrs[attr.name], name)
        short = attr.short_of(attrs[attr.name]) if attr.name in attrs else None
        if short is not None:
            what = "Length" if attr.type.startswith("list(") else "Value"
            raise ValueError(f"{what} for attr {attr.name!r} of {short} must be at least minimum {attr.minimum} for "
                             f"node {name!r} ({spec.name})")
    if isinstance(spec, kinds.Const) and attrs["value"].dtype != attrs["dtype"].np_dtype:
        raise ValueError(f"the value of node {name!r} has the type {attrs['value'].dtype}, expected that of its attr "
                         f"'dtype', {attrs['dtype'].name}")


def output_count(spec: Op, arg: Arg, attrs: Mapping[str, Any]) -> int:
    """Return the number of tensors of an output of one dtype. Raises ValueError for more than MOST_OUTPUTS."""
    count: int = attrs[arg.number] if arg.number else 1
    if count > MOST_OUTPUTS:
        raise ValueError(f"attr {arg.number!r} of {spec.name}: expected at most {MOST_OUTPUTS:,} outputs, got "
                         f"{count:,}")
    return count


def _check_allowed(spec: Op, attr: Attr, value: Any, name: str) -> None:
    values: Sequence[Any] = value if attr.type.startswith("list(") else [value]
    for part in values:
        if (part.encode() if isinstance(part, str) else part) not in _allowed(attr):
            told = part.name if isinstance(part, DType) else repr(part)
            raise ValueError(f"Value for attr {attr.name!r} of {told} is not in the list of allowed values: "
                             f"{', '.join(attr.allowed)} for node {name!r} ({spec.name})")


@lru_cache(maxsize=1024)
def _allowed(attr: Attr) -> frozenset[Any]:
    types = attr.type in ("type", "list(type)")
    return frozenset(as_dtype(word) if types else word.encode() for word in attr.allowed)
