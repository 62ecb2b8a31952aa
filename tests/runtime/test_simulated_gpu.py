"""Sessions with a GPU, on the simulator."""
from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import tfnb as tf
from tests.gpu_programs import PROGRAMS
from tests.handles import hold
from tests.kernels.cuda.stand_in import Recorder
from tfnb.debug.profile import profile
from tfnb.kernels.cuda import device as cuda
from tfnb.kernels.cuda import memory
from tfnb.kernels.cuda.driver import DriverError
from tfnb.kernels.scalar.number_types import wide
from tfnb.python.client import device_lib
from tfnb.runtime.runners import gpu_runner

pytestmark = [pytest.mark.cudasim, pytest.mark.usefixtures("simulated")]
GPU, CPU = (f"/job:localhost/replica:0/task:0/device:{kind}:0" for kind in ("GPU", "CPU"))
UNIT = {"float16": 2 ** -10, "bfloat16": 2 ** -7}          # the last place: sums have another order
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
        a, b, apart = (a, b, 2e-5) if a.dtype.itemsize > 2 else (wide(a), wide(b), UNIT.get(a.dtype.name, 0))
        np.testing.assert_allclose(a, b, rtol=apart, atol=apart / 10)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_on_the_cpu(name):
    agree(name)


FAULTS = {"v0 + v1": ("v0 - v1", "broadcasting"), "y0[k] = v1": ("y0[k] = v0", "broadcasting"),
          "range(row + 1, rows)": ("range(row, rows)", "picking"), "state[2] = moved": ("state[2] = low", "random"),
          "(n0 - 1 - i0)": ("i0", "movement"), "from_float16(": ("float32(", "all_in_float16"),
          "to_bfloat16(total": ("uint16(total", "all_in_bfloat16")}


@pytest.mark.parametrize("good", FAULTS)
def test_control_a_fault_in_a_kernel_is_noticed(good, monkeypatch):
    bad, program = FAULTS[good]
    texts, function = [], cuda.driver().function

    def faulty(text, types):
        texts.append(text)
        return function(text.replace(good, bad), types)

    monkeypatch.setattr(cuda.driver(), "function", faulty)
    with pytest.raises(AssertionError):
        agree(program)
    assert any(good in text for text in texts)


@pytest.fixture
def recorded(monkeypatch):
    """The GPU's driver, which records its calls."""
    recorder = Recorder(cuda.driver())
    monkeypatch.setattr(cuda, "driver", lambda: recorder)
    return recorder


def refuse_captures(recorded, monkeypatch):
    """Let the driver end each capture by an error."""
    end = recorded.driver.end

    def refuse(keep=True):
        end(False)
        if keep:
            raise DriverError("cuStreamEndCapture", "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED")

    monkeypatch.setattr(recorded.driver, "end", refuse)


def powers(limit):
    """1.5 ** n * x for the first n at which the sum is `limit` or more."""
    with tf.device("/gpu:0"):
        x = tf.placeholder(tf.float32, [4])
        y = tf.while_loop(lambda v: tf.reduce_sum(v) < limit, lambda v: v * 1.5, [x], name="grow")
    return x, y


def test_a_loop_stays_on_the_gpu_and_an_iteration_is_one_graph(recorded):
    x, y = powers(60.0)
    with tf.Session() as sess:
        for _ in range(3):
            recorded.take()
            assert sess.run(y, {x: ONES}).tolist() == [1.5 ** 7] * 4
        again = recorded.take()
        assert sess.run(y, {x: 60 * ONES}).tolist() == [60] * 4
    turn = ["replay", "synchronize"]
    assert again == ["enter", *turn, "copy", *turn * 6, "copy_out", "synchronize"]


def test_a_loop_whose_shapes_change_is_not_compiled_for_each(monkeypatch):
    with tf.device("/gpu:0"):
        x = tf.placeholder(tf.float32, [None])
        y = tf.while_loop(lambda v: tf.reduce_sum(v) < 20.0, lambda v: tf.concat([v, tf.ones([1])], 0), [x],
                          shape_invariants=[tf.TensorShape([None])])
    made, build = [], gpu_runner.compile_stage
    monkeypatch.setattr(gpu_runner, "compile_stage", lambda *args: made.append(args) or build(*args))
    with tf.Session() as sess:
        assert sess.run(y, {x: ONES}).tolist() == [1] * 20
    assert len(made) == 3


def test_a_loop_without_graphs_makes_its_calls_one_by_one(recorded, monkeypatch):
    refuse_captures(recorded, monkeypatch)
    x, y = powers(60.0)
    with tf.Session() as sess:
        for _ in range(2):
            assert sess.run(y, {x: ONES}).tolist() == [1.5 ** 7] * 4
    assert "replay" not in recorded.take()


def test_a_loop_that_fails_on_the_gpu_raises_and_can_run_again():
    with tf.device("/gpu:0"):
        ids, seen = tf.placeholder(tf.int32, [3]), tf.Variable(0.0)

        def body(i, total):
            with tf.control_dependencies([tf.assign_add(seen, 1.0)]):
                return i + 1, total + tf.gather([1.0, 2.0], tf.gather(ids, i))
        y = tf.while_loop(lambda i, total: i < 3, body, [tf.constant(0), tf.constant(0.0)])[1]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2):
            assert sess.run(y, {ids: [0, 1, 0]}) == 4
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 7 is not in \[0, 2\)"):
            sess.run(y, {ids: [0, 0, 7]})
        assert sess.run(y, {ids: [1, 1, 1]}) == 6
        assert 11 <= sess.run(seen) <= 12


def test_ops_of_a_loop_are_logged_where_they_ran(capfd):
    x, y = powers(9.0)
    found = placed(y, {x: ONES}, capfd)
    assert found["grow/mul"] == GPU


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


def test_variables_stay_on_the_gpu(recorded):
    w, x, y, step = line()
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run([y, step.op], {x: ONES})
        recorded.calls.clear()
        for _ in range(5):
            sess.run([y, step.op], {x: ONES})
        # the calls that are captured: x there, y back, as whole lines of 64 bytes
        assert (recorded.moved("copy_in"), recorded.moved("copy_out")) == ([64], [64])
        np.testing.assert_array_equal(sess.run(w), [-2, -1, 0, 1])


def asked(recorded):
    """What was asked of the driver, but for waiting for a staging buffer and the note that it was read."""
    return [name for name in recorded.take() if name not in ("enter", "wait", "record", "function")]


def test_a_step_is_one_launch_from_the_third_run_on(recorded):
    w, x, y, step = line()
    with tf.Session() as sess:
        sess.run(w.initializer)
        recorded.take()
        found = []
        for i in range(4):
            assert sess.run([y, step.op], {x: i * ONES})[0] == i * (10 - 2 * sum(range(i)))
            found.append([name for name in asked(recorded) if name not in ("allocate", "pin", "event")])
        launches = ["launch"] * found[0].count("launch")
        assert launches and found[0][-len(launches) - 3:] == ["copy_in", *launches, "copy_out", "synchronize"]
        assert found[1] == ["begin", "copy_in", *launches, "copy_out", "end", "replay", "synchronize"]
        assert found[2] == found[3] == ["replay", "synchronize"]


def test_a_run_that_fetches_nothing_does_not_wait_and_the_next_stages_elsewhere(recorded):
    w, x, y, step = line()
    with tf.Session() as sess:
        sess.run(w.initializer)
        for i in range(5):
            recorded.take()
            sess.run(step.op, {x: i * ONES})
            found = asked(recorded)
        assert found == ["repoint", "replay"]
        np.testing.assert_array_equal(sess.run(w), np.array([1, 2, 3, 4]) - 0.5 * sum(range(5)))


def test_a_variable_that_moves_is_bound_again(recorded):
    w, x, y, step = line()
    with tf.Session() as sess:
        sess.run(w.initializer)
        assert [sess.run(y, {x: ONES}) for _ in range(3)] == [10] * 3
        w.load(2 * ONES, sess)
        assert sess.run(y, {x: ONES}) == 8
        sess.run(tf.assign(w, [1.0, 1.0, 1.0, 0.0]))
        assert [sess.run(y, {x: ONES}) for _ in range(3)] == [3] * 3


def test_a_capture_that_the_driver_refuses_leaves_calls_one_by_one(recorded, monkeypatch):
    w, x, y, step = line()
    refuse_captures(recorded, monkeypatch)
    with tf.Session() as sess:
        sess.run(w.initializer)
        assert [sess.run([y, step.op], {x: ONES})[0] for _ in range(4)] == [10, 8, 6, 4]
        assert "launch" in asked(recorded)
        text = tf.explain([y, step.op], {x: ONES}, sess)
        assert "one by one a run: no CUDA graph could be captured, cuStreamEndCapture returned CUDA_ERROR" in text


def test_a_failure_of_the_driver_names_an_op_and_the_session_goes_on(recorded):
    w, x, y, step = line()
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run(y, {x: ONES})
        recorded.refuses["synchronize"] = DriverError("cuStreamSynchronize", "CUDA_ERROR_LAUNCH_FAILED")
        with pytest.raises(tf.errors.InternalError, match="cuStreamSynchronize returned CUDA_ERROR_LAUNCH") as info:
            sess.run(y, {x: ONES})
        assert info.value.op is not None
        recorded.refuses.clear()
        assert sess.run(y, {x: ONES}) == 10


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


def test_variables_behind_handles_are_on_the_gpu(recorded):
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
        recorded.calls.clear()
        runs += [sess.run([before, rows, after]) for _ in range(2)]
        assert w.read.dtype.size * 6 not in recorded.moved("copy_in")
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


def test_explain_shows_cuda_kernels():
    w, x, y, step = line()
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run([y, step], {x: ONES})
        sess.run([y, step], {x: ONES})
        text = tf.explain([y, step], {x: ONES}, sess, sources=True)
    for part in "stage 0 (gpu)", "1 CUDA graph a run", "1 block of 2 threads", "cuda.blockIdx.x", "cuda.shfl_xor_sync":
        assert part in text


def test_a_profile_has_the_launches_of_the_gpu_by_events(recorded):
    w, x, y, step = line()
    with tf.device("/cpu:0"):
        z = tf.exp(y)
    with tf.Session() as sess:
        sess.run(w.initializer)
        for _ in range(2):
            sess.run([z, step], {x: ONES})
        recorded.take()
        found = profile([z, step], {x: ONES}, sess, runs=3)
        assert recorded.take().count("seconds") >= 3
        assert {t for launch in found.launches if launch.gpu for t in launch.types} >= {"Mul", "Sum", "AssignSub"}
        assert [launch.types for launch in found.launches if not launch.gpu] == [("Exp",)] and not found.untimed
        assert all(launch.seconds > 0 for launch in found.launches if launch.gpu) and "GB/s      GPU" in repr(found)
        np.testing.assert_array_equal(sess.run(w), [0, 1, 2, 3])           # as before the profile
        assert "Mul" in tf.explain([z, step], {x: ONES}, sess)


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


def test_too_little_memory_is_an_error_that_names_op_and_tensors(recorded):
    w, x, y, step = line()
    with tf.device("/gpu:0"):
        big = tf.placeholder(tf.float32, [None, 1000], name="big")
        wide = tf.concat([tf.matmul(big, big, transpose_a=True, name="wide")] * 2, 0, name="twice")
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run(step, {x: ONES})
        recorded.refuses["allocate"] = DriverError("cuMemAllocFromPoolAsync", "CUDA_ERROR_OUT_OF_MEMORY")
        with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM: no .* bytes on the GPU") as info:
            sess.run(wide, {big: np.ones([3, 1000])})
        recorded.refuses.clear()
        assert info.value.op.name == "twice"
        for line_ in ("8,000,000 bytes  float32[2000, 1000]  twice", "12,000 bytes  float32[3, 1000]  big"):
            assert line_ in info.value.message
        assert sess.run(y, {x: ONES}) == 8


def test_a_limit_of_memory_is_kept(monkeypatch):
    monkeypatch.setattr(memory, "pool", memory.Pool())
    config = tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=1 / 256))      # 1 MB
    with tf.device("/gpu:0"):
        x = tf.placeholder(tf.float32, [None])
        y = x * 2.0
    with tf.Session(config=config) as sess:
        assert sess.run(y, {x: ONES}).tolist() == [2] * 4
        with pytest.raises(tf.errors.ResourceExhaustedError, match="of the 1,048,576 that gpu_options allow"):
            sess.run(y, {x: np.ones(1 << 18)})
        assert sess.run(y, {x: ONES}).tolist() == [2] * 4
