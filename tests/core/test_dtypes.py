"""DType and as_dtype."""
from __future__ import annotations

import pickle

import numpy as np
import pytest

from tfnb.core import dtypes

NUMBERS = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8,
           "int64": 9, "bool": 10, "qint8": 11, "quint8": 12, "qint32": 13, "bfloat16": 14, "qint16": 15,
           "quint16": 16, "uint16": 17, "complex128": 18, "float16": 19, "resource": 20, "variant": 21,
           "uint32": 22, "uint64": 23}


def test_official_numbers() -> None:
    assert {d.name: d.as_datatype_enum for d in dtypes.ALL} == NUMBERS
    assert all(d._as_ref.as_datatype_enum == d.as_datatype_enum + 100 for d in dtypes.ALL)


@pytest.mark.parametrize("value, name", [
    ("half", "float16"), ("float", "float32"), ("double", "float64"), ("float32_ref", "float32_ref"),
    (101, "float32_ref"), (float, "float32"), (bool, "bool"), (object, "string"), (np.float32, "float32"),
    (np.dtype("U3"), "string"),
    (np.dtype(">f4"), "float32"), (np.array([1]), "int64"), (np.float64(3.0), "float64"), (np.bool_, "bool")])
def test_as_dtype(value: object, name: str) -> None:
    assert dtypes.as_dtype(value).name == name


@pytest.mark.parametrize("value", ["foo", None, 3.5, int, str, complex, bytes, np.ndarray, [], 999, "f4", "DT_FLOAT"])
def test_as_dtype_refuses(value: object) -> None:
    with pytest.raises(TypeError, match="to a TensorFlow DType"):
        dtypes.as_dtype(value)


def test_equality() -> None:
    f = dtypes.float32
    assert f == "float32" and f == np.float32 and f == 1 and f != None  # noqa: E711
    assert f != f._as_ref and f._as_ref.base_dtype is f and f != "nonsense" and f != []
    assert {f: 1}[dtypes.as_dtype("float")] == 1


def test_compatibility_lets_a_reference_serve_as_its_base() -> None:
    f = dtypes.float32
    assert f.is_compatible_with(f._as_ref) and not f._as_ref.is_compatible_with(f)
    assert not f.is_compatible_with("int32")


def test_limits() -> None:
    assert (dtypes.int8.min, dtypes.int8.max, dtypes.int8.limits) == (-128, 127, (0, 127))
    assert dtypes.float32.max == np.finfo(np.float32).max and float(dtypes.bfloat16.max) > 3e38
    assert dtypes.float32.limits == (0, 1) and dtypes.bool.limits == (0, True)
    with pytest.raises(TypeError, match="minimum"):
        _ = dtypes.complex64.min
    with pytest.raises(ValueError, match="limits"):
        _ = dtypes.string.limits


def test_kinds() -> None:
    kinds = {d.name: (d.is_floating, d.is_integer, d.is_complex, d.is_bool, d.is_quantized) for d in dtypes.ALL}
    assert [n for n, k in kinds.items() if k[0]] == ["float32", "float64", "bfloat16", "float16"]
    assert [n for n, k in kinds.items() if k[4]] == ["qint8", "quint8", "qint32", "qint16", "quint16"]
    assert all(sum(k) <= 1 for k in kinds.values())
    assert dtypes.complex128.real_dtype is dtypes.float64 and dtypes.uint8.is_unsigned and not dtypes.int8.is_unsigned


def test_text_and_pickle() -> None:
    assert str(dtypes.int8._as_ref) == "<dtype: 'int8_ref'>" and repr(dtypes.int8) == "tf.int8"
    assert pickle.loads(pickle.dumps(dtypes.int8._as_ref)) is dtypes.int8._as_ref
    assert dtypes.DType(3) is dtypes.int32
    with pytest.raises(TypeError):
        _ = dtypes.resource.as_numpy_dtype
