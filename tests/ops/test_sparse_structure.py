"""Order, parts and shapes of sparse tensors: values, gradients, static shapes and errors as in TensorFlow."""
from tests.differential import differences

SETUP = '''
def made(dtype=np.float32, order=(0, 1, 2, 3)):
    places = np.array([[0, 1], [0, 3], [1, 0], [2, 2]])
    return tf.SparseTensor(places[list(order)], np.array([2.5, -3, 4, 1], dtype)[list(order)], [3, 4])
def fed(**given):
    s = tf.sparse_placeholder(tf.float32)
    return s, {s: tf.SparseTensorValue(given.get("indices", [[0, 1], [2, 2]]), given.get("values", [1.0, 2.0]),
                                       given.get("shape", [3, 4]))}
def run(*fetches, feed=None):
    sess, found = tf.Session(), None
    for _ in range(3):
        found = sess.run(fetches, feed)
    return found
def shapes(*sparse):
    return [[t.shape.as_list() if t.shape.ndims is not None else None for t in (s.indices, s.values, s.dense_shape)]
            + [s.get_shape().as_list() if s.get_shape().ndims is not None else None] for s in sparse]
def slopes(fn, x=(2.5, -3, 4, 1)):
    values = tf.constant(x)
    s = tf.SparseTensor(made().indices, values, [3, 4])
    y = fn(s)
    return run(tf.gradients(y.values * tf.range(1.0, tf.cast(tf.size(y.values), tf.float32) + 1), values))
'''
SNIPPETS = {
    "reorder": "run(tf.sparse.reorder(made(order=(3, 1, 0, 2))))",
    "reorder strings": "run(tf.sparse_reorder(tf.SparseTensor([[1], [0]], ['b', 'a'], [2])))",
    "reorder repeated": "run(tf.sparse_reorder(tf.SparseTensor([[1], [0], [1]], [1, 2, 3], [2])))",
    "reorder rank 1, empty": "run(tf.sparse_reorder(tf.SparseTensor(np.zeros((0, 1), np.int64), np.zeros(0), [2])))",
    "reorder outside": "s, f = fed(indices=[[0, 9], [2, 2]])\nrun(tf.sparse_reorder(s), feed=f)",
    "reorder gradient": "slopes(lambda s: tf.sparse_reorder(tf.SparseTensor(s.indices[::-1], s.values, [3, 4])))",
    "reorder shapes": "shapes(tf.sparse_reorder(made()), tf.sparse_reorder(fed()[0]))",
    "transpose": "run(tf.sparse.transpose(made()), tf.sparse_transpose(made(), [0, 1]))",
    "transpose fed": "s, f = fed()\nrun(tf.sparse_transpose(s), tf.sparse_transpose(s, [1, 0]), feed=f)",
    "transpose gradient": "slopes(tf.sparse_transpose)",
    "transpose shapes": "shapes(tf.sparse_transpose(made()))",
    **{f"concat {axis}": f"run(tf.sparse.concat({axis}, [made(), made(), made()]))" for axis in (0, 1, -1, -2)},
    "concat of one": "run(tf.sparse_concat(0, [made()]))",
    "concat shapes": "shapes(tf.sparse_concat(0, [made(), made()]), tf.sparse_concat(1, [made(), fed()[0]]))",
    "concat expanded": "b = tf.SparseTensor([[4, 0]], [9.0], [5, 2])\n"
                       "run(*(tf.sparse_concat(i, [made(), b], expand_nonconcat_dim=True) for i in (0, 1, -1)))",
    "concat of other sizes": "run(tf.sparse_concat(0, [made(), tf.SparseTensor([[4, 0]], [9.0], [5, 2])]))",
    "concat of ranks": "s, f = fed(indices=[[1], [2]], shape=[3])\nrun(tf.sparse_concat(0, [made(), s]), feed=f)",
    "concat beyond": "s, f = fed()\nrun(tf.sparse_concat(2, [s, s]), feed=f)",
    **{f"split {axis}, {n}": f"run(*tf.sparse.split(sp_input=made(), num_split={n}, axis={axis}))"
       for axis in (0, 1, -1) for n in (1, 2, 3)},
    "split into too many": "run(*tf.sparse_split(sp_input=made(), num_split=5, axis=1))",
    "split beyond": "run(*tf.sparse_split(sp_input=made(), num_split=2, axis=2))",
    "split by position": "tf.sparse_split(made(), 2)",
    "slice": "run(tf.sparse.slice(made(), [1, 0], [2, 3]), tf.sparse_slice(made(), [0, 1], [9, 9]))",
    "slice of a negative start": "run(tf.sparse_slice(made(), [-1, 0], [2, 3]))",
    "slice gradient": "slopes(lambda s: tf.sparse_slice(s, [0, 0], [2, 3]))",
    "retain": "run(tf.sparse.retain(made(), [True, False, True, False]))",
    "retain gradient": "slopes(lambda s: tf.sparse_retain(s, [False, True, True, False]))",
    "retain of another size": "tf.sparse_retain(made(), [True])",
    "reshape": "run(*(tf.sparse.reshape(made(), n) for n in ([12], [2, -1], [4, 3], [2, 1, 6])))",
    "reshape fed": "s, f = fed()\nrun(tf.sparse_reshape(s, [2, -1]), feed=f)",
    "reshape shapes": "shapes(tf.sparse_reshape(made(), [2, -1]), tf.sparse_reshape(fed()[0], [2, -1]))",
    "reshape to other numbers": "run(tf.sparse_reshape(made(), [5, 2]))",
    "reshape fed to other numbers": "s, f = fed()\nrun(tf.sparse_reshape(s, [5, 2]), feed=f)",
    "reshape of two unknown": "s, f = fed()\nrun(tf.sparse_reshape(s, [-1, -1]), feed=f)",
    "reshape below": "s, f = fed()\nrun(tf.sparse_reshape(s, [-2, 6]), feed=f)",
    "reshape gradient": "slopes(lambda s: tf.sparse_reshape(s, [12]))",
    "reset_shape": "run(tf.sparse.reset_shape(made()), tf.sparse_reset_shape(made(), [5, 6]))",
    "reset_shape smaller": "run(tf.sparse_reset_shape(made(), [2, 6]))",
    "reset_shape fed": "s, f = fed()\nrun(tf.sparse_reset_shape(s), tf.sparse_reset_shape(s, [7, 4]), feed=f)",
    "reset_shape fed smaller": "s, f = fed()\nrun(tf.sparse_reset_shape(s, [2, 4]), feed=f)",
    "expand_dims": "run(*(tf.sparse.expand_dims(made(), i) for i in (None, 0, 1, 2, -1, -3)))",
    "expand_dims beyond": "tf.sparse.expand_dims(made(), 4)",
    "fill_empty_rows": "s = tf.SparseTensor([[0, 1], [0, 3], [2, 0]], [1.0, 2, 3], [5, 4])\n"
                       "run(*tf.sparse.fill_empty_rows(s, -1.0))",
    "fill_empty_rows of none": "run(*tf.sparse.fill_empty_rows(made(), 7.0))",
    "fill_empty_rows of strings": "run(*tf.sparse_fill_empty_rows(tf.SparseTensor([[1, 0]], ['x'], [2, 1]), ''))",
    "fill_empty_rows outside": "s, f = fed(indices=[[0, 1], [9, 2]])\nrun(*tf.sparse_fill_empty_rows(s, 0.), feed=f)",
    "fill_empty_rows unsorted": "s = tf.SparseTensor([[2, 1], [0, 0]], [1.0, 2], [4, 4])\n"
                                "run(*tf.sparse_fill_empty_rows(s, -1.0))",
    "fill_empty_rows gradient": '''
v, d = tf.constant([1.0, 2, 3]), tf.constant(-1.0)
s, _ = tf.sparse_fill_empty_rows(tf.SparseTensor([[0, 1], [0, 3], [2, 0]], v, [5, 4]), d)
run(tf.gradients(s.values * [1.0, 10, 100, 1000, 10000, 1e5], [v, d]))
''',
    "to_indicator": "ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 3])\n"
                    "run(tf.sparse.to_indicator(ids, 4))",
    "to_indicator outside": "ids = tf.SparseTensor([[0, 0]], [7], [2, 3])\nrun(tf.sparse_to_indicator(ids, 4))",
    "merge": "ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 3])\n"
             "s = tf.SparseTensor(ids.indices, [0.5, 0.25, 3.0], [2, 3])\n"
             "run(tf.sparse.merge(ids, s, 4), tf.sparse_merge(ids, s, 4, already_sorted=True))",
    "merge of several": "ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 3])\n"
                        "s = tf.SparseTensor(ids.indices, [0.5, 0.25, 3.0], [2, 3])\n"
                        "run(tf.sparse_merge([ids, ids], s, [4, 5]))",
    "merge of floats": "tf.sparse_merge(made(), made(), 4)",
}


def test_structure_of_sparse_tensors(oracle):
    assert not differences(oracle, SNIPPETS, SETUP)
