"""Traced runs: StepStats of what really ran, and timelines of them."""
from __future__ import annotations

import json

import numpy as np
import pytest

import tfnb as tf
from tfnb.proto.step_stats_pb2 import StepStats
from tfnb.python.client import timeline

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
FULL = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)


def traced(sess, fetches, feeds=None, options=FULL):
    metadata = tf.RunMetadata()
    return sess.run(fetches, feeds, options, metadata), metadata


def labels(metadata):
    return [node.timeline_label for device in metadata.step_stats.dev_stats for node in device.node_stats]


def network():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.nn.relu(tf.matmul(x, [[1.0], [2.0]], name="mm"), name="r")
    return x, tf.add(y, 1.0, name="out")


def test_a_first_run_has_a_node_each_op_and_a_compiled_one_each_launch():
    x, y = network()
    with tf.Session() as sess:
        first, metadata = traced(sess, y, {x: [[1, 1]]})
        assert labels(metadata)[-3:] == ["mm = MatMul(x, mm/b)", "r = Relu(mm)", "out = AddV2(r, out/y)"]
        second, metadata = traced(sess, y, {x: [[1, 1]]})
        assert labels(metadata) == ["mm = MatMul(x, mm/b)", "out = Relu+AddV2(mm, out/y)"]
    assert first == second == [[4.0]]


def test_times_follow_one_another_and_fill_the_run():
    x, y = network()
    with tf.Session() as sess:
        for _ in range(2):
            _, metadata = traced(sess, y, {x: np.ones([3000, 2])})
            nodes = metadata.step_stats.dev_stats[0].node_stats
            ends = [n.all_start_nanos + n.all_end_rel_nanos for n in nodes]
            assert all(n.all_end_rel_nanos > 0 and n.all_start_nanos // 1000 == n.all_start_micros for n in nodes)
            assert all(end <= n.all_start_nanos for end, n in zip(ends, nodes[1:], strict=False))


def test_host_ops_and_loops_are_traced():
    text = tf.string_join([tf.placeholder_with_default("a", []), "b"], name="joined")
    i = tf.while_loop(lambda i: i < 3, lambda i: tf.add(i, 1, name="step"), [tf.placeholder_with_default(0, [])])
    with tf.Session() as sess:
        for _ in range(2):
            assert "joined" in {label.split(" = ")[0] for label in labels(traced(sess, text)[1])}
        for _ in range(2):
            assert sum("AddV2" in label for label in labels(traced(sess, i)[1])) == 3


def test_outputs_are_described():
    x, y = network()
    with tf.Session() as sess:
        _, metadata = traced(sess, y, {x: np.ones([5, 2])})
    output = metadata.step_stats.dev_stats[0].node_stats[-1].output[0].tensor_description
    assert [d.size for d in output.shape.dim] == [5, 1] and output.allocation_description.requested_bytes == 20


def test_metadata_is_cleared_and_filled_only_when_asked_for():
    x, y = network()
    with tf.Session() as sess:
        metadata = traced(sess, y, {x: [[1, 1]]})[1]
        assert metadata.step_stats.dev_stats[0].device == CPU
        sess.run(y, {x: [[1, 1]]}, run_metadata=metadata)
        assert metadata == tf.RunMetadata()
        sess.run(y, {x: [[1, 1]]}, FULL)
        with pytest.raises(TypeError, match=r"must be a tf\.RunOptions"):
            sess.run(y, {x: [[1, 1]]}, 3)
        with pytest.raises(TypeError, match=r"must be a tf\.RunMetadata"):
            sess.run(y, {x: [[1, 1]]}, FULL, 3)


def test_an_error_in_a_traced_kernel_names_its_op():
    i = tf.placeholder(tf.int32, [1])
    picked = tf.gather(tf.exp([1.0, 2.0]), i, name="picked") * 2.0
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="picked"):
                sess.run(picked, {i: [5]}, FULL, metadata)
            sess.run(picked, {i: [1]})
    assert metadata.step_stats.dev_stats


def events(metadata_or_stats, **options):
    stats = getattr(metadata_or_stats, "step_stats", metadata_or_stats)
    return json.loads(timeline.Timeline(stats).generate_chrome_trace_format(**options))["traceEvents"]


def test_a_timeline_has_a_bar_a_node():
    x, y = network()
    with tf.Session() as sess:
        _, metadata = traced(sess, y, {x: [[1, 1]]})
    found = events(metadata)
    assert found[0] == {"name": "process_name", "ph": "M", "pid": 0, "args": {"name": f"{CPU} Compute"}}
    bars = [e for e in found if e["ph"] == "X"]
    assert [b["name"] for b in bars][-3:] == ["MatMul", "Relu", "AddV2"]
    assert bars[-1]["args"] == {"name": "out", "op": "AddV2", "input0": "r", "input1": "out/y"}


def test_memory_is_counted_until_the_last_use():
    x, y = network()
    with tf.Session() as sess:
        _, metadata = traced(sess, y, {x: np.ones([5, 2])})
    found = events(metadata, show_memory=True)
    totals = [e["args"]["cpu"] for e in found if e["ph"] == "C"]
    assert max(totals) >= 40 and totals[-1] == 0
    assert {e["ph"] for e in found} >= {"M", "X", "N", "O", "D", "C"}
    assert {e["ph"] for e in events(metadata)}.isdisjoint({"N", "O", "D", "C"})         # only where it is asked for


def test_a_timeline_is_analyzed():
    p = tf.placeholder(tf.float32, [10, 10])
    made, told = tf.matmul(p, p) + 1.0, tf.RunMetadata()
    with tf.Session() as sess:
        for _ in range(3):
            sess.run(made, {p: np.ones([10, 10])}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), told)
    found = timeline.Timeline(told.step_stats).analyze_step_stats(show_dataflow=False)
    assert found._fields == ("chrome_trace", "allocator_maximums")
    assert json.loads(found.chrome_trace.format_to_string())["traceEvents"]
    assert "\n" in found.chrome_trace.format_to_string(pretty=True)
    assert sum(most.num_bytes for most in found.allocator_maximums.values()) >= 400
    assert all(most.tensors and most.timestamp for most in found.allocator_maximums.values())


def test_overlapping_nodes_get_lanes_of_their_own_and_arrows_between_them():
    stats = StepStats()
    device = stats.dev_stats.add(device="d")
    for name, inputs, start, length in (("a", "", 10, 5), ("b", "a", 12, 10), ("c", "a, b", 30, 1)):
        device.node_stats.add(node_name=name, timeline_label=f"{name} = Op({inputs})", all_start_micros=start,
                              all_end_rel_micros=length)
    found = events(stats)
    assert [(e["name"], e["tid"], e["ts"], e["dur"]) for e in found if e["ph"] == "X"] == [
        ("Op", 0, 10, 5), ("Op", 1, 12, 10), ("Op", 0, 30, 1)]
    assert [(e["ph"] + e["name"], e["tid"], e["ts"]) for e in found if e["ph"] in "st"] == [
        ("sa", 0, 15), ("ta", 1, 12), ("sa", 0, 15), ("ta", 0, 30), ("sb", 1, 22), ("tb", 0, 30)]


def test_the_bars_of_a_tensorflow_run_are_those_that_its_own_timeline_draws(oracle):
    data, text = oracle("""
from tensorflow.python.client import timeline
x = tf.placeholder(tf.float32, [2, 2], name='x')
y = tf.nn.relu(tf.matmul(x, x, name='mm'), name='r') + 1.0
m = tf.RunMetadata()
tf.Session().run(y, {x: np.ones([2, 2])}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), m)
result = m.step_stats.SerializeToString(), timeline.Timeline(m.step_stats).generate_chrome_trace_format()
""")
    def bars(found):
        return sorted((e["name"], e["ts"], e["dur"], sorted(e["args"].items())) for e in found if e["ph"] == "X")

    assert bars(events(StepStats.FromString(data))) == bars(json.loads(text)["traceEvents"])
