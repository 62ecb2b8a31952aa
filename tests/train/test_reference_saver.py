"""The reference document "Variables" from Saver on, statement by statement: what TensorFlow gives for the same program,
and that nothing that was saved before is lost, whatever goes wrong."""
from __future__ import annotations

import builtins
import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfnb as tf
from tests.differential import here, there

BEGIN = """
import os
from pathlib import Path
folder = {folder!r}
os.makedirs(folder)
at = lambda name: os.path.join(folder, name)
short = lambda path: path.replace(folder, "DIR") if isinstance(path, str) else path
files = lambda: sorted(os.listdir(folder))
state = lambda name="checkpoint": short(Path(at(name)).read_text())
v1 = tf.Variable([1., 2., 3., 4.], name="v1")
v2 = tf.Variable(tf.ones([2, 3]), name="scope/v2")
n = tf.Variable(7, name="n", trainable=False)
"""
SNIPPETS = [
    # names and numbers of checkpoints
    """saver = tf.train.Saver()
---
[short(saver.save(sess, at("my-model"), global_step=step)) for step in (0, 1000)] + [files(), state()]""",
    """saver = tf.train.Saver()
---
[short(saver.save(sess, at("m"), global_step=s)) for s in (n, "n:0", np.int64(8), tf.constant(9))]""",
    """saver = tf.train.Saver()
---
[short(saver.save(sess, at("m"))), short(saver.save(sess, at("m"))), files(), state()]""",
    """saver = tf.train.Saver(max_to_keep=2)
---
for step in range(4): saver.save(sess, at("m"), global_step=step)
[files(), state(), [short(p) for p in saver.last_checkpoints]]""",
    """saver = tf.train.Saver(max_to_keep=None)
---
for step in range(7): saver.save(sess, at("m"), global_step=step, write_meta_graph=False)
[files(), saver.last_checkpoints, state()]""",
    """saver = tf.train.Saver()
---
for step in range(6): saver.save(sess, at("m"), global_step=step, write_meta_graph=False)
[[short(p) for p in saver.last_checkpoints], tf.train.latest_checkpoint(folder) == saver.last_checkpoints[-1]]""",
    """one, two = tf.train.Saver([v1]), tf.train.Saver([v2], name="two")
---
one.save(sess, at("a")); two.save(sess, at("b"), latest_filename="other")
[files(), state(), state("other"), short(tf.train.latest_checkpoint(folder, "other"))]""",
    """saver = tf.train.Saver()
---
saver.save(sess, at("m"), meta_graph_suffix="graph"); saver.save(sess, at("k"), write_meta_graph=False)
saver.save(sess, at("q"), write_state=False)
[files(), state()]""",
    # what is saved, and under which name
    """saver = tf.train.Saver({"x": v1, "y/z": v2})
---
p = saver.save(sess, at("m")); tf.train.list_variables(p)""",
    """saver = tf.train.Saver([v1, v2])
---
p = saver.save(sess, at("m")); tf.train.list_variables(p)""",
    """local = tf.Variable(1., collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
saver = tf.train.Saver()
---
tf.train.list_variables(saver.save(sess, at("m")))""",
    """saver = tf.train.Saver([v1]); other = tf.train.Saver({"v1": v2})
---
p = saver.save(sess, at("m")); other.restore(sess, p)""",
    """small = tf.Variable(tf.zeros([2, 2]), name="small")
saver = tf.train.Saver([v1]); other = tf.train.Saver({"v1": small}, reshape=True)
---
other.restore(sess, saver.save(sess, at("m"))); sess.run(small)""",
    """double = tf.Variable(tf.zeros([4], tf.float64), name="double")
saver = tf.train.Saver([v1]); other = tf.train.Saver({"v1": double}, reshape=True)
---
other.restore(sess, saver.save(sess, at("m")))""",
    """tf.train.Saver(3)""", """tf.train.Saver({"a": 3})""", """tf.train.Saver([v1, v1])""", """tf.train.Saver([])""",
    """tf.train.Saver({"a": v1, "b": v1})""", """tf.train.Saver([tf.constant(1.)])""", """tf.train.Saver({1: v1})""",
    # restoring
    """saver = tf.train.Saver(restore_sequentially=True)
---
p = saver.save(sess, at("m"))
with tf.Session() as fresh:
    saver.restore(fresh, p)
    r = fresh.run([v1, v2, n])
r""",
    """saver = tf.train.Saver()
---
saver.restore(sess, at("nothing"))""",
    """saver = tf.train.Saver()
---
saver.restore(sess, None)""",
    """saver = tf.train.Saver([v1])
late = tf.train.Saver([v1, v2])
---
late.restore(sess, saver.save(sess, at("m")))""",
    """saver = tf.train.Saver()
---
saver.save(3, at("m"))""",
    """saver = tf.train.Saver()
---
saver.save(sess, at("m"), latest_filename="a/b")""",
    """saver = tf.train.Saver()
---
saver.save(sess, at("checkpoint"))""",
    """saver = tf.train.Saver()
with tf.Session() as empty:
    r = outcome(lambda: saver.save(empty, at("m")))
r""",
    # shards
    """with tf.device("/job:ps/task:0/cpu:0"): a = tf.Variable(1., name="a")
with tf.device("/job:ps/task:1/cpu:0"): b = tf.Variable(2., name="b")
saver = tf.train.Saver([a, b], sharded=True, write_version=tf.train.SaverDef.V2)
[[op.name, op.type, op.device] for op in tf.get_default_graph().get_operations() if op.name.startswith("save/")]""",
    """saver = tf.train.Saver(sharded=True)
---
p = saver.save(sess, at("m"), global_step=3)
sess.run(v1.assign([0., 0., 0., 0.])); saver.restore(sess, p)
[short(p), files(), sess.run(v1)]""",
    """saver = tf.train.Saver([v1, n], sharded=True, write_version=tf.train.SaverDef.V1)
---
p = saver.save(sess, at("m"))
sess.run(v1.assign([0., 0., 0., 0.])); saver.restore(sess, p)
[short(p), files(), sess.run(v1), [short(x) for x in saver.last_checkpoints], tf.train.checkpoint_exists(p)]""",
    # lists of checkpoints
    """saver = tf.train.Saver()
saver.set_last_checkpoints(["a", "b"]); one = saver.last_checkpoints
saver.set_last_checkpoints_with_time([("c", 1.0), ("d", 2.0)])
[one, saver.last_checkpoints]""",
    "tf.train.Saver().set_last_checkpoints('a')", "tf.train.Saver().set_last_checkpoints_with_time('a')",
    """import time
saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=0.00001)
---
for step in range(3):
    time.sleep(0.1); saver.save(sess, at("m"), global_step=step, write_meta_graph=False)
[f for f in files() if f.endswith("index")]""",
    """saver = tf.train.Saver(max_to_keep=3)
---
paths = [saver.save(sess, at("m"), global_step=step, write_meta_graph=False) for step in range(3)]
again = tf.train.Saver(max_to_keep=2)
again.recover_last_checkpoints(paths + [at("gone")])
again.save(sess, at("m"), global_step=9, write_meta_graph=False)
[[short(p) for p in again.last_checkpoints], [f for f in files() if f.endswith("index")]]""",
    # protocol buffers
    """saver = tf.train.Saver([v1], max_to_keep=3, keep_checkpoint_every_n_hours=2.0, name="mine")
d = saver.as_saver_def(); again = tf.train.Saver.from_proto(saver.to_proto()); other = tf.train.Saver(saver_def=d)
[str(d), str(again.to_proto()) == str(d), str(other.as_saver_def()) == str(d),
 len([o for o in tf.get_default_graph().get_operations() if o.type == "SaveV2"])]""",
    """tf.train.Saver([v1], name="mine")
[o.name for o in tf.get_default_graph().get_operations() if o.name.startswith("mine")]""",
    """saver = tf.train.Saver()
m = saver.export_meta_graph(at("m.meta"), collection_list=["variables"])
t = saver.export_meta_graph(at("m.txt"), as_text=True)
[sorted(m.collection_def), m.HasField("saver_def"), files(), Path(at("m.txt")).read_text()[:13],
 len(m.graph_def.node) == len(tf.get_default_graph().get_operations()), sorted(t.collection_def)]""",
    """tf.add_to_collection("train_op", v1.assign_add([1., 1., 1., 1.]))
saver = tf.train.Saver()
---
p = saver.save(sess, at("m"), global_step=5)
with tf.Graph().as_default(), tf.Session() as other:
    again = tf.train.import_meta_graph(p + ".meta")
    again.restore(other, p)
    op = tf.get_collection("train_op")[0]
    r = [other.run(op), other.run(op), [v.name for v in tf.trainable_variables()], len(tf.global_variables())]
r""",
    """with tf.Graph().as_default():
    tf.constant(1.0, name="only")
    m = tf.train.export_meta_graph(at("x.meta"))
with tf.Graph().as_default() as g:
    r = [tf.train.import_meta_graph(at("x.meta")), tf.train.import_meta_graph(m), [o.name for o in g.get_operations()]]
r""",
    "tf.train.import_meta_graph(at('nothing.meta'))",
    # state files
    "[tf.train.latest_checkpoint(folder), tf.train.get_checkpoint_state(folder), tf.train.latest_checkpoint(at('no'))]",
    """tf.train.update_checkpoint_state(folder, at("b"), [at("a"), at("b")])
s = tf.train.get_checkpoint_state(folder)
[short(s.model_checkpoint_path), [short(p) for p in s.all_model_checkpoint_paths], state(),
 tf.train.latest_checkpoint(folder)]""",
    """tf.train.update_checkpoint_state(folder, at("c"), [at("a"), at("b")], latest_filename="mine")
s = tf.train.get_checkpoint_state(folder, "mine")
[short(s.model_checkpoint_path), [short(p) for p in s.all_model_checkpoint_paths]]""",
    "tf.train.update_checkpoint_state(folder, at('checkpoint'))",
    """Path(at("checkpoint")).write_text("no state")
[tf.train.get_checkpoint_state(folder), tf.train.latest_checkpoint(folder)]""",
    """Path(at("checkpoint")).write_text('model_checkpoint_path: "rel"\\nall_model_checkpoint_paths: "rel"\\n')
s = tf.train.get_checkpoint_state(folder)
[short(s.model_checkpoint_path), short(s.all_model_checkpoint_paths[0])]""",
    """saver = tf.train.Saver(save_relative_paths=True, pad_step_number=True)
---
p = saver.save(sess, at("m"), global_step=3)
times = tf.train.get_checkpoint_mtimes([p, at("gone")])
r = [short(p), state(), tf.train.checkpoint_exists(p), tf.train.checkpoint_exists(at("x")), len(times)]
tf.train.remove_checkpoint(p)
r + [files()]""",
]


def test_as_tensorflow(oracle, tmp_path):
    both = [[BEGIN.format(folder=str(tmp_path / who / str(i))) + snippet for i, snippet in enumerate(SNIPPETS)]
            for who in ("ours", "theirs")]
    for snippet, ours, theirs in zip(SNIPPETS, here(both[0]), there(oracle, both[1]), strict=True):
        assert ours == theirs, snippet


# Whatever goes wrong

@pytest.fixture
def saved(tmp_path):
    """A session with two variables, and a checkpoint of their values."""
    a, b = tf.Variable(np.arange(4, dtype="f"), name="a"), tf.Variable(np.ones([2, 3], "f"), name="b")
    saver = tf.train.Saver([a, b])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, str(tmp_path / "m"), global_step=1)
        sess.run([a.assign(a * 0 - 1), b.assign(b * 0 - 1)])
        yield saver, sess, path, (a, b)


def is_whole(path: str) -> bool:
    reader = tf.train.NewCheckpointReader(path)
    return np.array_equal(reader.get_tensor("a"), np.arange(4)) and reader.get_tensor("b").sum() == 6


def untouched(sess, variables) -> bool:
    return all((value == -1).all() for value in sess.run(list(variables)))


@pytest.mark.parametrize("kind, damage", [
    ("index", lambda data: data[:-1]), ("index", lambda data: b""),
    ("index", lambda data: data[:10] + b"?" + data[11:]),
    ("index", lambda data: data[:-8] + bytes(8)),
    ("data-00000-of-00001", lambda data: data[:-5]), ("data-00000-of-00001", lambda data: b""),
    ("data-00000-of-00001", lambda data: bytes(len(data))), ("index", None), ("data-00000-of-00001", None)])
def test_a_damaged_file_changes_nothing(saved, kind, damage):
    saver, sess, path, variables = saved
    file = Path(f"{path}.{kind}")
    data = file.read_bytes()
    file.unlink() if damage is None else file.write_bytes(damage(data))
    with pytest.raises((tf.errors.DataLossError, tf.errors.NotFoundError, ValueError), match="m-1"):
        saver.restore(sess, path)
    assert untouched(sess, variables)
    file.write_bytes(data)
    saver.restore(sess, path)
    assert sess.run(variables[0]).tolist() == [0, 1, 2, 3]


def test_wrong_names_shapes_and_dtypes_say_what_and_where(saved):
    saver, sess, path, (a, b) = saved
    for wanted, error, match in (
            ({"c": b, "a": a}, tf.errors.NotFoundError, r"Key c not found in checkpoint .*m-1"),
            ({"a": tf.Variable(np.zeros(5, "f"), name="five")}, tf.errors.InvalidArgumentError,
             r"(?s)Assign.*\b5\b.*\b4\b"),
            ({"a": tf.Variable(np.zeros(4, "i"), name="int")}, tf.errors.InvalidArgumentError,
             r"a; expected dtype int32 does not equal original dtype float32.*m-1")):
        with pytest.raises(error, match=match):
            tf.train.Saver(wanted).restore(sess, path)
        assert untouched(sess, (a, b)) and is_whole(path)


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0,
                    reason="nobody is refused here")
def test_no_permission(saved, tmp_path):
    saver, sess, path, _ = saved
    os.chmod(tmp_path, 0o500)
    try:
        with pytest.raises(tf.errors.PermissionDeniedError, match="m-2"):
            saver.save(sess, str(tmp_path / "m"), global_step=2)
    finally:
        os.chmod(tmp_path, 0o700)
    assert tf.train.latest_checkpoint(str(tmp_path)) == path and is_whole(path)


@pytest.mark.parametrize("failing", ["write", "replace", "open"])
@pytest.mark.parametrize("code, error", [("ENOSPC", tf.errors.ResourceExhaustedError),
                                         ("EACCES", tf.errors.PermissionDeniedError)])
def test_a_disk_that_refuses(saved, tmp_path, monkeypatch, failing, code, error):
    saver, sess, path, _ = saved

    def refuse(*args, **kwargs):
        raise OSError(getattr(errno, code), os.strerror(getattr(errno, code)), str(args[0]))

    with monkeypatch.context() as patch:
        if failing == "write":
            patch.setattr("tfnb.proto.bundle_writer.write_all", refuse)
        elif failing == "replace":
            patch.setattr(os, "replace", refuse)
        else:
            opened = builtins.open
            patch.setattr(builtins, "open", lambda file, *args, **kwargs: refuse(file) if "m-" in str(file)
                          else opened(file, *args, **kwargs))
        for target in ("m", path):                 # a new checkpoint, and the old one's own name
            with pytest.raises(error, match="m-"):
                saver.save(sess, str(tmp_path / target), global_step=2 if target == "m" else None)
    assert tf.train.latest_checkpoint(str(tmp_path)) == path and is_whole(path)
    assert [f for f in os.listdir(tmp_path) if "temp" in f] == []
    assert saver.save(sess, str(tmp_path / "m"), global_step=2) == str(tmp_path / "m-2")


def test_a_sharded_save_that_fails_leaves_no_folder(saved, tmp_path, monkeypatch):
    _, sess, path, _ = saved

    def refuse(*args):
        raise OSError(errno.ENOSPC, "No space left on device")
    with sess.graph.as_default():
        sharded = tf.train.Saver(sharded=True)
    with monkeypatch.context() as patch:
        patch.setattr("tfnb.proto.bundle_writer.write_all", refuse)
        with pytest.raises(tf.errors.ResourceExhaustedError):
            sharded.save(sess, str(tmp_path / "s"))
    assert [name for name in os.listdir(tmp_path) if name.startswith("s")] == []
    assert sharded.save(sess, str(tmp_path / "s")) == str(tmp_path / "s")


FULL = """
import resource, sys, numpy as np, tfnb as tf
folder, v = sys.argv[1], tf.Variable(np.arange(1000.0), name="v")
big = tf.Variable(np.zeros(1 << 18), name="big")
saver = tf.train.Saver([v], max_to_keep=5)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    path = saver.save(sess, folder + "/m", global_step=1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
    try:
        tf.train.Saver([v, big], name="both").save(sess, folder + "/m", global_step=2, write_meta_graph=False)
    except tf.errors.ResourceExhaustedError as error:
        print("m-2" in error.message, "save" in error.message or "both" in error.message)
    sess.run(v.assign(v * 0))
    saver.restore(sess, tf.train.latest_checkpoint(folder))
    print(sess.run(v).sum() == 499500, tf.train.latest_checkpoint(folder) == path)
    saver.save(sess, folder + "/m", global_step=3, write_meta_graph=False)
    print(tf.train.latest_checkpoint(folder)[-3:])
"""


@pytest.mark.skipif(os.name == "nt", reason="no limits of file sizes")
def test_a_full_disk(tmp_path):
    """Files of more than 64 kB can't be written: what was saved is kept, and smaller checkpoints go on."""
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True,
                          cwd=Path(__file__).parents[2])
    assert done.stdout.split() == ["True", "True", "True", "True", "m-3"], done.stderr
    assert not [f for f in os.listdir(tmp_path) if "temp" in f or "m-2" in f]


# Every file operation of `save` is a place to die: the process forks, and its child kills itself before number k.
DYING = """
import os, signal, sys, numpy as np, tfnb as tf
from tfnb.core.options import options
from tfnb.proto import files
options.threads, files.ABANDONED = 1, 0         # what the dead leave may be removed at once
folder, kind = sys.argv[1:]
a, b = tf.Variable(np.zeros(3000, "f"), name="a"), tf.Variable(np.zeros(5), name="b")
change = [v.assign_add(tf.ones_like(v)).op for v in (a, b)]
saver = tf.train.Saver(max_to_keep=1, sharded=kind == "sharded")
sess = tf.Session()
sess.run(tf.global_variables_initializer())
number = [0]

def save():
    number[0] += 1
    sess.run(change)
    return saver.save(sess, folder + "/m", global_step=number[0] if kind != "same" else None)

def step():
    reader = tf.train.NewCheckpointReader(tf.train.latest_checkpoint(folder))
    found = set(reader.get_tensor("a").tolist()) | set(reader.get_tensor("b").tolist())
    assert len(found) == 1, found
    return int(found.pop())

save(), save()
died, k = 0, 0
while True:
    k, before = k + 1, step()
    child = os.fork()
    if not child:
        left = [k]
        def count(event, arguments):
            if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.scandir"):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count)
        save()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert step() in (before, number[0] + 1), (k, before, step())
    with tf.Session() as other:
        saver.restore(other, tf.train.latest_checkpoint(folder))
    save()                                          # the next one finishes or sweeps what is left
    assert step() == number[0]
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0
        break
    died += 1
print(died)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes can't be copied here")
@pytest.mark.parametrize("kind", ["numbered", "same", "sharded"])
def test_dying_before_any_file_operation(tmp_path, kind):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", DYING, str(tmp_path), kind], capture_output=True,
                          text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 8
