"""Means of integers: summed in 64 bits, rounded towards zero, as in TensorFlow."""
from __future__ import annotations

from tests.differential import differences

VALUES = ("np.ones(300)", "np.arange(300) % 128", "np.full(70000, 3)", "np.full([3, 4], 100)", "np.zeros([0, 2])")
SIGNED = ("np.arange(-100, 100)", "np.array([-7, 2, 2])")
SETUP = '''
def means(values, dtype):
    x = tf.placeholder(dtype)
    fed = values.astype(dtype.as_numpy_dtype)
    return [tf.Session().run(tf.reduce_mean(x, axis), {x: fed}) for axis in (None, 0)]
'''


def test_means_of_integers(oracle):
    snippets = {f"{dtype} {values}": f"means({values}, tf.{dtype})"
                for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")
                for values in VALUES + (() if dtype.startswith("u") else SIGNED)}
    snippets["int32, large"] = "means(np.full(8, 2 ** 30), tf.int32)"
    assert not differences(oracle, snippets, SETUP, modes=("never", "always"))
