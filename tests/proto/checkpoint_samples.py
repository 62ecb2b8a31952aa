"""Tensors of every dtype that checkpoints hold, and TensorFlow code that saves them."""
from __future__ import annotations

import ml_dtypes
import numpy as np


def strings(*values: bytes) -> np.ndarray:
    made = np.empty(len(values), object)
    made[:] = values
    return made


def samples() -> dict[str, np.ndarray]:
    """Name -> value; not in the order of the names, which are not all ASCII."""
    rng = np.random.RandomState(3)
    return {
        "u16": np.array([1, 65535], np.uint16), "f32": rng.randn(3, 4).astype("f"), "f64": rng.randn(5),
        "half": rng.randn(3).astype(np.float16), "i8": np.arange(-3, 4, dtype=np.int8),
        "i64": np.array([-1, 2 ** 40]), "c64": np.array([1 + 2j], np.complex64), "c128": np.array([[1 - 2j, 3]]),
        "bool": np.array([True, False, True]), "scalar": np.array(3, "f"), "empty": np.zeros((0, 3), "f"),
        "str": strings(b"a", b"", b"x" * 70_000, b"\0\xff"), "no_strings": strings(), "u8": np.array([255], np.uint8),
        "one_string": np.array(b"hey", object), "i16": np.array([-5], np.int16), "été/ü": np.array(5, np.int32),
    }


# What TensorFlow is not handed pickled, or version 1 has no place for.
V2_ONLY = {"u32": np.array([7], np.uint32), "u64": np.array([2 ** 63], np.uint64)}
BFLOAT16 = np.array([1.5, -2.5], ml_dtypes.bfloat16)

SAVE = """
from tensorflow.python.ops import gen_io_ops
def constant(v):
    return tf.constant(v, dtype=tf.string) if v.dtype == object else tf.constant(v)
def save(path, tensors, specs=None):
    with tf.Session() as s:
        s.run(gen_io_ops.save_v2(path, [n for n, _ in tensors], specs or [''] * len(tensors),
                                 [constant(v) for _, v in tensors]))
"""
