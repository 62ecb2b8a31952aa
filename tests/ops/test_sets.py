"""Operations on sets: values, static shapes and errors as in TensorFlow."""
import numpy as np
import pytest

from tests.differential import differences
from tfnb.kernels.library.rows import sets
from tfnb.kernels.library.rows.sets import Elements, combined
from tfnb.ops.sparse.sets import OPERATIONS

SETUP = '''
def sparse(values=(3, 1, 4), places=((0, 0), (0, 1), (2, 0)), shape=(3, 2), dtype=np.int64):
    return tf.SparseTensor(list(map(list, places)), np.array(values, dtype), list(shape))
a = [[1, 2, 2], [5, 6, 7], [3, 3, 3]]
b = [[2, 9], [6, 5], [4, 8]]
c = lambda x: tf.constant(x, tf.int64)
def run(*fetches):
    return tf.Session().run(fetches)
'''
NAMES = ("intersection", "union", "difference")
SNIPPETS = {
    **{f"{n} dense": f"run(tf.sets.{n}(a, b))" for n in NAMES},
    **{f"{n} dense and sparse": f"run(tf.sets.{n}(c(a), sparse()))" for n in NAMES},
    **{f"{n} sparse and dense": f"run(tf.sets.{n}(sparse(), c(a)))" for n in NAMES},
    **{f"{n} sparse": f"run(tf.sets.{n}(sparse(), sparse((1, 7), ((0, 0), (1, 1)))))" for n in NAMES},
    **{f"{n} strings": f"run(tf.sets.{n}([['x', 'y'], ['z', 'z']], [['y'], ['w']]))" for n in NAMES},
    "difference other way": "run(tf.sets.difference(a, b, aminusb=False), tf.sets.set_difference(b, a))",
    "rank 3": "run(tf.sets.union(np.arange(8).reshape(2, 2, 2), np.arange(4).reshape(2, 2, 1)))",
    "rank 1": "run(tf.sets.union([1, 2], [2, 3]))",
    "other groups": "run(tf.sets.union([[1, 2]], [[2, 3], [4, 5]]))",
    "other groups, fed": "x = tf.placeholder(tf.int32)\ntf.Session().run(tf.sets.union(x, [[2], [4]]), {x: [[1]]})",
    "floats": "tf.sets.union([[1.0]], [[2.0]])",
    "unsorted": "run(tf.sets.set_union(sparse(places=((2, 0), (0, 1), (0, 0))), sparse()))",
    "size": "run(tf.sets.size(sparse((3, 3, 4))), tf.sets.set_size(sparse((3, 1, 4))))",
    "size dense": "tf.sets.size([[1, 2]])",
    "static": "[t.shape.as_list() if t.shape.ndims is not None else None for s in (tf.sets.union(a, b),"
              "tf.sets.union(sparse(), sparse())) for t in (s.indices, s.values, s.dense_shape)]",
    "empty": "run(tf.sets.intersection([[1], [2]], [[3], [4]]))",
}


def test_sets(oracle):
    assert not differences(oracle, SNIPPETS, SETUP)


@pytest.mark.parametrize("most", [6, 200])
@pytest.mark.parametrize("operation", ["a-b", "b-a", "intersection", "union"])
def test_rows_of_any_length_and_order(operation, most, monkeypatch):
    """By machine code and by NumPy: what Python's sets give."""
    choose = np.random.default_rng(4)
    groups = 20
    a, b = (Elements(choose.integers(0, groups, groups * most // 2), choose.integers(-most, most, groups * most // 2))
            for _ in range(2))
    join = {"a-b": set.difference, "b-a": lambda x, y: y - x, "intersection": set.intersection, "union": set.union}
    want = [sorted(join[operation]({*a.values[a.rows == row].tolist()}, {*b.values[b.rows == row].tolist()}))
            for row in range(groups)]
    for compiled in (True, False):
        monkeypatch.setattr(sets, "has_compiler", lambda compiled=compiled: compiled)
        rows, columns, values, widest = combined(a, b, groups, OPERATIONS[operation])
        assert [values[rows == row].tolist() for row in range(groups)] == want and widest == max(map(len, want))
        assert columns.tolist() == [i for row in want for i in range(len(row))]


def test_few_elements_of_many_rows():
    """No time or memory for each row."""
    a = Elements(np.array([10**11]), np.array([3]))
    assert [np.asarray(part).tolist() for part in combined(a, a, 10**12, [3])] == [[10**11], [0], [3], 1]
