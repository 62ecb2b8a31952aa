"""`tfnb inspect`, `diff` and `convert` on files of all kinds."""
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tfnb as tf
from tfnb.proto.bundle_writer import BundleWriter
from tfnb.tools.cli import main
from tfnb.tools.convert import convert
from tfnb.tools.diff import diff
from tfnb.tools.inspect import inspect
from tfnb.tools.inspect_checkpoint import print_tensors_in_checkpoint_file
from tfnb.tools.tensors import open_tensors

VALUES = {
    "a/weights": np.arange(12, dtype=np.float32).reshape(3, 4), "b": np.array(7, np.int64),
    "empty": np.zeros((0, 3), np.float64), "flags": np.array([True, False]), "half": np.ones(3, np.float16),
}
STRINGS = {"words": np.array([b"one", b"", b"three"], object)}
BFLOATS = {"small": np.array([1, 2], ml_dtypes.bfloat16)}


def checkpoint(path, values):
    writer = BundleWriter(str(path))
    for name, array in values.items():
        writer.add(name, array)
    writer.finish()
    return str(path)


@pytest.fixture
def trained(tmp_path):
    """A small network, saved twice with a step in between, and its summaries."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.Variable([[1.0], [2.0]], name="w")
    loss = tf.reduce_sum(tf.matmul(x, w), name="loss")
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    tf.summary.scalar("costs", loss)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver.save(sess, str(tmp_path / "model"), global_step=0)
        sess.run(train, {x: [[1.0, 0.0]]})
        saver.save(sess, str(tmp_path / "model"), global_step=1)
        with tf.summary.FileWriter(str(tmp_path / "logs"), sess.graph) as writer:
            for step in range(3):
                writer.add_summary(sess.run(tf.summary.merge_all(), {x: [[1.0, 1.0]]}), step)
    tf.train.write_graph(sess.graph, str(tmp_path), "graph.pbtxt")
    tf.train.write_graph(sess.graph, str(tmp_path), "graph.pb", as_text=False)
    return tmp_path


def test_checkpoints_are_found_by_any_of_their_names(trained):
    for name in ("", "model-1", "model-1.index", "model-1.data-00000-of-00001"):
        found = inspect(trained / name)
        assert (found["kind"], found["path"], found["format"]) == ("checkpoint", str(trained / "model-1"), "v2")
        assert found["tensors"] == [{"name": "w", "dtype": "float32", "shape": [2, 1], "bytes": 8}]


def test_shapes_of_placeholders(tmp_path):
    for name, shape in (("a", None), ("b", []), ("c", [0, None, 1, 5]), ("d", [None])):
        tf.placeholder(tf.int64, shape, name=name)
    tf.train.write_graph(tf.get_default_graph(), str(tmp_path), "graph.pb", as_text=False)
    found = {node["name"]: node["shape"] for node in inspect(tmp_path / "graph.pb")["placeholders"]}
    assert found == {"a": None, "b": [], "c": [0, None, 1, 5], "d": [None]}


def test_graphs_meta_graphs_and_events_are_told_apart(trained):
    binary, text = inspect(trained / "graph.pb"), inspect(trained / "graph.pbtxt")
    assert binary["kind"] == text["kind"] == "graph" and binary["ops"] == text["ops"]
    assert binary["placeholders"] == [{"name": "x", "dtype": "float32", "shape": [None, 2]}]
    meta = inspect(trained / "model-1.meta")
    assert meta["kind"] == "meta graph" and meta["collections"]["trainable_variables"] == 1
    assert meta["saver"]["restore"] == "save/restore_all"
    events = inspect(trained / "logs")
    assert events["tags"] == {"costs": {"kind": "scalar", "values": 3, "first step": 0, "last step": 2,
                                       "last value": 2.5}}
    assert inspect(events["paths"][0])["tags"] == events["tags"]


def test_what_a_name_does_not_tell_is_tried(trained):
    for name, kind in (("graph.pb", "graph"), ("model-0.meta", "meta graph")):
        (trained / name).rename(trained / "anything")
        assert inspect(trained / "anything")["kind"] == kind
    example = tf.train.Example(features=tf.train.Features(feature={
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))}))
    with tf.python_io.TFRecordWriter(str(trained / "data")) as writer:
        writer.write(example.SerializeToString())
    found = inspect(trained / "data")
    assert (found["kind"], found["records"]) == ("records", 1)
    assert found["first record"] == {"label": {"kind": "int64_list", "values": 2}}
    (trained / "noise").write_bytes(bytes(range(256)) * 9)
    with pytest.raises(tf.errors.DataLossError, match="noise is no checkpoint, graph"):
        inspect(trained / "noise")
    with pytest.raises(tf.errors.NotFoundError, match="there is no file"):
        inspect(trained / "absent")


def test_differences_of_checkpoints(trained, capsys):
    found = diff(trained / "model-0", trained / "model-1")
    assert found["changed"]["w"] == {"elements": 1, "of": 2, "max change": 0.5, "not finite": [0, 0],
                                     "relative L2": pytest.approx(0.5 / np.sqrt(5))}
    assert main(["diff", str(trained / "model-0"), str(trained / "model-1")]) == 1
    assert "1 of 2 elements, by 0.5 at most, relative L2 0.224" in capsys.readouterr().out
    assert main(["diff", str(trained / "model-0"), str(trained / "model-0.index")]) == 0
    other = checkpoint(trained / "other", {"w": np.zeros(3, "f"), "v": np.zeros(1)})
    found = diff(other, trained / "model-0")
    assert found["only a"] == ["v"] and found["changed"]["w"]["shape"] == [[3], [2, 1]]


def test_numbers_that_are_not_finite(tmp_path):
    a = checkpoint(tmp_path / "a", {"v": np.array([np.nan, 1, np.inf], "f"), "same": np.array([np.nan], "f")})
    b = checkpoint(tmp_path / "b", {"v": np.array([np.nan, 3, 2], "f"), "same": np.array([np.nan], "f")})
    found = diff(a, b)
    assert found["changed"] == {"v": {"elements": 2, "of": 3, "max change": 2.0, "relative L2": 2.0,
                                      "not finite": [2, 1]}}
    assert found["equal"] == 1


def test_differences_of_graphs(trained):
    tf.reset_default_graph()
    tf.placeholder(tf.float32, [None, 3], name="x")
    tf.constant(1.0, name="c")
    tf.train.write_graph(tf.get_default_graph(), str(trained), "other.pb", as_text=False)
    found = diff(trained / "graph.pb", trained / "other.pb")
    assert "loss" in found["only a"] and found["only b"] == ["c"]
    assert list(found["changed"]) == ["x"] and "size: 3" in found["changed"]["x"]["shape"][1]
    assert diff(trained / "graph.pbtxt", trained / "model-1.meta")["changed"] == {}
    with pytest.raises(tf.errors.InvalidArgumentError, match="is a graph, the other is none"):
        diff(trained / "graph.pb", trained / "model-1")


ROUNDS = [("v1", VALUES), ("v1", STRINGS), ("npz", {**VALUES, **STRINGS}), ("safetensors", {**VALUES, **BFLOATS}),
          ("v2", {**VALUES, **STRINGS, **BFLOATS})]


@pytest.mark.parametrize("form, values", ROUNDS)
def test_conversions_keep_all_values(tmp_path, form, values):
    if form == "safetensors":
        pytest.importorskip("safetensors")
    source = checkpoint(tmp_path / "source", values)
    ending = f".{form}" if form in ("npz", "safetensors") else ""
    there, back = tmp_path / f"there{ending}", tmp_path / "back"
    sizes = []
    convert(source, there, None if ending else form, progress=sizes.append)
    convert(there, back)
    assert open_tensors(there).format == form and len(sizes) == len(values)
    found = open_tensors(back)
    assert found.tensors.keys() == values.keys() and diff(source, back)["changed"] == {}
    for name, value in values.items():
        assert found.tensors[name].dtype == open_tensors(source).tensors[name].dtype
        np.testing.assert_array_equal(found.read(name), value)


def test_conversions_refuse_what_would_lose_something(tmp_path):
    for values, target in ((BFLOATS, "x.npz"), ({"s": np.array([b"a\0"], object)}, "x.npz"),
                           (STRINGS, "x.safetensors")):
        source = checkpoint(tmp_path / "source", values)
        with pytest.raises(tf.errors.InvalidArgumentError, match=next(iter(values))):
            convert(source, tmp_path / target)
        assert not (tmp_path / target).exists()
    convert(source, tmp_path / "there")
    with pytest.raises(tf.errors.AlreadyExistsError, match="there exists already"):
        convert(source, tmp_path / "there")
    convert(source, tmp_path / "there", overwrite=True)


def test_arrays_that_are_objects_are_not_unpickled(tmp_path):
    class Evil:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "run",))
    np.savez(tmp_path / "evil.npz", a=np.array([Evil()], object))
    with pytest.raises(tf.errors.DataLossError, match="pickled objects"):
        inspect(tmp_path / "evil.npz")
    assert not (tmp_path / "run").exists()


def test_the_program(trained, capsys):
    assert main(["inspect", str(trained / "model-1"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tensors"][0]["name"] == "w"
    for name in ("model-1", "graph.pb", "model-1.meta", "logs"):
        assert main(["inspect", str(trained / name)]) == 0
    out = capsys.readouterr().out
    assert "w  float32  [2,1]" in out and "costs  scalar  3  steps 0-2  2.5" in out
    assert main(["inspect", str(trained / "model-1"), "--tensor", "w", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [[0.5], [2.0]]
    assert main(["convert", str(trained / "model-1"), str(trained / "model.npz")]) == 0
    assert "1 tensor, 8 B" in capsys.readouterr().out
    assert main(["inspect", str(trained / "absent")]) == 2
    assert "there is no file" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["inspect"])
    assert ended.value.code == 2


def test_the_module_runs():
    done = subprocess.run([sys.executable, "-m", "tfnb", "--version"], capture_output=True, text=True, check=True,
                          cwd=Path(__file__).resolve().parents[2])
    assert done.stdout.strip() == f"tfnb {tf.__version__}"


def test_checkpoints_are_printed_as_tensorflow_prints_them(trained, capsys, oracle):
    path = str(trained / "model-1")
    program = """
import contextlib, io
result = []
for arguments in ("", False), ("", True), ("w", False), ("", False, True), ("", True, False, "w"):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        print_tensors_in_checkpoint_file(path, *arguments)
    result.append(out.getvalue())
"""
    scope = {"path": path, "print_tensors_in_checkpoint_file": print_tensors_in_checkpoint_file}
    exec(program, scope)
    start = "from tensorflow.python.tools.inspect_checkpoint import print_tensors_in_checkpoint_file\n"
    assert scope["result"] == oracle(start + program, path=path)
