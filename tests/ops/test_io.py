"""The ops under Saver, run by themselves, and the strings that name files."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.ops.io import checkpoints as io
from tfnb.ops.strings.string_ops import StaticRegexFullMatch, string_join


def run(fetch):
    with tf.Session() as sess:
        return sess.run(fetch)


def test_names():
    assert run(io.ShardedFilename("abc", 3, 12)) == b"abc-00003-of-00012"
    assert run(io.ShardedFilespec("abc", 12)) == b"abc-?????-of-00012"
    assert list(run(string_join([["a", "b"], "c", ["d", "é"]], "-"))) == [b"a-c-d", "b-c-é".encode()]
    assert run(string_join(["x", "y"])) == b"xy"
    assert list(run(StaticRegexFullMatch(["s3://x", "as3://"], pattern="^s3://.*"))) == [True, False]
    with pytest.raises(ValueError, match="rank|shape"):
        io.ShardedFilename("abc", [3], 12)


def test_save_and_restore_of_parts(tmp_path):
    path, rows = str(tmp_path / "m"), np.arange(12, dtype="f").reshape(6, 2)
    run(io.SaveV2(path, ["p", "p", "q"], ["6 2 0,4:-", "6 2 4,2:-", ""], [rows[:4], rows[4:], b"text"]))
    whole, part, text = io.RestoreV2(path, ["p", "p", "q"], ["", "6 2 3,2:0,2", ""],
                                     dtypes=[tf.float32, tf.float32, tf.string])
    assert whole.shape.dims is None and part.shape == (2, 2)
    got = run([whole, part, text])
    assert np.array_equal(got[0], rows) and np.array_equal(got[1], rows[3:5]) and got[2] == b"text"
    got[0][0] = 7                                  # what is fetched is the caller's own
    assert np.array_equal(run(io.RestoreSlice(path, "p", "6 2 0,1:-", dt=tf.float32)), [[0, 1]])
    run(io.Save(path + "1", ["a"], [rows]))
    assert np.array_equal(run(io.Restore(path + "1", "a", dt=tf.float32)), rows)


def test_fed_restored_and_used_by_kernels(tmp_path):
    """A restored tensor that goes to kernels, not only to variables, compiled and not."""
    path = tf.placeholder(tf.string, [])
    big = np.random.RandomState(0).rand(70_001).astype("f")
    run(io.SaveV2(str(tmp_path / "m"), ["flag", "big"], ["", ""], [True, big]))         # big is not aligned
    value = io.RestoreV2(path, ["big"], [""], dtypes=[tf.float32])[0]
    total = tf.reduce_sum(value * 2.0)
    with tf.Session() as sess:
        for _ in range(3):
            assert np.isclose(sess.run(total, {path: str(tmp_path / "m")}), 2 * big.astype("d").sum(), rtol=1e-5)


@pytest.mark.parametrize("names, specs, values, match", [
    (["a", "a"], ["", ""], [1.0, 2.0], "Adding duplicate key: a"),
    (["a"], ["4 0,2"], [[1.0, 2.0, 3.0]], r"does not have the shape \[3\]"),
    (["a"], ["bla"], [1.0], "bla"),
    (["a", "b"], ["", ""], [1.0], "1 tensors have 2 names"),
    (["a", "a"], ["4 0,2", ""], [[1.0, 2.0], 1.0], "duplicate key"),
    (["a", "a"], ["4 0,2", "5 2,2"], [[1.0, 2.0], [1.0, 2.0]], "differ in dtype or full shape"),
])
def test_errors_of_saving_leave_no_file(tmp_path, names, specs, values, match):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=match):
        run(io.SaveV2(str(tmp_path / "m"), names, specs, [tf.constant(v) for v in values]))
    assert not list(tmp_path.iterdir())


def test_errors_of_restoring(tmp_path):
    path = str(tmp_path / "m")
    run(io.SaveV2(path, ["a"], [""], [np.zeros((3, 4), "f")]))
    for spec, dtype, match in (("3 5 0,2:0,3", tf.float32, r"spec \[3, 5\] does not match .* checkpoint: \[3, 4\]"),
                               ("", tf.float64, "expected dtype float64 does not equal original dtype float32")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=match):
            run(io.RestoreV2(path, ["a"], [spec], dtypes=[dtype]))
    with pytest.raises(ValueError, match="inside"):
        io.RestoreV2(path, ["a"], ["3 4 2,2:-"], dtypes=[tf.float32])
    with pytest.raises(tf.errors.NotFoundError, match="(?s)Key b not found in checkpoint.*RestoreV2"):
        run(io.RestoreV2(path, ["b"], [""], dtypes=[tf.float32], name="RestoreV2_3"))


def test_merge(tmp_path):
    (tmp_path / "t").mkdir()
    for i in range(2):
        run(io.SaveV2(str(tmp_path / f"t/{i}"), [f"v{i}"], [""], [float(i)]))
    parts = [str(tmp_path / f"t/{i}") for i in range(2)]
    run(io.MergeV2Checkpoints(parts, str(tmp_path / "m")))
    assert tf.train.load_variable(str(tmp_path / "m"), "v1") == 1 and not (tmp_path / "t").exists()
    with pytest.raises(tf.errors.InvalidArgumentError, match="t/0.index"):
        run(io.MergeV2Checkpoints(parts, str(tmp_path / "m")))
    assert tf.train.load_variable(str(tmp_path / "m"), "v1") == 1
