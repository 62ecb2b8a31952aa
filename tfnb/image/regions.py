"""Connected areas of images, and greedy matching of rows and columns: `tf.contrib.image`."""
from __future__ import annotations

from typing import Any

from tfnb.control_flow.while_loop import while_loop
from tfnb.core import dtypes
from tfnb.core.arguments import IMAGES, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import fill, range_, zeros_like
from tfnb.ops.array.gather import gather
from tfnb.ops.array.joining import pad
from tfnb.ops.array.reshape import expand_dims, reshape, shape, size
from tfnb.ops.control.source import constant
from tfnb.ops.declaration.public import public
from tfnb.ops.math.arithmetic import minimum
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, less, logical_and, not_equal, where
from tfnb.ops.reductions.reduce import argmin, cumsum, reduce_any, reduce_min
from tfnb.ops.reductions.segments import unsorted_segment_min

_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))        # of a pixel, in rows and columns


@public("contrib.image.connected_components")
def connected_components(images: Any) -> Tensor:
    """Number the areas of equal pixels that are not 0 (or False): int64 of the shape of `images`.

    images: of numbers or booleans, [height, width] or [batch, height, width]. A pixel has four neighbours. Areas of all
    images together are 1, 2, ... in the order of their first pixels, row by row; pixels that are 0 have 0.

    Raises ValueError for another rank.

    >>> sess.run(tf.contrib.image.connected_components([[1, 1, 0], [0, 0, 2], [3, 0, 2]]))
    array([[1, 1, 0],
           [0, 0, 2],
           [3, 0, 2]])
    """
    with name_scope("connected_components", values=[images]):
        given = convert_to_tensor(images, name="images")
        if given.shape.ndims not in (2, 3):
            raise ValueError(f"images must have the shape [height, width] or [batch, height, width], got {given.shape}")
        pixels = cast(given, dtypes.int32) if given.dtype == dtypes.bool else given
        pixels = expand_dims(pixels, 0) if given.shape.ndims == 2 else pixels
        numbers = reshape(range_(size(pixels, out_type=dtypes.int64)), shape(pixels))
        there = not_equal(pixels, zeros_like(pixels))
        alike = [logical_and(there, equal(pixels, _shifted(pixels, side, 0))) for side in _SIDES]

        def spread(least: Tensor, changed: Tensor) -> tuple[Tensor, Tensor]:
            """Lower the number of each pixel, and of the pixel that it names, to the least one beside (FastSV)."""
            found = least
            for side, same in zip(_SIDES, alike, strict=True):
                found = minimum(found, where(same, _shifted(least, side, 0), least))
            named = unsorted_segment_min(reshape(found, [-1]), reshape(least, [-1]), count)
            lower = minimum(reshape(found, [-1]), named)
            found = reshape(gather(lower, lower), shape(pixels))
            return found, reduce_any(less(found, least))
        count = size(pixels)
        least, _ = while_loop(lambda least, changed: changed, spread, [numbers, constant(True)], back_prop=False)
        first = logical_and(there, equal(least, numbers))
        order = cumsum(cast(reshape(first, [-1]), dtypes.int64))
        return reshape(where(there, gather(order, least), zeros_like(least)), shape(given))


def _shifted(pixels: Tensor, side: tuple[int, int], beyond: int) -> Tensor:
    """Return the neighbour of each pixel at one side; `beyond` the border."""
    down, right = side
    padded = pad(pixels, [[0, 0], [max(-down, 0), max(down, 0)], [max(-right, 0), max(right, 0)]],
                 constant_values=beyond)
    rows, columns = shape(pixels)[1], shape(pixels)[2]
    return padded[:, max(down, 0):max(down, 0) + rows, max(right, 0):max(right, 0) + columns]


@public("contrib.image.bipartite_match")
def bipartite_match(distance_mat: Any, num_valid_rows: Any, top_k: int = -1,
                    name: str = "bipartite_match") -> tuple[Tensor, Tensor]:
    """Match rows and columns one to one, the least distance first: of each row its column and the reverse, or -1.

    distance_mat: floats [rows, columns]. num_valid_rows: a scalar, or a vector of one element: only the first rows are
    matched; all where it is negative. top_k: the most matches; as many as there can be if it is not positive. Of equal
    distances the first one is taken, row by row. Returns two int32 vectors. Raises ValueError for another rank.

    >>> rows, columns = tf.contrib.image.bipartite_match([[0.5, 0.1, 0.8], [0.3, 0.2, 0.15]], -1)
    >>> sess.run([rows, columns])
    [array([1, 2], dtype=int32), array([-1,  0,  1], dtype=int32)]
    """
    with name_scope(name, values=[distance_mat, num_valid_rows]):
        distances = convert_to_tensor(distance_mat, dtype=dtypes.float32, name="distance_mat")
        if distances.shape.ndims != 2:
            raise ValueError(f"distance_mat must be a matrix, got the shape {distances.shape}")
        rows, columns = shape(distances)[0], shape(distances)[1]
        valid = cast(reshape(convert_to_tensor(num_valid_rows), [-1])[0], dtypes.int32)
        valid = where(less(valid, 0), rows, minimum(valid, rows))
        most = minimum(valid, columns)
        most = minimum(most, top_k) if top_k > 0 else most
        row_numbers, column_numbers = range_(rows), range_(columns)
        far = constant(float("inf"))
        usable = expand_dims(less(row_numbers, valid), 1)

        def match(count: Tensor, of_rows: Tensor, of_columns: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            """Match the nearest free row and column."""
            free = logical_and(logical_and(usable, expand_dims(less(of_rows, 0), 1)),
                               expand_dims(less(of_columns, 0), 0))
            left = where(free, distances, fill(shape(distances), far))
            row = argmin(reduce_min(left, 1), output_type=dtypes.int32)
            column = argmin(left[row], output_type=dtypes.int32)
            return (count + 1, where(equal(row_numbers, row), fill([rows], column), of_rows),
                    where(equal(column_numbers, column), fill([columns], row), of_columns))
        _, of_rows, of_columns = while_loop(
            lambda count, of_rows, of_columns: less(count, most), match,
            [constant(0), fill([rows], -1), fill([columns], -1)], back_prop=False)
        return of_rows, of_columns


describe(globals(), IMAGES)
