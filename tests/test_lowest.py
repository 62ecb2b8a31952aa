"""A dozen graphs that use each dependency: `make test-lowest` runs them with the lowest versions that are allowed."""
import io
import os
import re
import sys
from importlib import metadata

import numpy as np
import PIL.Image
import pytest

import tfnb as tf
from tests.lowest_versions import lowest, pinned
from tfnb.kernels.cpu.matmul import blas
from tfnb.kernels.llvm import by_numba, codegen
from tfnb.ops.declaration.raw import raw
from tfnb.tools.cli import main


def runs(fetches, given=None, count=3):
    """The last of some runs, of which the first is interpreted and the others are compiled."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(fetches, given) for _ in range(count)][-1]


def test_the_pins_are_read_from_the_project():
    names = [pin.partition("==")[0] for pin in pinned(["pytest"])]
    assert {"numpy", "numba", "protobuf", "pytest"} <= set(names) and len(names) == len(set(names))
    assert lowest("protobuf>=6.31.1,<8") == "protobuf==6.31.1"
    with pytest.raises(ValueError, match="lower bound"):
        lowest("numpy")
    if os.environ.get("TFNB_LOWEST") == "1":
        found = [f"{name}=={metadata.version(name)}" for name in names]
        assert [re.sub(r"(\.0)+$", "", pin) for pin in found] == [re.sub(r"(\.0)+$", "", p) for p in pinned(["pytest"])]


def test_training():
    x = tf.placeholder(tf.float32, [None, 20])
    w = tf.get_variable("w", [20, 3], initializer=tf.zeros_initializer())
    labels = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=tf.matmul(x, w)))
    step = tf.train.AdamOptimizer(0.1).minimize(loss)
    data = np.random.RandomState(0).randn(60, 20)
    value, _ = runs([loss, step], {x: data, labels: data[:, :3].argmax(1)}, 30)
    assert value < 0.4


def test_convolutions_and_pools():
    x = tf.placeholder(tf.float32, [None, 8, 8, 3])
    y = tf.nn.max_pool(tf.nn.relu(tf.nn.conv2d(x, tf.ones([3, 3, 3, 16]), [1, 1, 1, 1], "SAME")), [1, 2, 2, 1],
                       [1, 2, 2, 1], "VALID")
    value, grad = runs([y, tf.gradients(y, x)[0]], {x: np.ones((2, 8, 8, 3))})
    assert value.max() == 27 and grad.shape == (2, 8, 8, 3)
    assert grad.sum() == np.sum(value / 3) * 3 and np.isfinite(grad).all()     # each window's winner has its inputs' 1


def test_linear_algebra_and_special_functions():
    x = np.array([[4.0, 1.0], [1.0, 3.0]])
    lower, values, inverse, gamma, zeta = runs([tf.cholesky(x), tf.self_adjoint_eigvals(x), tf.matrix_inverse(x),
                                                tf.lgamma(x), tf.zeta(x + 1, x)])
    np.testing.assert_allclose(lower @ lower.T, x)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(x))
    np.testing.assert_allclose(inverse @ x, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(gamma, np.log([[6.0, 1.0], [1.0, 2.0]]), atol=1e-12)
    assert np.isfinite(zeta).all()


def test_blas_is_found():
    assert blas.function("dgemm") != blas.function("sgemm")


def test_loops_branches_and_gradients():
    x = tf.placeholder(tf.float32, [])
    y = tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, tf.cond(v > 100, lambda: v, lambda: v * v)), [0, x])[1]
    assert runs([y, tf.gradients(y, x)[0]], {x: 2.0}) == [256.0, 8 * 2.0 ** 7]


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float64", "complex64", "int8", "uint16", "bool"])
def test_dtypes(name):
    x = tf.cast(tf.placeholder(tf.float32, [3]), name)
    y = tf.cast(tf.logical_not(x) if name == "bool" else x + x, tf.float32)
    assert runs(y, {x.op.inputs[0]: [0, 1, 2]}).tolist() == ([1, 0, 0] if name == "bool" else [0, 2, 4])


def test_checkpoints_and_exported_graphs(tmp_path):
    v = tf.get_variable("v", [1000], initializer=tf.random_normal_initializer(seed=1))
    tf.identity(v, name="out")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(v.initializer)
        before = sess.run(v)
        path = saver.save(sess, str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.import_meta_graph(path + ".meta").restore(sess, path)
        np.testing.assert_array_equal(sess.run("out:0"), before)


def test_records_and_events(tmp_path):
    with tf.python_io.TFRecordWriter(str(tmp_path / "file")) as writer:
        writer.write(tf.train.Example().SerializeToString())
        writer.write(b"second")
    assert list(tf.python_io.tf_record_iterator(str(tmp_path / "file")))[1] == b"second"
    with tf.summary.FileWriter(str(tmp_path)) as events:
        events.add_summary(runs(tf.summary.histogram("h", np.arange(10.0))), 1)
    found = [e for p in tmp_path.glob("events*") for e in tf.train.summary_iterator(str(p)) if e.HasField("summary")]
    assert found[0].summary.value[0].histo.num == 10


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP"])
def test_images(kind):
    file = io.BytesIO()
    PIL.Image.fromarray(np.full((5, 4, 3), 128, np.uint8)).save(file, kind)
    image = runs(tf.image.decode_image(file.getvalue()))
    assert image.shape[-3:] == (5, 4, 3) and abs(int(image.mean()) - 128) < 4


def test_datasets_strings_and_regular_expressions():
    data = tf.data.Dataset.from_tensor_slices([b"aa", b"b", b"ab"]).map(lambda s: tf.string_join([s, "!"])).batch(3)
    joined = data.make_one_shot_iterator().get_next()
    assert runs(raw.StaticRegexFullMatch(joined, pattern=b"a+!"), count=1).tolist() == [True, False, False]


def test_texts_that_go_to_numba():
    text = """
def kernel(args, begin, end):
    y = float64_array(args[0], end)
    for i in range(begin, end):
        y[i] = math.hypot(y[i], 4.0)
"""
    assert "define" in by_numba.module_source(text, "symbol")[0]
    assert codegen.compile_source(text, "symbol")


def test_a_progress_bar(capsys, tmp_path):
    np.savez(tmp_path / "in.npz", w=np.ones(3, np.float32))
    assert main(["convert", str(tmp_path / "in.npz"), str(tmp_path / "out")]) in (0, None)


def test_python_is_one_that_is_allowed():
    assert (3, 11) <= sys.version_info < (3, 15)
