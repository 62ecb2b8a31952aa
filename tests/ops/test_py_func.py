"""tf.py_func without outputs, and what the functions return."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf


@pytest.mark.parametrize("stateful", [True, False])
def test_without_outputs(stateful):
    calls = []
    op = tf.py_func(lambda x: calls.append(int(x)), [tf.constant(3)], [], stateful=stateful)
    assert isinstance(op, tf.Operation) and isinstance(tf.raw_ops.PyFunc(input=[], token="t", Tout=[]), tf.Operation)
    with tf.control_dependencies([op]):
        y = tf.constant(2.0) * 1
    loop = tf.while_loop(lambda i: i < 4, lambda i: _after(tf.py_func(calls.append, [i], [], stateful), i + 1), [0])
    with tf.Session() as session:
        for _ in range(3):
            calls.clear()
            assert session.run(op) is None and calls == [3]
            assert session.run(y) == 2 and calls == [3, 3]
            assert session.run([tf.group(op), y]) == [None, 2.0] and calls == [3, 3, 3]
            calls.clear()
            assert session.run(loop) == 4 and calls == [0, 1, 2, 3]


def _after(op, x):
    with tf.control_dependencies([op]):
        return tf.identity(x)


RESULTS = """
values = {
    "dict": {"a": 1}, "set": {1}, "function": len, "struct": np.zeros(2, [("a", "i4"), ("b", "f4")]), "none": [None, 2],
    "nothing": None, "no_value": (), "object": object(), "time": np.datetime64("2020-01-01"), "text": "abc",
    "bytes": b"a\\0b\\0", "complex": np.complex64(1j), "arrays": np.array([1, 2], object),
    "texts": np.array(["a", "b"]),
    "mixed": np.array(["a", b"b"], object), "missing": np.array([b"a", None], object), "empty": np.array([], object),
    "ragged": [[1, [2, 3]]], "double": np.float64(1), "single": np.float32(1), "void": np.void(b"ab"), "truth": True,
}
result = {}
with tf.Session() as session:
    for name, value in values.items():
        for dtype in ("float32", "string", "bool"):
            y = tf.py_func(lambda value=value: value, [], getattr(tf, dtype))
            try:
                result[name, dtype] = session.run(y)
            except tf.errors.OpError as error:
                result[name, dtype] = type(error).__name__
"""


def test_results_as_tensorflow(oracle):
    scope = {"tf": tf, "np": np}
    exec(RESULTS, scope)
    want = oracle(RESULTS)
    assert {"InternalError", "InvalidArgumentError"} <= {v for v in want.values() if isinstance(v, str)}
    for key, value in scope["result"].items():
        np.testing.assert_array_equal(value, want[key], str(key))


def test_python_numbers_take_the_dtype_that_is_expected():
    with tf.Session() as session:
        for value, dtype, want in ((1, tf.float32, 1), (1.5, tf.float32, 1.5), (3, tf.uint8, 3),
                                   ([[1, 2]], tf.int16, [1, 2])):
            np.testing.assert_array_equal(session.run(tf.py_func(lambda v=value: v, [], dtype)), want)
        for value, dtype in ((1.5, tf.int32), (1, tf.string), (1j, tf.float32), (1, tf.bool)):
            with pytest.raises(tf.errors.InvalidArgumentError, match="0-th value returned by pyfunc_.* but expects"):
                session.run(tf.py_func(lambda v=value: v, [], dtype))
