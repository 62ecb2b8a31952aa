"""Embeddings of sparse ids: values, gradients and errors as in TensorFlow."""
from tests.differential import differences

SETUP = '''
table = tf.constant(np.arange(20.0, dtype=np.float32).reshape(5, 4))
def ids(values=(3, 1, 0, 4), rows=((0, 0), (0, 2), (1, 0), (2, 1)), shape=(3, 3), dtype=np.int64):
    return tf.SparseTensor(list(map(list, rows)), np.array(values, dtype), list(shape))
def weights(values=(1.0, 2.0, 0.5, 3.0), rows=((0, 0), (0, 2), (1, 0), (2, 1)), shape=(3, 3)):
    return tf.SparseTensor(list(map(list, rows)), np.array(values, np.float32), list(shape))
def run(*fetches):
    with tf.Session() as sess:
        for _ in range(3):
            found = sess.run(fetches)
    return found
GAPS = dict(rows=((0, 0), (0, 2), (2, 0), (4, 1)), shape=(6, 3))
'''
SNIPPETS = {
    **{f"{c} {w}": f"run(tf.nn.embedding_lookup_sparse(table, ids(), {w}, combiner={c!r}))"
       for c in ("sum", "mean", "sqrtn") for w in (None, "weights()")},
    **{f"{c} of parts {w} {s}": "run(tf.nn.embedding_lookup_sparse([table, table + 100], ids((9, 1, 0, 6)), "
       f"{w}, {s!r}, combiner={c!r}))" for c in ("sum", "mean") for w in (None, "weights()") for s in ("mod", "div")},
    "by default": "run(tf.nn.embedding_lookup_sparse(table, ids(), weights()))",
    "int32": "run(tf.nn.embedding_lookup_sparse(table, ids(dtype=np.int32), None, combiner='sum'))",
    "clipped": "run(tf.nn.embedding_lookup_sparse(table, ids(), weights(), combiner='mean', max_norm=2.0))",
    "vector table": "run(tf.nn.embedding_lookup_sparse(table[:, 0], ids(), weights(), combiner='mean'))",
    "other combiner": "tf.nn.embedding_lookup_sparse(table, ids(), None, combiner='max')",
    "dense ids": "tf.nn.embedding_lookup_sparse(table, [1, 2], None, combiner='sum')",
    "dense weights": "tf.nn.embedding_lookup_sparse(table, ids(), [1.0], combiner='sum')",
    "no table": "tf.nn.embedding_lookup_sparse([], ids(), None, combiner='sum')",
    "weights of other indices": "tf.nn.embedding_lookup_sparse(table, ids(), "
                                "weights(values=(1.0,), rows=((0, 0),)), combiner='sum')",
    "static": "tf.nn.embedding_lookup_sparse(table, ids(), weights(), combiner='mean').shape.as_list()",
    "outside": "run(tf.nn.embedding_lookup_sparse(table, ids((7, 1, 0, 4)), None, combiner='sum'))",
    **{f"gradients {c} {w}": f"""
x = tf.placeholder_with_default(table, [5, 4])
y = tf.nn.embedding_lookup_sparse(x, ids(), {w}, combiner={c!r})
g = tf.gradients(y * y, x)[0]
run(tf.convert_to_tensor(g))
""" for c in ("sum", "mean", "sqrtn") for w in (None, "weights()")},
    **{f"safe {c} {w} {d}": f"run(tf.nn.safe_embedding_lookup_sparse(table, ids((3, -1, 0, 4), **GAPS), {w}, {c!r}, "
       f"default_id={d}))" for c in ("sum", "mean", "sqrtn")
       for w in (None, "weights((1.0, 2.0, -0.5, 3.0), **GAPS)") for d in (None, 2)},
    "safe, rank 3": "s = tf.SparseTensor([[0, 0, 1], [1, 0, 0], [1, 1, 2]], [1, 2, 3], [2, 2, 3])\n"
                    "run(tf.nn.safe_embedding_lookup_sparse([table, table], s))",
    "safe, static": "s = tf.SparseTensor([[0, 0, 1], [1, 0, 0], [1, 1, 2]], [1, 2, 3], [2, 2, 3])\n"
                    "tf.nn.safe_embedding_lookup_sparse([table, table], s).shape.as_list()",
    "safe, no table": "tf.nn.safe_embedding_lookup_sparse(None, ids())",
    "safe, other combiner": "tf.nn.safe_embedding_lookup_sparse(table, ids(), combiner='max')",
}


def test_embeddings_of_sparse_ids(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, tolerance=1e-6, modes=("never", "always"))
