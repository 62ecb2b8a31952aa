"""Variables behind handles: graphs that TensorFlow made with use_resource=True run here as they do there."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
import tfnb.contrib.opt  # noqa: F401  (it declares the steps of all optimizers)
from tests.handles import applied
from tests.ops.test_scatter import arguments as rows_of
from tests.ops.test_state import arguments as whole
from tfnb.core.options import options
from tfnb.opdef import kinds, registry
from tfnb.ops.declaration.raw import raw
from tfnb.ops.state import resource_variables as ops
from tfnb.variables.resource_variable import ResourceVariable

STEPS = ["tf.train.GradientDescentOptimizer(0.1)", "tf.train.MomentumOptimizer(0.1, 0.9)",
         "tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True)", "tf.train.AdamOptimizer(0.1)",
         "tf.train.AdagradOptimizer(0.1)", "tf.train.AdadeltaOptimizer(1.0)",
         "tf.train.RMSPropOptimizer(0.1, momentum=0.5)", "tf.train.RMSPropOptimizer(0.1, centered=True)",
         "tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01)",
         "tf.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.01)", "tf.train.ProximalAdagradOptimizer(0.1)",
         "tf.train.AdagradDAOptimizer(0.1, tf.cast(tf.train.get_or_create_global_step(), tf.int64))"]
# `w` is trained densely, rows of `table` by their indices; `count` is read in a branch, written in a loop.
MODEL = """
import os
tf.set_random_seed(3)
with tf.variable_scope("net", use_resource=True):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    ids = tf.placeholder(tf.int32, [None], name="ids")
    w = tf.get_variable("w", [3, 2], initializer=tf.truncated_normal_initializer(seed=1))
    table = tf.get_variable("table", [5, 2], initializer=tf.random_uniform_initializer(seed=2))
    count = tf.get_variable("count", [], tf.int32, initializer=tf.zeros_initializer(), trainable=False)
    loss = tf.reduce_sum(tf.square(tf.matmul(x, w) + tf.nn.embedding_lookup(table, ids)), name="loss")
    optimizer = {step}
    train = optimizer.minimize(loss, name="train")
    branch = tf.cond(tf.reduce_sum(x) > 0, lambda: count + 1, lambda: count.assign_add(10), name="branch")
    _, total = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.reduce_sum(w)), [0, 0.0])
    tf.identity(branch, name="branched"); tf.identity(total, name="total")
    tf.report_uninitialized_variables(name="missing")
tf.global_variables_initializer()
saver = tf.train.Saver()
meta = tf.train.export_meta_graph().SerializeToString()
RUN
"""
RUN = """
with tf.Session() as sess:
    before = sess.run(g("net/missing/boolean_mask/GatherV2:0"))
    sess.run(sess.graph.get_operation_by_name("init"))
    seen = []
    for step in range(4):
        feed = {"net/x:0": np.full([2, 3], step - 1.5, "f"), "net/ids:0": [step, step % 2]}
        seen.append(sess.run(["net/loss:0", "net/branched:0", "net/total:0"], feed))
        sess.run("net/train", feed)
    values = {v.name: sess.run(v) for v in tf.global_variables()}
    path = saver.save(sess, where, write_meta_graph=False)
"""


def flat(values):
    return [np.asarray(v) for row in values for v in row]


@pytest.mark.parametrize("step", STEPS)
def test_a_graph_of_tensorflow(step, oracle, tmp_path):
    begin = "g = tf.get_default_graph().get_tensor_by_name\n"
    code = MODEL.replace("{step}", step).replace("RUN", begin + RUN + "result = meta, list(before), seen, values")
    meta, before, seen, values = oracle(code, where=str(tmp_path / "theirs"))
    with tf.Graph().as_default():
        scope = {"tf": tf, "np": np, "where": str(tmp_path / "ours")}
        scope["saver"] = tf.train.import_meta_graph(tf.MetaGraphDef.FromString(meta))
        exec(begin + RUN, scope)
        assert all(isinstance(v, ResourceVariable) for v in tf.global_variables() if v.name.startswith("net/"))
        assert sorted(scope["before"]) == sorted(before)
        for ours, theirs in zip(flat(scope["seen"]), flat(seen), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-5)
        for name, value in values.items():
            np.testing.assert_allclose(scope["values"][name], value, rtol=2e-4, atol=1e-5, err_msg=name)
        stored = dict(tf.train.list_variables(scope["path"]))
        assert stored == dict(tf.train.list_variables(str(tmp_path / "theirs")))
        with tf.Session() as sess:                 # a checkpoint of TensorFlow, by its own restore ops and by new ones
            for saver in (scope["saver"], tf.train.Saver(tf.global_variables())):
                saver.restore(sess, str(tmp_path / "theirs"))
                assert np.array_equal(sess.run(tf.global_variables("net/w")[0]), values["net/w:0"])


UNTRAINED = """
tf.set_random_seed(3)
x, ids = tf.placeholder(tf.float32, [None, 3], name="x"), tf.placeholder(tf.int32, [None], name="ids")
w = tf.get_variable("w", [3, 2], initializer=tf.truncated_normal_initializer(seed=1), use_resource=True)
table = tf.get_variable("table", [5, 2], initializer=tf.random_uniform_initializer(seed=2), use_resource=True)
loss = tf.reduce_sum(tf.square(tf.matmul(x, w) + tf.nn.embedding_lookup(table, ids)), name="loss")
meta = tf.train.export_meta_graph().SerializeToString()
"""
TRAINED = """
result = []
for i, optimizer in enumerate(optimizers(tf)):
    train = optimizer.minimize(g("loss:0"), name="train%d" % i, var_list=tf.trainable_variables())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(4):
            sess.run(train, {"x:0": np.full([2, 3], step - 1.5, "f"), "ids:0": [step, step % 2]})
        slots = [optimizer.get_slot(v, name) for name in optimizer.get_slot_names() for v in tf.trainable_variables()]
        found = [*tf.trainable_variables(), *slots]
        result.append((sess.run([v + 0.0 for v in found]), [(v.name, v.op.type) for v in found]))
    updates = sorted(op.type for op in tf.get_default_graph().get_operations() if op.name.startswith("train%d/upd" % i))
    result[-1] += ([kind for kind in updates if "Apply" in kind],)
"""


def test_new_optimizers_train_imported_variables(oracle):
    steps = [step for step in STEPS if "DA" not in step]
    begin = "optimizers = lambda tf: [" + ", ".join(steps) + "]\ng = tf.get_default_graph().get_tensor_by_name\n"
    meta, wanted = oracle(UNTRAINED + begin + TRAINED + "result = meta, result")
    tf.train.import_meta_graph(tf.MetaGraphDef.FromString(meta))
    scope = {"tf": tf, "np": np}
    exec(begin + TRAINED, scope)
    for step, (values, *names), (theirs, *official) in zip(steps, scope["result"], wanted, strict=True):
        assert names == [list(each) for each in official], step
        for ours, value in zip(values, theirs, strict=True):
            np.testing.assert_allclose(ours, value, rtol=2e-4, atol=1e-5, err_msg=step)


def imported():
    meta = tf.MetaGraphDef()
    with tf.Graph().as_default() as graph:
        v = ResourceVariable(np.array([1.0, 2.0], "f"), name="v")
        tf.global_variables_initializer()
        meta.CopyFrom(tf.train.export_meta_graph())
    assert v.graph is graph
    tf.train.import_meta_graph(meta)
    return tf.trainable_variables()[0]


@pytest.mark.parametrize("rows", [False, True])
def test_overrides_for_resource_variables(rows):
    """Each method adds its part once, and calls the base, as subclasses for both kinds of variables are written."""
    class Shrinking(tf.train.MomentumOptimizer):
        def _shrink(self, v):
            return tf.control_dependencies([v.assign(v * 0.5)])

        def _apply_dense(self, grad, var):
            with self._shrink(var):
                return super()._apply_dense(grad, var)

        def _resource_apply_dense(self, grad, var):
            with self._shrink(var):
                return super()._resource_apply_dense(grad, var)

        def _resource_apply_sparse(self, grad, var, indices):
            with self._shrink(var):
                return super()._resource_apply_sparse(grad, var, indices)

    class Dense(tf.train.Optimizer):
        def _apply_dense(self, grad, var):
            return tf.assign_sub(var, grad).op

    v = imported()
    assert isinstance(v, ResourceVariable) and v.op.type == "VarHandleOp"
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_sum(tf.gather(v, [1, 1]) if rows else v)
    assert isinstance(tf.gradients(loss, v)[0], tf.IndexedSlices if rows else tf.Tensor)
    train = Shrinking(0.125, 0.0).minimize(loss, global_step=step)
    decayed = tf.contrib.opt.MomentumWOptimizer(0.5, 0.125, 0.0).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run(v).tolist() == ([0.5, 0.75] if rows else [0.375, 0.875])
        sess.run(v.initializer)
        sess.run(decayed)
        assert sess.run(v).tolist() == ([1.0, 0.75] if rows else [0.375, 0.875]) and sess.run(step) == 1
    with pytest.raises(NotImplementedError, match="Dense does not say how (rows of )?a resource variable"):
        Dense(False, "Dense").minimize(loss, var_list=[v])


def test_an_imported_variable_changes_as_others_do(oracle, tmp_path):
    meta = oracle("""
v = tf.get_variable("v", [3, 2], initializer=tf.ones_initializer(), use_resource=True)
n = tf.get_variable("n", [], tf.int32, initializer=tf.zeros_initializer(), use_resource=True, trainable=False)
result = tf.train.export_meta_graph().SerializeToString()
""")
    saver = tf.train.import_meta_graph(tf.MetaGraphDef.FromString(meta))
    v, n = tf.global_variables()
    assert (v.name, v.dtype, v.shape.as_list(), v.op.type) == ("v:0", tf.float32, [3, 2], "VarHandleOp")
    assert (saver is not None, v.to_proto().is_resource, v.trainable, n.trainable) == (True, True, True, False)
    rows = tf.IndexedSlices(tf.constant([[1.0, 1.0], [2.0, 2.0]]), tf.constant([0, 0]))
    steps = [(tf.assign(v, tf.zeros([3, 2])), 0), (tf.assign_add(v, tf.ones([3, 2])), 6), (v.assign_sub(v * 0.5), 3),
             (v.scatter_add(rows), 9), (tf.scatter_update(v, [1], [[0.0, 0.0]]), 8),
             (tf.scatter_nd_add(v, [[2, 1]], [1.0]), 9), (v.scatter_nd_sub([[2, 1]], [1.0]), 8),
             (v[0].assign([5.0, 5.0]), 11)]
    count = tf.count_up_to(n, 1)
    with tf.Session() as sess:
        missing = tf.report_uninitialized_variables()
        assert sorted(sess.run(missing)) == [b"n", b"v"]
        sess.run(tf.global_variables_initializer())
        assert not sess.run([missing, tf.is_variable_initialized(v)])[0].size and sess.run(count) == 0
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(count)
        assert [float(sess.run(step).sum()) for step, _ in steps] == [total for _, total in steps]
        assert v.eval().tolist() == sess.run(v).tolist() == sess.run(v.value()).tolist() == [[5, 5], [0, 0], [0.5, 0.5]]
        saved = saver.save(sess, str(tmp_path / "saved"))
        v.load(np.zeros([3, 2], "f"))
        assert not sess.run(v + 0).any() and sess.run(v.initialized_value()).sum() == 0
        tf.train.init_from_checkpoint(saved, {"v": v})
        assert sess.run(v.initializer) is None and sess.run(v).tolist() == [[5, 5], [0, 0], [0.5, 0.5]]


def handle(shape=(3, 2), dtype=tf.float32, name="v"):
    return ops.VarHandleOp(dtype=dtype, shape=shape, shared_name=name, name=name)


def test_reads_are_snapshots():
    v = handle(())
    start = ops.AssignVariableOp(v, 1.0)
    before = ops.ReadVariableOp(v, dtype=tf.float32)
    with tf.control_dependencies([before]):
        change = ops.AssignAddVariableOp(v, 2.0)
    with tf.control_dependencies([change]):
        after, kept = ops.ReadVariableOp(v, dtype=tf.float32), tf.identity(before)
    with tf.Session() as sess:
        for _ in range(2):
            sess.run(start)
            assert sess.run([before, after, kept]) == [1.0, 3.0, 1.0]
        assert sess.run(ops.VarIsInitializedOp(v))
        sess.run(ops.DestroyResourceOp(v))
        assert not sess.run(ops.VarIsInitializedOp(v))
        with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
            sess.run(ops.DestroyResourceOp(v, ignore_lookup_error=False))


def test_handles_of_one_name_share_a_variable():
    a, b = handle(name="same"), ops.VarHandleOp(dtype=tf.float32, shape=[3, 2], shared_name="same")
    with tf.Session() as sess:
        sess.run(ops.AssignVariableOp(a, np.ones([3, 2], "f")))
        assert sess.run(ops.ReadVariableOp(b, dtype=tf.float32)).sum() == 6
        assert sess.run(ops.VariableShape(b)).tolist() == [3, 2]


@pytest.mark.parametrize("what", ["Update", "Add", "Sub", "Mul", "Div", "Min", "Max"])
def test_rows(what):
    start, rows = np.arange(6, dtype="f").reshape(3, 2) + 1, np.array([[2, 3], [4, 5], [1, 1]], "f")
    v, ref = handle(), tf.Variable(start)
    change = getattr(raw, f"ResourceScatter{what}")(v, [0, 2, 0], rows)
    with tf.Session() as sess:
        sess.run([ops.AssignVariableOp(v, start), ref.initializer])
        sess.run(change)
        want = sess.run(getattr(raw, f"Scatter{what}")(ref, [0, 2, 0], rows))
        assert np.array_equal(sess.run(ops.ReadVariableOp(v, dtype=tf.float32)), want)


@pytest.mark.parametrize("what", ["Update", "Add", "Sub", "Min", "Max"])
def test_vectors(what):
    start = np.arange(6, dtype="f").reshape(3, 2)
    v, ref = handle(), tf.Variable(start)
    arguments = [[[0, 1], [2, 0], [0, 1]], np.array([5, -5, 2], "f")]
    change = getattr(raw, f"ResourceScatterNd{what}")(v, *arguments)
    with tf.Session() as sess:
        sess.run([ops.AssignVariableOp(v, start), ref.initializer])
        sess.run(change)
        want = sess.run(getattr(raw, f"ScatterNd{what}")(ref, *arguments))
        assert np.array_equal(sess.run(ops.ReadVariableOp(v, dtype=tf.float32)), want)


def test_gathers():
    value = np.arange(24, dtype="f").reshape(2, 3, 4)
    v = handle([2, 3, 4])
    rows = ops.ResourceGather(v, [[1], [0]], dtype=tf.float32)
    batches = ops.ResourceGather(v, [[2], [0]], dtype=tf.float32, batch_dims=1)
    places = ops.ResourceGatherNd(v, [[0, 2], [1, 1]], dtype=tf.float32)
    assert [t.shape.as_list() for t in (rows, batches, places)] == [[2, 1, 3, 4], [2, 1, 4], [2, 4]]
    with tf.Session() as sess:
        sess.run(ops.AssignVariableOp(v, value))
        got = sess.run([rows, batches, places])
    assert np.array_equal(got[0], value[[[1], [0]]])
    assert np.array_equal(got[1], np.stack([value[0][[2]], value[1][[0]]]))
    assert np.array_equal(got[2], value[[0, 1], [2, 1]])


def test_parts():
    v = handle([3, 4])
    change = ops.ResourceStridedSliceAssign(v, [1, 0], [3, 4], [1, 2], np.ones([2, 2], "f"))
    with pytest.raises(ValueError, match="2.*3|3.*2"):
        ops.ResourceStridedSliceAssign(v, [1, 0], [3, 4], [1, 2], np.ones([2, 3], "f"))
    with tf.Session() as sess:
        sess.run(ops.AssignVariableOp(v, np.zeros([3, 4], "f")))
        sess.run(change)
        assert sess.run(ops.ReadVariableOp(v, dtype=tf.float32)).tolist() == [[0] * 4, [1, 0, 1, 0], [1, 0, 1, 0]]


def test_errors_write_nothing():
    v = handle([3, 2])
    with pytest.raises(ValueError, match=r"\(3, 2\).*\(3, 3\)|incompatible"):
        ops.AssignVariableOp(v, np.zeros([3, 3], "f"))
    queue = tf.FIFOQueue(1, tf.float32)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
            sess.run(ops.ReadVariableOp(v, dtype=tf.float32))
        sess.run(ops.AssignVariableOp(v, np.ones([3, 2], "f")))
        for bad, match in ((ops.ReadVariableOp(v, dtype=tf.int32), "variable of int32, but it is of float32"),
                           (ops.ReadVariableOp(queue.queue_ref, dtype=tf.int32), "not a variable's"),
                           (raw.ResourceScatterAdd(v, [0, 3], np.ones([2, 2], "f")), r"= 3 is not in \[0, 3\)")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=match):
                sess.run(bad)
        assert sess.run(ops.ReadVariableOp(v, dtype=tf.float32)).sum() == 6


def test_counting():
    v = handle((), tf.int64)
    count = ops.ResourceCountUpTo(v, limit=2, T=tf.int64)
    with tf.Session() as sess:
        sess.run(ops.AssignVariableOp(v, np.int64(0)))
        assert [sess.run(count), sess.run(count)] == [0, 1]
        with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
            sess.run(count)


WRITERS = sorted(name for name in registry.names() if isinstance(registry.find(name), kinds.Writer)
                 and registry.find(name).handles and name.removeprefix("Resource") in registry.names())


@pytest.mark.parametrize("mode", ["never", "always"])
def test_updates_give_the_bits_of_references(mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    assert len(WRITERS) >= 40
    for name in WRITERS:
        spec, random = registry.find(name), np.random.default_rng(5)
        sparse = "indices" in [arg.name for arg in spec.inputs]
        if "updates" in [arg.name for arg in spec.inputs]:
            continue                               # see test_rows, test_vectors
        values = rows_of(spec, "float32", random) if sparse else whole(spec, random)
        found = [applied(getattr(raw, op), values, {}, op is name) for op in (name, name.removeprefix("Resource"))]
        for got, want in zip(*found, strict=True):
            np.testing.assert_array_equal(got, want, name)


@pytest.mark.parametrize("step", STEPS[3:5])
def test_use_resource_as_tensorflow(step, oracle, tmp_path):
    """The same program by both: nodes of the variables, numbers of the training."""
    begin = "g = tf.get_default_graph().get_tensor_by_name\n"
    end = "result = [[(op.name, op.type) for op in tf.get_default_graph().get_operations() " \
          "if op.name.startswith(('net/w', 'net/table', 'net/count'))], seen, values]"
    code = MODEL.replace("{step}", step).replace("RUN", begin + RUN + end)
    nodes, seen, values = oracle(code, where=str(tmp_path / "theirs"))
    scope = {"tf": tf, "np": np, "where": str(tmp_path / "ours")}
    exec(code, scope)
    found = scope["result"]
    assert sorted(found[0]) == sorted(map(tuple, nodes))
    for ours, theirs in zip(flat(found[1]), flat(seen), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-5)
    for name, value in values.items():
        np.testing.assert_allclose(found[2][name], value, rtol=2e-4, atol=1e-5, err_msg=name)


def test_what_is_read_is_a_snapshot():
    v = tf.Variable([1.0, 2.0], use_resource=True)
    before = v.read_value()
    with tf.control_dependencies([before]):
        step = v.assign_add([1.0, 1.0])
    with tf.control_dependencies([step]):
        found = [before + 0, v * 1.0, v[0]]
    changed = v[1:2].assign([9.0])
    assert changed.op.type == "ReadVariableOp"
    with tf.Session() as sess:
        sess.run(v.initializer)
        for i in range(3):
            old, new, first = sess.run(found)
            assert old.tolist() == [1 + i, 2 + i] and new.tolist() == [2 + i, 3 + i] and first == 2 + i
        assert sess.run(changed).tolist() == [4, 9]
