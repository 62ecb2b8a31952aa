"""Datasets of Python generators: the functions that their ops call."""
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import count as numbers
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.errors import OutOfRangeError
from tfnb.data import structure
from tfnb.data.structure import Component
from tfnb.graph.function import FunctionGraph
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.ops.control.script import py_func
from tfnb.ops.data.datasets import GeneratorDataset


class Generators:
    """The iterators of one `from_generator`, by number: what the Python functions of its ops share."""

    def __init__(self, make: Callable[..., Any], element: Any) -> None:
        self._make, self.element = make, element
        self._open: dict[int, Any] = {}
        self._lock, self._count = threading.Lock(), numbers()

    def begin(self, *args: Any) -> np.int64:
        """Call the generator; gives the number of its iterator."""
        made = iter(self._make(*args))
        with self._lock:
            number = next(self._count)
            self._open[number] = made
        return np.int64(number)

    def next(self, number: Any) -> list[np.ndarray]:
        """The components of the next element. Raises OutOfRangeError at the end, TypeError, ValueError for others."""
        try:
            value = next(self._open[int(number)])
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence") from None
        leaves = structure.flatten_up_to(self.element, value, "what the generator yields")
        return [_array(leaf, part) for leaf, part in zip(leaves, structure.flatten(self.element), strict=True)]

    def end(self, number: Any) -> np.int64:
        """Forget an iterator."""
        self._open.pop(int(number), None)
        return np.int64(0)


def _array(value: Any, component: Component) -> np.ndarray:
    """A value that a generator yields. Raises TypeError, ValueError if it is none of the component."""
    if component.dtype == dtypes.string:
        array = np.asarray(value, object)
        if any(not isinstance(v, (str, bytes)) for v in array.reshape(-1)):
            raise TypeError(f"`generator` yielded an element that could not be converted to the expected type. The "
                            f"expected type was string, but the yielded element was {value!r}.")
    else:
        try:
            array = np.array(value, component.dtype.as_numpy_dtype)
        except (TypeError, ValueError) as error:
            raise TypeError(f"`generator` yielded an element that could not be converted to the expected type. The "
                            f"expected type was {component.dtype.name}, but the yielded element was {value!r}."
                            ) from error
    if not component.shape.is_compatible_with(array.shape):
        raise ValueError(f"`generator` yielded an element of shape {array.shape} where an element of shape "
                         f"{component.shape} was expected.")
    return array


def generated(state: Generators, arguments: Sequence[Tensor]) -> Tensor:
    """The variant of the dataset of one call of the generator, in the graph of a function."""
    graph = get_default_graph()

    def function(name: str, fn: Callable[..., Any], types: Any,
                 inputs: Sequence[Tensor] | None) -> tuple[Any, list[Tensor]]:
        with FunctionGraph(graph) as body:
            given = [body.placeholder(dtypes.int64, (), "state")] if inputs is None else list(inputs)
            f = body.finish(py_func(fn, given, types), f"generator_{name}")
        return f, list(body.captured)
    number = [dtypes.int64]
    first, given = function("init", state.begin, number, arguments)
    following, _ = function("next", state.next, structure.types(state.element), None)
    last, _ = function("finalize", state.end, number, None)
    made: Tensor = GeneratorDataset(given, [], [], init_func=first, next_func=following, finalize_func=last,
                                    **structure.attrs(state.element))
    return made
