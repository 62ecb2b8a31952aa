"""Partitioned variables: partitioners, names and nodes of the parts, sharing, checkpoints cut in another way."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import here, there
from tests.graph_rows import rows_here, rows_there

PROGRAM = """
p = tf.get_variable("p", [5, 4], partitioner=tf.fixed_size_partitioner(3),
                    initializer=tf.random_uniform_initializer(seed=1))
with tf.variable_scope("s", partitioner=tf.variable_axis_size_partitioner(24), initializer=tf.zeros_initializer()):
    a = tf.get_variable("a", [4, 3])
    b = tf.get_variable("b", [])
c = tf.get_variable("c", initializer=tf.constant([1., 2., 3.]), partitioner=tf.fixed_size_partitioner(2))
t = tf.convert_to_tensor(p)
r = tf.nn.relu(a)
e = tf.nn.embedding_lookup(p, [1, 2])
o = p.assign(tf.ones([5, 4]))
l = tf.create_partitioned_variables([4, 5], [1, 3], tf.zeros_initializer(), name="cut")
s = tf.train.Saver()
"""


def test_nodes_are_tensorflows(oracle):
    assert rows_here(PROGRAM, tf) == rows_there(PROGRAM, oracle)


SNIPPETS = [
    "[tf.variable_axis_size_partitioner(n, axis=a, max_shards=m)(tf.TensorShape([7, 10]), t) for n in (1, 10, 79, 100,"
    " 10000) for a in (0, 1) for m in (None, 3) for t in (tf.float32, tf.string, tf.bool)]",
    "[tf.min_max_variable_partitioner(n, a, s)(tf.TensorShape([7, 10]), t) for n in (1, 4, 100) for a in (0, 1)"
    " for s in (1, 40, 64, 256 << 10) for t in (tf.float64, tf.string)]",
    "[tf.fixed_size_partitioner(n, a)(tf.TensorShape([7, 10]), dtype=tf.float32) for n in (1, 3, 9) for a in (0, 1)]",
    "tf.variable_axis_size_partitioner(0)",
    "tf.variable_axis_size_partitioner(1, bytes_per_string_element=0)",
    "tf.variable_axis_size_partitioner(1, max_shards=-1)",
    "tf.variable_axis_size_partitioner(10)(tf.TensorShape([None, 10]), tf.float32)",
    *(f"tf.get_variable('v', [5, 4], partitioner=lambda shape, dtype: {parts})"
      for parts in ("[2, 2]", "3", "[1]", "[0, 1]", "[20, 1]")),
    "tf.get_variable('v', [5, 4], partitioner=5)",
    "tf.get_variable('v', [5, None], partitioner=tf.fixed_size_partitioner(2))",
    "tf.create_partitioned_variables([5, 2], [2], tf.zeros_initializer())",
    *(f"""
    tf.get_variable("v", [5, 4], partitioner=tf.fixed_size_partitioner(2))
    with tf.variable_scope("", reuse={reuse}):
        v = tf.get_variable("{name}", {shape}, {dtype}, partitioner={partitioner})
    [x.name for x in v] if hasattr(v, '__len__') else v.name
    """ for reuse, name, shape, dtype, partitioner in (
        (True, "v", [5, 4], "tf.float32", "tf.fixed_size_partitioner(2)"), (True, "v", [5, 4], "tf.float32", None),
        (True, "v", [5, 4], "tf.float32", "tf.fixed_size_partitioner(3)"), (True, "v", [5, 3], "tf.float32", None),
        (True, "v", [5, 4], "tf.int32", None), (True, "w", [5, 4], "tf.float32", "tf.fixed_size_partitioner(2)"),
        (False, "v", [5, 4], "tf.float32", "tf.fixed_size_partitioner(2)"), (False, "v", [5, 4], "tf.float32", None),
        ("tf.AUTO_REUSE", "v", [5, 4], "tf.float32", "tf.fixed_size_partitioner(2)"),
        (True, "v/part_0", [3, 4], "tf.float32", None))),
    """
    tf.get_variable("v", [5, 4])
    with tf.variable_scope("", reuse=True):
        tf.get_variable("v", [5, 4], partitioner=tf.fixed_size_partitioner(2))
    """,
    """
    p = tf.get_variable("p", [5, 2], partitioner=tf.fixed_size_partitioner(2, axis=1))
    [p.name, p.shape.as_list(), p.get_shape().as_list(), p.dtype.name, len(p), [x.name for x in p],
     [x.shape.as_list() for x in p], [x.name for x in tf.trainable_variables()]]
    """,
    """
    p = tf.get_variable("p", [5, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer())
    more = p.assign_add(tf.reshape(tf.range(10.), [5, 2]))
    less = p.assign_sub([tf.ones([3, 2]), tf.ones([2, 2])])
    ---
    [sess.run(more), sess.run(less), sess.run(tf.convert_to_tensor(p)), sess.run(p.assign(p))]
    """,
    """
    seen = []
    def start(shape, dtype, partition_info):
        seen.append((list(shape), list(partition_info.full_shape), list(partition_info.var_offset)))
        return tf.zeros(shape, dtype)
    tf.get_variable("p", [5, 2], initializer=start, partitioner=tf.fixed_size_partitioner(2))
    seen
    """,
    *(f"""
    p = tf.get_variable("p", [6, 4], initializer={start}, partitioner=tf.fixed_size_partitioner(3))
    ---
    sess.run(list(p))
    """ for start in ("tf.uniform_unit_scaling_initializer(seed=2)", "tf.variance_scaling_initializer(seed=2)",
                      "tf.initializers.identity(2.0)", "tf.glorot_uniform_initializer(seed=3)")),
    """
    with tf.variable_scope("s", regularizer=tf.nn.l2_loss, partitioner=tf.fixed_size_partitioner(2)):
        tf.get_variable("p", [6, 4])
    len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    """,
    """
    p = tf.get_variable("p", [3, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer())
    step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.square(p)))
    ---
    sess.run(step)
    [sess.run(list(p)), [(v._get_save_slice_info().spec, v._get_save_slice_info().full_name)
                         for v in tf.global_variables() if v._get_save_slice_info() is not None]]
    """,
]


def test_as_tensorflow(oracle):
    for snippet, ours, theirs in zip(SNIPPETS, here(SNIPPETS), there(oracle, SNIPPETS), strict=True):
        assert close(ours, theirs), (snippet, ours, theirs)


def close(a, b) -> bool:
    """The same, numbers up to rounding."""
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(close(x, y) for x, y in zip(a, b, strict=True))
    return a == pytest.approx(b, rel=1e-5, abs=1e-7) if isinstance(a, float) else a == b


def test_it_works_as_a_tensor():
    p = tf.get_variable("p", [4, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer())
    results = [p, p + 1, 2 * p, p[1], tf.reduce_sum(p), tf.matmul(p, p, transpose_b=True)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        shapes = [np.shape(value) for value in sess.run(results)]
    assert shapes == [(4, 2), (4, 2), (4, 2), (2,), (), (4, 4)]
    with pytest.raises(NotImplementedError, match="p/part_0:0"):
        tf.assign(p, tf.zeros([4, 2]))


def test_a_checkpoint_under_another_partitioning(tmp_path, oracle):
    rows = np.arange(20, dtype="f").reshape(5, 4)
    path = save(rows, tmp_path)
    assert tf.train.list_variables(path) == [("p", [5, 4])]
    assert np.array_equal(tf.train.load_variable(path, "p"), rows)
    for partitioner in (None, tf.fixed_size_partitioner(2), tf.fixed_size_partitioner(3, axis=1)):
        with tf.Graph().as_default(), tf.Session() as sess:
            p = tf.get_variable("p", [5, 4], partitioner=partitioner)
            tf.train.Saver().restore(sess, path)
            assert np.array_equal(sess.run(p), rows)
    restored, index, data = oracle(
        "p = tf.get_variable('p', [5, 4], partitioner=tf.fixed_size_partitioner(2, axis=1)); s = tf.Session()\n"
        "tf.train.Saver().restore(s, path); value = s.run(tf.convert_to_tensor(p)); tf.reset_default_graph()\n"
        "p = tf.get_variable('p', initializer=tf.constant(value), partitioner=tf.fixed_size_partitioner(3))\n"
        "s = tf.Session(); s.run(tf.global_variables_initializer()); tf.train.Saver().save(s, path + '-theirs')\n"
        "read = lambda end: open(path + '-theirs' + end, 'rb').read()\n"
        "result = value, read('.index'), read('.data-00000-of-00001')", path=path)
    assert np.array_equal(restored, rows)
    ours = (tmp_path / "m.index").read_bytes(), (tmp_path / "m.data-00000-of-00001").read_bytes()
    assert (index, data) == ours


def save(rows, folder):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("p", initializer=tf.constant(rows), partitioner=tf.fixed_size_partitioner(3))
        sess.run(tf.global_variables_initializer())
        return tf.train.Saver().save(sess, str(folder / "m"))


def test_as_protocol_buffers(tmp_path):
    with tf.variable_scope("net"):
        p = tf.get_variable("p", [5, 4], partitioner=tf.fixed_size_partitioner(2))
    second = list(p)[1]
    made = second.to_proto("net")
    info = made.save_slice_info_def
    assert (info.full_name, list(info.full_shape), list(info.var_offset), list(info.var_shape)) \
        == ("p", [5, 4], [3, 0], [2, 4])
    again = tf.Variable.from_proto(made, import_scope="net")
    assert again._get_save_slice_info().full_name == "net/p"
    assert again._get_save_slice_info().spec == "5 4 3,2:0,4" == second._get_save_slice_info().spec
    assert isinstance(second._get_save_slice_info(), tf.Variable.SaveSliceInfo)
    assert tf.Variable.SaveSliceInfo("other/p").to_proto("net") is None


def test_what_a_cell_made_is_made_again_with_the_same_names():
    graph = tf.get_default_graph()
    graph.owner = "cell"
    for _ in range(3):
        p = tf.get_variable("p", [5, 4], partitioner=tf.fixed_size_partitioner(2))
        shared = tf.make_template("t", lambda: tf.get_variable("w", [1]))
        first, second = shared(), shared()
        start = tf.Variable(first * 2, name="start")
        assert [v.name for v in p] == ["p/part_0:0", "p/part_1:0"] and p.as_tensor().name == "p:0"
        assert (first.name, first is second, start.name) == ("t/w:0", True, "start:0")
        assert len(tf.global_variables()) == 4
        graph.detach(graph.ops_of("cell"), owners=["cell"])
    assert not tf.global_variables()
