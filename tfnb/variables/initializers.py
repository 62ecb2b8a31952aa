"""Initializers of variables: functions of (shape, dtype) that `get_variable` calls, with their parameters.

The names of the classes are TensorFlow's. `zeros_initializer` and `ones_initializer` work in both of its manners: as
a class (`zeros_initializer()`), and as TensorFlow 0.x had them, as functions of a shape (`zeros_initializer([2, 3])`).
"""
from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import INITIALIZERS, describe
from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import TensorShape
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.array import create
from tfnb.ops.array.reshape import matrix_transpose, reshape
from tfnb.ops.control.source import constant
from tfnb.ops.declaration.raw import raw
from tfnb.ops.random import random_ops as random

decompositions = lazy_module("tfnb.linalg.decompositions")      # of orthogonal initializers alone


class Initializer:
    """A function from a shape (and a dtype) to a tensor. Its parameters: `get_config` and `from_config`.

    partition_info: where the shape is that of a part of a variable, the shape of the whole and the part's offset.

    >>> issubclass(tf.zeros_initializer, tf.keras.initializers.Initializer)
    True
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        """The initial value. dtype: by default the initializer's own."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its values are")

    def get_config(self) -> dict[str, Any]:
        """Return the parameters, as plain values."""
        return {key: value.name if isinstance(value, DType) else value for key, value in vars(self).items()}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Return the initializer with these parameters."""
        return cls(**config)


class _Constant(Initializer):
    """An initializer that may also be called as a function of a shape, without being made first."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        given = args[0] if args else kwargs.get("shape")
        if isinstance(given, (list, tuple, TensorShape, Tensor, np.ndarray)):
            return cls()(*args, **kwargs)
        return super().__new__(cls)

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = as_dtype(dtype)

    __signature__ = inspect.Signature(list(inspect.signature(__init__).parameters.values())[1:])


class zeros_initializer(_Constant):
    """Zeros (empty strings, False).

    >>> b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
    >>> sess.run(b.initializer)
    >>> sess.run(b)
    array([0., 0., 0.], dtype=float32)
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return create.zeros(shape, self.dtype if dtype is None else dtype)


class ones_initializer(_Constant):
    """Ones.

    >>> w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
    >>> sess.run(w.initializer)
    >>> sess.run(w)
    array([1., 1., 1.], dtype=float32)
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return create.ones(shape, self.dtype if dtype is None else dtype)


class constant_initializer(Initializer):
    """A value for all elements, or a list or array in row-major order (its last element fills the rest).

    verify_shape: raise TypeError if the shape of `value` is another than that of the variable. Raises TypeError if
    `value` is no number, list or array.

    >>> w = tf.get_variable("w", [2, 2], initializer=tf.constant_initializer([1, 2, 3, 4]))
    >>> sess.run(w.initializer)
    >>> sess.run(w)
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """

    def __init__(self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(f"Invalid type for initial value: {type(value).__name__}. Expected Python scalar, list or "
                            "tuple of values, or numpy.ndarray.")
        self.value, self.dtype, self.verify_shape = value, as_dtype(dtype), verify_shape

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None,
                 verify_shape: bool | None = None) -> Tensor:
        verify = self.verify_shape if verify_shape is None else verify_shape
        return constant(self.value, self.dtype if dtype is None else dtype, shape, verify_shape=verify)


def _float_dtype(dtype: Any) -> DType:
    found = as_dtype(dtype)
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found.name}.")
    return found


class random_uniform_initializer(Initializer):
    """Uniformly distributed values in [minval, maxval). maxval: 1 for floats if None; must be given for integers.

    >>> w = tf.get_variable("w", [100], initializer=tf.random_uniform_initializer(-0.1, 0.1))
    >>> sess.run(w.initializer)
    >>> bool(abs(sess.run(w)).max() <= 0.1)
    True
    """

    def __init__(self, minval: Any = 0.0, maxval: Any = None, seed: int | None = None,
                 dtype: Any = dtypes.float32) -> None:
        self.minval, self.maxval, self.seed, self.dtype = minval, maxval, seed, as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        return random.random_uniform(shape, self.minval, self.maxval, dtype, seed=self.seed)


class random_normal_initializer(Initializer):
    """Normally distributed values of given mean and standard deviation. Raises ValueError for a non-floating dtype.

    >>> w = tf.get_variable("w", [1000], initializer=tf.random_normal_initializer(mean=5.0, stddev=0.1))
    >>> sess.run(w.initializer)
    >>> bool(abs(sess.run(w).mean() - 5) < 0.05)
    True
    """

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None,
                 dtype: Any = dtypes.float32) -> None:
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        return random.random_normal(shape, self.mean, self.stddev, dtype, seed=self.seed)


class truncated_normal_initializer(Initializer):
    """Truncated normal values: redrawn while more than two standard deviations from the mean.

    Raises ValueError for a dtype that is not floating.

    >>> w = tf.get_variable("w", [100], initializer=tf.truncated_normal_initializer(stddev=0.1))
    >>> sess.run(w.initializer)
    >>> bool(abs(sess.run(w)).max() <= 0.2)
    True
    """

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None,
                 dtype: Any = dtypes.float32) -> None:
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        return random.truncated_normal(shape, self.mean, self.stddev, dtype, seed=self.seed)


class uniform_unit_scaling_initializer(Initializer):
    """Uniform values within factor * sqrt(3 / fan_in): they keep the scale of activations through a linear layer.

    inputs: the product of all sizes but the last (of `full_shape`, if given: the whole of a partitioned variable).

    >>> w = tf.get_variable("w", [3, 2], initializer=tf.uniform_unit_scaling_initializer())
    >>> sess.run(w.initializer)
    >>> bool(abs(sess.run(w)).max() <= 1.0)
    True
    """

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32,
                 full_shape: Any = None) -> None:
        self.factor, self.seed, self.dtype, self.full_shape = factor, seed, _float_dtype(dtype), full_shape

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        inputs = math.prod(known_sizes(self.full_shape or whole(shape, partition_info))[:-1])
        limit = math.sqrt(3 / max(float(inputs), 1.0)) * self.factor
        return random.random_uniform(shape, -limit, limit, dtype, seed=self.seed)


class variance_scaling_initializer(Initializer):
    """Random values of variance scale / n, where n is the fan-in, the fan-out, or their mean.

    mode: "fan_in", "fan_out" or "fan_avg"; distribution: "uniform", "truncated_normal" (also called "normal") or
    "untruncated_normal". Raises ValueError for another mode or distribution, or a scale that is not positive.

    >>> kind = tf.variance_scaling_initializer(scale=1.0, mode="fan_in", distribution="uniform")
    >>> w = tf.get_variable("w", [3, 2], initializer=kind)
    >>> sess.run(w.initializer)
    >>> bool(abs(sess.run(w)).max() <= 1.0)
    True
    """

    # The standard deviation of a standard normal distribution cut at two standard deviations.
    _CUT_DEVIATION: ClassVar[float] = 0.87962566103423978
    _MODES: ClassVar[tuple[str, ...]] = ("fan_in", "fan_out", "fan_avg")
    _DISTRIBUTIONS: ClassVar[tuple[str, ...]] = ("normal", "uniform", "truncated_normal", "untruncated_normal")

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
                 seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        if scale <= 0.0:
            raise ValueError(f"`scale` must be positive float, but is {scale}")
        if mode not in self._MODES:
            raise ValueError(f"Invalid `mode` argument: {mode!r} is none of {', '.join(self._MODES)}")
        if distribution.lower() not in self._DISTRIBUTIONS:
            raise ValueError(f"Invalid `distribution` argument: {distribution!r} is none of "
                             f"{', '.join(self._DISTRIBUTIONS)}")
        self.scale, self.mode, self.distribution = scale, mode, distribution.lower()
        self.seed, self.dtype = seed, _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        inputs, outputs = fans(known_sizes(whole(shape, partition_info)))
        count = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}[self.mode]
        variance = self.scale / max(1.0, count)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return random.random_uniform(shape, -limit, limit, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return random.random_normal(shape, 0.0, math.sqrt(variance), dtype, seed=self.seed)
        return random.truncated_normal(shape, 0.0, math.sqrt(variance) / self._CUT_DEVIATION, dtype, seed=self.seed)


class _Scaled(variance_scaling_initializer):
    """A variance scaling of which only seed and dtype are free."""

    _fixed: ClassVar[tuple[float, str, str]]

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(*self._fixed, seed, dtype)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make the same initializer."""
        return {"seed": self.seed, "dtype": self.dtype.name}


class glorot_uniform_initializer(_Scaled):
    """Uniform values of variance 2 / (fan_in + fan_out) (Glorot and Bengio, 2010).

    >>> w = tf.get_variable("w", [2, 4], initializer=tf.glorot_uniform_initializer())
    >>> sess.run(w.initializer)
    >>> bool(abs(sess.run(w)).max() <= 1.0)
    True
    """

    _fixed = (1.0, "fan_avg", "uniform")


class glorot_normal_initializer(_Scaled):
    """Truncated normal values of variance 2 / (fan_in + fan_out) (Glorot and Bengio, 2010).

    >>> w = tf.get_variable("w", [200, 200], initializer=tf.glorot_normal_initializer())
    >>> sess.run(w.initializer)
    >>> bool(abs(sess.run(w).std() - np.sqrt(2 / (200 + 200))) < 0.01)
    True
    """

    _fixed = (1.0, "fan_avg", "truncated_normal")


def he_normal(seed: int | None = None) -> Initializer:
    """Truncated normal values of variance 2 / fan_in (He et al., 2015).

    >>> w = tf.get_variable("w", [200, 200], initializer=tf.initializers.he_normal())
    >>> sess.run(w.initializer)
    >>> bool(abs(sess.run(w).std() - np.sqrt(2 / 200)) < 0.01)
    True
    """
    return variance_scaling_initializer(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> Initializer:
    """Uniform values of variance 2 / fan_in (He et al., 2015).

    >>> w = tf.get_variable("w", [6, 4], initializer=tf.initializers.he_uniform())
    >>> sess.run(w.initializer)
    >>> bool(abs(sess.run(w)).max() <= 1.0)
    True
    """
    return variance_scaling_initializer(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed: int | None = None) -> Initializer:
    """Truncated normal values of variance 1 / fan_in (LeCun et al., 1998).

    >>> w = tf.get_variable("w", [200, 200], initializer=tf.initializers.lecun_normal())
    >>> sess.run(w.initializer)
    >>> bool(abs(sess.run(w).std() - np.sqrt(1 / 200)) < 0.01)
    True
    """
    return variance_scaling_initializer(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> Initializer:
    """Uniform values of variance 1 / fan_in (LeCun et al., 1998).

    >>> w = tf.get_variable("w", [3, 4], initializer=tf.initializers.lecun_uniform())
    >>> sess.run(w.initializer)
    >>> bool(abs(sess.run(w)).max() <= 1.0)
    True
    """
    return variance_scaling_initializer(1.0, "fan_in", "uniform", seed)


class identity_initializer(Initializer):
    """gain times the identity matrix. Raises ValueError for a shape that is no matrix's.

    >>> w = tf.get_variable("w", [2, 2], initializer=tf.initializers.identity(gain=2.0))
    >>> sess.run(w.initializer)
    >>> sess.run(w)
    array([[2., 0.],
           [0., 2.]], dtype=float32)
    """

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32) -> None:
        self.gain, self.dtype = gain, _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        sizes = known_sizes(whole(shape, partition_info))
        if len(sizes) != 2:
            raise ValueError(f"Identity matrix initializer can only be used for 2D matrices, not for shape {sizes}.")
        value = np.eye(sizes[0], sizes[1]) * self.gain
        if partition_info is not None:
            first, count = partition_info.var_offset, known_sizes(shape)
            value = value[first[0]:first[0] + count[0], first[1]:first[1] + count[1]]
        return constant(value, self.dtype if dtype is None else dtype)


class orthogonal_initializer(Initializer):
    """gain times a matrix with orthonormal rows or columns (Saxe et al., 2014).

    The matrix has as many columns as the last size of the shape; other sizes are its rows. Raises ValueError for a
    shape of less than two sizes.

    >>> w = tf.get_variable("w", [2, 2], initializer=tf.orthogonal_initializer())
    >>> sess.run(w.initializer)
    >>> bool(np.allclose(sess.run(tf.matmul(w, w, transpose_b=True)), np.eye(2), atol=1e-5))
    True
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        self.gain, self.seed, self.dtype = gain, seed, _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        sizes = known_sizes(shape)
        if len(sizes) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional, but its shape is "
                             f"{sizes}.")
        dtype = self.dtype if dtype is None else dtype
        rows, columns = math.prod(sizes[:-1]), sizes[-1]
        drawn = random.random_normal((max(rows, columns), min(rows, columns)), dtype=dtype, seed=self.seed)
        q, r = decompositions.qr(drawn, full_matrices=False)
        q = q * raw.Sign(create.diag_part(r))                 # r has a positive diagonal: then q is unique
        if rows < columns:
            q = matrix_transpose(q)
        made: Tensor = self.gain * reshape(q, sizes)
        return made


def whole(shape: Any, partition_info: Any) -> Any:
    """Return the shape that scales are computed from: of all of the variable, where `shape` is that of a part."""
    return shape if partition_info is None else partition_info.full_shape


def known_sizes(shape: Any) -> list[int]:
    """Return the sizes of a fully defined shape. Raises ValueError for an unknown rank, TypeError for an unknown size.

    The classes are those of TensorFlow's errors.
    """
    sizes = [size for size in TensorShape(shape).as_list() if size is not None]
    if len(sizes) < len(TensorShape(shape).as_list()):
        raise TypeError(f"an initializer expected a fully defined shape, got {TensorShape(shape)}")
    return sizes


def fans(sizes: Sequence[int]) -> tuple[int, int]:
    """Return (fan_in, fan_out) of a layer with weights of these sizes.

    The last two sizes are inputs and outputs; those before, of a convolution's window, multiply both.
    """
    if not sizes:
        return 1, 1
    if len(sizes) == 1:
        return sizes[0], sizes[0]
    window = math.prod(sizes[:-2])
    return sizes[-2] * window, sizes[-1] * window


describe(globals(), INITIALIZERS)
