"""Clipping of values and of gradient norms."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import colocate_with, name_scope
from tfnb.ops.array.create import ones_like, range_
from tfnb.ops.array.joining import stack
from tfnb.ops.array.reshape import identity, rank, size
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import Maximum, Minimum
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import Select
from tfnb.ops.reductions.reduce import reduce_sum


@dispatched
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Clip `t` to [`clip_value_min`, `clip_value_max`]. Raises ValueError if a limit would broadcast `t`.

    >>> sess.run(tf.clip_by_value([-5.0, 0.5, 5.0], -1.0, 1.0))
    array([-1. ,  0.5,  1. ], dtype=float32)
    """
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        values = t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t, name="t")
        below = Minimum(values, clip_value_max)
        values.shape.assert_is_compatible_with(below.shape)
        made = Maximum(below, clip_value_min, name=scope)
        values.shape.assert_is_compatible_with(made.shape)
        return IndexedSlices(made, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else made


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """Scale `t` down to the L2 norm `clip_norm` where its norm is larger (along `axes`, by default all).

    Raises ValueError for norms that would give the result another shape.

    >>> sess.run(tf.clip_by_norm([3.0, 4.0], 1.0))
    array([0.6, 0.8], dtype=float32)
    """
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values = t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t, name="t")
        clip_norm = cast(clip_norm, values.dtype) if isinstance(clip_norm, Tensor) else clip_norm
        total = reduce_sum(values * values, axes, keepdims=True)
        positive = total > 0                        # the gradient of a square root at 0 is infinite
        length = Select(positive, raw.Sqrt(Select(positive, total, ones_like(total))), total)
        clipped = values * clip_norm
        merge(values.static, clipped.static)        # a vector of norms does not clip a scalar
        made = identity(clipped / Maximum(length, clip_norm), name=scope)
        return IndexedSlices(made, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else made


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor:
    """Compute the global L2 norm of all tensors; None among them is left out.

    >>> sess.run(tf.global_norm([tf.constant([3.0]), tf.constant([4.0])]))
    5.0
    """
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list).__name__}")
    with name_scope(name, "global_norm", t_list) as scope:
        halves = []
        for t in t_list:
            if t is not None:
                values = t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t, name="t")
                with colocate_with(values):
                    halves.append(raw.L2Loss(values))
        total = reduce_sum(stack(halves))
        return raw.Sqrt(total * convert_to_tensor(2.0, dtype=total.dtype), name="global_norm" if scope else None)


def clip_by_global_norm(t_list: Sequence[Any], clip_norm: Any, use_norm: Any = None,
                        name: str | None = None) -> tuple[list[Any], Tensor]:
    """Scale the tensors down together where their global norm is over `clip_norm`; returns them and that norm.

    Where the length is not finite, all results are NaN. None among the tensors stays None.

    >>> clipped, norm = tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], clip_norm=1.0)
    >>> sess.run(clipped), sess.run(norm)
    ([array([0.6], dtype=float32), array([0.8], dtype=float32)], 5.0)
    """
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list).__name__}")
    use_norm = global_norm(t_list, name) if use_norm is None else use_norm
    with name_scope(name, "clip_by_global_norm", [*t_list, clip_norm]):
        factor = clip_norm * Minimum(1.0 / use_norm, convert_to_tensor(1.0, dtype=use_norm.dtype) / clip_norm)
        factor = factor + (use_norm - use_norm)     # NaN where the length is infinite or NaN
        clipped: list[Any] = []
        for i, t in enumerate(t_list):
            if t is None:
                clipped.append(None)
                continue
            values = t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t, name=f"t_{i}")
            with colocate_with(values):
                made = identity(values * factor, name=f"clip_by_global_norm/_{i}")
            clipped.append(IndexedSlices(made, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else made)
    return clipped, use_norm


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """Scale `t` down where its L2 norm divided by its number of elements is over `clip_norm`.

    >>> sess.run(tf.clip_by_average_norm([3.0, 4.0], 1.0))
    array([1.2, 1.6], dtype=float32)
    """
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        count = cast(size(t), t.dtype)
        inverse = raw.Rsqrt(reduce_sum(t * t, range_(0, rank(t))))
        scaled = t * clip_norm
        limit = Minimum(inverse * count, convert_to_tensor(1.0, dtype=t.dtype) / clip_norm)
        return identity(scaled * limit, name=scope)


describe(globals(), TENSORS)
