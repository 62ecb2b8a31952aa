"""Stacks: the history that a loop keeps of its iterations for the gradient loop."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.dtypes import DType
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host
from tfnb.resources.elements import Stack, own


@host("max_size: int32 -> handle: resource", shape=shapes.scalar, transient=True, elem_type="type",
      stack_name="string = ''")
def StackV2(max_size: np.ndarray, *, elem_type: DType, stack_name: bytes, ctx: Any) -> Stack:
    """Create an empty stack at each run. max_size: the most values it may hold; negative: any number."""
    return Stack(stack_name.decode() or ctx.op.name, int(max_size))


@host("handle: resource, elem: T -> output: T", shape=lambda ctx: [ctx.shape(1)], transient=True,
      element="push", T="type", swap_memory="bool = false")
def StackPushV2(handle: Any, elem: np.ndarray) -> np.ndarray:
    """Push `elem` onto a stack; its output is `elem`."""
    value = own(elem)
    handle[()].push(value)
    return value


@host("handle: resource -> elem: elem_type", shape=shapes.unknown, transient=True, element="pop",
      elem_type="type")
def StackPopV2(handle: Any) -> np.ndarray:
    """Pop the top value of a stack."""
    return handle[()].pop()


@host("handle: resource", shape=lambda ctx: [], transient=True)
def StackCloseV2(handle: Any) -> tuple[()]:
    """Drop the values of a stack."""
    handle[()].clear()
    return ()


for _op in (StackV2, StackPushV2, StackPopV2, StackCloseV2):
    _op.no_gradient("loops of gradients are made of it; there is no second order of them")
