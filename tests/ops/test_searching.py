"""Order, search, counts: values, static shapes and errors as in TensorFlow."""
import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tests.modes import compiling

SETUP = '''
r = np.random.RandomState(0)
x = r.randint(-9, 9, (3, 4, 5))
def run(*fetches, feed=None):
    with tf.Session() as sess:
        for _ in range(2):
            found = sess.run(fetches, feed)
    return found
p = tf.placeholder(tf.float32)
'''
DTYPES = ("float32", "float64", "int32", "int64", "uint8", "int8")
SNIPPETS = {
    **{f"{fn} {d} {a} {t}": f"run(tf.{fn}(tf.placeholder_with_default(x.astype('{t}'), [3, 4, 5]), axis={a}, "
       f"direction={d!r}))" for fn in ("sort", "argsort") for d in ("ASCENDING", "DESCENDING") for a in (-1, 0, 1, -2)
       for t in ("float32", "int32")},
    **{f"sort {t}": f"run(tf.sort(x[0].astype('{t}')))" for t in DTYPES},
    "sort static": "tf.sort(x, axis=0).shape.as_list(), tf.argsort(p).shape.ndims",
    "sort fed": "run(tf.sort(p), tf.argsort(p, axis=0), feed={p: x})",
    "sort extremes": "run(tf.sort(np.array([0, -128, 127], np.int8)), tf.sort(np.array([0, 255, 7], np.uint8)))",
    "sort another way": "tf.sort(x, direction='UP')",
    "sort along a vector": "tf.sort(x, axis=[0])",
    "sort beyond": "run(tf.sort(x, axis=3))",
    "sort gradient": "v = tf.constant([3.0, 1.0, 2.0])\nrun(tf.gradients(tf.sort(v) * [1.0, 10.0, 100.0], v))",
    **{f"searchsorted {s} {t}": f"run(tf.searchsorted(tf.placeholder_with_default(np.sort(x).astype('{t}'), None), "
       f"r.randint(-9, 9, (3, 4, 7)).astype('{t}'), side={s!r}))" for s in ("left", "right")
       for t in ("float32", "float64", "int32", "int64")},
    **{f"searchsorted fed {s} {t}": f"q = tf.placeholder('{t}')\nrun(tf.searchsorted(q, q[..., :3] + 1, side={s!r}), "
       f"feed={{q: np.sort(x).astype('{t}')}})" for s in ("left", "right")
       for t in ("float32", "float64", "int64", "int32")},
    "sort fed more": "q = tf.placeholder(tf.int64)\n"
                     "run(tf.sort(q, axis=1), tf.argsort(q, 1, 'DESCENDING'), feed={q: x})",
    "bitwise fed": "q = tf.placeholder(tf.int64)\nrun(tf.bitwise.left_shift(q, 3), tf.bitwise.bitwise_xor(q, q[:1]), "
                   "tf.bitwise.invert(q), feed={q: x})",
    **{f"searchsorted {s} of NaN": f"run(tf.searchsorted([[1.0, 2.0, np.nan], [1.0, 2.0, 3.0], [np.nan] * 3], "
       f"[[1.5, np.nan]] * 3, side={s!r}))" for s in ("left", "right")},
    "searchsorted of a vector": "run(tf.searchsorted([1.0, 2.0], [0.5, 1.0, 1.5, 9.0], out_type=tf.int64))",
    "searchsorted of nothing": "run(tf.searchsorted(np.zeros((2, 0), 'f'), np.ones((2, 3), 'f')))",
    "searchsorted of other rows": "run(tf.searchsorted([[1.0, 2.0]], [[1.0], [2.0]]))",
    "searchsorted static": "tf.searchsorted(np.sort(x), x).shape.as_list()",
    "searchsorted middle": "tf.searchsorted([1], [2], side='middle')",
    "unique_with_counts": "run(tf.unique_with_counts([5, 7, 5, 5, -1]), "
                          "tf.unique_with_counts(['b', 'a', 'b'], tf.int64))",
    "unique_with_counts of none": "run(tf.unique_with_counts(np.zeros(0, np.float32)))",
    "unique_with_counts of a matrix": "run(*tf.unique_with_counts([[1]]))",
    "unique rows": "run(tf.raw_ops.UniqueV2(x=[[1, 2], [3, 4], [1, 2]], axis=[0]), "
                   "tf.raw_ops.UniqueWithCountsV2(x=[[1, 2, 1], [3, 4, 3]], axis=[1]), "
                   "tf.raw_ops.UniqueV2(x=[3, 1, 3], axis=np.zeros(0, np.int64)))",
    "unravel_index": "run(tf.unravel_index([2, 5, 7], [3, 3]), tf.unravel_index(5, [2, 3]), "
                     "tf.unravel_index(np.array([11], np.int64), np.array([2, 2, 3])))",
    "unravel_index beyond": "run(tf.unravel_index([9], [3, 3]))",
    "unravel_index into nothing": "run(tf.unravel_index([0], [3, 0]))",
    "bincount": "run(tf.bincount([1, 1, 3]), tf.math.bincount([[1, 2], [2, 5]], minlength=8), "
                "tf.bincount([1, 9], maxlength=3), tf.bincount([1, 1, 2], weights=[0.5, 1.0, 2.0]), "
                "tf.bincount([1], dtype=tf.int64))",
    "bincount of none": "run(tf.bincount(np.zeros(0, np.int32)), tf.bincount(np.zeros(0, np.int32), minlength=2))",
    "bincount below 0": "run(tf.bincount([1, -1]))",
    "bincount of other weights": "run(tf.bincount([1, 1], weights=[1.0]))",
    **{f"bitwise {t}": f"""
a = tf.placeholder_with_default(np.array([1, 5, -3, 100, 127, -128]).astype('{t}'), [6])
b = tf.placeholder_with_default(np.array([0, 1, 7, 9, 40, -1]).astype('{t}'), [6])
run(tf.bitwise.left_shift(a, b), tf.bitwise.right_shift(a, b), tf.bitwise.bitwise_and(a, b),
    tf.bitwise.bitwise_or(a, b), tf.bitwise.bitwise_xor(a, b), tf.bitwise.invert(a))
""" for t in ("int8", "uint8", "int16", "int32", "int64", "uint64")},
    "no nan": "a = tf.placeholder_with_default([1.0, 0.0, np.inf, np.nan, -2.0], [5])\n"
              "b = tf.placeholder_with_default([0.0, 0.0, 0.0, 0.0, 4.0], [5])\n"
              "run(tf.div_no_nan(a, b), tf.math.reciprocal_no_nan(b), tf.math.xlog1py(b, a), "
              "tf.gradients(tf.div_no_nan(a, b), [a, b]), tf.gradients(tf.math.xlog1py(b, a), [a, b]))",
    "no nan broadcast": "run(tf.math.divide_no_nan([[1.0], [2.0]], [0.0, 4.0]))",
}


def test_order_and_search(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, tolerance=1e-6, modes=("never", "always"))


@pytest.mark.parametrize("side", ["left", "right"])
def test_rows_out_of_order_are_searched_alike_in_each_run(side):
    """What is found there has no meaning, but the same steps find it with machine code and without."""
    rng = np.random.default_rng(3)
    rows, values = rng.normal(size=(4, 33)), rng.normal(size=(4, 50))
    found = []
    for mode in ("never", "always"):
        with compiling(mode), tf.Session() as sess:
            found.append(sess.run(tf.searchsorted(tf.placeholder_with_default(rows, [None, None]), values, side)))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("kind", ["int32", "float64"])
def test_sorting_many(kind):
    values = np.random.default_rng(0).integers(0, 50, (40, 300)).astype(kind)
    with tf.Session() as sess:
        ordered, places = sess.run([tf.sort(values), tf.argsort(values)])
    np.testing.assert_array_equal(ordered, np.sort(values))
    np.testing.assert_array_equal(places, np.argsort(values, kind="stable"))
