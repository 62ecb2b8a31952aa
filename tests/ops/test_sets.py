"""Operations on sets: values, static shapes and errors as in TensorFlow."""
from tests.differential import differences

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
