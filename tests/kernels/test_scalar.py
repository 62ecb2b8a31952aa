"""Scalar definitions: reading them, and their meaning in NumPy."""
from __future__ import annotations

import math
import warnings

import ml_dtypes
import numpy as np
import pytest

from tfnb.kernels.scalar import definition
from tfnb.kernels.scalar.definition import (
    NotStraightLine,
    Program,
    Scalar,
    Step,
    convert,
    read,
    reference,
    row_level_results,
)
from tfnb.kernels.scalar.number_types import Literal, common_type
from tfnb.kernels.scalar.primitives import PRIMITIVES, signature
from tfnb.opdef.op import Op
from tfnb.opdef.signature import read_signature

# ruff: noqa: F821
FLOATS = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


def dtype(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def Tanh(x):
    """A docstring is no step."""
    return tanh(x)


def Scaled(x, *, alpha, flip=False):
    y = x * alpha
    return where(flip, -y, y)


def Softmax(logits):
    e = exp(logits - rowmax(logits))
    return e / rowsum(e)


def test_program_is_the_steps_without_names():
    assert read(Tanh).program() == Program(1, (Step("tanh", (0,)),), (1,))
    scalar = read(Scaled)
    assert (scalar.name, scalar.params, scalar.keywords) == ("Scaled", ("x",), ("alpha", "flip"))
    assert scalar.program({"alpha": 0.5}) == Program(1, (Step("mul", (0, Literal(0.5))),), (1,))
    assert scalar.program({"alpha": 0.5, "flip": True}).steps[-1] == Step("neg", (1,))


def test_attrs_of_equal_hash_are_told_apart():
    def Pick(x, *, a):
        return x * a
    assert read(Pick).program({"a": True}).steps[0].args[1] == Literal(True)
    assert read(Pick).program({"a": 1}).steps[0].args[1] == Literal(1)
    assert type(read(Pick).program({"a": 1.0}).steps[0].args[1].value) is float


def test_equal_steps_are_one():
    def Twice(x):
        return exp(x) + exp(x)
    assert len(read(Twice).program().steps) == 2


def test_scalars_are_equal_by_function():
    assert read(Tanh) == read(Tanh) and hash(read(Tanh)) == hash(read(Tanh))
    assert read(Tanh) != read(Softmax)
    assert read(Softmax).is_rowwise and not read(Tanh).is_rowwise


def test_unknown_primitives_are_refused_where_they_are_declared():
    def Bad(x):
        return frobnicate(x)
    with pytest.raises(TypeError, match=r"definition Bad .*test_scalar.py.*frobnicate: no such primitive"):
        read(Bad)


@pytest.mark.parametrize("body", [
    lambda x: x if x > 0 else -x, lambda x: x > 0 and x < 1, lambda x: 0 < x < 1, lambda x: exp(x, x),
    lambda x: "a", lambda x: not x])
def test_branches_and_wrong_calls_are_refused_when_read(body):
    with pytest.raises(TypeError, match="definition <lambda>"):
        read(body).program()


def test_varargs_are_refused():
    with pytest.raises(TypeError, match="named parameters"):
        read(lambda *x: x)


@pytest.mark.parametrize("type", FLOATS)
def test_results_keep_the_type(type):
    x = np.array([-1.5, 0, 0.25, 3]).astype(dtype(type))
    def All(x):
        return exp(x) + 0.5, sigmoid(x) * 2, square(x) - 1, 1 / x, tanh(x) ** 2, log1p(x), rsqrt(x)
    for result in reference(read(All), [x]):
        assert result.dtype == dtype(type)


def test_bfloat16_rounds_once_a_word():
    x = np.linspace(-3, 3, 50).astype(ml_dtypes.bfloat16)
    want = np.tanh(x.astype(np.float32)).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(reference(read(Tanh), [x])[0], want)


def test_literals_meet_their_neighbours():
    def Mixed(x, i):
        return i + 1, i == 2, x + 1, x * i
    x, i = np.float32([1, 2]), np.int64([1, 2])
    got = reference(read(Mixed), [x, i])
    assert [r.dtype.name for r in got] == ["int64", "bool", "float32", "float32"]
    assert common_type(["int32", Literal(0.5)], "float32") == "float32"
    assert common_type(["int32", Literal(2.0)], "float32") == "int32"


def test_numpy_warnings_stay_inside():
    def Wild(x):
        return exp(x * 1e30), log(x - 5), 1 / (x - x), sqrt(-x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reference(read(Wild), [np.float32([1, 2])])
        reference(read(lambda x: x * x), [np.array(2 ** 31 - 1, np.int32)])


def test_integer_division_is_c_s_and_survives_zero():
    def All(x, y):
        return floordiv(x, y), floormod(x, y), truncdiv(x, y), truncmod(x, y), x / y, x // y, x % y
    x = np.int32([7, -7, 7, -7, 5, -2 ** 31])
    y = np.int32([2, 2, -2, -2, 0, -1])
    got = reference(read(All), [x, y])
    np.testing.assert_array_equal(got[0][:5], [3, -4, -4, 3, 0])
    np.testing.assert_array_equal(got[1], [1, 1, -1, -1, 0, 0])
    np.testing.assert_array_equal(got[2][:5], [3, -3, -3, 3, 0])
    np.testing.assert_array_equal(got[3], [1, -1, 1, -1, 0, 0])
    np.testing.assert_array_equal(got[4], got[2])
    np.testing.assert_array_equal(got[5], got[0])
    np.testing.assert_array_equal(got[6], got[1])


def test_nan_sticks_and_constants_fill_the_shape():
    def Both(x, y):
        return maximum(x, y), minimum(x, y), 0, y
    x, y = np.float32([[1], [np.nan]]), np.float32([2, np.nan])
    high, low, zero, copy = reference(read(Both), [x, y])
    np.testing.assert_array_equal(high, [[2, np.nan], [np.nan, np.nan]])
    np.testing.assert_array_equal(low, [[1, np.nan], [np.nan, np.nan]])
    assert zero.shape == copy.shape == (2, 2) and zero.dtype == np.float32 and copy.flags.writeable


def test_rows_lie_along_the_last_axis():
    x = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    e = np.exp(x - x.max(-1, keepdims=True))
    np.testing.assert_allclose(reference(read(Softmax), [x])[0], e / e.sum(-1, keepdims=True), rtol=1e-6)

    def Pick(x, label):
        return rowsum(where(column() == label, x, 0))
    got, = reference(read(Pick), [x, np.int64([[0], [3], [1]])])
    np.testing.assert_array_equal(got, x[range(3), [0, 3, 1]][:, None])
    empty, = reference(read(lambda x: rowmax(x)), [np.zeros((2, 0), np.float32)])
    np.testing.assert_array_equal(empty, [[-np.inf], [-np.inf]])


def test_row_level_results():
    def Loss(features, labels, scale):
        shifted = features - rowmax(features)
        return rowsum(exp(shifted)) * scale, shifted - labels, scale
    inputs, outputs, attrs = read_signature("features: T, labels: T, scale: T -> loss: T, b: T, s: T", {"T": "type"})
    spec = Op(name="Loss", inputs=inputs, outputs=outputs, attrs=attrs)
    assert row_level_results(read(Loss), spec, {"scale"}) == (True, False, True)


def test_casts_of_results():
    got, = reference(read(lambda x: x), [np.float32([0, 1.9, -1.9])], (), "float32", ("int32",))
    np.testing.assert_array_equal(got, np.int32([0, 1, -1]))
    np.testing.assert_array_equal(convert(np.array([1 + 2j, 0]), "float32"), np.float32([1, 0]))
    np.testing.assert_array_equal(convert(np.array([2j, 0]), "bool"), [True, False])


def test_every_primitive_has_a_type_for_its_result():
    for name, row in PRIMITIVES.items():
        args = ["float32"] * row.arity
        if row.rule == "select":
            args[0] = "bool"
        wanted, result = signature(name, args, "float32")
        assert len(wanted) == row.arity and result
    with pytest.raises(TypeError, match="exp takes 1 operands, not 2"):
        signature("exp", ["float32", "float32"], "float32")


@pytest.mark.parametrize("body", [
    lambda x: x if x > 0 else -x, lambda x: sum(x), lambda x: math.gamma(x), lambda x: np.sin(x), lambda x: x.shape,
    lambda x: divmod(x, 2), lambda x: [1, 2][x], lambda x: int(x), lambda x: x @ x, lambda x: "a", lambda x: f"{x}",
    lambda x: np.where(x > 0, x, 0), lambda x: open(x), lambda x: x(1)])
def test_what_only_numbers_can_do_has_an_error_of_its_own(body):
    with pytest.raises(NotStraightLine, match="definition <lambda>"):
        Scalar(body).program()


def test_numbers_of_numpy_may_stand_before_an_operand():
    assert Scalar(lambda x: np.float32(2) * x).program().steps == (Step("mul", (Literal(2.0), 0)),)
    with pytest.raises(TypeError, match="takes 2 operands") as caught:
        Scalar(lambda x: maximum(x)).program()
    assert not isinstance(caught.value, NotStraightLine)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_many_floats_are_selected_by_their_bits(kind):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40, 60)).astype(kind)
    x[0, :3], y[1, :3] = [np.nan, np.inf, -0.0], [np.nan, -np.inf, -0.0]
    chosen = rng.random((40, 60)) < 0.5
    for other in (y, np.zeros((), kind), np.full((), -0.0, kind), y[0]):
        made = PRIMITIVES["where"].numpy(chosen, x, other)
        assert made.tobytes() == np.where(chosen, x, other).tobytes() and made.dtype == kind


def test_large_arrays_are_computed_by_parts(monkeypatch):
    monkeypatch.setattr(definition, "BLOCK", 7)
    x, y = np.random.default_rng(0).normal(size=(2, 4, 5)).astype("f")
    body = read(lambda a, b: where(a > b, a * b, a - b))
    assert reference(body, [x, y])[0].tobytes() == np.where(x > y, x * y, x - y).tobytes()
    half = np.float32(0.5)
    assert reference(body, [x, half])[0].tobytes() == np.where(x > half, x * half, x - half).tobytes()
    assert reference(body, [x, y[0]])[0].shape == (4, 5)
