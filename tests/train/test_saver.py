"""Saver: what it adds to a graph, what it saves, keeps, removes and restores, and its errors."""
from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tfnb as tf
from tfnb.proto.bundle import BundleReader
from tfnb.train.checkpoints.saver_builder import BaseSaverBuilder


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


@pytest.fixture
def model():
    """A session with a few variables of several dtypes, and their values."""
    values = {"w": np.arange(6, dtype="f").reshape(2, 3), "half": np.ones(3, np.float16), "n": np.array(3, np.int64),
              "text": np.array([b"x", b"yy"], object), "flag": np.array([True, False]), "none": np.zeros((0, 2), "f")}
    for name, value in values.items():
        tf.Variable(value, name=name)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield SimpleNamespace(sess=sess, values=values, by_name={v.op.name: v for v in tf.global_variables()})


def test_save_and_restore(model, tmp_path):
    saver = tf.train.Saver()
    path = saver.save(model.sess, str(tmp_path / "m"), global_step=7)
    assert path == str(tmp_path / "m-7") and tf.train.latest_checkpoint(str(tmp_path)) == path
    assert names(tmp_path) == ["checkpoint", "m-7.data-00000-of-00001", "m-7.index", "m-7.meta"]
    where = {v: model.sess._store.array(v.op).ctypes.data for v in tf.global_variables()}
    model.sess.run([model.by_name["w"].assign(np.zeros((2, 3), "f")), model.by_name["text"].assign([b"", b"z"])])
    for _ in range(3):                             # interpreted first, then compiled
        saver.restore(model.sess, path)
        for name, value in model.values.items():
            got = model.sess.run(model.by_name[name])
            assert np.array_equal(got, value) and got.dtype == value.dtype
    assert where == {v: model.sess._store.array(v.op).ctypes.data for v in where}


def test_restoring_initializes(model, tmp_path):
    saver = tf.train.Saver()
    path = saver.save(model.sess, str(tmp_path / "m"))
    with tf.Session() as other:
        saver.restore(other, path)
        assert np.array_equal(other.run(model.by_name["w"]), model.values["w"])
        assert not other.run(tf.report_uninitialized_variables()).size


def test_old_checkpoints_go_and_some_stay(model, tmp_path):
    saver = tf.train.Saver(max_to_keep=2, keep_checkpoint_every_n_hours=1.0)
    for step in range(4):
        saver.save(model.sess, str(tmp_path / "m"), global_step=step)
    assert [os.path.basename(p) for p in saver.last_checkpoints] == ["m-2", "m-3"]
    assert [n for n in names(tmp_path) if n.endswith("index")] == ["m-2.index", "m-3.index"]
    hours = [(p, time.time() + 3700 * i) for i, p in enumerate(saver.last_checkpoints, 1)]
    saver.set_last_checkpoints_with_time(hours)
    for step in (4, 5, 6):
        saver.save(model.sess, str(tmp_path / "m"), global_step=step)
    assert [n for n in names(tmp_path) if n.endswith("index")] == ["m-2.index", "m-3.index", "m-5.index", "m-6.index"]
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert [os.path.basename(p) for p in state.all_model_checkpoint_paths] == ["m-5", "m-6"]


@pytest.mark.parametrize("keep", [None, 0])
def test_all_are_kept(model, tmp_path, keep):
    saver = tf.train.Saver(max_to_keep=keep)
    for step in range(7):
        saver.save(model.sess, str(tmp_path / "m"), global_step=step, write_meta_graph=False)
    assert len([n for n in names(tmp_path) if n.endswith("index")]) == 7 and saver.last_checkpoints == []


def test_var_list_as_dict_and_other_names(model, tmp_path):
    path = tf.train.Saver({"renamed": model.by_name["w"]}).save(model.sess, str(tmp_path / "m"))
    assert tf.train.list_variables(path) == [("renamed", [2, 3])]
    other = tf.Variable(tf.zeros([2, 3]), name="other")
    tf.train.Saver({"renamed": other}).restore(model.sess, path)
    assert np.array_equal(model.sess.run(other), model.values["w"])


def test_reshape(model, tmp_path):
    path = tf.train.Saver([model.by_name["w"]]).save(model.sess, str(tmp_path / "m"))
    flat = tf.Variable(tf.zeros([6]), name="flat")
    for _ in range(2):
        tf.train.Saver({"w": flat}, reshape=True).restore(model.sess, path)
        assert np.array_equal(model.sess.run(flat), np.arange(6))
    with pytest.raises(tf.errors.InvalidArgumentError, match="mismatch between the current graph"):
        tf.train.Saver({"w": flat}).restore(model.sess, path)


def test_sharded(tmp_path):
    with tf.device("/cpu:0"):
        a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable(5, name="b")
    saver = tf.train.Saver(sharded=True)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(2):
            path = saver.save(sess, str(tmp_path / "m"), global_step=step)
        assert [n for n in names(tmp_path) if n.startswith("m-1")] == [
            "m-1.data-00000-of-00002", "m-1.data-00001-of-00002", "m-1.index", "m-1.meta"]
        sess.run([a.assign([0, 0]), b.assign(0)])
        saver.restore(sess, path)
        assert list(sess.run(a)) == [1, 2] and sess.run(b) == 5


class Part(SimpleNamespace):
    """What a part of a partitioned variable knows of the whole (Variable.SaveSliceInfo)."""

    @property
    def spec(self) -> str:
        sizes = " ".join(map(str, self.full_shape))
        return sizes + " " + ":".join(f"{o},{n}" for o, n in zip(self.var_offset, self.var_shape, strict=True))


def partitioned(rows: np.ndarray, cuts: list[int], scope: str) -> list[tf.Variable]:
    parts = []
    for i, (low, high) in enumerate(zip(cuts[:-1], cuts[1:], strict=True)):
        part = tf.Variable(rows[low:high], name=f"{scope}/part_{i}")
        part._save_slice_info = Part(full_name="p", full_shape=list(rows.shape), var_offset=[low, 0],
                                     var_shape=[high - low, rows.shape[1]])
        parts.append(part)
    return parts


def test_parts_are_restored_to_other_parts(tmp_path):
    rows = np.arange(12, dtype="f").reshape(6, 2)
    saved = partitioned(rows, [0, 2, 4, 6], "a")
    others = partitioned(rows * 0, [0, 1, 6], "b")
    whole = tf.Variable(rows * 0, name="whole")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver(saved).save(sess, str(tmp_path / "m"))
        assert tf.train.list_variables(path) == [("p", [6, 2])]
        tf.train.Saver(others).restore(sess, path)
        tf.train.Saver({"p": whole}).restore(sess, path)
        assert np.array_equal(np.concatenate(sess.run(others)), rows) and np.array_equal(sess.run(whole), rows)
        path = tf.train.Saver({"renamed": saved}).save(sess, str(tmp_path / "r"))
        assert np.array_equal(tf.train.load_variable(path, "renamed"), rows)
    with pytest.raises(ValueError, match="from the same tensor"):
        tf.train.Saver({"p": [saved[0], tf.Variable(1.0)]})
    with pytest.raises(ValueError, match="Mixing|same name"):
        tf.train.Saver([*saved, tf.Variable(1, name="p")])


def test_errors_of_the_constructor(model):
    w = model.by_name["w"]
    for error, match, arguments in (
            (ValueError, "No variables to save", {"var_list": []}),
            (ValueError, "At least two variables have the same name: w", {"var_list": [w, w]}),
            (ValueError, "same saveable will be restored with two names", {"var_list": {"a": w, "b": w}}),
            (TypeError, "Not a variable", {"var_list": {"a": 3}}),
            (TypeError, "dict or a list. Got w", {"var_list": "w"}),
            (TypeError, "not a Variable", {"var_list": [tf.constant(1.0)]}),
            (TypeError, "not a Variable", {"var_list": [3]}),
            (TypeError, "Name is not a string: 1", {"var_list": {1: w}}),
            (ValueError, "cannot be deferred", {"var_list": [w], "defer_build": True}),
            (ValueError, "saver_def must specify", {"saver_def": tf.train.SaverDef()})):
        with pytest.raises(error, match=match):
            tf.train.Saver(**arguments)


def test_errors_of_save_and_restore(model, tmp_path):
    saver, path = tf.train.Saver(), str(tmp_path / "m")
    for error, match, call in (
            (TypeError, "'sess' must be a Session; 3", lambda: saver.save(3, path)),
            (ValueError, "must not contain path components", lambda: saver.save(model.sess, path,
                                                                                latest_filename="a/b")),
            (ValueError, "collides", lambda: saver.save(model.sess, str(tmp_path / "checkpoint"))),
            (ValueError, "no path", lambda: saver.save(model.sess, "")),
            (ValueError, "Parent directory", lambda: saver.save(model.sess, str(tmp_path / "x/y/z"))),
            (ValueError, "not a valid checkpoint", lambda: saver.restore(model.sess, path)),
            (ValueError, "None", lambda: saver.restore(model.sess, None))):
        with pytest.raises(error, match=match):
            call()
    saver.save(model.sess, path)
    more = tf.train.Saver([model.by_name["w"], tf.Variable(1.0, name="late")])
    with pytest.raises(tf.errors.NotFoundError, match="(?s)most likely due to a Variable name.*late not found"):
        more.restore(model.sess, path)
    wrong = tf.train.Saver({"w": tf.Variable(np.zeros((2, 3)), name="double")})
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected dtype float64 does not equal original dtype "):
        wrong.restore(model.sess, path)
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value late"):
        more.save(model.sess, path)
    assert np.array_equal(BundleReader(path).read("w"), model.values["w"])


def test_no_permission(model, tmp_path):
    saver = tf.train.Saver()
    saver.save(model.sess, str(tmp_path / "m"), global_step=1)
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    with pytest.raises((tf.errors.OpError, ValueError), match="file"):
        saver.save(model.sess, str(blocked / "m"), global_step=2)
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "m-1")


def test_a_damaged_checkpoint_changes_no_variable(model, tmp_path):
    saver = tf.train.Saver()
    path = saver.save(model.sess, str(tmp_path / "m"))
    data = Path(path + ".data-00000-of-00001")
    damaged = bytearray(data.read_bytes())
    damaged[-1] ^= 255
    data.write_bytes(damaged)
    model.sess.run([v.assign(tf.zeros_like(v)) for v in (model.by_name["w"], model.by_name["half"])])
    with pytest.raises(tf.errors.DataLossError, match=r"(?s)checksum of w \(bytes .*save/RestoreV2"):
        saver.restore(model.sess, path)
    assert not model.sess.run(model.by_name["w"]).any() and not model.sess.run(model.by_name["half"]).any()


def test_numbers_of_steps(model, tmp_path):
    saver, padded, path = tf.train.Saver(), tf.train.Saver(pad_step_number=True), str(tmp_path / "m")
    for step in (3, np.int64(3), model.by_name["n"], "n:0", tf.constant(3)):
        assert saver.save(model.sess, path, global_step=step) == path + "-3"
    assert padded.save(model.sess, path, global_step=3) == path + "-00000003"
    assert saver.last_checkpoints == [path + "-3"]


def test_deferred_and_empty(model, tmp_path):
    saver = tf.train.Saver(defer_build=True)
    assert saver.saver_def is None
    for use in (saver.save, saver.restore):
        with pytest.raises(RuntimeError, match="build"):
            use(model.sess, str(tmp_path / "m"))
    saver.build()
    assert saver.save(model.sess, str(tmp_path / "m")) == str(tmp_path / "m")
    empty = tf.train.Saver([], allow_empty=True)
    assert empty.save(model.sess, str(tmp_path / "e"), write_meta_graph=False) is None
    empty.restore(model.sess, str(tmp_path / "nothing"))


def test_version_1(model, tmp_path):
    saver = tf.train.Saver([model.by_name["w"], model.by_name["n"]], write_version=tf.train.SaverDef.V1)
    path = saver.save(model.sess, str(tmp_path / "m"))
    assert names(tmp_path) == ["checkpoint", "m", "m.meta"]
    model.sess.run(model.by_name["w"].assign(tf.zeros([2, 3])))
    saver.restore(model.sess, path)
    assert np.array_equal(model.sess.run(model.by_name["w"]), model.values["w"])


def test_state_files(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert tf.train.Saver().save(model.sess, "bare") == "bare"
    assert Path("checkpoint").read_text() == 'model_checkpoint_path: "bare"\nall_model_checkpoint_paths: "bare"\n'
    assert tf.train.latest_checkpoint("") == "bare" and tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "bare")
    tf.train.Saver(save_relative_paths=True).save(model.sess, str(tmp_path / "m"), latest_filename="mine")
    assert 'model_checkpoint_path: "m"' in Path("mine").read_text()
    assert tf.train.latest_checkpoint(str(tmp_path), "mine") == str(tmp_path / "m")
    tf.train.update_checkpoint_state(str(tmp_path), "a", ["b"])
    assert Path("checkpoint").read_text() == ('model_checkpoint_path: "a"\nall_model_checkpoint_paths: "b"\n'
                                              'all_model_checkpoint_paths: "a"\n')
    assert tf.train.latest_checkpoint(str(tmp_path)) is None            # there is no such checkpoint
    Path("checkpoint").write_text("what: is this")
    assert tf.train.get_checkpoint_state(str(tmp_path)) is None
    assert tf.train.get_checkpoint_state(str(tmp_path / "nowhere")) is None
    with pytest.raises(RuntimeError, match="conflicts"):
        tf.train.update_checkpoint_state(".", "checkpoint", latest_filename="checkpoint") or \
            tf.train.update_checkpoint_state("", "checkpoint")


def test_recover_and_times(model, tmp_path):
    saver = tf.train.Saver()
    path = saver.save(model.sess, str(tmp_path / "m"))
    other = tf.train.Saver([model.by_name["w"]])
    other.recover_last_checkpoints([path, str(tmp_path / "gone")])
    assert other.last_checkpoints == [path] and len(tf.train.get_checkpoint_mtimes([path, "gone"])) == 1
    assert tf.train.checkpoint_exists(path) and not tf.train.checkpoint_exists(str(tmp_path / "gone"))
    with pytest.raises(AssertionError):
        saver.set_last_checkpoints("no list")
    tf.train.remove_checkpoint(path)
    assert names(tmp_path) == ["checkpoint"]


def test_as_proto_and_back(model, tmp_path):
    saver = tf.train.Saver(max_to_keep=9, name="mine")
    again = tf.train.Saver.from_proto(saver.to_proto())
    assert again.as_saver_def() == saver.as_saver_def() and saver.saver_def.save_tensor_name.startswith("mine/")
    path = again.save(model.sess, str(tmp_path / "m"))
    saver.restore(model.sess, path)
    assert saver.to_proto(export_scope="mine").restore_op_name == "restore_all" and saver.to_proto("other") is None


def test_a_builder_of_ones_own(model, tmp_path):
    class Builder(BaseSaverBuilder):
        pass
    saver = tf.train.Saver([model.by_name["w"], model.by_name["n"]], builder=Builder())
    assert sum(op.type == "RestoreV2" for op in tf.get_default_graph().get_operations()) == 2
    saver.restore(model.sess, saver.save(model.sess, str(tmp_path / "m")))


def test_readers(model, tmp_path):
    path = tf.train.Saver().save(model.sess, str(tmp_path / "m"))
    reader = tf.train.NewCheckpointReader(path)
    assert reader.get_variable_to_shape_map()["w"] == [2, 3] and reader.get_variable_to_dtype_map()["n"] == tf.int64
    assert reader.has_tensor("w") and not reader.has_tensor("v") and b"half (DT_HALF) [3]\n" in reader.debug_string()
    assert np.array_equal(tf.train.load_variable(str(tmp_path), "w"), model.values["w"])
    value = reader.get_tensor("w")
    value[0, 0] = 5                                # it is the caller's own
    with pytest.raises(tf.errors.NotFoundError, match="Key v not found"):
        reader.get_tensor("v")
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file"):
        tf.train.load_checkpoint(str(tmp_path.parent))


def test_init_from_checkpoint(model, tmp_path):
    path = tf.train.Saver([model.by_name["w"]]).save(model.sess, str(tmp_path / "m"))
    with tf.variable_scope("new"):
        w, v = tf.get_variable("w", [2, 3]), tf.get_variable("v", [2, 3])
        small = tf.get_variable("small", [3])
    tf.train.init_from_checkpoint(path, {"w": "new/v"})
    tf.train.init_from_checkpoint(str(tmp_path), {"w": w})
    found = model.sess.run([w.initializer, v.initializer])
    for value in (*found, *model.sess.run([w, v, w.initialized_value()])):
        assert np.array_equal(value, model.values["w"])
    again = tf.Variable.from_proto(w.to_proto())
    again.load(np.zeros([2, 3]), model.sess)
    assert not model.sess.run(w).any() and np.array_equal(model.sess.run(again.initializer), model.values["w"])
    for match, mapping in (("not found", {"x": w}), ("none called", {"w": "nobody"}),
                           ("doesn't match", {"w": small}), ("Should be", {"w/": "new"})):
        with pytest.raises(ValueError, match=match):
            tf.train.init_from_checkpoint(path, mapping)


KILLED = """
import sys, numpy as np, tfnb as tf
vs = [tf.Variable(np.zeros(1 << 18, "f"), name=f"v{i}") for i in range(4)]
step = tf.Variable(0, name="step")
more = [v.assign_add(np.ones(1 << 18, "f")) for v in vs] + [step.assign_add(1)]
saver = tf.train.Saver(max_to_keep=2)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    while True:
        n = sess.run(more)[-1]
        saver.save(sess, sys.argv[1] + "/numbered", global_step=n)
        saver.save(sess, sys.argv[1] + "/same", latest_filename="same_state", write_meta_graph=False)
        if n == 1:
            print("ready", flush=True)             # both are there, however slow the machine is
"""


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path):
    """Whenever the process is killed, what the state files name can be restored, and is of one step."""
    rng = np.random.RandomState(int(time.time()))
    checked = 0
    for _ in range(6):
        process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path)],
                                   stdout=subprocess.PIPE, cwd=Path(__file__).parents[2])
        assert process.stdout is not None and process.stdout.readline()
        time.sleep(rng.rand() * 0.5)
        process.kill()
        process.wait()
        process.stdout.close()
        for state in ("checkpoint", "same_state"):
            path = tf.train.latest_checkpoint(str(tmp_path), state)
            if path is not None:
                reader, checked = tf.train.NewCheckpointReader(path), checked + 1
                step = reader.get_tensor("step")
                assert all((reader.get_tensor(f"v{i}") == step).all() for i in range(4))
    assert checked > 6


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="the peak of memory can't be set back")
def test_large_variables_need_little_memory(tmp_path):
    code = """
import sys, numpy as np, tfnb as tf
def peak():
    value = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    open("/proc/self/clear_refs", "w").write("5")
    return int(value.split()[1]) >> 10
vs = [tf.Variable(tf.zeros([1 << 24]), name=f"v{i}") for i in range(4)]
saver = tf.train.Saver()
sess = tf.Session()
for v in vs:
    sess.run(v.initializer)
sess.run([v.assign_add(tf.ones([1 << 24])).op for v in vs])
path = sys.argv[1] + "/m"
for _ in range(2):                   # the second run of a plan is compiled: LLVM's own memory does not count
    saver.save(sess, path), saver.restore(sess, path)
peak(); before = peak()
saver.save(sess, path); saved = peak() - before
saver.restore(sess, path); print(saved, peak() - before)
"""
    found = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True,
                           cwd=Path(__file__).parents[2])
    saved, restored = map(int, found.stdout.split())
    assert saved < 64 and restored < 64            # MB beyond what the 256 MB of variables take


@pytest.mark.skipif(not hasattr(os, "mkfifo") or not os.path.exists("/dev/zero"), reason="no pipes or devices here")
@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_what_has_no_end_is_not_read(model, tmp_path, kind):
    def put(name):
        path = tmp_path / name
        path.unlink(missing_ok=True)
        path.symlink_to("/dev/zero") if kind == "device" else os.mkfifo(path)
        return str(path)
    put("checkpoint")
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    with pytest.raises(tf.errors.FailedPreconditionError, match="regular file"):
        tf.train.import_meta_graph(put("g.meta"))
    saver = tf.train.Saver()
    prefix = saver.save(model.sess, str(tmp_path / "m"))
    for ending in ("data-00000-of-00001", "index"):
        put(f"m.{ending}")
        with pytest.raises(tf.errors.FailedPreconditionError, match="regular file"):
            saver.restore(model.sess, prefix)
    if kind == "device":
        assert tf.gfile.GFile("/dev/zero").read() == "" and model.sess.run(tf.read_file("/dev/zero")) == b""


@pytest.mark.parametrize("sharded", [False, True])
def test_urls_name_files(model, tmp_path, sharded):
    if os.name != "posix":
        pytest.skip("paths of URLs begin with a slash")
    url = f"file://{tmp_path}"
    saver = tf.train.Saver(sharded=sharded, max_to_keep=1)
    for step in (1, 2):
        assert saver.save(model.sess, f"{url}/m", step) == f"{url}/m-{step}"
    assert names(tmp_path) == ["checkpoint", "m-2.data-00000-of-00001", "m-2.index", "m-2.meta"]
    assert tf.train.latest_checkpoint(url) == f"{url}/m-2" and tf.train.latest_checkpoint(tmp_path)
    saver.restore(model.sess, f"{url}/m-2")
    with pytest.raises(tf.errors.UnimplementedError, match="scheme 's3'"):
        saver.save(model.sess, "s3://bucket/m")
