"""Ops on strings."""
from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tfnb.core.shape import Static, merge
from tfnb.graph.operation import Tensor
from tfnb.ops import shapes
from tfnb.ops.declare import host


def _joined(ctx: Any) -> list[Static]:
    """The shape that all inputs but the scalars have."""
    common: Static = None
    given = [ctx.shape(i) for i in range(len(ctx.op.inputs))]
    for shape in given:
        if shape != ():
            common = merge(common, shape)
    return [() if all(shape == () for shape in given) else common]


@host("inputs: N * string -> output: string", shape=_joined, N="int >= 0", separator="string = ''")
def StringJoin(inputs: Any, *, separator: bytes) -> Any:
    """Joins strings, element by element, with `separator` between; scalars join with every element."""
    if not inputs:
        return np.array(b"", object)
    common = {array.shape for array in inputs if array.ndim}
    if len(common) > 1:
        raise ValueError("Input shapes do not match: " + ", ".join(str(list(a.shape)) for a in inputs))
    made = np.empty(common.pop() if common else (), object)
    for place in np.ndindex(made.shape):
        made[place] = separator.join(array[place] if array.ndim else array[()] for array in inputs)
    return made


@lru_cache(maxsize=64)
def _pattern(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern, re.DOTALL)


@host("input: string -> output: bool", shape=shapes.like_first, pattern="string")
def StaticRegexFullMatch(input: Any, *, pattern: bytes) -> Any:
    """Does the whole of each string match the regular expression `pattern`?"""
    found = _pattern(pattern).fullmatch
    return np.array([found(text) is not None for text in input.reshape(-1)], bool).reshape(input.shape)


for _op in (StringJoin, StaticRegexFullMatch):
    _op.no_gradient("its input is a string")


def string_join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """Strings of several tensors joined element by element; scalars join with every element."""
    result: Tensor = StringJoin(inputs, separator=separator, name=name)
    return result
