"""The reference document "Variables" up to Savers, statement by statement; where it leaves things open, TensorFlow's
own behaviour. Savers: tests/train/test_reference_saver.py; templates and partitions: files of their own."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import here, there
from tests.graph_rows import rows_here, rows_there
from tfnb.core.options import options


def names(variables):
    return [v.name for v in variables]


# What a variable is

def test_it_keeps_its_value_between_runs():
    v = tf.Variable(1.0)
    more = v.assign_add(1.0)
    with tf.Session() as sess, tf.Session() as other:
        sess.run(v.initializer)
        other.run(v.initializer)
        assert [sess.run(more), sess.run(more), sess.run(v), other.run(v)] == [2.0, 3.0, 3.0, 1.0]


def test_the_initial_value_decides_dtype_and_shape():
    v = tf.Variable(tf.zeros([2, 3], tf.float64))
    assert v.dtype.base_dtype == tf.float64 and v.get_shape().as_list() == [2, 3]
    with pytest.raises(ValueError):
        v.assign(tf.zeros([3, 2], tf.float64))
    with pytest.raises((TypeError, ValueError)):
        v.assign(tf.zeros([2, 3], tf.float32))


def test_assign_changes_the_shape_only_if_it_is_not_validated():
    v = tf.Variable(tf.zeros([2, 3]))
    with pytest.raises(ValueError, match=r"\(2, 3\)|2, 3"):
        tf.assign(v, tf.zeros([4]))
    change = tf.assign(v, tf.zeros([4]), validate_shape=False)
    with tf.Session() as sess:
        sess.run(v.initializer)
        more = v + 1
        for _ in range(3):                         # interpreted, then compiled
            assert sess.run(change).shape == sess.run(v).shape == sess.run(more).shape == (4,)
            with pytest.raises(tf.errors.InvalidArgumentError, match="Assign"):
                sess.run(v.initializer)


def test_three_ways_to_initialize(tmp_path):
    v, w = tf.Variable(3.0, name="v"), tf.Variable(4.0, name="w")
    assert v.initializer.type == "Assign"          # no more than an assignment of the initial value
    assert v.initializer.inputs[1] is v.initial_value
    saver = tf.train.Saver()
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="v"):
            sess.run(v + 1)
        sess.run([v.initializer, w.assign(9.0)])   # the initializer; an assignment
        assert sess.run([v, w]) == [3.0, 9.0]
        path = saver.save(sess, str(tmp_path / "m"))
    with tf.Session() as sess:                     # a checkpoint
        saver.restore(sess, path)
        assert sess.run([v, w]) == [3.0, 9.0]


def test_one_op_initializes_all():
    v, w = tf.Variable(3.0), tf.Variable(4.0, trainable=False)
    init = tf.initialize_all_variables()
    with tf.Session() as sess:
        sess.run(init)
        assert sess.run([v, w]) == [3.0, 4.0]


@pytest.mark.parametrize("mode", ["never", "always"])
def test_a_variable_that_starts_from_another(mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    v = tf.Variable(tf.truncated_normal([10, 40]))
    w = tf.Variable(v.initialized_value() * 2.0)
    plain = tf.Variable(w + v)                     # also without asking
    with tf.Session() as sess:
        for _ in range(3):
            sess.run(tf.initialize_all_variables())
            got_v, got_w, got_plain = sess.run([v, w, plain])
            assert np.array_equal(got_w, got_v * 2)            # drawn once
        sess.run(v.assign(tf.zeros([10, 40])))
        sess.run([w.initializer, plain.initializer])           # of what v is now
        assert not sess.run(w).any()
        assert np.array_equal(sess.run(v.initialized_value()), np.zeros([10, 40]))


GUARDED = """
a = tf.Variable([1., 2.], name="a")
b = tf.Variable(tf.exp(a) + a.initialized_value(), name="b")
with tf.name_scope("scope"):
    c = tf.Variable(lambda: tf.reduce_sum(a), name="c")
d = tf.get_variable("d", initializer=tf.stack([a, a]))
local = tf.Variable(a * 2, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False, name="e")
i = tf.global_variables_initializer(), tf.local_variables_initializer()
"""


def test_the_nodes_of_safe_initial_values_are_tensorflows(oracle):
    assert rows_here(GUARDED, tf) == rows_there(GUARDED, oracle)


def test_a_chain_of_variables():
    a = tf.Variable([1.0, 2.0])
    b = tf.Variable(a * 2)
    c = tf.Variable(lambda: a + b)
    d = tf.Variable(c.initialized_value() + b, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    e = tf.Variable(tf.where(d > 1, d * 10, c))
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        assert [v.tolist() for v in sess.run([c, d, e])] == [[3, 6], [5, 10], [50, 100]]
    with tf.Session() as sess:
        sess.run(e.initializer)                    # alone, of what the others would start from
        assert sess.run(e).tolist() == [50, 100]


def test_collections():
    a = tf.Variable(1.0)
    b = tf.Variable(1.0, trainable=False)
    c = tf.Variable(1.0, collections=["mine", tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    d = tf.Variable(1.0, collections=["mine"])
    assert tf.all_variables() == [a, b] == tf.get_collection(tf.GraphKeys.VARIABLES)
    assert tf.trainable_variables() == [a, d] == tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)
    assert tf.local_variables() == [c] and tf.get_collection("mine") == [c, d]
    grads = tf.train.GradientDescentOptimizer(0.1).compute_gradients(a + b + c + d)
    assert [v for _, v in grads] == [a, d]         # what is trained by default


def test_moving_averages_are_listed():
    v = tf.Variable(1.0)
    assert tf.moving_average_variables() == []
    tf.train.ExponentialMovingAverage(0.9).apply([v])
    assert tf.moving_average_variables() == [v]


# The constructor

def test_arguments_of_the_constructor():
    assert names([tf.Variable(1.0), tf.Variable(1.0), tf.Variable(1.0, name="w")]) \
        == ["Variable:0", "Variable_1:0", "w:0"]
    lazy = tf.Variable(lambda: [1, 1], dtype=tf.float64)
    assert lazy.dtype.base_dtype == tf.float64 and lazy.get_shape().as_list() == [2]
    assert tf.Variable(tf.constant(1, tf.int64)).dtype.base_dtype == tf.int64
    assert [tf.Variable(1, dtype=t).dtype.base_dtype for t in (None, tf.float32)] == [tf.int32, tf.float32]
    cached = tf.Variable(1.0, caching_device="/device:CPU:1")
    assert cached.value().device == "/device:CPU:1" and cached.device == ""
    plain = tf.Variable(1.0)
    assert plain.value().op.colocation_groups() == [b"loc:@" + plain.op.name.encode()]
    with tf.device("/device:CPU:3"):
        assert tf.Variable(1.0).device == "/device:CPU:3"


def test_modes_and_shapes_as_tensorflow(oracle):
    snippets = ["tf.Variable(1., aggregation=7)", "tf.Variable(1., synchronization='x')", *(f"""
        v = tf.get_variable("v", [2], synchronization=tf.VariableSynchronization.{mode}, {more})
        [v.trainable, v.synchronization.name, v.aggregation.name, [x.name for x in tf.trainable_variables()]]
        """ for mode in ("AUTO", "NONE", "ON_WRITE", "ON_READ")
        for more in ("", "trainable=False", "aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA")),
        "tf.Variable([1., 2.], shape=tf.TensorShape(None)).shape.ndims",
        "tf.Variable([1., 2.], shape=tf.TensorShape([None])).shape.as_list()"]
    assert here(snippets) == there(oracle, snippets)
    assert tf.Variable(1.0, trainable=True, synchronization=tf.VariableSynchronization.ON_READ).trainable


def test_an_initial_value_of_unknown_shape():
    feed = tf.placeholder(tf.float32)
    with pytest.raises(ValueError, match="shape"):
        tf.Variable(feed)
    v = tf.Variable(feed, validate_shape=False)
    assert v.get_shape().ndims is None
    with tf.Session() as sess:
        for value in (np.ones([2, 3]), np.ones([4])):
            sess.run(v.initializer, {feed: value})
            assert sess.run(v).shape == value.shape


def test_errors_of_the_constructor():
    v = tf.Variable(1.0)
    with pytest.raises(ValueError, match="mutually exclusive"):
        tf.Variable(2.0, variable_def=v.to_proto())
    with pytest.raises(ValueError, match="initial_value must be specified"):
        tf.Variable()
    with tf.Graph().as_default(), pytest.raises(KeyError):
        tf.Variable(variable_def=v.to_proto())


def test_a_variable_of_its_proto():
    v = tf.Variable([1.0, 2.0], name="v", trainable=False, aggregation=tf.VariableAggregation.SUM)
    made = tf.Variable(variable_def=v.to_proto())
    for again in (made, tf.Variable.from_proto(v.to_proto())):
        assert again.op is v.op and again.initializer is v.initializer and again.initial_value is v.initial_value
        assert again.value() is v.value() and not again.trainable and again.aggregation is tf.VariableAggregation.SUM
    assert tf.all_variables() == [v]
    with tf.name_scope("in"):
        inner = tf.Variable(1.0, name="w")
    assert inner.to_proto("in").variable_name == "w:0" and v.to_proto("in") is None
    assert tf.Variable.from_proto(inner.to_proto("in"), import_scope="in").op is inner.op


def test_protos_are_tensorflows(oracle):
    program = """
with tf.variable_scope("s"):
    v = tf.get_variable("v", [4, 2], partitioner=tf.fixed_size_partitioner(2), trainable=False,
                        aggregation=tf.VariableAggregation.MEAN, initializer=tf.zeros_initializer())
w = tf.Variable(1.0)
result = [x.to_proto(scope).SerializeToString() for x in [*v, w] for scope in (None, "s") if x.to_proto(scope)]
"""
    scope = {"tf": tf}
    exec(program, scope)
    assert scope["result"] == oracle(program)


# Changing it

def test_changes_give_the_new_value():
    v = tf.Variable([1.0, 2.0, 3.0])
    rows = tf.IndexedSlices(tf.constant([1.0, 1.0, 5.0]), tf.constant([0, 0, 2]))
    steps = [v.assign([7.0, 8.0, 9.0]), v.assign_add([1.0, 1.0, 1.0], use_locking=True), v.assign_sub([2.0, 0.0, 0.0]),
             v.scatter_sub(rows)]
    with tf.Session() as sess:
        sess.run(v.initializer)
        got = [sess.run(step).tolist() for step in steps]
    assert got == [[7, 8, 9], [8, 9, 10], [6, 9, 10], [4, 9, 5]]
    for error in (ValueError, TypeError):          # as the document says, and as TensorFlow does
        with pytest.raises(error, match="not IndexedSlices"):
            v.scatter_sub([1.0])


def test_counting():
    v = tf.Variable(0, trainable=False)
    count = v.count_up_to(5)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert [sess.run(count) for _ in range(5)] == [0, 1, 2, 3, 4]
        for _ in range(2):
            with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 5"):
                sess.run(count)
        assert sess.run(v) == 5


def test_eval():
    v = tf.Variable([1, 2])
    with pytest.raises(ValueError, match="session"):
        v.eval()
    before = len(tf.get_default_graph().get_operations())
    with tf.Session() as sess:
        sess.run(v.initializer)
        given = v.eval(sess)
        assert given.tolist() == [1, 2] == v.eval().tolist()
        given[0] = 9                               # a copy
        assert v.eval().tolist() == [1, 2]
    assert len(tf.get_default_graph().get_operations()) == before


def test_what_it_tells_of_itself():
    v = tf.Variable([1.0, 2.0], name="v")
    assert (v.name, v.op.name, v.dtype.base_dtype, v.graph) == ("v:0", "v", tf.float32, tf.get_default_graph())
    assert v.device == "" and isinstance(v.initializer, tf.Operation) and isinstance(v.initial_value, tf.Tensor)
    assert v.initial_value is not v.initialized_value()


def test_ref_and_value():
    v = tf.Variable(1.0)
    change = tf.assign(v.ref(), 5.0)
    with pytest.raises((TypeError, ValueError), match="mutable|Ref|ref"):
        tf.assign(v.value(), 5.0)
    with tf.control_dependencies([change]):
        after = tf.identity(v.ref())
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run([after, change]) == [5.0, 5.0] and sess.run(v.value()) == 5.0


OPERATORS = ["v + 1", "1 + v", "v - 1", "1 - v", "v * 2", "2 * v", "v / 2", "2 / v", "v // 2", "7 // v", "v % 2",
             "7 % v", "v ** 2", "2 ** v", "-v", "abs(-v)", "v < 2", "v <= 2", "v > 2", "v >= 2", "v[1]", "v[:1]",
             "v + v"]


def test_operators(oracle):
    snippets = [f"v = tf.Variable([1., 2., 3.])\nr = {text}\n---\nsess.run(r)" for text in OPERATORS]
    assert here(snippets) == there(oracle, snippets)


PARTS = [f"""
    v = tf.Variable(np.arange(12., dtype="f").reshape(3, 4))
    step = {text}
    ---
    [step.op.type, step.name, sess.run(step), sess.run(step), sess.run(v)]
    """ for text in (
    "v[1].assign([9., 9., 9., 9.])", "v[1:, ::2].assign([[1., 2.], [3., 4.]])", "v[..., -1].assign([7., 8., 9.])",
    "v[::-1].assign(v.value() * 2)", "v[0, 0].assign(5., name='mine')", "v[tf.constant(2), 1:3].assign([0., 0.])",
    "v[0:2].assign(v[1:3])", "v[tf.newaxis, 0].assign([[1., 1., 1., 1.]])", "v[0].assign([1.])", "v[3].assign([1.])",
    "tf.strided_slice(v, [0], [2], var=v).assign(tf.zeros([2, 4]), name='part')", "v[v > 3]")]


def test_parts_as_tensorflow(oracle):
    for snippet, ours, theirs in zip(PARTS, here(PARTS), there(oracle, PARTS), strict=True):
        assert ours == theirs, snippet


def test_resource_variables_by_default():
    assert not tf.resource_variables_enabled()
    tf.enable_resource_variables()
    try:
        assert tf.resource_variables_enabled() and tf.Variable(1.0).op.type == "VarHandleOp"
        assert tf.get_variable("v", [2]).op.type == "VarHandleOp"
        assert tf.Variable(1.0, use_resource=False).op.type == "VariableV2"
        with tf.variable_scope("by_reference", use_resource=False):
            assert tf.Variable(1.0).op.type == tf.get_variable("v", [2]).op.type == "VariableV2"
    finally:
        tf.disable_resource_variables()
    assert not tf.resource_variables_enabled() and tf.Variable(1.0).op.type == "VariableV2"


# Helper functions

def test_initializing_lists():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    local = tf.Variable(3.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    some, nothing = tf.initialize_variables([v], name="some"), tf.initialize_variables([])
    assert (some.name, some.type) == ("some", "NoOp") and [c.name for c in some.control_inputs] == [v.initializer.name]
    with tf.Session() as sess:
        assert sess.run(nothing) is None
        sess.run(some)
        assert sess.run([tf.is_variable_initialized(x) for x in (v, w, local)]) == [True, False, False]
        missing = tf.report_uninitialized_variables()
        assert sess.run(missing).tolist() == [w.op.name.encode(), local.op.name.encode()]
        assert sess.run(tf.report_uninitialized_variables([v])).tolist() == []
        check = tf.assert_variables_initialized([v, w])
        with pytest.raises(tf.errors.FailedPreconditionError, match="Variable_1"):
            sess.run(check)
        sess.run([tf.initialize_all_variables(), tf.initialize_local_variables()])
        sess.run(check)
        assert sess.run(missing).shape == (0,)


def test_without_variables():
    with tf.Session() as sess:
        assert tf.assert_variables_initialized() is None
        assert sess.run(tf.report_uninitialized_variables()).shape == (0,)
        sess.run([tf.initialize_all_variables(), tf.initialize_local_variables()])


# Sharing

SHARING = [
    """
    with tf.variable_scope("foo"):
        with tf.variable_scope("bar"):
            v = tf.get_variable("v", [1])
    v.name
    """,
    """
    with tf.variable_scope("foo"):
        v = tf.get_variable("v", [1])
    with tf.variable_scope("foo", reuse=True):
        v1 = tf.get_variable("v", [1])
        v2 = tf.get_variable("v")
    [v1 is v, v2 is v]
    """,
    """
    with tf.variable_scope("foo") as scope:
        v = tf.get_variable("v", [1])
        before = scope.reuse
        scope.reuse_variables()
        v1 = tf.get_variable("v", [1])
    [v1 is v, bool(before), scope.reuse]
    """,
    "with tf.variable_scope('foo'):\n    tf.get_variable('v', [1]); tf.get_variable('v', [1])",
    "with tf.variable_scope('foo', reuse=True):\n    tf.get_variable('v', [1])",
    """
    seen = []
    with tf.variable_scope("a", reuse=True):
        with tf.variable_scope("b") as inner:
            seen.append(inner.reuse)
        with tf.variable_scope("c", reuse=False) as inner:
            seen.append(inner.reuse)
    seen
    """,
    """
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
        v, w = tf.get_variable("v", [1]), tf.get_variable("v", [1])
    v is w
    """,
    "tf.get_variable('v')",
    "tf.get_variable('v', [None, 2])",
    "tf.get_variable('v', [2], initializer=tf.constant([1., 2.]))",
    "v = tf.get_variable('v', initializer=tf.constant([1., 2.]))\n---\n[sess.run(v), v.shape.as_list()]",
    "v = tf.get_variable('v', initializer=[1, 2])\n[v.dtype.base_dtype.name, v.shape.as_list()]",
    "tf.get_variable('v', dtype=tf.int32, initializer=tf.constant([1., 2.]))",
    *(f"""
    v = tf.get_variable('v', [3], dtype={dtype})
    [v.dtype.base_dtype.name, [op.type for op in tf.get_default_graph().get_operations()]]
    """ for dtype in ("tf.float32", "tf.float64", "tf.int32", "tf.bool")),
    """
    def two(shape, dtype=None, partition_info=None):
        return tf.fill(shape, tf.cast(2, dtype))
    with tf.variable_scope("s", initializer=two):
        a = tf.get_variable("a", [2])
        b = tf.get_variable("b", [2], initializer=tf.zeros_initializer())
    ---
    sess.run([a, b])
    """,
    """
    with tf.variable_scope("s", regularizer=tf.nn.l2_loss):
        tf.get_variable("a", [2])
        tf.get_variable("b", [2], regularizer=tf.no_regularizer)
        tf.get_variable("c", [2], regularizer=lambda v: None)
        with tf.variable_scope("t", regularizer=tf.no_regularizer):
            tf.get_variable("d", [2])
    with tf.variable_scope("s", reuse=True, regularizer=tf.nn.l2_loss):
        tf.get_variable("a", [2])
    [x.name for x in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)]
    """,
    """
    a = tf.get_variable("a", [2], collections=["mine"], trainable=False)
    b = tf.get_variable("b", [2], trainable=False)
    c = tf.get_local_variable("c", [2])
    [[v.name for v in found] for found in (tf.get_collection("mine"), tf.global_variables(), tf.trainable_variables(),
                                          tf.local_variables())]
    """,
    """
    v = tf.get_variable("v", initializer=tf.placeholder_with_default(tf.zeros([2]), None), validate_shape=False)
    v.shape.ndims
    """,
    """
    with tf.variable_scope("s", caching_device="/device:CPU:1"):
        v = tf.get_variable("v", [1])
        w = tf.get_variable("w", [1], caching_device=lambda op: "/device:CPU:2")
    [v.value().device, w.value().device]
    """,
    """
    tf.get_variable("v", [1])
    with tf.variable_scope("", reuse=True):
        tf.get_variable("v", [2])
    """,
    """
    tf.get_variable("v", [1])
    with tf.variable_scope("", reuse=True):
        tf.get_variable("v", [1], tf.int32)
    """,
    """
    tf.Variable([1.], name="v")
    with tf.variable_scope("", reuse=True):
        tf.get_variable("v", [1])
    """,
    """
    scope = tf.VariableScope(None, "base", tf.zeros_initializer(), tf.nn.l2_loss, "/device:CPU:1", name_scope="n/")
    before = [scope.name, scope.reuse, scope.caching_device, scope.original_name_scope, scope.partitioner]
    scope.set_initializer(None); scope.set_regularizer(None); scope.set_caching_device(None)
    scope.set_partitioner(tf.fixed_size_partitioner(2)); scope.reuse_variables(); scope.set_dtype(tf.float64)
    before + [scope.initializer, scope.regularizer, scope.caching_device, scope.reuse, scope.dtype.name,
              callable(scope.partitioner)]
    """,
    """
    with tf.variable_scope("s") as scope:
        pass
    with tf.variable_scope("other"):
        with tf.variable_scope(scope):
            v = tf.get_variable("v", [1])
            op = tf.constant(1.0)
    [v.name, op.name, scope.name, scope.original_name_scope]
    """,
    """
    with tf.variable_scope("s", initializer=tf.ones_initializer(), dtype=tf.float64) as scope:
        inner = tf.get_variable_scope()
    outer = tf.get_variable_scope()
    [inner is scope, inner.name, outer.name, inner.dtype.name, outer.dtype.name, bool(outer.reuse)]
    """,
    "with tf.variable_scope(3):\n    pass",
    "with tf.variable_scope(None):\n    pass",
    "with tf.variable_scope('s', reuse=3):\n    pass",
    "with tf.variable_scope(None, 'd', reuse=True):\n    pass",
    """
    def my_op(a, scope=None):
        with tf.variable_op_scope([a], scope, "MyOp") as vs:
            return tf.get_variable("c", [1]).name, vs.name, tf.identity(a).name
    [my_op(tf.constant(1.)), my_op(tf.constant(1.)), my_op(tf.constant(1.), "own"), tf.get_variable_scope().name]
    """,
    """
    other = tf.Graph()
    with other.as_default():
        x = tf.constant(1.0)
    with tf.variable_op_scope([x], None, "MyOp"):
        v = tf.get_variable("v", [1])
    v.graph is other
    """,
    """
    with tf.Graph().as_default():
        y = tf.constant(1.0)
    with tf.variable_op_scope([tf.constant(1.0), y], None, "MyOp"):
        pass
    """,
    """
    seen = []
    def outer(getter, name, *args, **kwargs):
        seen.append(("outer", name)); return getter(name, *args, **kwargs)
    def inner(getter, name, *args, **kwargs):
        seen.append(("inner", name)); return getter(name, *args, **kwargs) * 2
    with tf.variable_scope("a", custom_getter=outer):
        with tf.variable_scope("b", custom_getter=inner):
            v = tf.get_variable("v", initializer=tf.constant(3.0))
        w = tf.get_variable("w", [], custom_getter=inner)
    ---
    [sess.run(v), [x.name for x in tf.global_variables()], seen]
    """,
    """
    v = tf.get_variable("v", [2], constraint=lambda x: tf.minimum(x, 0.5), initializer=tf.ones_initializer())
    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(v))
    ---
    sess.run(step)
    [sess.run(v), callable(v.constraint), v.synchronization.name, v.aggregation.name]
    """,
    """
    with tf.variable_scope("s"):
        tf.get_variable("a", [1]); tf.get_local_variable("b", [1])
        scope = tf.get_variable_scope()
    tf.get_variable("c", [1])
    [[x.name for x in found] for found in (scope.global_variables(), scope.local_variables(),
                                          scope.trainable_variables(), scope.get_collection("variables"))]
    """,
]


def test_sharing_as_tensorflow(oracle):
    for snippet, ours, theirs in zip(SHARING, here(SHARING), there(oracle, SHARING), strict=True):
        assert ours == theirs, snippet


def test_errors_of_sharing_teach():
    with tf.variable_scope("foo"):
        tf.get_variable("v", [1])
        with pytest.raises(ValueError, match=r"foo/v already exists[\s\S]*reuse=True[\s\S]*Originally defined at[\s\S]*"
                                             r"test_reference_variables.py"):
            tf.get_variable("v", [1])
    with tf.variable_scope("foo", reuse=True), pytest.raises(ValueError, match="foo/w does not exist.*get_variable"):
        tf.get_variable("w", [1])
    with tf.variable_scope("foo", True):           # the order of 0.x
        assert tf.get_variable("v", [1]).name == "foo/v:0"


def test_a_scope_passes_its_get_variable():
    scope = tf.VariableScope(None, "base", initializer=tf.ones_initializer())
    v = scope.get_variable(None, "v", [2])
    assert v.name == "base/v:0"
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(v).tolist() == [1.0, 1.0]


# Initializers

def test_initializers_of_0_x():
    with tf.Session() as sess:
        assert sess.run([tf.zeros_initializer([2]), tf.ones_initializer([2], tf.int32)])[1].tolist() == [1, 1]
        got = sess.run(tf.constant_initializer(2.5)([2, 2]))
        assert got.tolist() == [[2.5, 2.5], [2.5, 2.5]] and got.dtype == np.float32
        cut = sess.run(tf.truncated_normal_initializer(1.0, 0.5, seed=1)([1000]))
        assert abs(cut - 1.0).max() <= 1.0
        uniform = sess.run(tf.random_uniform_initializer(seed=1)([1000]))
        assert 0.0 <= uniform.min() and uniform.max() < 1.0
        scaled = sess.run(tf.uniform_unit_scaling_initializer(2.0, seed=1)([27, 4]))
        assert 0.6 < abs(scaled).max() <= 2.0 / 3.0            # factor * sqrt(3) / sqrt(27)
        whole = sess.run(tf.uniform_unit_scaling_initializer(seed=1, full_shape=[300, 4])([3, 400]))
        assert abs(whole).max() <= 0.1


@pytest.mark.parametrize("make", ["random_normal_initializer", "truncated_normal_initializer",
                                  "uniform_unit_scaling_initializer", "variance_scaling_initializer",
                                  "orthogonal_initializer"])
def test_initializers_make_floats_only(make):
    with pytest.raises(ValueError, match="floating"):
        getattr(tf, make)(dtype=tf.int32)


# Rows

SCATTER = [f"""
    v = tf.Variable(np.arange(12., dtype="f").reshape(4, 3))
    step = {call}
    ---
    [sess.run(step), sess.run(v)]
    """ for call in (
    "tf.scatter_update(v, 2, [1., 2., 3.])", "tf.scatter_update(v, [0, 3], np.ones([2, 3], 'f'))",
    "tf.scatter_update(v, [[0], [3]], np.ones([2, 1, 3], 'f'), use_locking=None)",
    "tf.scatter_add(v, [1, 1, 1], np.ones([3, 3], 'f'))", "tf.scatter_sub(v, [1, 1, 0], np.ones([3, 3], 'f'))",
    "tf.scatter_mul(v, [1, 1], np.full([2, 3], 3, 'f'))", "tf.scatter_div(v, [1, 1], np.full([2, 3], 2, 'f'))",
    "tf.scatter_min(v, [1, 1], np.full([2, 3], 4, 'f'))", "tf.scatter_max(v, [1, 1], np.full([2, 3], 4, 'f'))",
    "tf.scatter_add(v, [1, 2], np.ones([3, 3], 'f'))", "tf.scatter_add(v, [9], np.ones([1, 3], 'f'))",
    "tf.scatter_add(v, [1.0], np.ones([1, 3], 'f'))", "tf.scatter_add(v, [1], np.ones([1, 3], 'i'))",
    "tf.scatter_nd_update(v, [[0], [2]], np.ones([2, 3], 'f'))",
    "tf.scatter_nd_add(v, [[0, 1], [0, 1]], [1., 2.])", "tf.scatter_nd_sub(v, [[0, 1], [0, 1]], [1., 2.])",
    "v.scatter_nd_add([[0, 1]], [5.])", "v.scatter_add(tf.IndexedSlices(tf.ones([1, 3]), tf.constant([0])))",
    "v.scatter_update(tf.IndexedSlices(tf.ones([1, 3]), tf.constant([0])))",
    "v.batch_scatter_update(tf.IndexedSlices(tf.ones([4, 1]), tf.constant([[0], [1], [2], [0]])))")]


def test_rows_as_tensorflow(oracle):
    for snippet, ours, theirs in zip(SCATTER, here(SCATTER), there(oracle, SCATTER), strict=True):
        assert ours == theirs, snippet


def test_sparse_mask():
    a = tf.IndexedSlices(tf.constant(np.arange(8.0).reshape(4, 2)), tf.constant([12, 26, 37, 45]),
                         tf.constant([1000, 2]))
    b = tf.sparse_mask(a, [12, 45], name="masked")
    assert b.op.name == "masked" and b.dense_shape is a.dense_shape
    with tf.Session() as sess:
        got = sess.run(b)
    assert got.indices.tolist() == [26, 37] and got.values.tolist() == [[2, 3], [4, 5]]


def test_indexed_slices():
    values, indices = tf.constant([[1.0, 2.0]], name="values"), tf.constant([3])
    with tf.device("/device:CPU:1"):
        placed = tf.constant([[1.0, 2.0]])
    s = tf.IndexedSlices(values, indices, tf.constant([5, 2]))
    assert (s.values, s.indices, s.name, s.op, s.graph) == (values, indices, "values:0", values.op, values.graph)
    assert s.dtype == tf.float32 and s.get_shape().as_list() == [5, 2] and s.device == ""
    assert tf.IndexedSlices(placed, indices).device == "/device:CPU:1"
    assert tf.IndexedSlices(placed, indices).dense_shape is None
    with tf.Session() as sess:
        dense = sess.run(tf.convert_to_tensor(s))
    assert dense.tolist() == [[0, 0], [0, 0], [0, 0], [1, 2], [0, 0]]
    v = tf.Variable(np.zeros([5, 2], "f"))
    (gradient,) = tf.gradients(tf.gather(v, [3, 3]), [v])
    assert isinstance(gradient, tf.IndexedSlices)  # what sparse gradients are, and optimizers take
    step = tf.train.GradientDescentOptimizer(1.0).apply_gradients([(gradient, v)])
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(step)
        assert sess.run(v).tolist() == [[0, 0]] * 3 + [[-2, -2], [0, 0]]
