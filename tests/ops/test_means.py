"""Means of integers: summed in 64 bits, rounded towards zero, as in TensorFlow; of segments too."""
from __future__ import annotations

from tests.differential import differences

VALUES = ("np.ones(300)", "np.arange(300) % 128", "np.full(70000, 3)", "np.full([3, 4], 100)", "np.zeros([0, 2])")
SIGNED = ("np.arange(-100, 100)", "np.array([-7, 2, 2])")
SETUP = '''
def means(values, dtype):
    x = tf.placeholder(dtype)
    fed = values.astype(dtype.as_numpy_dtype)
    return [tf.Session().run(tf.reduce_mean(x, axis), {x: fed}) for axis in (None, 0)]
def segment_means(values, dtype):
    x = tf.constant(values.astype(dtype.as_numpy_dtype))
    made = tf.segment_mean(x, [0, 0, 2]), tf.unsorted_segment_mean(x, [0, 0, 2], 4)
    return tf.Session().run(made)
'''


def test_means_of_integers(oracle):
    snippets = {f"{dtype} {values}": f"means({values}, tf.{dtype})"
                for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")
                for values in VALUES + (() if dtype.startswith("u") else SIGNED)}
    rows = "np.array([[-3, 5, 100], [2, -8, 100], [-7, 7, 100]])"
    snippets |= {f"segments of {dtype}": f"segment_means({rows}, tf.{dtype})"
                 for dtype in ("int8", "int32", "int64", "uint8", "float32")}
    snippets["int32, large"] = "means(np.full(8, 2 ** 30), tf.int32)"
    assert not differences(oracle, snippets, SETUP, modes=("never", "always"))
