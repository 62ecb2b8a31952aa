"""Iterators over datasets: resources of the session, from which ops take one element after another."""
from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from tfnb.core.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from tfnb.core.shape import Static
from tfnb.ops.data.datasets import OUTPUTS, function, source_of
from tfnb.ops.data.steps import Element, Elements, Source
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host

_SHARED: dict[str, Any] = {"shared_name": "string", "container": "string"}
_EXPECTED: dict[str, Any] = {"output_types": "list(type) >= 0 = []", "output_shapes": "list(shape) >= 0 = []"}


class IteratorState:
    """An iterator of a session: where it is in its dataset. types, shapes: of the components, () for any."""

    def __init__(self, types: Sequence[Any], shapes: Sequence[Static]) -> None:
        self.types, self.shapes = tuple(types), tuple(shapes)
        self.name = f"iterator_{os.urandom(8).hex()}".encode()
        self.handle = np.empty((), object)
        self.handle[()] = self
        self._lock = threading.Lock()
        self._elements: Elements | None = None
        self._fresh = False

    def begin(self, source: Source) -> None:
        """Start at the first element of `source`."""
        elements = source.start()
        with self._lock:
            self._elements, self._fresh = elements, source.fresh

    def begin_once(self, make: Any) -> None:
        """Start at the first element of what `make` returns, unless it has been started."""
        with self._lock:
            if self._elements is None:
                source = make()
                self._elements, self._fresh = source.start(), source.fresh

    def next(self, op: Any) -> Element:
        """Return the next element. Raises OutOfRangeError at the end, FailedPreconditionError before the start."""
        with self._lock:
            if self._elements is None:
                raise FailedPreconditionError(None, op, "GetNext() failed because the iterator has not been "
                                              "initialized. Ensure that you have run the initializer operation for "
                                              "this iterator before getting the next element.")
            for element in self._elements:
                return element if self._fresh else tuple([a.copy() for a in element])
        raise OutOfRangeError(None, op, "End of sequence")

    def cancel(self) -> None:
        """Drop the elements: the session is closed."""
        self._elements = iter(())


_named: WeakValueDictionary[bytes, IteratorState] = WeakValueDictionary()


def _made(ctx: Any) -> IteratorState:
    attrs = ctx.op.attrs
    found: IteratorState = ctx.store.resource(ctx.op, lambda: IteratorState(attrs["output_types"],
                                                                            attrs["output_shapes"]))
    return found


@host("-> handle: resource", shape=shapes.scalar, stateful=True, role="iterator", **_SHARED, **OUTPUTS)
def IteratorV2(*, ctx: Any) -> Any:
    """Create an iterator, which MakeIterator starts."""
    return _made(ctx).handle


@host("-> handle: resource", shape=shapes.scalar, stateful=True, role="iterator", dataset_factory="func", **OUTPUTS,
      container="string = ''", shared_name="string = ''")
def OneShotIterator(*, dataset_factory: Any, ctx: Any) -> Any:
    """Create an iterator over the dataset that a function makes, once a session."""
    state = _made(ctx)
    state.begin_once(lambda: source_of(function(ctx, dataset_factory)(())[0]))
    return state.handle


@host("dataset: variant, iterator: resource", shape=lambda ctx: [], stateful=True)
def MakeIterator(dataset: Any, iterator: Any) -> Any:
    """Start an iterator at the first element of a dataset."""
    iterator[()].begin(source_of(dataset))
    return ()


def _outputs(ctx: Any) -> list[Static]:
    return list(ctx.attrs["output_shapes"])


def _next(iterator: Any, output_types: Any, output_shapes: Any, ctx: Any) -> Any:
    element = iterator[()].next(ctx.op)
    for i, (array, static) in enumerate(zip(element, output_shapes, strict=False)):
        if static is not None and (len(static) != array.ndim or any(
                n not in (None, m) for n, m in zip(static, array.shape, strict=True))):
            raise InvalidArgumentError(None, ctx.op, f"Expected shape {list(static)} of component {i}, but the element "
                                                     f"has shape {list(array.shape)}")
    if len(element) != len(output_types):
        raise InvalidArgumentError(None, ctx.op, f"Expected {len(output_types)} components but got {len(element)}")
    return element


@host("iterator: resource -> components: output_types", shape=_outputs, stateful=True, role="iterator", **OUTPUTS)
def IteratorGetNext(iterator: Any, *, output_types: Any, output_shapes: Any, ctx: Any) -> Any:
    """Return the components of the next element of an iterator. Raises OutOfRangeError when there is none."""
    return _next(iterator, output_types, output_shapes, ctx)


@host("dataset: variant -> components: output_types", shape=_outputs, stateful=True, **OUTPUTS,
      metadata="string = ''")
def DatasetToSingleElement(dataset: Any, *, ctx: Any) -> Any:
    """Return the only element of a dataset. Raises InvalidArgumentError if there is none, or more than one."""
    elements = source_of(dataset).start()
    found = next(elements, None)
    if found is None:
        raise InvalidArgumentError(None, ctx.op, "Dataset was empty.")
    if next(elements, None) is not None:
        raise InvalidArgumentError(None, ctx.op, "Dataset had more than one element.")
    return tuple(a.copy() for a in found)


@host("resource_handle: resource -> string_handle: string", shape=shapes.scalar, stateful=True, role="iterator")
def IteratorToStringHandle(resource_handle: Any) -> Any:
    """Return a name of an iterator, by which IteratorFromStringHandleV2 finds it."""
    state = resource_handle[()]
    _named[state.name] = state
    return np.array(state.name, object)


@host("string_handle: string -> resource_handle: resource", shape=shapes.scalar, stateful=True, role="iterator",
      **_EXPECTED)
def IteratorFromStringHandleV2(string_handle: Any, *, output_types: Any, output_shapes: Any, ctx: Any) -> Any:
    """Return the iterator of a name. Raises InvalidArgumentError for an invalid name and for other dtypes."""
    state = _named.get(string_handle[()])
    if state is None:
        raise InvalidArgumentError(None, ctx.op, f"there is no iterator called {string_handle[()]!r}")
    if output_types and tuple(output_types) != state.types:
        raise InvalidArgumentError(None, ctx.op, f"Number or types of components differ: expected "
                                                 f"{[t.name for t in output_types]}, but the iterator has "
                                                 f"{[t.name for t in state.types]}")
    return state.handle


for _op in (IteratorV2, OneShotIterator, MakeIterator, IteratorGetNext, DatasetToSingleElement, IteratorToStringHandle,
            IteratorFromStringHandleV2):
    _op.no_gradient("datasets are not differentiable")
