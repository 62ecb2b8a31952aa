"""Calls of the CUDA driver API that a session makes, by a stand-in that notes each and does nothing."""
from __future__ import annotations

import ctypes
import gc

import numpy as np
import pytest

import tfnb as tf
from tests.kernels.cuda.stand_in import FREE, TOTAL, Api, Failed, cuda_driver, stand_in
from tfnb.kernels.cuda import memory
from tfnb.kernels.cuda.driver import DriverError, Span, packed
from tfnb.kernels.cuda.memory import configure

ONES = np.ones(4, "f")


@pytest.fixture
def api(monkeypatch):
    found = Api()
    with stand_in(monkeypatch, cuda_driver(found)):
        yield found


def perceptron():
    """A step of training two layers, and its loss."""
    with tf.device("/gpu:0"):
        x, y = tf.placeholder(tf.float32, [8, 4]), tf.placeholder(tf.float32, [8, 1])
        w, v = tf.Variable(tf.ones([4, 3])), tf.Variable(tf.ones([3, 1]))
        loss = tf.reduce_mean(tf.squared_difference(tf.matmul(tf.nn.relu(tf.matmul(x, w)), v), y))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return {x: np.ones([8, 4]), y: np.ones([8, 1])}, loss, step


def runs(api, fetches, feeds, count):
    """The calls of each run."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        api.take()
        found = []
        for _ in range(count):
            sess.run(fetches, feeds)
            found.append(api.take())
        return found


def test_a_step_of_training_is_one_launch_of_a_graph(api):
    feeds, loss, step = perceptron()
    first, second, third, fourth = runs(api, [loss, step], feeds, 4)
    launches = first.count("cuLaunchKernel")
    assert launches >= 5 and first.count("cuLibraryLoadData") <= launches
    assert second == ["cuStreamCreate", "cuStreamBeginCapture", "cuMemcpyHtoDAsync",
                      *["cuLaunchKernel"] * launches, "cuMemcpyDtoHAsync", "cuStreamEndCapture", "cuGraphGetRootNodes",
                      "cuGraphInstantiate", "cuGraphLaunch", "cuStreamSynchronize"]
    assert third == fourth == ["cuGraphLaunch", "cuStreamSynchronize"]


def test_a_step_that_fetches_nothing_waits_for_its_staging_buffer_alone(api):
    feeds, _, step = perceptron()
    assert runs(api, step, feeds, 4)[-1] == ["cuEventSynchronize", "cuGraphExecMemcpyNodeSetParams", "cuGraphLaunch",
                                            "cuEventRecord"]


def test_feeds_and_fetches_go_by_page_locked_memory_and_the_capture_has_a_stream_of_its_own(api):
    with tf.device("/gpu:0"):
        x = tf.placeholder(tf.float32, [4])
        y = tf.exp(x) + 1.0
    with tf.Session() as sess:
        for i in range(3):
            sess.run(y, {x: i * ONES})
    calls = {name: args for name, args in api.calls}
    stream, = {args[-1] for name, args in api.calls if name == "cuGraphLaunch"}
    captured = calls["cuStreamBeginCapture"][0]
    assert captured != stream and calls["cuLaunchKernel"][8] == captured == calls["cuStreamEndCapture"][0]
    assert "RELAXED" in calls["cuStreamBeginCapture"][1] and calls["cuStreamSynchronize"] == (stream,)
    target, source, nbytes, _ = calls["cuMemcpyHtoDAsync"]
    staged = next(bytes(memory) for memory in api._kept if source == np.frombuffer(memory, np.uint8).ctypes.data)
    assert nbytes == 64 and np.frombuffer(staged, "f", 4).tolist() == [2] * 4
    host, device, _, _ = calls["cuMemcpyDtoHAsync"]
    assert device >= target + 64 and host != source


def test_an_iteration_of_a_loop_is_a_launch_and_a_look(api, monkeypatch):
    """The stand-in computes nothing: what is fetched are the bytes of page-locked memory, here set by hand."""
    with tf.device("/gpu:0"):
        x = tf.placeholder(tf.float32, [4])
        y = tf.while_loop(lambda v: tf.reduce_sum(v) < 60.0, lambda v: v * 1.5, [x])
    left, values = [0], api._values

    def told(name, args):
        if name == "cuStreamSynchronize":
            left[0] -= 1
            for memory in api._kept:
                ctypes.memset(memory, int(left[0] > 0), ctypes.sizeof(memory))
        return values(name, args)
    monkeypatch.setattr(api, "_values", told)
    found = []
    with tf.Session() as sess:
        for count in (4, 4, 1):
            left[0] = count
            api.take()
            sess.run(y, {x: ONES})
            found.append([name for name, _ in api.calls])
    first, second, third = found
    turn = ["cuGraphLaunch", "cuStreamSynchronize"]
    assert first[first.index("cuStreamBeginCapture") - 1] != turn[-1] and first[-4:] == [
        *turn, "cuMemcpyDtoHAsync", "cuStreamSynchronize"]
    at = first.index("cuStreamBeginCapture")
    captured = first[at:first.index("cuStreamEndCapture")]
    assert first[at - 2:at] == ["cuMemcpyDtoDAsync", "cuStreamCreate"]              # the first move
    assert captured[-2:] == ["cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync"] and "cuLaunchKernel" in captured
    assert second[-9:] == ["cuMemcpyDtoDAsync", *turn * 3, "cuMemcpyDtoHAsync", "cuStreamSynchronize"]
    assert third == turn and api.calls[0][0] == "cuGraphLaunch"


def test_an_array_argument_has_seven_words():
    assert packed([3, Span(4096, 5, "float64"), -1]) == [3, 0, 0, 5, 8, 4096, 5, 8, 2 ** 64 - 1]


def test_host_ops_divide_a_step_into_graphs(api):
    with tf.device("/gpu:0"):
        x = tf.placeholder(tf.float32, [4])
        y = tf.exp(x)
    z = tf.py_func(lambda a: a + 1.0, [y], tf.float32)
    z.set_shape([4])
    with tf.device("/gpu:0"):
        out = tf.sqrt(z)
    assert runs(api, out, {x: ONES}, 3)[-1].count("cuGraphLaunch") == 2


def test_status_words_are_read_before_a_variable_is_written(api):
    with tf.device("/gpu:0"):
        w, ids = tf.Variable(ONES), tf.placeholder(tf.int32, [2])
        with tf.control_dependencies([tf.gather(w, ids)]):
            step = tf.assign_add(w, ONES)
    found = runs(api, step.op, {ids: [0, 1]}, 3)[-1]
    assert [name for name in found if "Event" not in name] == ["cuGraphLaunch", "cuStreamSynchronize"] * 2


def test_a_pool_has_the_limit_of_gpu_options_and_takes_it_at_once_unless_it_may_grow(api):
    configure(0.25, False)
    calls = dict(api.calls)
    assert calls["cuMemPoolCreate"][0].maxSize == TOTAL // 4
    assert calls["cuMemAllocFromPoolAsync"][0] == TOTAL // 4 and calls["cuMemFreeAsync"]
    assert calls["cuMemPoolSetAttribute"][2] == 2 ** 64 - 1
    api.calls.clear()
    configure(0.5, True)                                   # the first session of the process has decided
    assert not api.calls


def test_a_pool_that_grows_takes_nothing_in_advance(api):
    configure(0.25, True)
    assert "cuMemAllocFromPoolAsync" not in api.take()
    with pytest.raises(ValueError, match=r"expected per_process_gpu_memory_fraction in \[0, 1\], got 1.5"):
        configure(1.5, True)


def test_too_little_memory_names_the_op_and_what_is_free(api):
    with tf.device("/gpu:0"):
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        y = tf.matmul(x, x, transpose_b=True, name="wide")
    with tf.Session() as sess:
        sess.run(y, {x: np.ones([2, 4])})
        api.status["cuMemAllocFromPoolAsync"] = Failed("CUDA_ERROR_OUT_OF_MEMORY")
        with pytest.raises(tf.errors.ResourceExhaustedError, match="this process holds .* bytes, "
                           f"{FREE:,} of {TOTAL:,} are free.*op 'wide'") as info:
            sess.run(y, {x: np.ones([50, 4])})
        assert info.value.op is y.op and "10,000 bytes  float32[50, 50]  wide (output)" in info.value.message
        api.status.clear()
        sess.run(y, {x: np.ones([50, 4])})


def test_memory_of_a_closed_session_is_freed_in_the_order_of_the_stream(api):
    feeds, loss, step = perceptron()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run([loss, step], feeds)
        assert memory.pool.used > 0
    gc.collect()
    assert memory.pool.used == 0 and api.take().count("cuMemFreeAsync") >= 3


def test_a_call_that_fails_names_itself():
    api = Api()
    api.status["cuStreamCreate"] = Failed("CUDA_ERROR_INVALID_VALUE")
    with pytest.raises(DriverError, match="cuStreamCreate returned CUDA_ERROR_INVALID_VALUE"):
        cuda_driver(api)
