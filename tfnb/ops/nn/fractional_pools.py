"""Fractional pooling of images: windows of random sizes whose mean size may be a fraction (Graham, 2014)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import errors
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.options import has_compiler
from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.arrays import fractional as arrays
from tfnb.kernels.library.image import fractional as kernels
from tfnb.ops.array.reshape import shape
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import kernel, random
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.nn.conv import no_negative, rank4

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

_POOL: dict[str, Any] = {"pooling_ratio": "list(float) >= 4", "pseudo_random": "bool = false",
                         "overlapping": "bool = false", "deterministic": "bool = false", "seed": "int = 0",
                         "seed2": "int = 0", "T": "{float, double, int32, int64}"}
_SIGNATURE = "value: T -> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64"
_SEQUENCES = "out_backprop: T, row_pooling_sequence: int64, col_pooling_sequence: int64 -> output: T"


def _count(size: int | None, ratio: float) -> int | None:
    """Return the number of windows along an axis, which is float32 arithmetic in TensorFlow."""
    return None if size is None else int(np.floor(np.float32(size) / np.float32(ratio)))


def _pooled(ctx: ShapeContext) -> list[Static]:
    ratios, image = ctx.attrs["pooling_ratio"], rank4(ctx.shape(0))
    if len(ratios) != 4:
        raise ValueError(f"pooling_ratio field must specify 4 dimensions, got {len(ratios)}")
    if not min(ratios) >= 1:
        raise ValueError(f"pooling_ratio cannot be smaller than 1, got: {min(ratios)}")
    counts = [_count(size, ratio) for size, ratio in zip(image, ratios, strict=True)]
    borders = [None if n is None else n + 1 for n in counts]
    return [tuple(counts), (borders[1],), (borders[2],)]


def _validate(ctx: Any) -> None:
    attrs = ctx.attrs
    for axis, (size, ratio) in enumerate(zip(ctx.shape(0), attrs["pooling_ratio"], strict=True)):
        if size < ratio:
            raise ValueError(f"Pooling ratio is higher than input dimension size for dimension {axis}. Input dim size: "
                             f"{size} pooling ratio: {ratio:g}")
    if attrs["pooling_ratio"][0] != 1 or attrs["pooling_ratio"][3] != 1:
        raise errors.UnimplementedError(None, ctx.op, "Fractional pooling is not supported on the batch nor channel "
                                        f"dimension: pooling_ratio is {list(attrs['pooling_ratio'])}")
    if not attrs["deterministic"] and (attrs["seed"] or attrs["seed2"]):
        raise ValueError(f"Both seed and seed2 should be 0 if deterministic is false, got {attrs['seed']} and "
                         f"{attrs['seed2']}")


def _maxima(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool) -> np.ndarray:
    if not has_compiler():
        return arrays.max_pool(x, rows, columns, overlapping)
    return kernels.maxima(x, arrays.windows(rows, columns, x.shape, overlapping))


def _means(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, overlapping: bool) -> np.ndarray:
    if not has_compiler():
        return arrays.avg_pool(x, rows, columns, overlapping)
    total = kernels.sums(x, arrays.windows(rows, columns, x.shape, overlapping))
    return arrays.shared(total, arrays.counts(rows, columns, x.shape, overlapping))


def _pool(form: Any) -> Any:
    def numpy(ctx: Any, x: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the pooled images and the sequences; with `deterministic` each run has the same ones."""
        attrs = ctx.attrs
        state = ctx.state.copy() if attrs["deterministic"] else ctx.state
        counts = tuple(_count(size, ratio) or 0 for size, ratio in zip(x.shape, attrs["pooling_ratio"], strict=True))
        rows, columns = arrays.pooling_sequences(state, x.shape[1:3], counts[1:3], attrs["pseudo_random"])
        return form(x, rows, columns, attrs["overlapping"]), rows, columns
    return numpy


def _check_sequences(ctx: Any) -> None:
    """Raise ValueError for sequences that do not go with the gradient of the output."""
    first = len(ctx.op.inputs) - 2
    for i, axis in ((first, 1), (first + 1, 2)):
        what, places, count = ctx.op.spec.inputs[i].name, ctx.value(i), ctx.shape(first - 1)[axis]
        if ctx.shape(i)[0] < count + 1:
            raise ValueError(f"{what} must have at least {count + 1} elements for gradients of shape "
                             f"{list(ctx.shape(first - 1))}, got {ctx.shape(i)[0]}")
        if places is not None and (places < 0).any():
            raise ValueError(f"{what} must not be negative, got {places.tolist()}")


def _validate_avg_gradient(ctx: Any) -> None:
    no_negative(ctx, 0)
    _check_sequences(ctx)


def _max_gradient_shape(ctx: ShapeContext) -> list[Static]:
    rank4(ctx.shape(1))
    rank4(ctx.shape(2))
    return [rank4(ctx.shape(0))]


def _avg_gradient_shape(ctx: ShapeContext) -> list[Static]:
    of_rank(ctx.shape(0), 1)
    rank4(ctx.shape(1))
    return [rank4(ctx.partial(0))]


def _used(dy: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return rows[:dy.shape[1] + 1], columns[:dy.shape[2] + 1]


def _by_kernel(image: tuple[int, ...], dy: np.ndarray) -> bool:
    """Return whether a kernel takes the gradient: its batch and channels are those of the image."""
    return has_compiler() and (image[0], image[3]) == (dy.shape[0], dy.shape[3])


def _max_gradient(ctx: Any, x: np.ndarray, y: np.ndarray, dy: np.ndarray, rows: np.ndarray,
                  columns: np.ndarray) -> np.ndarray:
    borders, overlapping = _used(dy, rows, columns), ctx.attrs["overlapping"]
    if not _by_kernel(x.shape, dy):
        return arrays.max_pool_gradient(x, dy, *borders, overlapping)
    return kernels.maxima_gradient(x, dy, arrays.windows(*borders, x.shape, overlapping))


def _avg_gradient(ctx: Any, sizes: np.ndarray, dy: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    image, borders, overlapping = tuple(sizes.tolist()), _used(dy, rows, columns), ctx.attrs["overlapping"]
    if not _by_kernel(image, dy):
        return arrays.avg_pool_gradient(image, dy, *borders, overlapping)
    return kernels.means_gradient(image, dy, arrays.windows(*borders, image, overlapping)).astype(dy.dtype)


@public("nn.fractional_max_pool")
@random(_SIGNATURE, shape=_pooled, numpy=_pool(_maxima), validate=_validate, stateful=False, **_POOL)
def FractionalMaxPool() -> None:
    """Compute the maximum over windows of random sizes, per channel: (output, row and column sequence).

    value: [batch, height, width, channels]. pooling_ratio: [1, rows, columns, 1], each at least 1, of the sizes of
    input and output. pseudo_random: windows from one random number an axis, else shuffled ones. overlapping: windows
    share the places at their borders. deterministic: the same windows in each run, by `seed` and `seed2`, which
    must be 0 else. The sequences hold where windows begin, and last the size of the axis. Raises ValueError for other
    ratios; in a run UnimplementedError for ratios of the batch or channels.

    >>> image = tf.reshape(tf.range(20.0), [1, 4, 5, 1])
    >>> made = tf.nn.fractional_max_pool(image, [1.0, 1.4, 1.5, 1.0], deterministic=True, seed=3)
    >>> sess.run(tf.squeeze(made.output)), sess.run(made.row_pooling_sequence)
    (array([[ 6.,  7.,  9.],
           [16., 17., 19.]], dtype=float32), array([0, 2, 4]))
    """


@public("nn.fractional_avg_pool")
@random(_SIGNATURE, shape=_pooled, numpy=_pool(_means), validate=_validate, stateful=False, **_POOL)
def FractionalAvgPool() -> None:
    """Compute the mean over windows of random sizes, per channel: (output, row and column sequence).

    value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2: as of `tf.nn.fractional_max_pool`.
    Means of integers are rounded toward 0.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> made = tf.nn.fractional_avg_pool(image, [1.0, 2.0, 2.0, 1.0], deterministic=True, seed=3)
    >>> sess.run(tf.squeeze(made.output))
    array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)
    """


@kernel("orig_input: T, orig_output: T, " + _SEQUENCES, shape=_max_gradient_shape, numpy=_max_gradient,
        validate=_check_sequences, ranks={"row_pooling_sequence": 1, "col_pooling_sequence": 1},
        overlapping="bool = false", T=_POOL["T"])
def FractionalMaxPoolGrad() -> None:
    """Compute the gradient of FractionalMaxPool: each element goes to the (first) maximum of its window."""


@kernel("orig_input_tensor_shape: int64, " + _SEQUENCES, shape=_avg_gradient_shape, numpy=_avg_gradient,
        validate=_validate_avg_gradient, ranks={"row_pooling_sequence": 1, "col_pooling_sequence": 1},
        values=("orig_input_tensor_shape",), overlapping="bool = false", T=_POOL["T"])
def FractionalAvgPoolGrad() -> None:
    """Compute the gradient of FractionalAvgPool: each element is shared by its window."""


def _gradient(of: Constructor, inputs: Any) -> Any:
    return lambda op, dy, *_: of(*inputs(op), dy, *op.outputs[1:], overlapping=op.attrs["overlapping"])


def _sizes(op: Operation) -> list[Tensor]:
    return [shape(op.inputs[0], out_type="int64")]


FractionalMaxPool.gradient(_gradient(FractionalMaxPoolGrad, lambda op: [op.inputs[0], op.outputs[0]]))
FractionalAvgPool.gradient(_gradient(FractionalAvgPoolGrad, _sizes))
for _op in (FractionalMaxPoolGrad, FractionalAvgPoolGrad):
    _op.no_gradient("as in TensorFlow, there is one order only")

describe(globals(), TENSORS)
