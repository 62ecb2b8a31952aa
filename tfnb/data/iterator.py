"""`tf.data.Iterator`: what takes elements out of a dataset, one a run."""
from __future__ import annotations

from typing import Any

from tfnb.core.dtypes import string
from tfnb.data import structure
from tfnb.data.structure import Structured
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.data import iterators


class Iterator(Structured):
    """An iterator over datasets whose elements have one structure; its place is the session's.

    Programs make one with a method of Dataset, or with `from_structure` or `from_string_handle`. iterator_resource:
    its handle; element: a tensor for each component, of its dtype and shape.

    >>> iterator = tf.data.Iterator.from_structure(tf.int64, [])
    >>> element = iterator.get_next()
    >>> sess.run(iterator.make_initializer(tf.data.Dataset.range(5, 10)))
    >>> sess.run(element), sess.run(element)
    (5, 6)
    """

    def __init__(self, iterator_resource: Tensor, element: Any) -> None:
        self._iterator_resource, self._element = iterator_resource, element
        self._initializer: Operation | None = None
        self._string_handle: Tensor = iterators.IteratorToStringHandle(iterator_resource)

    @staticmethod
    def from_structure(output_types: Any, output_shapes: Any = None, shared_name: str | None = None,
                       output_classes: Any = None) -> Iterator:
        """An iterator of no dataset: `make_initializer` lets it begin at one, and then at another."""
        element = structure.of(output_types, output_shapes, output_classes)
        return Iterator(iterators.IteratorV2(shared_name=shared_name or "", container="", **structure.attrs(element)),
                        element)

    @staticmethod
    def from_string_handle(string_handle: Any, output_types: Any, output_shapes: Any = None,
                           output_classes: Any = None) -> Iterator:
        """The iterator whose `string_handle()` is fed: each run chooses which one it takes its element from."""
        element = structure.of(output_types, output_shapes, output_classes)
        name = convert_to_tensor(string_handle, dtype=string)
        return Iterator(iterators.IteratorFromStringHandleV2(name, **structure.attrs(element)), element)

    @property
    def initializer(self) -> Operation:
        """The operation that lets it begin. Raises ValueError if it has none: see `make_initializer`."""
        if self._initializer is None:
            raise ValueError("The iterator does not have an initializer. This means it was likely created using "
                             "`tf.data.Dataset.make_one_shot_iterator()`. For an initializable iterator, use "
                             "`tf.data.Dataset.make_initializable_iterator()` instead.")
        return self._initializer

    def begin_with(self, dataset: Any) -> None:
        """Let `initializer` be the operation that begins at the first element of `dataset`."""
        self._initializer = self.make_initializer(dataset)

    def make_initializer(self, dataset: Any, name: str | None = None) -> Operation:
        """An operation that lets it begin at the first element of `dataset`.

        Raises TypeError if the dataset's elements have other dtypes or shapes than the iterator's.
        """
        mine, other = structure.flatten(self._element), structure.flatten(dataset._element)
        if self.output_types != dataset.output_types or structure.types(self._element) != structure.types(
                dataset._element):
            raise TypeError(f"Expected output types {self.output_types!r} but got dataset with output types "
                            f"{dataset.output_types!r}.")
        for a, b in zip(mine, other, strict=True):
            if not a.shape.is_compatible_with(b.shape):
                raise TypeError(f"Expected output shapes compatible with {self.output_shapes!r} but got dataset with "
                                f"output shapes {dataset.output_shapes!r}.")
        made: Operation = iterators.MakeIterator(dataset._variant_tensor, self._iterator_resource, name=name)
        return made

    def get_next(self, name: str | None = None) -> Any:
        """The next element, as tensors in its structure: to be called once, when the graph is built.

        Each run that needs them takes one element. Running them raises OutOfRangeError at the end of the dataset,
        FailedPreconditionError before the initializer.
        """
        made = iterators.IteratorGetNext(self._iterator_resource, name=name, **structure.attrs(self._element))
        return structure.as_values(self._element, made)

    def string_handle(self, name: str | None = None) -> Tensor:
        """A string scalar that names the iterator, to be fed to what `from_string_handle` takes."""
        if name is None:
            return self._string_handle
        made: Tensor = iterators.IteratorToStringHandle(self._iterator_resource, name=name)
        return made
