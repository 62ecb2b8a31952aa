"""Sessions with a GPU, on numba's simulator. Not collected: test_gpu.py runs this file in a process of its own."""
from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import tfnb as tf
from tests.gpu_programs import PROGRAMS
from tests.handles import hold
from tfnb.kernels.cuda import device as cuda
from tfnb.python.client import device_lib

GPU, CPU = (f"/job:localhost/replica:0/task:0/device:{kind}:0" for kind in ("GPU", "CPU"))
SOFT = {"allow_soft_placement": True}


def values(program, **config):
    """What each run fetches, then the variables at the end."""
    with tf.Session(config=tf.ConfigProto(**config)) as sess:
        sess.run(tf.global_variables_initializer())
        runs = [sess.run([program.fetches, program.targets], program.feeds)[0] for _ in range(program.steps)]
        return [np.asarray(v) for run in [*runs, sess.run(tf.global_variables())] for v in tf.nest.flatten(run)]


def agree(name):
    program = PROGRAMS[name]()
    want = values(program, device_count={"GPU": 0}, **SOFT)
    got = values(program, **SOFT)
    for a, b in zip(got, want, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_on_the_cpu(name):
    agree(name)


@pytest.mark.parametrize("good, bad", [("v0 + v1", "v0 - v1"), ("range(row + 1, rows)", "range(row, rows)"),
                                       ("state[2] = moved", "state[2] = low"), ("(n0 - 1 - i0)", "i0")])
def test_control_a_fault_in_a_kernel_is_noticed(good, bad, monkeypatch):
    texts, launch = [], cuda.launch

    def faulty(text, *rest):
        texts.append(text)
        launch(text.replace(good, bad), *rest)

    monkeypatch.setattr(cuda, "launch", faulty)
    with pytest.raises(AssertionError):
        agree({"v0 + v1": "broadcasting", "range(row + 1, rows)": "picking", "state[2] = moved": "random"}.get(
            good, "movement"))
    assert any(good in text for text in texts)


def count(monkeypatch):
    """The arrays that go to the GPU and come back from now on."""
    moved = {"upload": [], "download": []}
    ways = {name: getattr(cuda, name) for name in moved}
    for name in moved:
        def copied(device, host, name=name):
            moved[name].append(host.nbytes)
            ways[name](device, host)
        monkeypatch.setattr(cuda, name, copied)
    return moved


def line():
    """A variable of 4 numbers on the GPU, something computed of it, and a step that changes it."""
    with tf.device("/gpu:0"):
        w = tf.Variable([1.0, 2.0, 3.0, 4.0], name="w")
        x = tf.placeholder(tf.float32, [4])
        y = tf.reduce_sum(w * x)
        step = tf.assign_sub(w, x * 0.5)
    return w, x, y, step


ONES = np.ones(4, "f")


def test_the_simulator_is_listed_as_what_it_is():
    cpu, gpu = device_lib.list_local_devices()
    assert (gpu.name, gpu.device_type) == ("/device:GPU:0", "GPU") and "simulator" in gpu.physical_device_desc
    assert [d.name for d in tf.Session().list_devices()] == [CPU, GPU]
    assert tf.test.is_gpu_available() and tf.test.gpu_device_name() == "/device:GPU:0"
    assert not tf.test.is_gpu_available(min_cuda_compute_capability=(9, 0))
    assert len(tf.Session(config=tf.ConfigProto(device_count={"GPU": 0})).list_devices()) == 1


def placed(fetches, feeds, capfd, **config):
    """Where each op of a run is, by the log."""
    with tf.Session(config=tf.ConfigProto(log_device_placement=True, **config)) as sess:
        sess.run(tf.global_variables_initializer())
        capfd.readouterr()
        sess.run(fetches, feeds)
    lines = capfd.readouterr().err.splitlines()
    return {words[0].rstrip(":"): words[-1] for line in lines if (words := line.split())}


def test_a_graph_that_names_a_gpu_is_on_it_as_far_as_it_can(capfd):
    with tf.device("/gpu:0"):
        w = tf.Variable([1.0, 2.0])
    x = tf.placeholder(tf.float32, [2])
    loss = tf.reduce_sum(tf.square(w * x), name="loss")
    train = tf.train.AdamOptimizer().minimize(loss)
    with tf.device("/cpu:0"):
        there = tf.negative(loss, name="there")
    text = tf.as_string(loss, name="text")
    found = placed([train, there, text], {x: [1.0, 1.0]}, capfd)
    assert found["loss"] == found["Adam/update_Variable/ApplyAdam"] == GPU and GPU in found["gradients/mul_grad/Mul"]
    assert found["there"] == found["text"] == CPU


def test_a_graph_that_names_none_is_on_the_cpu(capfd):
    y = tf.exp(tf.placeholder(tf.float32, name="p"), name="e")
    assert placed(y, {"p:0": 1.0}, capfd)["e"] == CPU


def test_what_refers_to_a_variable_is_where_that_is(capfd):
    with tf.device("/cpu:0"):
        v = tf.Variable(1.0)
    with tf.device("/gpu:0"):
        step = tf.assign_add(v, 2.0, name="step")
    assert placed(step, None, capfd)["step"] == CPU


def test_no_kernel_is_an_error_or_another_device(capfd):
    with tf.device("/gpu:0"):
        text = tf.as_string(tf.constant(1.0), name="text")
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)operation text: Could not satisfy explicit device "
                       "specification '/device:GPU:0' because no supported kernel for GPU devices") as info, \
            tf.Session() as sess:
        sess.run(text)
    assert info.value.op is text.op
    assert placed(text, None, capfd, **SOFT)["text"] == CPU


def test_a_gpu_that_is_not_there_is_an_error():
    with tf.device("/gpu:1"):
        x = tf.constant(1.0) + 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)/device:GPU:1 but available devices.*GPU:0"), \
            tf.Session() as sess:
        sess.run(x)
    with tf.Session(config=tf.ConfigProto(**SOFT)) as sess:
        assert sess.run(x) == 2.0


def test_step_stats_name_who_did_it():
    w, x, y, step = line()
    with tf.device("/cpu:0"):
        z = y + 1.0
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run([z, step], {x: ONES}, options, metadata)
    nodes = {d.device: [n.node_name for n in d.node_stats][-1:] for d in metadata.step_stats.dev_stats}
    assert nodes == {GPU: ["AssignSub"], CPU: [z.op.name]}                  # one launch does both, the last names it
    graphs = {g.node[0].device: [n.name for n in g.node] for g in metadata.partition_graphs}
    assert "Sum" in graphs[GPU] and z.op.name in graphs[CPU]


def test_variables_stay_on_the_gpu(monkeypatch):
    w, x, y, step = line()
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run([y, step.op], {x: ONES})
        moved = count(monkeypatch)
        for _ in range(5):
            sess.run([y, step.op], {x: ONES})
        assert moved == {"upload": [16] * 5, "download": [4] * 5}          # x there, y back
        np.testing.assert_array_equal(sess.run(w), [-2, -1, 0, 1])


def test_who_reads_on_the_cpu_sees_the_last_value_and_may_change_it():
    w, x, y, step = line()
    with tf.device("/cpu:0"):
        doubled = tf.identity(w) * 2.0
    with tf.Session() as sess:
        sess.run(w.initializer)
        for i in range(1, 4):
            before = sess.run(w)
            sess.run(step, {x: ONES})
            np.testing.assert_array_equal(sess.run(doubled), 2 * (before - 0.5))
            w.load(np.full(4, 10.0 * i, "f"), sess)
            assert sess.run(y, {x: ONES}) == 40 * i


def test_variables_behind_handles_are_on_the_gpu(monkeypatch):
    moved = count(monkeypatch)
    with tf.device("/gpu:0"):
        w, table = hold(np.full([3, 2], 0.5, "f")), hold(np.ones([3, 2], "f"))
        before = w.read + 0.0
        rows = tf.raw_ops.ResourceGather(resource=table.taken, indices=[2, 0, 2], dtype=tf.float32)
        with tf.control_dependencies([before, rows]):
            steps = [tf.raw_ops.ResourceApplyGradientDescent(var=w.taken, alpha=0.5, delta=rows),
                     tf.raw_ops.ResourceScatterAdd(resource=table.taken, indices=[1, 1], updates=rows[:2])]
        with tf.control_dependencies(steps):
            after = tf.raw_ops.ReadVariableOp(resource=w.taken, dtype=tf.float32) - w.read
    with tf.Session() as sess:
        sess.run([w.start, table.start])
        runs = [sess.run([before, rows, after])]
        moved["upload"].clear()
        runs += [sess.run([before, rows, after]) for _ in range(2)]
        assert w.read.dtype.size * 6 not in moved["upload"]
        assert [run[0][0, 0] for run in runs] == [0.5, 0.0, -0.5] and all((run[2] == -0.5).all() for run in runs)
        assert sess.run(table.read).tolist() == [[1, 1], [7, 7], [1, 1]]


def test_a_saver_writes_what_the_gpu_has_and_restores_it(tmp_path):
    w, x, y, step = line()
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run(step, {x: ONES})
        path = saver.save(sess, str(tmp_path / "model"))
        sess.run(step, {x: ONES})
        assert sess.run(y, {x: ONES}) == 6
        saver.restore(sess, path)
        assert sess.run(y, {x: ONES}) == 8
        sess.run(step, {x: ONES})
    with tf.Session() as sess:
        saver.restore(sess, path)
        np.testing.assert_array_equal(sess.run(w), [0.5, 1.5, 2.5, 3.5])


def test_a_run_in_steps_is_on_the_gpu():
    with tf.device("/gpu:0"):
        a, b = tf.placeholder(tf.float32, [4]), tf.placeholder(tf.float32, [4])
        v = tf.Variable(tf.ones([4]))
        y = a * v
        z, update = y + b, v.assign_add(b)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for n in (1.0, 2.0):
            handle = sess.partial_run_setup([y, z, update], [a, b])
            assert sess.partial_run(handle, y, {a: np.ones(4)}).tolist() == [n] * 4
            assert sess.partial_run(handle, [z, update], {b: np.ones(4)})[0].tolist() == [n + 1.0] * 4
        assert [stage.gpu for plan in [key[1].plan for key in sess._executors.values()][1:] for stage in plan.stages] \
            == [True] * 4


def test_a_bad_index_names_the_op_and_changes_nothing():
    w, x, y, step = line()
    with tf.device("/gpu:0"):
        ids = tf.placeholder(tf.int32, [None])
        taken = tf.gather(w, ids, name="taken")
        with tf.control_dependencies([taken]):
            moved = tf.assign_add(w, ONES)
        added = tf.scatter_add(w, ids, tf.zeros_like(taken) + 1.0)
    with tf.Session() as sess:
        sess.run(w.initializer)
        for bad, fetch in ((taken, moved), (added, added)):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 9 is not in \[0, 4\)") as info:
                sess.run(fetch, {ids: [2, 9]})
            assert info.value.op.name in (bad.op.name, "taken")
            assert sess.run(y, {x: ONES}) == 10
        np.testing.assert_array_equal(sess.run(added, {ids: [0, 0]}), [3, 2, 3, 4])


def test_a_division_by_zero_is_an_error():
    with tf.device("/gpu:0"):
        x = tf.placeholder(tf.int32, [None])
        y = 12 // x
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero: the divisor at position 1"):
            sess.run(y, {x: [3, 0]})
        assert sess.run(y, {x: [3]}) == [4]


def test_a_variable_without_a_value_is_an_error():
    w, x, y, step = line()
    with tf.Session() as sess:
        for fetch in (y, step):
            with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value w"):
                sess.run(fetch, {x: ONES})
        sess.run(w.initializer)
        assert sess.run(y, {x: ONES}) == 10


def test_an_initializer_that_fails_gives_no_value():
    with tf.device("/gpu:0"):
        ids = tf.placeholder(tf.int32, [1])
        v = tf.Variable(tf.gather(tf.constant([1.0, 2.0]), ids))
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(v.initializer, {ids: [5]})
        assert not sess.run(tf.is_variable_initialized(v))
        sess.run(v.initializer, {ids: [1]})
        assert sess.run(v) == [2.0]


def test_sessions_have_their_own_variables():
    w, x, y, step = line()
    with tf.Session() as one, tf.Session() as other:
        for sess in (one, other):
            sess.run(w.initializer)
        one.run(step, {x: ONES})
        assert one.run(y, {x: ONES}) == 8 and other.run(y, {x: ONES}) == 10


def test_what_is_kept_of_memory_serves_again():
    first = cuda.Memory(1000)
    array = first._array
    del first
    assert cuda.Memory(1010)._array is array and cuda.Memory(100_000)._array is not array


def test_explain_shows_cuda_kernels():
    w, x, y, step = line()
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run([y, step], {x: ONES})
        sess.run([y, step], {x: ONES})
        text = tf.explain([y, step], {x: ONES}, sess, sources=True)
    for part in "stage 0 (gpu)", "1 block of 2 threads", "cuda.blockIdx.x", "cuda.shared.array":
        assert part in text


def test_a_search_for_nan_looks_at_a_copy():
    w, x, y, step = line()
    with tf.device("/gpu:0"):
        bad = tf.log(tf.reduce_min(w) - 1.0, name="bad") + y
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run(step, {x: ONES})
        assert tf.find_nan(bad, {x: ONES}, session=sess).op.name == "bad"
        assert sess.run(y, {x: ONES}) == 8


def test_a_closed_session_leaves_no_memory_on_the_gpu():
    w, x, y, step = line()
    with tf.Session() as sess:
        sess.run(w.initializer)
        place = weakref.ref(next(iter(sess._store.places.values())).memory)
        assert place() is not None
    gc.collect()
    assert place() is None


def test_too_little_memory_is_an_error(monkeypatch):
    def full(*shape):
        raise RuntimeError("[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY")

    w, x, y, step = line()
    with tf.Session() as sess:
        sess.run(w.initializer)
        with monkeypatch.context() as patch:
            patch.setattr(cuda.namespace()["cuda"], "device_array", full)
            with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when allocating .* bytes on the GPU"):
                cuda.Memory(1 << 30)
        assert sess.run(y, {x: ONES}) == 10
