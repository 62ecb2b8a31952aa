"""Devices of sessions, placement of ops, and the options of a ConfigProto that mean something."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.kernels.llvm import pool
from tfnb.python.client import device_lib

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def test_an_absent_device_is_named_with_the_op_its_line_and_what_there_is():
    with tf.device("/gpu:0"):
        y = tf.placeholder(tf.float32, name="p") + 1.0
    with pytest.raises(tf.errors.InvalidArgumentError) as info, tf.Session() as sess:
        sess.run(y, {"p:0": 1.0})
    text = str(info.value)
    assert "Cannot assign a device for operation add" in text and "/device:GPU:0" in text and CPU in text
    assert "test_devices.py" in text and "allow_soft_placement" in text and info.value.op.device == "/device:GPU:0"


def test_only_what_a_run_needs_is_placed():
    with tf.device("/gpu:0"):
        tf.constant(1.0)
    with tf.Session() as sess:
        assert sess.run(tf.constant(2.0)) == 2.0


def test_placement_is_logged_once_an_op(capfd):
    y = tf.exp(tf.placeholder(tf.float32, name="p"), name="e")
    with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:
        sess.run(y, {"p:0": 1.0})
        sess.run([y, y.op], {"p:0": 1.0})
    assert capfd.readouterr().err.splitlines().count(f"e: (Exp): {CPU}") == 1


def test_soft_placement_is_logged_where_it_led(capfd):
    with tf.device("/gpu:0"):
        y = tf.exp(tf.placeholder(tf.float32, name="p"), name="e")
    config = tf.ConfigProto(log_device_placement=True, allow_soft_placement=True)
    with tf.Session(config=config) as sess:
        sess.run(y, {"p:0": 1.0})
    assert f"e: (Exp): {CPU}" in capfd.readouterr().err


def test_local_devices_are_those_of_sessions():
    (device,) = device_lib.list_local_devices()
    (other,) = tf.Session().list_devices()
    assert (device.name, device.device_type, device.memory_limit) == ("/device:CPU:0", "CPU", 256 << 20)
    assert device.incarnation == other.incarnation and repr(other).startswith(f"_DeviceAttributes({CPU}, CPU, ")


def test_one_thread_takes_no_worker(monkeypatch):
    asked = []
    monkeypatch.setattr(pool, "hold", lambda helpers: asked.append(helpers) or 0)
    x = tf.placeholder(tf.float32, [None])
    y = tf.exp(x)
    feed = {x: np.ones(1 << 20, "f")}
    for threads, held in ((1, 0), (0, 1)):
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=threads)) as sess:
            del asked[:]
            first, second = sess.run(y, feed), sess.run(y, feed)
            assert len(asked) == held and np.allclose(first, second)


def test_level_0_interprets():
    x = tf.placeholder(tf.float32)
    y = tf.exp(x) * 2.0
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    metadata = tf.RunMetadata()
    with tf.Session(config=config) as sess:
        for _ in range(3):
            sess.run(y, {x: 1.0}, tf.RunOptions(trace_level=1), metadata)
    assert [n.node_name for n in metadata.step_stats.dev_stats[0].node_stats] == ["mul/y", "Exp", "mul"]
