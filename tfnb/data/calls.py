"""The functions that programs give to datasets: each is called once, to build the body of a function."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tfnb.core.dtypes import DType
from tfnb.data import structure
from tfnb.data.structure import Structured
from tfnb.graph.function import FunctionGraph
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph


class Called:
    """A function of elements as a graph.

    fn: is called with tensors in the structure of `element`, a tuple as several arguments. f: what names the function;
    captured: the tensors it takes from outside; element: the structure of what it returns. Raises TypeError for what
    is no element. rows: return SparseTensors as rows, which `unbatch` takes apart.
    """

    def __init__(self, fn: Callable[..., Any], element: Any, name: str, rows: bool = False) -> None:
        if not callable(fn):
            raise TypeError(f"a function of elements is needed, but got {fn!r}")
        with FunctionGraph(get_default_graph()) as body:
            taken = zip(structure.types(element), structure.shapes(element), strict=True)
            values = structure.as_values(element, [body.placeholder(dtype, static, f"arg{i}")
                                                   for i, (dtype, static) in enumerate(taken)])
            several = isinstance(element, tuple) and not hasattr(element, "_fields")
            result = fn(*values) if several else fn(values)
            # official: a list is what ops with several outputs return, not one tensor to be
            self.element, outputs = _returned(tuple(result) if isinstance(result, list) else result, name, rows)
            self.f = body.finish(outputs, f"{name}_{getattr(fn, '__name__', type(fn).__name__)}")
        self.captured = list(body.captured)


def _returned(result: Any, name: str, rows: bool) -> tuple[Any, list[Tensor]]:
    """(structure, tensors) of what a function returned."""
    leaves = structure.flatten(result)
    if not leaves or any(leaf is None for leaf in leaves):
        raise TypeError(f"Unsupported return value from function passed to {name.replace('_', '.', 1)}(): {result!r}: "
                        "it must return tensors, or tuples and dicts of them")
    return structure.as_tensors(result, rows=rows)


def dataset_of(call: Called, name: str) -> Any:
    """The structure of the elements of the dataset that a function returns. Raises TypeError if it returns another."""
    found = call.element
    if structure.is_structure(found) or found.wrap is None or not issubclass(found.wrap, Structured):
        raise TypeError(f"`map_func` of {name} must return a `Dataset` object. Got {call.element!r}")
    return found.inner


def single(call: Called, dtype: DType, what: str) -> None:
    """Raise ValueError unless a function returns one scalar of `dtype`."""
    found = call.element
    if structure.is_structure(found) or found.dtype != dtype or not found.shape.is_compatible_with([]):
        raise ValueError(f"{what} must return a scalar {dtype.name} tensor, but it returns {found!r}")


def with_state(fn: Callable[..., Any], state: Any, element: Any, name: str,
               state_of: Callable[[Any], Any] = lambda made: made) -> tuple[Called, Any]:
    """A function of a state and an element, and the structure of the state.

    state_of: the state in the structure of what `fn` returns. A size that `fn` changes is unknown. Raises TypeError if
    it returns a state of another structure or of other dtypes.
    """
    while True:
        call = Called(fn, (state, element), name)
        before = structure.flatten(state)
        after = structure.flatten_up_to(state, state_of(call.element), "the new state")
        for old, new in zip(before, after, strict=True):
            if structure.is_structure(new) or old.dtype != new.dtype:
                raise TypeError("The element types for the new state must match the initial state. Expected "
                                f"{state!r}; got {state_of(call.element)!r}.")
        relaxed = [replace(a, shape=structure.common_shape(a.shape, b.shape)) for a, b in
                   zip(before, after, strict=True)]
        if relaxed == before:
            return call, state
        state = structure.pack(state, relaxed)
