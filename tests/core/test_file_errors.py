"""Every error of a file is one of tf.errors, of TensorFlow's class."""
from __future__ import annotations

import gzip

import tfnb as tf

# name -> what it raises, for a path below a file, below nothing and of a folder
CODE = """
import os, tempfile
folder = tempfile.mkdtemp()
file = os.path.join(folder, "file")
open(file, "w").close()
os.mkdir(os.path.join(folder, "dir"))
v = tf.Variable(1.0)

def write_record(path):
    with tf.python_io.TFRecordWriter(path) as writer:
        writer.write(b"1")

def dataset(make):
    return lambda path: sess.run(make(path).make_one_shot_iterator().get_next())

def write_events(path):
    with tf.summary.FileWriter(path) as writer:
        writer.add_summary(tf.Summary(), 1)

def with_text(path):
    with tf.gfile.GFile(path, "w") as opened:
        opened.write("x")

CALLS = {
    "TFRecordWriter": write_record, "tf_record_iterator": lambda path: list(tf.python_io.tf_record_iterator(path)),
    "summary_iterator": lambda path: list(tf.train.summary_iterator(path)),
    "TFRecordDataset": dataset(tf.data.TFRecordDataset), "TextLineDataset": dataset(tf.data.TextLineDataset),
    "FixedLengthRecordDataset": dataset(lambda path: tf.data.FixedLengthRecordDataset(path, 2)),
    "GFile": lambda path: tf.gfile.GFile(path).read(), "writing GFile": with_text, "MakeDirs": tf.gfile.MakeDirs,
    "read_file": lambda path: sess.run(tf.read_file(path)),
    "Stat": tf.gfile.Stat, "Remove": lambda path: tf.gfile.Remove(path + "x"),
    "load_checkpoint": lambda p: tf.train.load_checkpoint(p + "x"),
}
FOLDERS = {"FileWriter": write_events, "write_graph": lambda p: tf.train.write_graph(sess.graph, p, "g.pb"),
           "save": lambda path: tf.train.Saver().save(sess, os.path.join(path, "x"))}

def raised(call, path):
    try:
        call(path)
    except Exception as error:
        return type(error).__name__ if isinstance(error, tf.errors.OpError) else repr(type(error))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = {name: [raised(call, os.path.join(folder, *path)) for path in (["file", "x"], ["no", "x"], ["dir"])]
              for name, call in CALLS.items()}
    result.update({name: [raised(call, os.path.join(folder, *path)) for path in (["file"], ["file", "x"])]
                   for name, call in FOLDERS.items()})
"""


def test_errors_of_files_are_tensorflows(oracle):
    scope = {"tf": tf}
    exec(CODE, scope)
    assert scope["result"] == oracle(CODE)
    assert scope["result"]["FileWriter"] == ["FailedPreconditionError"] * 2


def test_damaged_compressed_files_are_lost_data(tmp_path):
    damaged, cut = str(tmp_path / "damaged"), str(tmp_path / "cut")
    (tmp_path / "damaged").write_bytes(b"no compressed stream")
    (tmp_path / "cut").write_bytes(gzip.compress(bytes(range(256)) * 8)[:100])
    for path, kind in ((damaged, "GZIP"), (damaged, "ZLIB"), (cut, "GZIP")):
        for make in (tf.data.TFRecordDataset, tf.data.TextLineDataset,
                     lambda path, compression_type: tf.data.FixedLengthRecordDataset(
                         path, 4096, compression_type=compression_type)):
            element = make(path, compression_type=kind).make_one_shot_iterator().get_next()
            with tf.Session() as sess:
                try:
                    for _ in range(99):
                        sess.run(element)
                except tf.errors.DataLossError as error:
                    assert path in error.message
                else:
                    raise AssertionError(f"{make} read {path}")
