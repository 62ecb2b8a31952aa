"""Values and shapes that are known while the graph is built."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfnb as tf
from tfnb.graph.parts.constant_value import constant_value, constant_value_as_shape
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.parts.shape_context import ShapeContext
from tfnb.ops.array.joining import Concat, ConcatV2, Pack, Unpack
from tfnb.ops.array.reshape import ExpandDims, Identity, Rank, Reshape, Shape, ShapeN, Size
from tfnb.ops.array.reshape import ReverseV2 as Reverse
from tfnb.ops.array.slicing import Slice, StridedSlice
from tfnb.ops.control.source import constant, placeholder, placeholder_with_default
from tfnb.ops.math.arithmetic import Add, Mul
from tfnb.ops.math.casting import Cast
from tfnb.ops.state.assign import VariableV2


def at(vector: Any, index: int) -> Tensor:
    """`vector[index]`, as indexing makes it."""
    made: Tensor = StridedSlice(vector, [index], [index + 1], [1], shrink_axis_mask=1)
    return made


def part(vector: Any, begin: int, end: int, **masks: int) -> Tensor:
    made: Tensor = StridedSlice(vector, [begin], [end], [1], **masks)
    return made


def test_values() -> None:
    x = placeholder("float32", [2, 3])
    for tensor, expected in (
            (constant([1, 2]), [1, 2]), (Shape(x), [2, 3]), (Size(x), 6), (Rank(x), 2), (Mul(Shape(x), 2), [4, 6]),
            (at(Shape(x), 1), 3), (Pack([at(Shape(x), 0), 6]), [2, 6]), (Cast(Shape(x), DstT="float32"), [2.0, 3.0]),
            (ConcatV2([Shape(x), [1]], 0), [2, 3, 1]), (Add(at(Shape(x), 0), 1), 3)):
        value = constant_value(tensor)
        assert value is not None and value.tolist() == expected and value.dtype == tensor.dtype.np_dtype
        assert not value.flags.writeable


def test_unknown_values() -> None:
    x, y = placeholder("int32", [None, 3]), placeholder("int32", [])
    v = VariableV2(shape=[], dtype="int32")
    large = constant(np.zeros(2000, np.int32))
    for tensor in (x, Shape(x), Size(x), Add(y, 1), v, Identity(v), Add(large, 1), Pack([1, y])):
        assert constant_value(tensor) is None
    assert constant_value(large) is not None
    assert constant_value(Rank(x)) == 2
    rank = Rank(placeholder("float32", None))
    assert constant_value(rank) is None and constant_value(Pack([rank, 1]), partial=True).tolist() == [None, 1]
    partly = constant_value(Pack([1, y]), partial=True)
    assert partly is not None and partly.tolist() == [1, None]
    nested = constant_value(Pack([Pack([y, 2]), [3, 4]]), partial=True)
    assert nested is not None and nested.tolist() == [[None, 2], [3, 4]]
    assert constant_value(Pack([y, y]), partial=True) is None and constant_value(y, partial=True) is None
    assert constant_value(Add([1, 2], Pack([y, 1])), partial=True) is None


def test_a_default_that_may_be_fed_is_no_constant() -> None:
    sizes = placeholder_with_default([2, 3], [2])
    assert constant_value(sizes) is None and constant_value(Add(sizes, 1)) is None
    assert constant_value(sizes, partial=True) is None and constant_value_as_shape(Identity(sizes)) == (None, None)


def test_a_value_that_raises_is_unknown() -> None:
    with pytest.raises(ValueError):
        Reshape(constant([1, 2, 3]), [2, 2])
    assert constant_value(StridedSlice([1, 2], [5], placeholder("int32", [1]), [1])) is None


def test_long_chains_end() -> None:
    y = constant(1)
    for _ in range(2000):
        y = Add(y, y)
    assert constant_value(y) is None


def test_partial_shapes() -> None:
    x, size, vector = placeholder("float32", [None, 3, 5]), placeholder("int32", []), placeholder("int32", [2])
    s = Shape(x)
    for tensor, expected in (
            (s, (None, 3, 5)), (constant([2, -1]), (2, None)), (constant(-1), None), (vector, (None, None)),
            (Pack([size, 4, at(s, 1), at(s, 0), -1]), (None, 4, 3, None, None)),
            (ConcatV2([s, [7]], 0), (None, 3, 5, 7)), (ConcatV2([[7], part(s, 1, 3)], 0), (7, 3, 5)),
            (part(s, 1, 0, end_mask=1), (3, 5)), (part(s, 0, -1), (None, 3)), (part(s, 0, 2, begin_mask=1), (None, 3)),
            (Slice(s, [1], [-1]), (3, 5)), (Slice(s, [0], [2]), (None, 3)), (Cast(s, DstT="int64"), (None, 3, 5)),
            (Identity(s), (None, 3, 5)), (Shape(placeholder("float32")), None), (Add(s, 1), (None,) * 3),
            (Pack([Cast(at(s, 2), DstT="int64"), Cast(2, DstT="int64")]), (5, 2)), (Pack([size, -5]), (None, None)),
            (Pack([Mul(at(s, 1), 2), Mul(at(s, 0), 2)]), (6, None)), (Pack([placeholder("int32"), 4]), (None, 4)),
            (ConcatV2([ExpandDims(at(s, 1), 0), vector, [2]], 0), (3, None, None, 2)),
            (Pack([Unpack(s, num=3)[2], size, Unpack(s, num=3)[0]]), (5, None, None)), (placeholder("int32"), None),
            (Concat(0, [[2], s]), (2, None, 3, 5)),
            (Pack([Cast(Mul(Cast(at(s, 0), DstT="float32"), 0.5), DstT="int32"), 2]), (None, 2)),
            (ShapeN([x, x])[1], (None, None, None)),
            (Pack([Size(x), Rank(x)]), (None, 3)), (Reverse(s, [0]), (5, 3, None))):
        assert constant_value_as_shape(tensor) == expected, tensor


def test_shapes_that_can_not_be() -> None:
    for bad in ([-2, 1], 5):
        with pytest.raises(ValueError):
            constant_value_as_shape(constant(bad))


def test_shape_context() -> None:
    x = placeholder("float32", [None, 3])
    y = Reshape(x, Pack([at(Shape(x), 0), 3, 1]))
    ctx = ShapeContext(y.op)
    assert ctx.shape(0) == (None, 3) and ctx.value(1) is None and ctx.partial(1) == (None, 3, 1)
    assert ctx.attrs is y.op.attrs and y.static == (None, 3, 1)
    assert x.graph.shape_from_tensor(y.op.inputs[1]) == (None, 3, 1)

_PARTLY_KNOWN = """
P = tf.placeholder
def shape(make):
    made = make().shape
    return made.as_list() if made.ndims is not None else None

n, u, v, p, y = P(tf.int32, []), P(tf.int32), P(tf.int32, [2]), P(tf.float32, [None, 4]), P(tf.float32)
m = P(tf.float32, [2, 2])
rows, columns = tf.unstack(tf.shape(p))
result = [shape(make) for make in (
    lambda: tf.reshape(y, [rows, columns]), lambda: tf.fill(tf.stack([n, -5]), 1.0), lambda: tf.fill([u, 3], 1),
    lambda: tf.reshape(y, tf.concat([tf.expand_dims(tf.shape(p)[1], 0), [3]], 0)), lambda: tf.reshape(y, tf.stack([u])),
    lambda: tf.reshape(y, tf.concat([v, [3]], 0)), lambda: tf.reshape(y, [tf.shape(p)[1] * 2, n]),
    lambda: tf.reshape(y, tf.cast(tf.shape(p), tf.int64)), lambda: tf.reshape(y, tf.shape(p) + 1), lambda: tf.eye(u),
    lambda: tf.reshape(y, tf.shape(p)[:1]), lambda: tf.reshape(y, tf.shape(p)[1:]), lambda: tf.reshape(y, u),
    lambda: tf.pad(m, tf.stack([[1, 2], u])), lambda: tf.pad(m, [[1, u], [3, 4]]),
    lambda: tf.pad(m, tf.stack([[1, 2], v])), lambda: tf.pad(m, [[1, n], [1, 1]], "SYMMETRIC"),
    lambda: tf.pad(p, [[0, 1], [tf.shape(p)[1], 2]]),
    lambda: tf.tile(m, [1, tf.shape(p)[-1]]), lambda: tf.tile(m, [1, tf.shape_n([p, p])[0][-1]]),
    lambda: tf.tile(y, [3, u]), lambda: tf.tile(p, [3, n]), lambda: tf.zeros(tf.stack([tf.rank(p), n])))]
"""


def test_shapes_that_are_known_in_part(oracle: Any) -> None:
    scope: dict[str, Any] = {"tf": tf}
    exec(_PARTLY_KNOWN, scope)
    assert scope["result"] == oracle(_PARTLY_KNOWN)
