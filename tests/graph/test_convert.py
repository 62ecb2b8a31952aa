"""convert_to_tensor, constants and their dtypes."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfnb as tf
from tfnb.core import dtypes
from tfnb.core.shape import Dimension, TensorShape
from tfnb.graph.constant import _from_python, _quick, make_constant, to_array
from tfnb.graph.convert import (
    convert_n_to_tensor,
    convert_to_tensor,
    internal_convert_to_tensor,
    register_tensor_conversion_function,
)
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.ops.control.group import no_op


@pytest.mark.parametrize("value, dtype, shape", [
    (1, "int32", ()), (1.5, "float32", ()), (True, "bool", ()), ("a", "string", ()), (b"a", "string", ()),
    ([1, 2], "int32", (2,)), ([1, 2.5], "float32", (2,)), ([1, True], "int32", (2,)), ([True, 2.0], "float32", (2,)),
    ([], "float32", (0,)), ([[]], "float32", (1, 0)), (2**31, "int64", ()), (2**63, "uint64", ()),
    (-2**31, "int32", ()), (-2**31 - 1, "int64", ()), ([1, 2**40], "int64", (2,)), (1j, "complex128", ()),
    ([1.0, 2j], "complex128", (2,)), (np.float64(1.0), "float64", ()), (np.array([1, 2]), "int64", (2,)),
    (np.array(["a", "b"]), "string", (2,)), ([np.float64(1), np.float32(2)], "float32", (2,)),
    ([np.int64(1), 2], "int32", (2,)), (np.int64(3), "int64", ()), ((1, 2), "int32", (2,)),
    (range(3), "int32", (3,)), ([["a"], ["b"]], "string", (2, 1)), ([np.bool_(True)], "bool", (1,)),
    (np.float16(1), "float16", ()), (np.array([1, 2], ">i2"), "int16", (2,))])
def test_inferred_dtypes(value: Any, dtype: str, shape: tuple[int, ...]) -> None:
    t = convert_to_tensor(value)
    assert (t.dtype.name, t.static, t.op.type) == (dtype, shape, "Const")


@pytest.mark.parametrize("value, dtype, expected", [
    (1, "float32", 1.0), (True, "float32", 1.0), (1.0, "float64", 1.0), (1, "float16", 1.0), (300, "uint8", 44),
    (-1, "uint8", 255), (2**31, "int32", -2**31), (1e300, "float32", np.inf), (1e10, "float16", np.inf),
    (np.array([1.5]), "int32", 1), (np.float64(1.5), "float32", 1.5), (np.array([1]), "bool", True),
    (np.array([1 + 2j]), "float32", 1.0), (1, "complex64", 1.0), (1.0, "bfloat16", 1.0), (2**40, "int64", 2**40)])
def test_values_of_a_wanted_dtype(value: Any, dtype: str, expected: Any) -> None:
    t = convert_to_tensor(value, dtype=dtype)
    array = t.op.attrs["value"]
    assert t.dtype.name == dtype and array.dtype == t.dtype.np_dtype and array.reshape(-1)[0] == expected


@pytest.mark.parametrize("value, dtype, message", [
    (1.5, "int32", "Expected int32, got 1.5 of type 'float'"), ([1, 2.5], "int32", "got 2.5 of type 'float'"),
    (1, "bool", "Expected bool, got 1"), ("a", "float32", "Expected float32, got 'a' of type 'str'"),
    (1, "string", "Expected string, got 1"), (1 + 2j, "float32", "Expected float32"),
    ([1, "a"], None, "'a' is of type str"),
    (["a", 1], None, "Expected string, got 1"), ([{}], None, "element {}"), (object(), None, "object"),
    ({1, 2}, None, "set"), (np.array([1, 2], object), None, "Expected binary or unicode string, got 1"),
    (dtypes.float32, None, "DType"), (2**70, None, "too large")])
def test_type_errors(value: Any, dtype: str | None, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        convert_to_tensor(value, dtype=dtype)
    assert get_default_graph().get_operations() == []


@pytest.mark.parametrize("value", [None, [None, 1], [[1, 2], [3]], [[], [1]], [np.array([1, 2]), np.array([3, 4])],
                                   TensorShape([1, None]), TensorShape(None), Dimension(None)])
def test_value_errors(value: Any) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        convert_to_tensor(value)
    assert isinstance(caught.value, ValueError) or value == [None, 1]


def test_tensors_stay_as_they_are() -> None:
    a = make_constant(1.0)
    assert convert_to_tensor(a) is a and convert_to_tensor(a, "float32", name="n") is a
    with pytest.raises(ValueError, match="requested dtype int32 for Tensor with dtype float32"):
        convert_to_tensor(a, dtype=dtypes.int32)
    with pytest.raises(TypeError, match="Operation 'NoOp'"):
        convert_to_tensor(no_op())


def test_preferred_dtype_gives_way() -> None:
    assert convert_to_tensor(1, preferred_dtype="float32").dtype is dtypes.float32
    assert convert_to_tensor(1.5, preferred_dtype="int32").dtype is dtypes.float32
    assert convert_to_tensor("a", dtype_hint="float32").dtype is dtypes.string
    assert convert_to_tensor([], preferred_dtype="int64").dtype is dtypes.int64
    assert len(get_default_graph().get_operations()) == 4


def test_shapes_and_dimensions() -> None:
    t = convert_to_tensor(TensorShape([1, 2]))
    assert (t.op.name, t.dtype, t.op.attrs["value"].tolist()) == ("shape_as_tensor", dtypes.int32, [1, 2])
    assert convert_to_tensor(TensorShape([2**40])).dtype is dtypes.int64
    assert convert_to_tensor(TensorShape([1]), dtype=dtypes.int64).dtype is dtypes.int64
    assert convert_to_tensor(Dimension(3)).static == ()
    mixed = convert_to_tensor([Dimension(3), -1], dtype=dtypes.int32)
    assert mixed.op.attrs["value"].tolist() == [3, -1] and convert_to_tensor([Dimension(3)]).dtype is dtypes.int32
    with pytest.raises(ValueError, match="unknown Dimension"):
        convert_to_tensor([Dimension(None)])
    with pytest.raises(TypeError, match="int32 or int64"):
        convert_to_tensor(TensorShape([1]), dtype=dtypes.float32)


def test_constants_of_a_shape() -> None:
    assert to_array([1, 2], shape=[2, 2]).tolist() == [[1, 2], [2, 2]]
    assert to_array(7, shape=[2, 2]).tolist() == [[7, 7], [7, 7]]
    assert to_array([], shape=[2]).tolist() == [0, 0] and to_array([], shape=[0, 3]).shape == (0, 3)
    with pytest.raises(ValueError, match="at most 4, but received 5"):
        to_array([1, 2, 3, 4, 5], shape=[2, 2])
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(2, 2\), got \(3,\)"):
        to_array([1, 2, 3], shape=[2, 2], verify_shape=True)
    with pytest.raises(ValueError, match="fully known"):
        to_array(1, shape=[None])


def test_a_constant_does_not_follow_its_array() -> None:
    array = np.zeros(2, np.float32)
    value = make_constant(array).op.attrs["value"]
    array[0] = 1.0
    assert value.tolist() == [0, 0] and not value.flags.writeable and array.flags.writeable


def test_what_numpy_can_read() -> None:
    class Series:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return np.array([1.0, 2.0])

    t = convert_to_tensor(Series())
    assert t.dtype is dtypes.float64 and t.static == (2,)


@pytest.mark.parametrize("dtype", [None, "float32", "int64", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("value", [[1, 2], [[1.5, 2], [3, 4]], [True, False], [[True], [2]], [1, 2**40], [-1, 300],
                                   [np.int8(1), 2.5], [], [[]], [1, 2j]])
def test_lists_are_read_alike_on_both_ways(value: Any, dtype: str | None) -> None:
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    quick = _quick(value, wanted)
    try:
        slow = _from_python(value, wanted)
    except TypeError:
        assert quick is None
    else:
        assert quick is None or (quick.dtype == slow.dtype and quick.tolist() == slow.tolist())


def test_lists_of_values() -> None:
    a, b = convert_n_to_tensor([1, 2.0], name="v")
    assert (a.op.name, b.op.name) == ("v_0", "v_1")
    with pytest.raises(TypeError, match="sequence"):
        convert_n_to_tensor(7)          # type: ignore[arg-type]


def test_registered_conversions() -> None:
    class Meters(float):
        pass

    def convert(value: Any, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
        if value < 0:
            return NotImplemented
        return "no tensor" if value > 100 else make_constant(float(value) * 2, dtype, name=name or "meters")

    register_tensor_conversion_function(Meters, convert, priority=50)
    assert convert_to_tensor(Meters(2.0)).op.attrs["value"] == 4.0
    assert convert_to_tensor(Meters(-2.0)).op.attrs["value"] == -2.0
    with pytest.raises(RuntimeError, match="returned non-Tensor"):
        convert_to_tensor(Meters(200.0))
    for base_type, fn in ((3, convert), (int, 3)):
        with pytest.raises(TypeError):
            register_tensor_conversion_function(base_type, fn)      # type: ignore[arg-type]


def test_objects_that_stand_for_a_tensor() -> None:
    a = make_constant(1.0)

    class Variable:
        def _as_graph_element(self) -> Tensor:
            return a

    assert convert_to_tensor(Variable()) is a
    with pytest.raises(ValueError, match="requested dtype"):
        internal_convert_to_tensor(Variable(), dtype="int32")


@pytest.mark.parametrize("size", [1 << 31, 1 << 44, np.int64(1 << 44), np.array(1 << 40)])
def test_numbers_beyond_int32_are_no_int32(size):
    """Where an op takes int32 by default: 1 << 44 would be 0 there, and the result empty."""
    assert tf.fill([size], 1.0).shape.as_list() == [int(size)]
    assert tf.tile([1.0], (size,)).op.inputs[1].dtype == tf.int64
    assert tf.pad([1.0], [[0, size]]).shape.as_list() == [int(size) + 1]
    for wrong in (lambda: tf.reduce_sum([1.0], size), lambda: tf.expand_dims([1.0], size),
                  lambda: tf.concat([[1.0], [2.0]], size), lambda: tf.transpose([1.0], [size])):
        with pytest.raises(ValueError, match=str(int(size))):
            wrong()
    assert tf.fill([(1 << 31) - 1], 1.0).op.inputs[0].dtype == tf.int32
    assert tf.fill(np.array([3]), 1.0).op.inputs[0].dtype == tf.int32


_OF_NO_ELEMENTS = """
def told(make, value, **options):
    try:
        made = make(value, **options)
        return (made.dtype, made.shape.as_list()) if make is tf.constant else str(made)
    except (TypeError, ValueError) as error:
        return type(error).__name__

values = (5, "a", True, np.float64(3), np.array(3), np.array([1, 2]), np.zeros(0), np.zeros([0, 3]), [], [[1], [2, 3]],
          None)
result = [str(told(make, value, shape=shape, **more)) for make in (tf.constant, tf.make_tensor_proto)
          for value in values for shape in ([0], [2, 0]) for more in ({}, {"verify_shape": True})]
result += [str(told(tf.constant, 5, shape=[3, 0], dtype=dtype)) for dtype in (tf.int64, tf.bool)]
for make in (tf.zeros, tf.ones, lambda shape: tf.fill(shape, 1.0)):
    result += [str(make(shape).shape.as_list()) for shape in ([2, 0], [2**31, 0], [2**32, 0], [2**31, 1])]
result += [tf.zeros([2, 0]).op.type, tf.get_variable("none", [2, 0], initializer=tf.constant_initializer(3.0)).op.type]
"""


def test_constants_of_no_elements_are_those_of_tensorflow(oracle):
    scope = {"tf": tf, "np": np}
    exec(_OF_NO_ELEMENTS, scope)
    assert scope["result"] == oracle(_OF_NO_ELEMENTS)


def test_more_elements_than_an_int64_counts_are_no_small_constant():
    assert tf.zeros([2**32, 2**32]).shape.as_list() == [2**32, 2**32]          # TensorFlow: [0, 0]


_BEYOND_INT32 = """
def told(make):
    try:
        made = make()
        with tf.Session() as sess:
            return made.dtype.name, np.asarray(sess.run(made)).tolist()
    except (TypeError, ValueError, OverflowError) as error:
        return type(error).__name__

big = 2 ** 33 + 5
x = tf.constant([1])
result = [told(make) for make in (
    lambda: x + [big], lambda: x + big, lambda: x + np.int64(big), lambda: x + np.array([big]), lambda: big + x,
    lambda: x * [2 ** 31], lambda: x ** big, lambda: x % big, lambda: x / big, lambda: tf.add(x, [big]),
    lambda: tf.add([big], x), lambda: x < big, lambda: tf.constant([1], tf.uint8) + [300],
    lambda: tf.convert_to_tensor([big], preferred_dtype=tf.int32), lambda: tf.shape(tf.random_uniform([0, big])),
    lambda: tf.constant(2 ** 64, tf.int64), lambda: tf.constant([2 ** 70], tf.int8),
    lambda: tf.constant(-2 ** 63 - 1, tf.uint64), lambda: tf.constant(2 ** 64 - 1, tf.int32), lambda: x + 2 ** 70)]
"""


def test_integers_beyond_the_dtype_beside_them_wrap_as_in_tensorflow(oracle: Any) -> None:
    scope: dict[str, Any] = {"tf": tf, "np": np}
    exec(_BEYOND_INT32, scope)
    assert scope["result"] == oracle(_BEYOND_INT32)
    assert scope["result"][:2] == [("int32", [6])] * 2 and "OverflowError" in scope["result"]
