"""Pooling of Keras: maxima and means of windows, and of whole examples."""
from __future__ import annotations

from typing import Any, ClassVar

from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.keras.backend import convolution, ops
from tfnb.keras.backend.config import image_data_format
from tfnb.keras.layers.described import Described, shape_list
from tfnb.layers.choices import channels_first, sizes_for
from tfnb.layers.convolutional import output_length
from tfnb.layers.input_spec import InputSpec


class _Pooling(Described):
    """One value for each window and channel. pool_size, strides: an integer, or one for each axis."""

    rank: ClassVar[int]
    mode: ClassVar[str]
    _arguments: ClassVar[tuple[str, ...]] = ("pool_size", "strides", "padding", "data_format")

    def __init__(self, pool_size: Any = 2, strides: Any = None, padding: str = "valid",
                 data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pool_size = sizes_for(pool_size, self.rank, "pool_size")
        self.strides = sizes_for(pool_size if strides is None else strides, self.rank, "strides")
        self.padding = padding.lower()
        if self.padding not in ("valid", "same"):
            raise ValueError(f'The `padding` argument must be one of "valid", "same". Received: {padding!r}')
        self.data_format = image_data_format() if data_format is None else data_format
        self.first = channels_first(self.data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        """(batch, sizes..., channels) -> (batch, windows..., channels)."""
        if self.rank == 1:
            axis = 3 if self.first else 2
            made = convolution.pool2d(ops.expand_dims(inputs, axis), (*self.pool_size, 1), (*self.strides, 1),
                                      self.padding, self.data_format, self.mode)
            return ops.squeeze(made, [axis])
        pool: Any = convolution.pool2d if self.rank == 2 else convolution.pool3d
        return pool(inputs, self.pool_size, self.strides, self.padding, self.data_format, self.mode)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, windows..., channels)."""
        sizes = shape_list(input_shape)
        lengths = [output_length(size, window, self.padding, stride, 1) for size, window, stride in
                   zip(sizes[2:] if self.first else sizes[1:-1], self.pool_size, self.strides, strict=True)]
        return TensorShape([*sizes[:2], *lengths] if self.first else [sizes[0], *lengths, sizes[-1]])


class MaxPooling1D(_Pooling):
    """The maximum of each window of rows. pool_size: its size.

    >>> tf.keras.layers.MaxPooling1D(2)(tf.ones([1, 4, 3])).shape.as_list()
    [1, 2, 3]
    """

    rank, mode = 1, "max"

    def __init__(self, pool_size: Any = 2, strides: Any = None, padding: str = "valid",
                 data_format: str | None = "channels_last", **kwargs: Any) -> None:
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class AveragePooling1D(MaxPooling1D):
    """The mean of each window of rows. pool_size: its size.

    >>> tf.keras.layers.AveragePooling1D(2)(tf.ones([1, 4, 3])).shape.as_list()
    [1, 2, 3]
    """

    mode = "avg"


class MaxPooling2D(_Pooling):
    """The maximum of each window of images. pool_size: its size.

    >>> tf.keras.layers.MaxPooling2D()(tf.ones([1, 4, 4, 3])).shape.as_list()
    [1, 2, 2, 3]
    """

    rank, mode = 2, "max"


class AveragePooling2D(_Pooling):
    """The mean of each window of images. pool_size: its size.

    >>> tf.keras.layers.AveragePooling2D()(tf.ones([1, 4, 4, 3])).shape.as_list()
    [1, 2, 2, 3]
    """

    rank, mode = 2, "avg"


class MaxPooling3D(_Pooling):
    """The maximum of each window of volumes. pool_size: its size.

    >>> tf.keras.layers.MaxPooling3D()(tf.ones([1, 4, 4, 4, 3])).shape.as_list()
    [1, 2, 2, 2, 3]
    """

    rank, mode = 3, "max"


class AveragePooling3D(_Pooling):
    """The mean of each window of volumes. pool_size: its size.

    >>> tf.keras.layers.AveragePooling3D()(tf.ones([1, 4, 4, 4, 3])).shape.as_list()
    [1, 2, 2, 2, 3]
    """

    rank, mode = 3, "avg"


class _Global(Described):
    """One value for each channel of an example."""

    rank: ClassVar[int]
    mode: ClassVar[str]
    _arguments: ClassVar[tuple[str, ...]] = ("data_format",)

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = image_data_format() if data_format is None else data_format
        self.first = channels_first(self.data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        """(batch, sizes..., channels) -> (batch, channels)."""
        reduce = ops.reduce_max if self.mode == "max" else ops.reduce_mean
        begin = 2 if self.first else 1
        return reduce(inputs, axis=list(range(begin, begin + self.rank)))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, channels)."""
        sizes = shape_list(input_shape)
        return TensorShape([sizes[0], sizes[1 if self.first else -1]])


class GlobalMaxPooling1D(_Global):
    """The maximum of each channel of sequences.

    >>> tf.keras.layers.GlobalMaxPooling1D()(tf.ones([1, 4, 3])).shape.as_list()
    [1, 3]
    """

    rank, mode = 1, "max"

    def __init__(self, data_format: str | None = "channels_last", **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)


class GlobalAveragePooling1D(GlobalMaxPooling1D):
    """The mean of each channel of sequences, of the steps that are not masked.

    >>> tf.keras.layers.GlobalAveragePooling1D()(tf.ones([1, 4, 3])).shape.as_list()
    [1, 3]
    """

    mode, supports_masking = "avg", True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """mask: bools (batch, steps), of the steps that count."""
        if mask is None:
            return super().call(inputs)
        axis = 2 if self.first else 1
        wide = ops.expand_dims(ops.cast(mask, inputs.dtype), 1 if self.first else 2)
        return ops.reduce_sum(inputs * wide, axis=axis) / ops.reduce_sum(wide, axis=axis)

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """None: there are no steps any more."""


class GlobalMaxPooling2D(_Global):
    """The maximum of each channel of images.

    >>> tf.keras.layers.GlobalMaxPooling2D()(tf.ones([1, 4, 4, 3])).shape.as_list()
    [1, 3]
    """

    rank, mode = 2, "max"


class GlobalAveragePooling2D(_Global):
    """The mean of each channel of images.

    >>> tf.keras.layers.GlobalAveragePooling2D()(tf.ones([1, 4, 4, 3])).shape.as_list()
    [1, 3]
    """

    rank, mode = 2, "avg"


class GlobalMaxPooling3D(_Global):
    """The maximum of each channel of volumes.

    >>> tf.keras.layers.GlobalMaxPooling3D()(tf.ones([1, 4, 4, 4, 3])).shape.as_list()
    [1, 3]
    """

    rank, mode = 3, "max"


class GlobalAveragePooling3D(_Global):
    """The mean of each channel of volumes.

    >>> tf.keras.layers.GlobalAveragePooling3D()(tf.ones([1, 4, 4, 4, 3])).shape.as_list()
    [1, 3]
    """

    rank, mode = 3, "avg"


MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D = GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D
GlobalAvgPool1D, GlobalAvgPool2D = GlobalAveragePooling1D, GlobalAveragePooling2D
GlobalAvgPool3D = GlobalAveragePooling3D


describe(globals(), KERAS)
