"""Static shapes: plain tuples internally, `TensorShape` and `Dimension` for users.

A static shape is a tuple with an int or None (unknown) for each axis, or None where even the rank is unknown.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeGuard, overload

from tfnb.core.dimension import Dimension, as_dimension, size_of
from tfnb.core.lazy import lazy_module

__all__ = ["MOST_AXES", "Dimension", "Static", "TensorShape", "as_dimension", "as_shape", "as_static", "broadcast",
           "compatible", "is_known", "merge", "shape_str", "unknown_shape"]

Static = tuple[int | None, ...] | None
MOST_AXES = 64                      # of NumPy's arrays (TensorFlow: 254)
_proto = lazy_module("tfnb.proto.tensor_shape_pb2")


def is_known(shape: Static) -> TypeGuard[tuple[int, ...]]:
    """Return whether the rank and every size of the static shape are known."""
    return shape is not None and None not in shape


def shape_str(shape: Static) -> str:
    """Format a static shape as TensorFlow prints it: `(2, ?)`, `(3,)`, `<unknown>`."""
    if shape is None:
        return "<unknown>"
    sizes = ["?" if size is None else str(size) for size in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def compatible(a: Static, b: Static) -> bool:
    """Return whether some fully defined shape matches both `a` and `b`."""
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(m is None or n is None or m == n for m, n in zip(a, b, strict=True))


def merge(a: Static, b: Static) -> Static:
    """Merge two shapes: sizes known in either are known in the result. Raises ValueError if they conflict."""
    if a is None or a == b:
        return b
    if b is None:
        return a
    if not compatible(a, b):
        raise ValueError(f"Shapes {shape_str(a)} and {shape_str(b)} are not compatible")
    return tuple(n if m is None else m for m, n in zip(a, b, strict=True))


def broadcast(a: Static, b: Static) -> Static:
    """Return the static shape of `a + b` by NumPy's broadcasting. Raises ValueError for incompatible shapes.

    An unknown size against 1 stays unknown, against a known n > 1 is n.
    """
    if a is None or b is None:
        return None
    if a == b:
        return a
    rank = max(len(a), len(b))
    pairs = zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True)
    try:
        return tuple(_broadcast_size(m, n) for m, n in pairs)
    except ValueError:
        raise ValueError(f"Incompatible shapes for broadcasting: {shape_str(a)} and {shape_str(b)}") from None


def broadcast_shapes(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape that known shapes broadcast to. Raises ValueError for incompatible ones."""
    made = shapes[0]
    for shape in shapes:
        made = broadcast(made, shape)  # type: ignore[assignment]
    return made


def _broadcast_size(m: int | None, n: int | None) -> int | None:
    if m == n or n == 1:
        return m
    if m == 1:
        return n
    if m is None or n is None:
        return m if n is None else n
    raise ValueError


class TensorShape:
    """Static shape of a tensor: of unknown rank (`TensorShape(None)`), partially or fully defined.

    `dims`: an iterable of ints, None and Dimensions, one such, a TensorShape, a TensorShapeProto, or None. Raises
    TypeError for anything else, ValueError for a negative size. `static` is the same as a plain tuple. Iterating
    and indexing give Dimensions, slicing a TensorShape.

    >>> shape = tf.TensorShape([None, 3])
    >>> shape.ndims, shape[1].value, shape.is_fully_defined(), shape.as_list()
    (2, 3, False, [None, 3])
    >>> shape.merge_with([5, None]).as_list()
    [5, 3]
    """

    __slots__ = ("static",)
    static: Static

    def __init__(self, dims: Any) -> None:
        self.static = as_static(dims)

    @classmethod
    def of(cls, shape: Static) -> TensorShape:
        """Make the TensorShape of a static shape, without a check."""
        made = cls.__new__(cls)
        made.static = shape
        return made

    @property
    def dims(self) -> list[Dimension] | Any:
        """The Dimensions, or None if the rank is unknown."""
        return None if self.static is None else [Dimension(size) for size in self.static]

    @property
    def ndims(self) -> int | Any:
        """The rank, or None if unknown."""
        return None if self.static is None else len(self.static)

    rank = ndims

    def __len__(self) -> int:
        if self.static is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self.static)

    def __bool__(self) -> bool:
        return self.static is not None

    def __iter__(self) -> Iterator[Dimension]:
        if self.static is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter([Dimension(size) for size in self.static])

    @overload
    def __getitem__(self, key: int) -> Dimension: ...
    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return TensorShape.of(self._slice(key))
        return Dimension(None if self.static is None else self.static[key])

    def _slice(self, key: slice) -> Static:
        """A slice of unknown rank has a known rank only where its ends say so."""
        if self.static is not None:
            return self.static[key]
        start, stop = key.start or 0, key.stop
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        if stop is None or start < 0 or stop < 0:
            return None
        count: int = max(stop - start, 0)
        return (None,) * count

    def num_elements(self) -> int | Any:
        """Return the number of elements of a tensor of this shape, or None if it is unknown."""
        if self.static is None or None in self.static:
            return None
        return math.prod(size for size in self.static if size is not None)

    def as_list(self) -> list[int | Any]:
        """Return a list of ints and None. Raises ValueError if the rank is unknown."""
        if self.static is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self.static)

    def as_proto(self) -> Any:
        """Return the TensorShapeProto (unknown sizes are -1)."""
        if self.static is None:
            return _proto.TensorShapeProto(unknown_rank=True)
        dim = _proto.TensorShapeProto.Dim
        return _proto.TensorShapeProto(dim=[dim(size=-1 if size is None else size) for size in self.static])

    def is_fully_defined(self) -> bool:
        """Return whether the rank and all sizes are known."""
        return is_known(self.static)

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether some fully defined shape matches both this and `other`."""
        return compatible(self.static, as_static(other))

    def merge_with(self, other: Any) -> TensorShape:
        """Merge two shapes: sizes known in either are known in the result. Raises ValueError if they conflict."""
        return TensorShape.of(merge(self.static, as_static(other)))

    def concatenate(self, other: Any) -> TensorShape:
        """Concatenate the dimensions of this and `other`; unknown if one of them is of unknown rank."""
        more = as_static(other)
        return TensorShape.of(None if self.static is None or more is None else self.static + more)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """Return the most specific shape compatible with both: sizes that differ become unknown."""
        a, b = self.static, as_static(other)
        if a is None or b is None or len(a) != len(b):
            return TensorShape.of(None)
        return TensorShape.of(tuple(m if m == n else None for m, n in zip(a, b, strict=True)))

    def with_rank(self, rank: int) -> TensorShape:
        """Return this shape, with `rank` unknown sizes if its rank is unknown. Raises ValueError for another rank."""
        try:
            return self.merge_with(unknown_shape(rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return this shape. Raises ValueError if its rank is known and less than `rank`."""
        if self.static is not None and len(self.static) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Return this shape. Raises ValueError if its rank is known and more than `rank`."""
        if self.static is not None and len(self.static) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError if the rank is known and is not `rank`."""
        self.with_rank(rank)

    def assert_same_rank(self, other: Any) -> None:
        """Raise ValueError if both ranks are known and differ."""
        more = as_static(other)
        if self.static is not None and more is not None and len(self.static) != len(more):
            raise ValueError(f"Shapes {self} and {shape_str(more)} must have the same rank")

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError if no full shape is both this and `other`."""
        more = as_static(other)
        if not compatible(self.static, more):
            raise ValueError(f"Shapes {self} and {shape_str(more)} are incompatible")

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError if the rank or a size is unknown."""
        if not is_known(self.static):
            raise ValueError(f"Shape {self} is not fully defined")

    def __eq__(self, other: object) -> bool:
        """Return whether both static shapes are equal. A value that can't be a shape is unequal."""
        try:
            return self.static == as_static(other)
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self.static)

    def __str__(self) -> str:
        return shape_str(self.static)

    def __repr__(self) -> str:
        return f"TensorShape({self.dims})"

    def __reduce__(self) -> tuple[Any, tuple[Static]]:
        return TensorShape, (self.static,)


def as_static(value: Any) -> Static:
    """Convert anything that `TensorShape` takes to a static shape. Raises TypeError or ValueError as it does."""
    if value is None or isinstance(value, TensorShape):
        return None if value is None else value.static
    if hasattr(value, "unknown_rank"):                      # a TensorShapeProto
        return None if value.unknown_rank else tuple(None if d.size < 0 else d.size for d in value.dim)
    if isinstance(value, Dimension):
        return (value.value,)
    if isinstance(value, str | bytes):
        raise TypeError(f"a shape is an integer or a sequence of integers and None, got {value!r}")
    if not isinstance(value, Iterable) or getattr(value, "shape", None) == ():
        return (size_of(value),)
    return tuple([size_of(size) for size in value])


def as_shape(value: Any) -> TensorShape:
    """Convert `value` to a TensorShape; a TensorShape is returned as it is."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def unknown_shape(ndims: int | None = None) -> TensorShape:
    """Return a shape of `ndims` unknown sizes; of unknown rank without `ndims`."""
    return TensorShape.of(None if ndims is None else (None,) * ndims)
