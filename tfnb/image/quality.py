"""Image quality metrics and derivatives: PSNR, SSIM, total variation, gradients and Sobel edges."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.control_flow.assertions import Assert
from tfnb.control_flow.cond import cond
from tfnb.core import dtypes
from tfnb.core.arguments import IMAGES, describe
from tfnb.core.shape import compatible
from tfnb.graph.constant import make_constant
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.image.color import convert_image_dtype
from tfnb.ops.array.create import range_, zeros
from tfnb.ops.array.joining import concat, pad, stack, tile, unstack
from tfnb.ops.array.reshape import expand_dims, identity, reshape, shape, shape_n, size
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import abs, square, squared_difference, subtract
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, not_equal
from tfnb.ops.math.functions import log
from tfnb.ops.nn.activations import relu
from tfnb.ops.nn.conv_functions import depthwise_conv2d
from tfnb.ops.nn.cross_entropy import softmax
from tfnb.ops.nn.pool_functions import avg_pool
from tfnb.ops.reductions.reduce import reduce_all, reduce_any, reduce_mean, reduce_prod, reduce_sum

SCALES = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
Pair = tuple[Tensor, Tensor]


def total_variation(images: Any, name: str | None = None) -> Tensor:
    """Compute the total variation: the sum of absolute differences of neighbours, of an image or each of a batch.

    >>> sess.run(tf.image.total_variation(tf.reshape([1.0, 2.0, 4.0, 8.0], [2, 2, 1])))
    14.0
    """
    with name_scope(name, "total_variation"):
        if images.shape.ndims not in (3, 4):
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        axes = None
        if images.shape.ndims == 3:
            down, along = images[1:, :, :] - images[:-1, :, :], images[:, 1:, :] - images[:, :-1, :]
        else:
            axes = [1, 2, 3]
            down = images[:, 1:, :, :] - images[:, :-1, :, :]
            along = images[:, :, 1:, :] - images[:, :, :-1, :]
        return reduce_sum(abs(down), axis=axes) + reduce_sum(abs(along), axis=axes)


def image_gradients(image: Any) -> Pair:
    """Compute (dy, dx): forward differences of images [batch, height, width, channels]; 0 in the last row or column.

    >>> dy, dx = tf.image.image_gradients(tf.reshape([1.0, 2.0, 4.0, 8.0], [1, 2, 2, 1]))
    >>> sess.run(tf.squeeze(dy)), sess.run(tf.squeeze(dx))
    (array([[3., 6.],
            [0., 0.]], dtype=float32),
     array([[1., 0.],
            [4., 0.]], dtype=float32))
    """
    if image.shape.ndims != 4:
        raise ValueError("image_gradients expects a 4D tensor [batch_size, h, w, d], not "
                         f"{image.shape}.")
    whole = shape(image)
    batch, height, width, depth = unstack(whole)
    dy = image[:, 1:, :, :] - image[:, :-1, :, :]
    dx = image[:, :, 1:, :] - image[:, :, :-1, :]
    dy = reshape(concat([dy, zeros(stack([batch, 1, width, depth]), image.dtype)], 1), whole)
    dx = reshape(concat([dx, zeros(stack([batch, height, 1, depth]), image.dtype)], 2), whole)
    return dy, dx


def sobel_edges(image: Any) -> Tensor:
    """[batch, height, width, channels, 2]: Sobel's slopes down and along, of images mirrored at their borders.

    >>> image = tf.reshape([0.0, 0.0, 1.0] * 3, [1, 3, 3, 1])
    >>> sess.run(tf.image.sobel_edges(image))[0, 1, 1]
    array([[0., 4.]], dtype=float32)
    """
    static, whole = image.shape, shape(image)
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    filters = make_constant(np.stack([down, down.T], -1)[:, :, None, :], dtype=image.dtype)
    filters = tile(filters, [1, 1, whole[-1], 1], name="sobel_filters")
    mirrored = pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise_conv2d(mirrored, filters, [1, 1, 1, 1], "VALID")
    edges = reshape(edges, shape=concat([whole, [2]], 0))
    edges.set_shape(static.concatenate([2]))
    return edges


# Comparing two images

def _check(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor, list[Any]]:
    """(both shapes, operations that check them). Raises ValueError for images known not to have one size."""
    a, b = one.shape.with_rank_at_least(3), other.shape.with_rank_at_least(3)
    a[-3:].assert_is_compatible_with(b[-3:])
    if a.ndims is not None and b.ndims is not None:
        for m, n in zip(reversed(a.as_list()[:-3]), reversed(b.as_list()[:-3]), strict=False):
            if 1 not in (m, n) and not compatible((m,), (n,)):
                raise ValueError(f"Two images are not compatible: {a} and {b}")
    first, second = shape_n([one, other])
    return first, second, [
        Assert(raw.GreaterEqual(size(first), 3), [first, second], summarize=10),
        Assert(reduce_all(equal(first[-3:], second[-3:])), [first, second], summarize=10)]


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """Compute the peak signal-to-noise ratio (dB) of each image [..., height, width, channels]. max_val: its range.

    >>> sess.run(tf.image.psnr(tf.zeros([4, 4, 1]), tf.fill([4, 4, 1], 0.1), max_val=1.0))
    20.0
    """
    with name_scope(name, "PSNR", [a, b]):
        most = convert_image_dtype(cast(max_val, a.dtype), dtypes.float32)
        a, b = convert_image_dtype(a, dtypes.float32), convert_image_dtype(b, dtypes.float32)
        error = reduce_mean(squared_difference(a, b), [-3, -2, -1])
        ratio = subtract(20 * log(most) / log(10.0), np.float32(10 / np.log(10)) * log(error), name="psnr")
        _, _, checks = _check(a, b)
        with control_dependencies(checks):
            return identity(ratio)


def _gaussian(width: Tensor, sigma: Tensor) -> Tensor:
    """[width, width, 1, 1], with the sum 1."""
    width, sigma = convert_to_tensor(width, dtypes.int32), convert_to_tensor(sigma)
    at = cast(range_(width), sigma.dtype)
    at = at - cast(width - 1, sigma.dtype) / 2.0
    power = square(at)
    power = power * (-0.5 / square(sigma))
    both = reshape(power, shape=[1, -1]) + reshape(power, shape=[-1, 1])
    return reshape(softmax(reshape(both, shape=[1, -1])), shape=[width, width, 1, 1])


def _similar(x: Tensor, y: Tensor, mean: Callable[[Tensor], Tensor], most: Any, k1: float, k2: float) -> Pair:
    """(luminance, contrast and structure) of each window."""
    c1, c2 = (k1 * most) ** 2, (k2 * most) ** 2
    mean_x, mean_y = mean(x), mean(y)
    product = mean_x * mean_y * 2.0
    squares = square(mean_x) + square(mean_y)
    luminance = (product + c1) / (squares + c1)
    both = mean(x * y) * 2.0
    each = mean(square(x) + square(y))
    c2 = c2 * 1.0
    return luminance, (both - product + c2) / (each - squares + c2)


def _by_channel(one: Tensor, other: Tensor, most: Any, width: Any, sigma: Any, k1: float, k2: float,
                as_map: bool = False) -> Pair:
    """(SSIM, contrast and structure) of each channel, of each window if `as_map`."""
    width = make_constant(width, dtype=dtypes.int32)
    sigma = make_constant(sigma, dtype=one.dtype)
    first, second = shape_n([one, other])
    checks = [Assert(reduce_all(raw.GreaterEqual(given[-3:-1], width)), [given, width], summarize=8)
              for given in (first, second)]
    with control_dependencies(checks):
        one = identity(one)
    kernel = tile(_gaussian(width, sigma), multiples=[1, 1, first[-1], 1])

    def mean(x: Tensor) -> Tensor:
        whole = shape(x)
        x = reshape(x, shape=concat([[-1], whole[-3:]], 0))
        y = depthwise_conv2d(x, kernel, strides=[1, 1, 1, 1], padding="VALID")
        return reshape(y, concat([whole[:-3], shape(y)[1:]], 0))

    luminance, structure = _similar(one, other, mean, most, k1, k2)
    if as_map:
        return luminance * structure, structure
    axes = make_constant([-3, -2], dtype=dtypes.int32)
    return reduce_mean(luminance * structure, axes), reduce_mean(structure, axes)


def _prepared(img1: Any, img2: Any, max_val: Any) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
    """(both as floats, behind the checks; the largest number; their shapes)."""
    one, other = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
    first, second, checks = _check(one, other)
    with control_dependencies(checks):
        one = identity(one)
    most = convert_image_dtype(cast(max_val, one.dtype), dtypes.float32)
    return (convert_image_dtype(one, dtypes.float32), convert_image_dtype(other, dtypes.float32), most,
            [first, second])


def ssim(img1: Any, img2: Any, max_val: Any, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01,
         k2: float = 0.03, return_index_map: bool = False) -> Tensor:
    """Compute the structural similarity of pairs of images [..., height, width, channels], <= 1 (Wang et al., 2004).

    max_val: of the range of the images. filter_size, filter_sigma: of the Gaussian windows; smaller images raise
    InvalidArgumentError in the run. return_index_map: one number for each window.

    >>> image = tf.random_uniform([16, 16, 1])
    >>> sess.run(tf.image.ssim(image, image, max_val=1.0))
    1.0
    """
    with name_scope(None, "SSIM", [img1, img2]):
        one, other, most, _ = _prepared(img1, img2, max_val)
        found, _ = _by_channel(one, other, most, filter_size, filter_sigma, k1, k2, return_index_map)
        return reduce_mean(found, [-1])


def ssim_multiscale(img1: Any, img2: Any, max_val: Any, power_factors: Sequence[float] = SCALES, filter_size: int = 11,
                    filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03) -> Tensor:
    """Compute the multi-scale SSIM, each scale half of the one before (Wang et al., 2003), by `power_factors`.

    >>> image = tf.random_uniform([1, 192, 192, 1])
    >>> sess.run(tf.image.ssim_multiscale(image, image, max_val=1.0))
    array([1.], dtype=float32)
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        one, other, most, shapes = _prepared(img1, img2, max_val)
        images, heads, tails = [one, other], [s[:-3] for s in shapes], [s[-3:] for s in shapes]
        halves = make_constant([2, 2, 1], dtype=dtypes.int32)
        found: list[Tensor] = []
        for k in range(len(power_factors)):
            with name_scope(None, f"Scale{k}", images):
                if k:
                    images, tails = _halved(images, heads, tails, halves)
                whole, structure = _by_channel(images[0], images[1], most, filter_size, filter_sigma, k1, k2)
                found.append(relu(structure))
        scales = stack([*found[:-1], relu(whole)], axis=-1)
        return reduce_mean(reduce_prod(raw.Pow(scales, list(power_factors)), [-1]), [-1])


def _halved(images: list[Tensor], heads: list[Tensor], tails: list[Tensor],
            halves: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Return the images in half the size, of odd ones with the last row or column twice, and the sizes of each."""
    flat = [reshape(x, concat([[-1], tail], 0)) for x, tail in zip(images, tails, strict=True)]
    rest = tails[0] % halves
    odd = reduce_any(not_equal(rest, 0))

    def grown() -> list[Tensor]:
        more = pad(expand_dims(rest, -1), [[1, 0], [1, 0]])
        return [pad(x, more, mode="SYMMETRIC") for x in flat]

    even = cond(odd, grown, lambda: flat)
    small = [avg_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID") for x in even]
    tails = [s[1:] for s in shape_n(small)]
    return [reshape(x, concat([head, tail], 0)) for x, head, tail in zip(small, heads, tails, strict=True)], tails


describe(globals(), IMAGES)
