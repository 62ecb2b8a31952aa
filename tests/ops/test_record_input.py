"""Records and arrays of files: RecordInput, ImmutableConst; and gradients of TensorArrays with more axes."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

raw = tf.raw_ops
KINDS = [f"R.ImmutableConst(dtype=tf.{dtype}, shape={shape}, memory_region_name=name)" for dtype, shape in (
    ("float32", "[2, 3]"), ("float32", "[2, 2]"), ("int32", "[]"), ("float32", "[0]"), ("float32", "[2, 4]"),
    ("string", "[1]"), ("float32", "[None]"))]
SETUP = """
import os, tempfile
R, sess = tf.raw_ops, tf.Session()
name = os.path.join(tempfile.mkdtemp(), "array")
np.arange(6, dtype=np.float32).tofile(name)
"""
SNIPPETS = {
    **{f"constant {i}": f"sess.run({call})" for i, call in enumerate(KINDS)},
    "constant of no file": "sess.run(R.ImmutableConst(dtype=tf.float32, shape=[1], memory_region_name=name + 'x'))",
    "static": f"{KINDS[0]}.shape.as_list()",
    "gradients of more axes": """
h, f = R.TensorArrayV3(size=3, dtype=tf.float32, element_shape=[2])
x = tf.placeholder(tf.float32)
made, flow = R.TensorArrayGradWithShape(handle=h, flow_in=f, shape_to_prepend=[4], source="g")
flow = R.TensorArrayWriteV3(handle=made, index=1, value=x, flow_in=flow)
twice = R.TensorArrayWriteV3(handle=made, index=1, value=x, flow_in=flow)
again, last = R.TensorArrayGradV3(handle=h, flow_in=twice, source="g")
reads = [R.TensorArrayReadV3(handle=again, index=i, flow_in=last, dtype=tf.float32) for i in (0, 1)]
[sess.run(reads + [R.TensorArraySizeV3(handle=made, flow_in=twice)], {x: np.ones((4, 2))}),
 outcome(lambda: sess.run(reads, {x: np.ones(2)}))]""",
}


def test_files_and_gradients(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, modes=("never", "always"))


@pytest.fixture
def files(tmp_path):
    for k in range(3):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"part{k}")) as writer:
            for i in range(4):
                writer.write(b"%d-%d" % (k, i))
    return str(tmp_path / "part*")


def epochs(files, count, **attrs):
    records = raw.RecordInput(file_pattern=files, batch_size=12, **attrs)
    with tf.Session() as sess:
        return [sess.run(records).tolist() for _ in range(count)]


ALL = sorted(b"%d-%d" % (k, i) for k in range(3) for i in range(4))


def test_an_epoch_has_each_record_once(files):
    found = epochs(files, 4)
    assert all(sorted(epoch) == ALL for epoch in found)
    assert found[0] != found[1] and found[0] != ALL
    assert epochs(files, 4) == found != epochs(files, 4, file_random_seed=5)


def test_the_buffer_mixes_neighbours_only(files):
    found, *more = epochs(files, 6, file_buffer_size=1)
    assert any(other != found for other in more)
    assert [found[i:i + 4] for i in (0, 4, 8)] == [[b"%c-%d" % (found[j][0], i) for i in range(4)] for j in (0, 4, 8)]
    shifted = epochs(files, 1, file_buffer_size=1, file_shuffle_shift_ratio=0.4)[0]
    assert shifted == found[4:] + found[:4]


def test_records_that_are_not_there(files, tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    with tf.Session() as sess:
        for pattern, error in (("nothing*", tf.errors.NotFoundError), ("empty", tf.errors.OutOfRangeError)):
            made = raw.RecordInput(file_pattern=str(tmp_path / pattern), batch_size=2)
            for _ in range(3):
                with pytest.raises(error):
                    sess.run(made)
        with pytest.raises(tf.errors.InvalidArgumentError, match="batch_size"):
            sess.run(raw.RecordInput(file_pattern=files, batch_size=-2))
        assert np.shape(sess.run(raw.RecordInput(file_pattern=files, batch_size=0))) == (0,)
