"""Optional elements: values of type variant that hold the components of an element, or nothing."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfnb.core.errors import InvalidArgumentError, OutOfRangeError
from tfnb.core.shape import Static
from tfnb.ops.data.datasets import OUTPUTS, owned
from tfnb.ops.data.steps import Element
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host


def _variant(element: Element | None) -> np.ndarray:
    """Return a scalar of type variant that holds an element, or None."""
    made = np.empty((), object)
    made[()] = (element,)
    return made


@host("components: Toutput_types -> optional: variant", shape=shapes.scalar, Toutput_types="list(type) >= 1")
def OptionalFromValue(components: Sequence[np.ndarray]) -> Any:
    """Create an optional that holds the components of an element."""
    return _variant(tuple(owned(a) for a in components))


@host("-> optional: variant", shape=shapes.scalar)
def OptionalNone() -> Any:
    """Create an optional that holds nothing."""
    return _variant(None)


@host("optional: variant -> has_value: bool", shape=shapes.scalar, role="iterator")
def OptionalHasValue(optional: Any) -> Any:
    """Return whether an optional holds an element."""
    return np.array(optional[()][0] is not None)


def _outputs(ctx: Any) -> list[Static]:
    return list(ctx.attrs["output_shapes"])


@host("optional: variant -> components: output_types", shape=_outputs, role="iterator", **OUTPUTS)
def OptionalGetValue(optional: Any, *, output_types: Any, ctx: Any) -> Any:
    """Return the components that an optional holds. Raises InvalidArgumentError if it holds nothing."""
    element = optional[()][0]
    if element is None:
        raise InvalidArgumentError(None, ctx.op, "The given optional does not have a value.")
    if len(element) != len(output_types):
        raise InvalidArgumentError(None, ctx.op, f"The given optional has {len(element)} components, expected "
                                                 f"{len(output_types)}.")
    return element


@host("iterator: resource -> optional: variant", shape=shapes.scalar, stateful=True, role="iterator", **OUTPUTS)
def IteratorGetNextAsOptional(iterator: Any, *, ctx: Any) -> Any:
    """Return the next element of an iterator as an optional, which holds nothing at the end of the dataset."""
    try:
        return _variant(iterator[()].next(ctx.op))
    except OutOfRangeError:
        return _variant(None)


for _op in (OptionalFromValue, OptionalNone, OptionalHasValue, OptionalGetValue, IteratorGetNextAsOptional):
    _op.no_gradient("optionals of datasets are not differentiable")
