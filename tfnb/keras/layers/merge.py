"""Layers of Keras that join several inputs into one, and their functions."""
from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, ClassVar

from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.keras.backend import ops
from tfnb.keras.backend.tensors import batch_dot
from tfnb.keras.layers.described import Described, shape_list


def _common(first: list[int | None], second: list[int | None]) -> list[int | None]:
    """Return the broadcast shape of two examples. Raises ValueError where there is none."""
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    shared = len(longer) - len(shorter)
    found = longer[:shared]
    for a, b in zip(longer[shared:], shorter, strict=True):
        if a is None or b is None:
            found.append(a if b == 1 else b if a == 1 else None)
        elif a != b and 1 not in (a, b):
            raise ValueError(f"Operands could not be broadcast together with shapes {tuple(first)} {tuple(second)}")
        else:
            found.append(max(a, b))
    return found


class _Merge(Described):
    """An element-wise function of at least two inputs, broadcast to one another behind the batch."""

    supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Check the inputs. Raises ValueError for fewer than two, other batch sizes, shapes that can't be broadcast."""
        listed = [shape_list(each) for each in _several(self, input_shape)]
        batches = {sizes[0] for sizes in listed} - {None}
        if len(batches) > 1:
            raise ValueError(f"Can not merge tensors with different batch sizes. Got tensors with shapes: {listed}")
        reduce(_common, (sizes[1:] for sizes in listed))
        self.built = True

    def _merged(self, inputs: list[Any]) -> Any:
        raise NotImplementedError

    def call(self, inputs: Any) -> Any:
        """The inputs, joined."""
        ranks = [each.shape.ndims for each in inputs]
        if None in ranks or len(set(ranks)) == 1:
            return self._merged(list(inputs))
        longest = max(ranks)
        return self._merged([_lifted(each, longest) for each in inputs])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The broadcast shape."""
        listed = [shape_list(each) for each in input_shape]
        batches = {sizes[0] for sizes in listed} - {None}
        return TensorShape([batches.pop() if len(batches) == 1 else None,
                            *reduce(_common, (sizes[1:] for sizes in listed))])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """True where all masks are; None if no input has one."""
        given = [each for each in mask or [] if each is not None]
        return reduce(ops.logical_and, given) if given else None


def _lifted(x: Any, rank: int) -> Any:
    """Return `x` with axes of size 1 behind the batch, up to a rank."""
    for _ in range(rank - x.shape.ndims):
        x = ops.expand_dims(x, 1)
    return x


def _several(layer: Any, inputs: Any) -> list[Any]:
    if not isinstance(inputs, (list, tuple)) or len(inputs) < 2 or not isinstance(
            inputs[0], (list, tuple, TensorShape)):
        raise ValueError(f"A merge layer should be called on a list of at least 2 inputs. {type(layer).__name__} got "
                         f"{inputs}")
    return list(inputs)


class Add(_Merge):
    """The sum of inputs.

    >>> sess.run(tf.keras.layers.Add()([tf.constant([[1.0]]), tf.constant([[2.0]])]))
    array([[3.]], dtype=float32)
    """

    def _merged(self, inputs: list[Any]) -> Any:
        return reduce(ops.add, inputs)


class Subtract(_Merge):
    """The difference of two inputs. Raises ValueError for another number of them.

    >>> sess.run(tf.keras.layers.Subtract()([tf.constant([[1.0]]), tf.constant([[2.0]])]))
    array([[-1.]], dtype=float32)
    """

    def build(self, input_shape: Any) -> None:
        """Check the inputs."""
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError(f"A `Subtract` layer should be called on exactly 2 inputs, got {len(input_shape)}")

    def _merged(self, inputs: list[Any]) -> Any:
        return inputs[0] - inputs[1]


class Multiply(_Merge):
    """The product of inputs.

    >>> sess.run(tf.keras.layers.Multiply()([tf.constant([[3.0]]), tf.constant([[2.0]])]))
    array([[6.]], dtype=float32)
    """

    def _merged(self, inputs: list[Any]) -> Any:
        return reduce(ops.multiply, inputs)


class Average(_Merge):
    """The mean of inputs.

    >>> sess.run(tf.keras.layers.Average()([tf.constant([[1.0]]), tf.constant([[2.0]])]))
    array([[1.5]], dtype=float32)
    """

    def _merged(self, inputs: list[Any]) -> Any:
        return reduce(ops.add, inputs) / len(inputs)


class Maximum(_Merge):
    """The maximum of inputs.

    >>> sess.run(tf.keras.layers.Maximum()([tf.constant([[1.0]]), tf.constant([[2.0]])]))
    array([[2.]], dtype=float32)
    """

    def _merged(self, inputs: list[Any]) -> Any:
        return reduce(ops.maximum, inputs)


class Minimum(_Merge):
    """The minimum of inputs.

    >>> sess.run(tf.keras.layers.Minimum()([tf.constant([[1.0]]), tf.constant([[2.0]])]))
    array([[1.]], dtype=float32)
    """

    def _merged(self, inputs: list[Any]) -> Any:
        return reduce(ops.minimum, inputs)


class Concatenate(_Merge):
    """The inputs, one behind the other along an axis. Raises ValueError if the other sizes differ.

    >>> sess.run(tf.keras.layers.Concatenate()([tf.constant([[1.0]]), tf.constant([[2.0]])]))
    array([[1., 2.]], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = ("axis",)

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape: Any) -> None:
        """Check the inputs."""
        listed = [shape_list(each) for each in _several(self, input_shape)]
        for sizes in listed[1:]:
            pairs = zip(_without(listed[0], self.axis), _without(sizes, self.axis), strict=False)
            if len(sizes) != len(listed[0]) or any(a != b and None not in (a, b) for a, b in pairs):
                raise ValueError("A `Concatenate` layer requires inputs with matching shapes except for the concat "
                                 f"axis. Got inputs shapes: {listed}, axis {self.axis}")
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The inputs, joined."""
        return ops.concat(list(inputs), axis=self.axis % inputs[0].shape.ndims)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The sizes, along the axis their sum."""
        listed = [shape_list(each) for each in input_shape]
        along = [sizes[self.axis] for sizes in listed]
        found = list(listed[0])
        found[self.axis] = None if None in along else sum(size for size in along if size is not None)
        return TensorShape(found)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The masks, joined as the inputs are; None if no input has one."""
        if not mask or all(each is None for each in mask):
            return None
        parts = [ops.ones_like(x, dtype="bool") if each is None else
                 ops.expand_dims(each, -1) if each.shape.ndims < x.shape.ndims else each
                 for x, each in zip(inputs, mask, strict=True)]
        wide = [ops.logical_and(each, ops.ones_like(x, dtype="bool")) for x, each in zip(inputs, parts, strict=True)]
        return ops.reduce_all(ops.concat(wide, axis=self.axis % inputs[0].shape.ndims), axis=-1)


def _without(sizes: list[int | None], axis: int) -> list[int | None]:
    return [size for i, size in enumerate(sizes) if i != axis % len(sizes)]


class Dot(_Merge):
    """Products of the examples of two inputs along one axis of each.

    axes: an axis, or one for each input. normalize: whether vectors along them are divided by their norms first, so
    that the products are cosines.

    >>> sess.run(tf.keras.layers.Dot(axes=1)([tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 4.0]])]))
    array([[11.]], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = ("axes", "normalize")

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(axes, int) and (not isinstance(axes, (list, tuple)) or len(axes) != 2 or not all(
                isinstance(axis, int) for axis in axes)):
            raise TypeError(f"`axes` of a Dot layer: expected an integer or two of them, got {axes!r}")
        self.axes, self.normalize = axes, normalize

    def _pair(self, ranks: tuple[int, int]) -> list[int]:
        axes = [self.axes] * 2 if isinstance(self.axes, int) else self.axes
        return [axis % rank for axis, rank in zip(axes, ranks, strict=True)]

    def build(self, input_shape: Any) -> None:
        """Check the inputs."""
        first, second = (shape_list(each) for each in _several(self, input_shape))
        a, b = self._pair((len(first), len(second)))
        if first[a] != second[b] and None not in (first[a], second[b]):
            raise ValueError(f"Dimension incompatibility {first[a]} != {second[b]}. Layer shapes: {first}, {second}. "
                             f"Chosen axes: {a}, {b}")
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The products."""
        axes = self._pair((inputs[0].shape.ndims, inputs[1].shape.ndims))
        if self.normalize:
            inputs = [ops.l2_normalize(x, axis=axis) for x, axis in zip(inputs, axes, strict=True)]
        return batch_dot(inputs[0], inputs[1], axes)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, other sizes of the first input..., those of the second...)."""
        first, second = (shape_list(each) for each in input_shape)
        a, b = self._pair((len(first), len(second)))
        sizes = [*_without(first, a), *_without(second, b)[1:]]
        return TensorShape(sizes if len(sizes) > 1 else [*sizes, 1])

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """None."""


def _function(cls: Any, example: str) -> Callable[..., Any]:
    name = cls.__name__.lower()

    def merge(inputs: Any, **kwargs: Any) -> Any:
        return cls(**kwargs)(inputs)
    merge.__name__ = merge.__qualname__ = name
    merge.__module__ = __name__
    first = cls.__doc__.splitlines()[0]
    merge.__doc__ = (f"{first[0].upper()}{first[1:].rstrip('.')}, by a layer `{cls.__name__}`.\n\ninputs: a list of "
                     f"tensors. Other arguments are the layer's.\n\n>>> x, y = tf.constant([[1.0]]), "
                     f"tf.constant([[2.0]])\n>>> sess.run(tf.keras.layers.{name}([x, y]))\n"
                     f"array([[{example}]], dtype=float32)\n")
    return merge


add, subtract, multiply = _function(Add, "3."), _function(Subtract, "-1."), _function(Multiply, "2.")
average, maximum, minimum = _function(Average, "1.5"), _function(Maximum, "2."), _function(Minimum, "1.")


def concatenate(inputs: Any, axis: int = -1, **kwargs: Any) -> Any:
    """Join inputs along an axis, by a layer `Concatenate`. inputs: a list of tensors.

    >>> sess.run(tf.keras.layers.concatenate([tf.constant([[1.0]]), tf.constant([[2.0]])]))
    array([[1., 2.]], dtype=float32)
    """
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs: Any, axes: Any, normalize: bool = False, **kwargs: Any) -> Any:
    """Multiply two inputs along axes, by a layer `Dot`. inputs: a list of two. axes, normalize: as of the layer.

    >>> sess.run(tf.keras.layers.dot([tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 4.0]])], axes=1))
    array([[11.]], dtype=float32)
    """
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)


describe(globals(), KERAS)
