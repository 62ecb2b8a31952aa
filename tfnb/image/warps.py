"""Warps of images by a flow of their pixels, and splines that spread the flow of a few points: `tf.contrib.image`."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import IMAGES, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.linalg.matrices import matrix_solve
from tfnb.ops.array.create import eye, ones, range_, zeros
from tfnb.ops.array.gather import gather
from tfnb.ops.array.joining import concat, stack, tile
from tfnb.ops.array.reshape import expand_dims, reshape, shape, transpose
from tfnb.ops.declaration.public import public
from tfnb.ops.math.arithmetic import floor, maximum, minimum, pow, square
from tfnb.ops.math.casting import cast
from tfnb.ops.math.functions import log, sqrt
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import reduce_sum

_LEAST = 1e-10                  # of squared distances, whose roots and logarithms have gradients then


def _sizes(tensor: Tensor) -> list[Any]:
    """Return the sizes of a tensor: integers where they are known, else scalars."""
    dynamic = shape(tensor)
    return [dynamic[i] if n is None else n for i, n in enumerate(tensor.shape.as_list())]


def _of_rank(tensor: Any, rank: int, name: str, last: int | None = None) -> Tensor:
    tensor = convert_to_tensor(tensor, name=name)
    static = tensor.shape
    if static.ndims != rank or last is not None and static[-1].value not in (None, last):
        raise ValueError(f"{name} must have {rank} axes" + (f", the last one of size {last}" if last else "")
                         + f", got the shape {static}")
    return tensor


@public("contrib.image.dense_image_warp")
def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> Tensor:
    """Warp images by the flow of each pixel: result[b, y, x] is image[b, y - flow[b, y, x, 0], x - flow[b, y, x, 1]].

    image: floats [batch, height, width, channels], of a height and a width of at least 2. flow: floats [batch, height,
    width, 2]. Values between pixels are interpolated bilinearly; beyond the border are those of the border. Has
    gradients of both. Raises ValueError for other ranks or smaller images.

    >>> image = tf.reshape([1., 2., 3., 4.], [1, 2, 2, 1])
    >>> flow = tf.fill([1, 2, 2, 2], 0.5)
    >>> sess.run(tf.contrib.image.dense_image_warp(image, flow))[0, :, :, 0]
    array([[1. , 1.5],
           [2. , 2.5]], dtype=float32)
    """
    with name_scope(name, values=[image, flow]):
        image, flow = _of_rank(image, 4, "image"), _of_rank(flow, 4, "flow", 2)
        if any(n is not None and n < 2 for n in image.shape.as_list()[1:3]):
            raise ValueError(f"image must have a height and a width of at least 2, got the shape {image.shape}")
        batch, height, width, channels = _sizes(image)
        rows = reshape(cast(range_(height), flow.dtype), [1, -1, 1])
        columns = reshape(cast(range_(width), flow.dtype), [1, 1, -1])
        y, x = rows - flow[..., 0], columns - flow[..., 1]
        top, left = _corner(y, height), _corner(x, width)
        down, right = (cast(minimum(maximum(at - low, 0.0), 1.0), image.dtype)[..., None]
                       for at, low in ((y, top), (x, left)))
        first = (reshape(range_(batch), [-1, 1, 1]) * height + cast(top, dtypes.int32)) * width \
            + cast(left, dtypes.int32)
        pixels = reshape(image, stack([batch * height * width, channels]))
        above = _between(gather(pixels, first), gather(pixels, first + 1), right)
        below = _between(gather(pixels, first + width), gather(pixels, first + width + 1), right)
        made = _between(above, below, down)
        made.set_shape(image.shape)
        return made


def _corner(at: Tensor, count: Any) -> Tensor:
    """Return the pixel before a place, the last but one at most."""
    return minimum(maximum(floor(at), 0.0), cast(count - 2, at.dtype))


def _between(first: Tensor, second: Tensor, share: Tensor) -> Tensor:
    return first + share * (second - first)


@public("contrib.image.interpolate_spline")
def interpolate_spline(train_points: Any, train_values: Any, query_points: Any, order: int,
                       regularization_weight: float = 0.0, name: str = "interpolate_spline") -> Tensor:
    """Interpolate values at some points by a polyharmonic spline (a thin plate for order 2): floats [batch, m, k].

    train_points: floats [batch, n, d]. train_values: floats [batch, n, k], of these points. query_points: floats
    [batch, m, d]. The spline is the sum of a linear function and of weights * phi(distance to each point): phi(r) is
    r^order for odd orders, r^order log(r) for even ones. regularization_weight: what is added to the diagonal of the
    system, so that the spline is smooth instead of exact. Has gradients of all three. Raises ValueError for other
    ranks; running it InvalidArgumentError where all points are on one plane (n must be more than d).

    >>> points, values = [[[0.], [1.], [3.]]], [[[0.], [1.], [3.]]]
    >>> sess.run(tf.contrib.image.interpolate_spline(points, values, [[[0.5], [2.]]], order=1))[0, :, 0]
    array([0.5, 2. ], dtype=float32)
    """
    with name_scope(name, values=[train_points, train_values, query_points]):
        points, values = _of_rank(train_points, 3, "train_points"), _of_rank(train_values, 3, "train_values")
        wanted = _of_rank(query_points, 3, "query_points")
        batch, count, size = _sizes(points)
        among = _radial(_squared_distances(points, points), order)
        if regularization_weight > 0:
            among += regularization_weight * eye(count, dtype=points.dtype)
        linear = concat([points, ones(stack([batch, count, 1]), points.dtype)], 2)
        corner = zeros(stack([batch, size + 1, size + 1]), points.dtype)
        system = concat([concat([among, linear], 2), concat([transpose(linear, [0, 2, 1]), corner], 2)], 1)
        outputs = _sizes(values)[2]
        solved = matrix_solve(system, concat([values, zeros(stack([batch, size + 1, outputs]), values.dtype)], 1))
        weights, slopes = solved[:, :count, :], solved[:, count:, :]
        around = _radial(_squared_distances(wanted, points), order)
        plane = concat([wanted, ones(stack([batch, _sizes(wanted)[1], 1]), wanted.dtype)], 2)
        return matmul(around, weights) + matmul(plane, slopes)


def _squared_distances(x: Tensor, y: Tensor) -> Tensor:
    """Return the squared distance of each row of x [batch, n, d] to each of y [batch, m, d], [batch, n, m]."""
    return reduce_sum(square(expand_dims(x, 2) - expand_dims(y, 1)), 3)


def _radial(squared: Tensor, order: int) -> Tensor:
    """Return phi of squared distances."""
    kept = maximum(squared, _LEAST)
    if order == 1:
        return sqrt(kept)
    if order % 2:
        return pow(kept, 0.5 * order)
    return 0.5 * pow(squared, 0.5 * order) * log(kept)


@public("contrib.image.sparse_image_warp")
def sparse_image_warp(image: Any, source_control_point_locations: Any, dest_control_point_locations: Any,
                      interpolation_order: int = 2, regularization_weight: float = 0.0, num_boundary_points: int = 0,
                      name: str = "sparse_image_warp") -> tuple[Tensor, Tensor]:
    """Warp images so that some points move to others: the images, and the flow [batch, height, width, 2].

    image: floats [batch, height, width, channels], of known size. source_control_point_locations,
    dest_control_point_locations: floats [batch, n, 2], rows and columns of points before and behind. Between them the
    flow is a spline; interpolation_order, regularization_weight: as of interpolate_spline. num_boundary_points: how
    many points stay where they are at each edge: none, or 1 for the corners, n for n - 1 more along each edge.

    Raises ValueError for other ranks, unknown sizes and a negative number of points.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> warped, flow = tf.contrib.image.sparse_image_warp(image, [[[1., 1.]]], [[[1., 2.]]], num_boundary_points=1)
    >>> sess.run(warped)[0, 1, 2, 0], sess.run(flow)[0, 1, 2]
    (5.0, array([0., 1.], dtype=float32))
    """
    with name_scope(name, values=[image, source_control_point_locations, dest_control_point_locations]):
        image = _of_rank(image, 4, "image")
        source = _of_rank(source_control_point_locations, 3, "source_control_point_locations", 2)
        target = _of_rank(dest_control_point_locations, 3, "dest_control_point_locations", 2)
        batch, height, width, _ = image.shape.as_list()
        if batch is None or height is None or width is None:
            raise ValueError(f"image must have known sizes, got the shape {image.shape}")
        if num_boundary_points < 0:
            raise ValueError(f"num_boundary_points must not be negative, got {num_boundary_points}")
        flow = target - source
        if num_boundary_points:
            border = convert_to_tensor(_border(height, width, num_boundary_points)[None], dtype=target.dtype)
            border = tile(border, [batch, 1, 1])
            target, flow = concat([target, border], 1), concat([flow, border * 0.0], 1)
        grid = np.stack(np.meshgrid(range(height), range(width), indexing="ij"), -1).reshape(1, -1, 2)
        everywhere = interpolate_spline(target, flow, tile(convert_to_tensor(grid, dtype=target.dtype), [batch, 1, 1]),
                                        interpolation_order, regularization_weight)
        dense = reshape(everywhere, [batch, height, width, 2])
        return dense_image_warp(image, dense), dense


def _border(height: int, width: int, count: int) -> np.ndarray:
    """Return points along the four edges: the corners, and count - 1 more on each edge, evenly."""
    rows, columns = np.linspace(0, height - 1, count + 1), np.linspace(0, width - 1, count + 1)
    points: Iterable[tuple[float, float]] = {
        *((y, x) for y in rows for x in (0.0, width - 1.0)), *((y, x) for x in columns for y in (0.0, height - 1.0))}
    return np.array(sorted(points))


describe(globals(), IMAGES)
