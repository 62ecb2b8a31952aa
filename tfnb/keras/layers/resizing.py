"""Layers of Keras that enlarge, pad and crop sequences, images and volumes."""
from __future__ import annotations

from typing import Any, ClassVar

from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.keras.backend import ops, shapes
from tfnb.keras.backend.config import image_data_format
from tfnb.keras.layers.described import Described, shape_list
from tfnb.layers.choices import channels_first, sizes_for
from tfnb.layers.input_spec import InputSpec


class _Spatial(Described):
    """A layer over the spatial axes of its inputs."""

    rank: ClassVar[int]

    def _settle(self, data_format: str | None) -> None:
        self.data_format = image_data_format() if data_format is None else data_format
        self.first = channels_first(self.data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _length(self, size: int, axis: int) -> int:
        raise NotImplementedError

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, other sizes..., channels)."""
        sizes = shape_list(input_shape)
        begin = 2 if self.first else 1
        for axis in range(self.rank):
            size = sizes[begin + axis]
            sizes[begin + axis] = None if size is None else self._length(size, axis)
        return TensorShape(sizes)


class UpSampling1D(_Spatial):
    """Repeat each step of sequences. size: how often.

    >>> tf.keras.layers.UpSampling1D(3)(tf.ones([1, 2, 5])).shape.as_list()
    [1, 6, 5]
    """

    rank = 1
    _arguments: ClassVar[tuple[str, ...]] = ("size",)

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size = int(size)
        self._settle("channels_last")

    def _length(self, size: int, axis: int) -> int:
        return size * self.size

    def call(self, inputs: Any) -> Any:
        """The steps, repeated."""
        return shapes.repeat_elements(inputs, self.size, axis=1)


class UpSampling2D(_Spatial):
    """Enlarge images by integer factors. interpolation: "nearest" or "bilinear", else ValueError.

    >>> tf.keras.layers.UpSampling2D((2, 3))(tf.ones([1, 2, 2, 5])).shape.as_list()
    [1, 4, 6, 5]
    """

    rank = 2
    _arguments: ClassVar[tuple[str, ...]] = ("size", "data_format", "interpolation")

    def __init__(self, size: Any = (2, 2), data_format: str | None = None, interpolation: str = "nearest",
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size = sizes_for(size, 2, "size")
        if interpolation not in ("nearest", "bilinear"):
            raise ValueError('`interpolation` argument should be one of "nearest" or "bilinear", got '
                             f"{interpolation!r}")
        self.interpolation = interpolation
        self._settle(data_format)

    def _length(self, size: int, axis: int) -> int:
        return size * self.size[axis]

    def call(self, inputs: Any) -> Any:
        """The larger images."""
        return shapes.resize_images(inputs, self.size[0], self.size[1], self.data_format, self.interpolation)


class UpSampling3D(_Spatial):
    """Enlarge volumes by repetition of their elements.

    >>> tf.keras.layers.UpSampling3D(2)(tf.ones([1, 2, 2, 2, 5])).shape.as_list()
    [1, 4, 4, 4, 5]
    """

    rank = 3
    _arguments: ClassVar[tuple[str, ...]] = ("size", "data_format")

    def __init__(self, size: Any = (2, 2, 2), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size = sizes_for(size, 3, "size")
        self._settle(data_format)

    def _length(self, size: int, axis: int) -> int:
        return size * self.size[axis]

    def call(self, inputs: Any) -> Any:
        """The larger volumes."""
        return shapes.resize_volumes(inputs, self.size[0], self.size[1], self.size[2], self.data_format)


def _pairs(given: Any, rank: int, what: str) -> tuple[tuple[int, int], ...]:
    """Return two counts for each axis: of one integer, one for each axis, or two for each axis."""
    if isinstance(given, int):
        return ((given, given),) * rank
    listed = list(given)
    if rank == 1 and len(listed) == 2 and all(isinstance(each, int) for each in listed):
        return ((listed[0], listed[1]),)
    if len(listed) != rank:
        raise ValueError(f"`{what}` should have {rank} elements, one for each axis. Found: {given!r}")
    pairs = [sizes_for(each, 2, f"element of {what}") for each in listed]
    return tuple((before, after) for before, after in pairs)


class _Padding(_Spatial):
    """Zeros around the spatial axes."""

    _arguments: ClassVar[tuple[str, ...]] = ("padding", "data_format")

    def __init__(self, padding: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._counts = _pairs(padding, self.rank, "padding")
        self.padding = self._counts if self.rank > 1 else self._counts[0]
        self._settle(data_format)

    def _length(self, size: int, axis: int) -> int:
        return size + sum(self._counts[axis])

    def call(self, inputs: Any) -> Any:
        """The inputs with zeros around them."""
        inner = [list(pair) for pair in self._counts]
        return ops.pad(inputs, [[0, 0], [0, 0], *inner] if self.first else [[0, 0], *inner, [0, 0]])


class ZeroPadding1D(_Padding):
    """Zeros before and after the steps of sequences. padding: a count, or one for each end.

    >>> tf.keras.layers.ZeroPadding1D((1, 2))(tf.ones([1, 2, 5])).shape.as_list()
    [1, 5, 5]
    """

    rank = 1
    _arguments: ClassVar[tuple[str, ...]] = ("padding",)

    def __init__(self, padding: Any = 1, **kwargs: Any) -> None:
        super().__init__(padding, "channels_last", **kwargs)


class ZeroPadding2D(_Padding):
    """Zeros around images. padding: a count, one for rows and one for columns, or two for each.

    >>> tf.keras.layers.ZeroPadding2D(((1, 0), (2, 2)))(tf.ones([1, 2, 2, 5])).shape.as_list()
    [1, 3, 6, 5]
    """

    rank = 2

    def __init__(self, padding: Any = (1, 1), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(padding, data_format, **kwargs)


class ZeroPadding3D(_Padding):
    """Zeros around volumes. padding: a count, one for each axis, or two for each.

    >>> tf.keras.layers.ZeroPadding3D(1)(tf.ones([1, 2, 2, 2, 5])).shape.as_list()
    [1, 4, 4, 4, 5]
    """

    rank = 3

    def __init__(self, padding: Any = (1, 1, 1), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(padding, data_format, **kwargs)


class _Cropping(_Spatial):
    """Cut elements off both ends of the spatial axes."""

    _arguments: ClassVar[tuple[str, ...]] = ("cropping", "data_format")

    def __init__(self, cropping: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._counts = _pairs(cropping, self.rank, "cropping")
        self.cropping = self._counts if self.rank > 1 else self._counts[0]
        self._settle(data_format)

    def _length(self, size: int, axis: int) -> int:
        return size - sum(self._counts[axis])

    def call(self, inputs: Any) -> Any:
        """The part inside."""
        inner = tuple(slice(before, -after if after else None) for before, after in self._counts)
        return inputs[(slice(None), slice(None), *inner) if self.first else (slice(None), *inner)]


class Cropping1D(_Cropping):
    """Cut steps off both ends of sequences. cropping: a count, or one for each end.

    >>> tf.keras.layers.Cropping1D((1, 2))(tf.ones([1, 5, 3])).shape.as_list()
    [1, 2, 3]
    """

    rank = 1
    _arguments: ClassVar[tuple[str, ...]] = ("cropping",)

    def __init__(self, cropping: Any = (1, 1), **kwargs: Any) -> None:
        super().__init__(cropping, "channels_last", **kwargs)


class Cropping2D(_Cropping):
    """Cut rows and columns off images. cropping: a count, one for rows and one for columns, or two for each.

    >>> tf.keras.layers.Cropping2D(((1, 0), (2, 2)))(tf.ones([1, 6, 6, 3])).shape.as_list()
    [1, 5, 2, 3]
    """

    rank = 2

    def __init__(self, cropping: Any = ((0, 0), (0, 0)), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(cropping, data_format, **kwargs)


class Cropping3D(_Cropping):
    """Cut elements off the ends of volumes. cropping: a count, one for each axis, or two for each.

    >>> tf.keras.layers.Cropping3D(1)(tf.ones([1, 4, 4, 4, 3])).shape.as_list()
    [1, 2, 2, 2, 3]
    """

    rank = 3

    def __init__(self, cropping: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None,
                 **kwargs: Any) -> None:
        super().__init__(cropping, data_format, **kwargs)


describe(globals(), KERAS)
