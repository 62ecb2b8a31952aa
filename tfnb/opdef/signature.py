"""TensorFlow's op-signature mini-language: `"a: T, b: Ref(T) -> out: N * T"` plus attr specs.

The language is that of `REGISTER_OP` in the official op registry: argument types are a dtype name, the name of a
type attr, `Ref(...)` of either, `N * T` for a homogeneous list or the name of a `list(type)` attr.
"""
from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

GROUPS: dict[str, tuple[str, ...]] = {
    "numbertype": tuple(
        "float double int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 bfloat16 qint16 quint16 uint16"
        " complex128 half uint32 uint64".split()),
    "realnumbertype": tuple("float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64".split()),
    "floattype": ("half", "bfloat16", "float", "double"),
    "indextype": ("int32", "int64"),
}
ATTR_TYPES = frozenset({"string", "int", "float", "bool", "type", "shape", "tensor", "func"})


@dataclass(frozen=True, slots=True)
class Arg:
    """One input or output argument of an op.

    `type` is an official dtype name ("float", "int32", ...) or the name of a type attr; `number` names the int attr
    that counts a homogeneous list, `type_list` the `list(type)` attr of a heterogeneous one.
    """

    name: str
    type: str = ""
    number: str = ""
    type_list: str = ""
    is_ref: bool = False

    @property
    def is_list(self) -> bool:
        """Whether the argument is a list of tensors."""
        return bool(self.number or self.type_list)

    @property
    def is_variable(self) -> bool:
        """Whether the argument is a reference or, of an op with kernels, the handle of a variable."""
        return self.is_ref or self.type == "resource"


@dataclass(frozen=True, slots=True)
class Attr:
    """One attr: its official type ("type", "int", "list(type)", ...), default, allowed values and minimum."""

    name: str
    type: str
    default: Any = None
    has_default: bool = False
    allowed: tuple[str, ...] = ()
    minimum: int | None = None

    def short_of(self, value: Any) -> int | None:
        """Return an int, or the length of a list, that is below the minimum; None for one that is not."""
        if self.minimum is None:
            return None
        found: int = len(value) if isinstance(value, (list, tuple)) else value
        return found if found < self.minimum else None


def read_args(text: str, list_types: frozenset[str]) -> tuple[Arg, ...]:
    """The arguments of one side of a signature. list_types: the attrs of the kind `list(type)`."""
    return tuple(_read_arg(part, list_types) for part in text.split(",") if part.strip())


def _read_arg(text: str, list_types: frozenset[str]) -> Arg:
    name, _, expr = (part.strip() for part in text.partition(":"))
    ref = re.fullmatch(r"Ref\((.+)\)", expr)
    number, _, kind = (part.strip() for part in (ref[1] if ref else expr).rpartition("*"))
    if kind in list_types:
        return Arg(name, type_list=kind, is_ref=bool(ref))
    return Arg(name, type=kind, number=number, is_ref=bool(ref))


def read_attr(name: str, spec: str) -> Attr:
    """Read `"{int32, int64} = DT_INT32"`, `"int >= 1"`, `"list(type)"`, `"bool = false"` ..."""
    body, eq, default = (part.strip() for part in spec.partition("="))
    if body.endswith(">"):                       # "int >= 1 = 2": the first "=" belongs to ">="
        bound, eq, default = (part.strip() for part in default.partition("="))
        return replace(read_attr(name, body[:-1] + (f"= {default}" if eq else "")), minimum=int(bound))
    wrapped = re.fullmatch(r"list\((\{.*\}|\w+)\)", body)
    inner = wrapped[1] if wrapped else body
    allowed: tuple[str, ...] = ()
    if inner.startswith("{"):
        words = [word.strip() for word in inner.strip("{}").split(",")]
        allowed = tuple(t for word in words for t in GROUPS.get(word, (word.strip("'"),)))
        inner = "string" if "'" in body else "type"
    elif inner in GROUPS:
        allowed, inner = GROUPS[inner], "type"
    if inner not in ATTR_TYPES:
        raise ValueError(f"attr {name!r}: unknown type {inner!r} in {spec!r}")
    return Attr(name, f"list({inner})" if wrapped else inner, _value(default) if eq else None, bool(eq), allowed)


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("DT_") and text.endswith("]"):             # a tensor: "DT_UINT8 [255, 0]"
        dtype, _, items = text.partition(" ")
        return np.array(_value(items), _value(dtype))
    if text.startswith("DT_"):
        word = text[3:].lower()
        return {"float": "float32", "double": "float64", "half": "float16"}.get(word, word)
    if text.startswith("'"):
        return text.strip("'").encode()
    if text.startswith("["):
        return [_value(part.strip()) for part in text[1:-1].split(",") if part.strip()]
    if text in ("{}", "unknown"):                # an unknown shape
        return None
    try:
        return int(text)
    except ValueError:
        return float(text)


def read_signature(text: str, attrs: dict[str, str]) -> tuple[tuple[Arg, ...], tuple[Arg, ...], tuple[Attr, ...]]:
    """The inputs, outputs and attrs of an op, from its signature text and its attr specs (in official order)."""
    read = tuple(read_attr(name, spec) for name, spec in attrs.items())
    lists = frozenset(attr.name for attr in read if attr.type == "list(type)")
    left, _, right = text.partition("->")
    return read_args(left, lists), read_args(right, lists), read
