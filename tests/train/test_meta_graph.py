"""Meta graphs: collections, scopes, files; and graphs with their checkpoints that travel to TensorFlow and back."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.opdef.newer import newer

MODEL = """
def build(tf):
    x = tf.placeholder(tf.float32, [None, 2], name='x')
    with tf.name_scope('layer'):
        w = tf.Variable([[1.], [2.]], name='w')
        y = tf.matmul(x, w, name='y')
    loss = tf.reduce_mean(tf.square(y - 1.), name='loss')
    train = tf.train.AdamOptimizer(0.1).minimize(loss, name='train')
    tf.add_to_collection('endpoints', y)
    for value in (3, 2.5, 'text', train):
        tf.add_to_collection('c_' + type(value).__name__, value)
    tf.summary.scalar('loss_summary', loss)
    return tf.train.Saver()
"""
STEPS = """
def steps(sess, n):
    data = np.array([[1., 2.], [3., -1.], [0.5, 0.]], 'f')
    return [float(sess.run(['loss:0', 'train'], {'x:0': data})[0]) for _ in range(n)]
"""
scope: dict = {"np": np}
exec(MODEL + STEPS, scope)
build, steps = scope["build"], scope["steps"]


def test_export_and_import_in_another_graph(tmp_path):
    with tf.Session() as sess:
        saver = build(tf)
        tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
        tf.add_to_collection("objects", object())
        sess.run(tf.global_variables_initializer())
        steps(sess, 3)
        path = saver.save(sess, str(tmp_path / "m"), global_step=3)
        want = steps(sess, 3)
    for as_text in (False, True):
        tf.reset_default_graph()
        if as_text:
            meta = tf.train.import_meta_graph(path + ".meta").export_meta_graph(str(tmp_path / "t.meta"), as_text=True)
            assert (tmp_path / "t.meta").read_text().startswith("meta_info_def")
            assert "objects" not in meta.collection_def
            tf.reset_default_graph()
        again = tf.train.import_meta_graph(str(tmp_path / "t.meta") if as_text else path + ".meta")
        with tf.Session() as sess:
            again.restore(sess, path)
            np.testing.assert_allclose(steps(sess, 3), want, rtol=1e-6)
    graph = tf.get_default_graph()
    assert tf.get_collection("endpoints") == [graph.get_tensor_by_name("layer/y:0")]
    assert tf.get_collection("c_int") == [3] and tf.get_collection("c_float") == [2.5]
    assert tf.get_collection("c_str") == ["text"] and tf.get_collection("c_Operation")[0].name == "train"
    assert tf.trainable_variables()[0] is tf.global_variables()[0]
    assert tf.get_collection(tf.GraphKeys.SUMMARIES)[0].name == "loss_summary:0"
    assert isinstance(tf.get_collection(tf.GraphKeys.SAVERS)[0], tf.train.Saver)


def test_import_scope(tmp_path):
    build(tf).export_meta_graph(str(tmp_path / "m.meta"))
    tf.reset_default_graph()
    tf.constant(1.0, name="inner/x")
    saver = tf.train.import_meta_graph(str(tmp_path / "m.meta"), import_scope="outer")
    assert saver.saver_def.restore_op_name == "outer/save/restore_all"
    assert [v.op.name for v in tf.trainable_variables()] == ["outer/layer/w"]
    assert tf.get_collection("endpoints")[0].name == "outer/layer/y:0" and tf.get_collection("c_int") == [3]


def test_export_scope_and_unbound_inputs():
    build(tf)
    meta = tf.train.export_meta_graph(export_scope="layer", clear_devices=True)
    inputs = {node.name: list(node.input) for node in meta.graph_def.node}
    assert inputs["y"] == ["$unbound_inputs_x", "w/read"] and not meta.HasField("saver_def")
    assert meta.collection_def["unbound_inputs"].bytes_list.value == [b"$unbound_inputs_x"]
    tf.reset_default_graph()
    with pytest.raises(ValueError, match=r"unbound inputs: \$unbound_inputs_x"):
        tf.train.import_meta_graph(meta)
    x = tf.placeholder(tf.float32, [3, 2])
    tf.train.import_meta_graph(meta, input_map={"$unbound_inputs_x": x}, import_scope="new")
    assert tf.get_default_graph().get_operation_by_name("new/y").inputs[0] is x
    assert [v.name for v in tf.trainable_variables()] == ["new/w:0"]


def test_options_of_export():
    with tf.device("/cpu:0"):
        saver = build(tf)
    other = tf.train.Saver(name="other")
    for s in (saver, other):
        tf.add_to_collection(tf.GraphKeys.SAVERS, s)
    plain = saver.export_meta_graph()
    lean = saver.export_meta_graph(clear_devices=True, clear_extraneous_savers=True, strip_default_attrs=True,
                                   collection_list=["c_int"])
    assert any(node.device for node in plain.graph_def.node) and not any(node.device for node in lean.graph_def.node)
    assert any(n.name.startswith("other/") for n in plain.graph_def.node)
    assert not any(n.name.startswith("other/") for n in lean.graph_def.node)
    assert list(lean.collection_def) == ["c_int"] and lean.meta_info_def.stripped_default_attrs
    attrs = {n.name: set(n.attr) for n in lean.graph_def.node}
    assert "transpose_a" not in attrs["layer/y"] and "T" in attrs["layer/y"]
    assert "MatMul" in [op.name for op in plain.meta_info_def.stripped_op_list.op]


def test_errors(tmp_path):
    with pytest.raises(OSError, match="File does not exist"):
        tf.train.import_meta_graph(str(tmp_path / "none.meta"))
    (tmp_path / "bad.meta").write_bytes(b"\x80\x81garbage")
    with pytest.raises(OSError, match=r"bad\.meta"):
        tf.train.import_meta_graph(str(tmp_path / "bad.meta"))
    with pytest.raises(TypeError, match="MetaGraphDef"):
        tf.train.import_meta_graph(3)
    tf.constant(1)
    assert tf.train.import_meta_graph(tf.train.export_meta_graph(), import_scope="again") is None


def test_write_graph(tmp_path):
    tf.constant(1.0, name="c")
    path = tf.train.write_graph(tf.get_default_graph(), tmp_path / "deep", "g.pbtxt")
    assert path == str(tmp_path / "deep/g.pbtxt") and 'name: "c"' in (tmp_path / "deep/g.pbtxt").read_text()
    tf.train.write_graph(tf.get_default_graph().as_graph_def(), str(tmp_path), "g.pb", as_text=False)
    assert tf.GraphDef.FromString((tmp_path / "g.pb").read_bytes()).node[0].name == "c"


def test_training_goes_on_in_tensorflow(oracle, tmp_path):
    with tf.Session() as sess:
        saver = build(tf)
        sess.run(tf.global_variables_initializer())
        steps(sess, 5)
        path = saver.save(sess, str(tmp_path / "m"))
        want = steps(sess, 5)
    got = oracle(STEPS + """
saver = tf.train.import_meta_graph(path + '.meta')
with tf.Session() as sess:
    saver.restore(sess, path)
    result = (steps(sess, 5), [v.name for v in tf.trainable_variables()], tf.get_collection('c_int'),
              tf.get_collection('endpoints')[0].name)""", path=path)
    np.testing.assert_allclose(got[0], want, rtol=1e-5)
    assert got[1:] == (["layer/w:0"], [3], "layer/y:0")


@pytest.mark.parametrize("sharded", [False, True])
def test_training_goes_on_here(oracle, tmp_path, sharded):
    path = str(tmp_path / "m")
    want = oracle(MODEL + STEPS + """
with tf.Session() as sess:
    saver = build(tf)
    if sharded:
        with tf.device('/cpu:0'):
            extra = tf.Variable(1., name='extra')
        saver = tf.train.Saver(sharded=True)
    sess.run(tf.global_variables_initializer())
    steps(sess, 5)
    saver.save(sess, path)
    result = steps(sess, 5)""", path=path, sharded=sharded)
    saver = tf.train.import_meta_graph(path + ".meta")
    with tf.Session() as sess:
        saver.restore(sess, path)
        np.testing.assert_allclose(steps(sess, 5), want, rtol=1e-5)
        assert tf.trainable_variables()[0].name == "layer/w:0" and tf.get_collection("c_str") == ["text"]
        assert saver.save(sess, str(tmp_path / "again")) == str(tmp_path / "again")


def test_the_file_of_a_meta_graph_is_as_tensorflows(oracle):
    """The same collections, with the same contents; the same saver; the same op signatures."""
    build(tf)
    ours = tf.train.export_meta_graph()
    theirs = tf.MetaGraphDef.FromString(oracle(MODEL + """
build(tf)
result = tf.train.export_meta_graph().SerializeToString()"""))
    assert sorted(ours.collection_def) == sorted(theirs.collection_def)
    for key in ours.collection_def:
        assert ours.collection_def[key] == theirs.collection_def[key], key
    mine, official = ({op.name: op for op in m.meta_info_def.stripped_op_list.op} for m in (ours, theirs))
    assert len(mine.keys() & official.keys()) > 10           # TensorFlow 2 adds by AddV2
    for name in mine.keys() & official.keys():
        assert str(mine[name].input_arg) == str(official[name].input_arg), name
        assert str(mine[name].output_arg) == str(official[name].output_arg), name
        assert {a.name: a.type for a in mine[name].attr} == {a.name: a.type for a in official[name].attr}, name


GRAPHS = """
def graphs(tf):
    found = {}
    for title, arguments in (('plain', {}), ('reshape', {'reshape': True}), ('sharded', {'sharded': True}),
                             ('v1', {'write_version': 1, 'name': 'mine'}), ('file', {'filename': 'foo'}),
                             ('v1 sharded', {'write_version': 1, 'sharded': True}), ('dict', {'var_list': 'ab'}),
                             ('sequential', {'restore_sequentially': True})):
        tf.reset_default_graph()
        with tf.device('/cpu:0' if 'sharded' in arguments else None):
            a = tf.Variable([[1., 2.]], name='a')
        b = tf.Variable(1, name='b')
        if 'var_list' in arguments:
            arguments = {'var_list': {'z': a, 'y': b}}
        saver = tf.train.Saver(**arguments)
        found[title] = str(saver.as_saver_def()), [
            (n.name, n.op, [i for i in n.input if i[0] != '^'], sorted(i for i in n.input if i[0] == '^'), n.device,
             {k: str(v) for k, v in n.attr.items() if k != '_has_manual_control_dependencies'})
            for n in tf.get_default_graph().as_graph_def().node]
    return found
"""


def test_ops_of_savers_are_tensorflows(oracle):
    exec(GRAPHS, scope)
    ours, theirs = scope["graphs"](tf), oracle(GRAPHS + "result = graphs(tf)")
    for title in theirs:
        saver, nodes = theirs[title]
        # Attrs at their defaults that TensorFlow 1.15 lacks are not written: allow_missing_files here.
        nodes = [(name, op, *others, {key: value for key, value in attrs.items() if not newer(op, key)})
                 for name, op, *others, attrs in nodes]
        assert ours[title] == (saver, nodes), title


def test_state_of_savers_is_tensorflows(oracle, tmp_path):
    code = """
from pathlib import Path
def run(tf, folder, sharded):
    v = tf.Variable([1., 2.], name='v')
    saver = tf.train.Saver(max_to_keep=3, sharded=sharded)
    with tf.Session() as sess:
        sess.run(v.initializer)
        saved = [saver.save(sess, folder + '/m', global_step=i) for i in range(5)]
        saved += [saver.save(sess, folder + '/m', global_step=3), saver.save(sess, folder + '/other')]
    names = sorted(p.name for p in Path(folder).iterdir())
    texts = [Path(folder, n).read_bytes() for n in names if not n.endswith('.meta')]
    return [s[len(folder):] for s in saved], names, [t.replace(folder.encode(), b'') for t in texts]
"""
    exec(code, scope)
    for sharded in (False, True):
        for name in ("ours", "theirs"):
            (tmp_path / f"{name}{sharded}").mkdir()
        tf.reset_default_graph()
        assert scope["run"](tf, str(tmp_path / f"ours{sharded}"), sharded) == oracle(
            code + "result = run(tf, folder, sharded)", folder=str(tmp_path / f"theirs{sharded}"), sharded=sharded)


@pytest.mark.parametrize("change", [lambda value: value.list.i.append(1), lambda value: setattr(value, "i", 3),
                                    lambda value: setattr(value, "s", b"loc:@a"), lambda value: value.list.f.append(1)])
def test_colocation_groups_are_strings(change):
    tf.identity(tf.constant(1, name="a"), name="b")
    found = tf.train.export_meta_graph()
    change(found.graph_def.node[1].attr["_class"])
    tf.reset_default_graph()
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError), match="expected a list of strings"):
        tf.train.import_meta_graph(found)


def test_a_failing_meta_graph_leaves_the_checkpoint_in_the_state(tmp_path):
    v = tf.Variable([1.0])
    saver = tf.train.Saver(max_to_keep=1)
    (tmp_path / "m-1.meta").mkdir()
    with tf.Session() as sess:
        sess.run(v.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError):
            saver.save(sess, str(tmp_path / "m"), 1)
        assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "m-1") == saver.last_checkpoints[0]
        (tmp_path / "m-1.meta").rmdir()
        saver.save(sess, str(tmp_path / "m"), 2)
    assert not (tmp_path / "m-1.index").exists()
