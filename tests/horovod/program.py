"""What each rank of an MPI job checks: `mpiexec -n 2 python -m tests.horovod.program`; a line of JSON from rank 0.

A check is a function that all ranks call in turn; what it raises in any of them is that check's result.
"""
from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

import tfnb as tf
import tfnb.horovod.tensorflow as hvd

CHECKS: dict[str, Callable[[], None]] = {}
RANK, SIZE = 0, 1                           # known after hvd.init()
ROWS = 24


def check(fn: Callable[[], None]) -> Callable[[], None]:
    CHECKS[fn.__name__] = fn
    return fn


def run(*fetches: Any, feed: Any = None, times: int = 1) -> Any:
    """The fetches' values after some runs: the first one interpreted, others compiled."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run(list(fetches), feed) for _ in range(times)]
    return found[-1]


def raised(kind: type[Exception], fn: Callable[[], Any]) -> str:
    try:
        fn()
    except kind as error:
        return str(error)
    raise AssertionError(f"expected {kind.__name__}, and nothing was raised")


@check
def ranks() -> None:
    assert hvd.is_initialized() and (hvd.local_rank(), hvd.local_size()) == (RANK, SIZE)
    assert (hvd.cross_rank(), hvd.cross_size()) == (0, 1) and hvd.is_homogeneous()
    assert run(hvd.rank_op(), hvd.size_op(), hvd.local_rank_op(), hvd.local_size_op()) == [RANK, SIZE, RANK, SIZE]
    hvd.init()                                                                  # again: nothing
    assert hvd.allgather_object({"rank": RANK}) == [{"rank": i} for i in range(SIZE)]
    assert hvd.broadcast_object("x" * RANK, root_rank=1) == "x"


@check
def reductions() -> None:
    for name in ("int32", "int64", "float16", "bfloat16", "float32", "float64"):
        x = np.arange(1, 7).reshape(2, 3) * (RANK + 1)
        tensor = tf.cast(tf.constant(x), name)
        terms = [np.arange(1, 7).reshape(2, 3) * (i + 1) for i in range(SIZE)]
        found = run(hvd.allreduce(tensor, op=hvd.Sum), hvd.allreduce(tensor, op=hvd.Min),
                    hvd.allreduce(tensor, op=hvd.Max), hvd.allreduce(tensor, op=hvd.Product), times=2)
        for value, want in zip(found, (sum(terms), np.min(terms, 0), np.max(terms, 0), np.prod(terms, 0)), strict=True):
            assert value.dtype == tensor.dtype.as_numpy_dtype and np.allclose(value.astype("d"), want, rtol=8e-3), name
    mean, total = run(hvd.allreduce(tf.constant([1.0, 2.0]) * (RANK + 1)), hvd.allreduce(tf.ones([]), average=False))
    assert np.allclose(mean, np.array([1, 2]) * (SIZE + 1) / 2) and total == SIZE
    assert np.allclose(run(hvd.allreduce(tf.ones([3]), op=hvd.Sum, prescale_factor=0.5, postscale_factor=4.0)),
                       2 * SIZE)
    assert run(hvd.allreduce(tf.zeros([0, 3])))[0].shape == (0, 3)
    assert np.allclose(run(hvd.allreduce(tf.fill([4], 1.5), compression=hvd.Compression.fp16)), 1.5)
    assert hvd.allreduce(tf.ones([2], name="x")).op.inputs[0].op.name == "HorovodAllreduce_x_0"


@check
def large_sums_are_the_same_bits_in_all_ranks_and_runs() -> None:
    x = tf.placeholder(tf.float32, [None])
    total = hvd.allreduce(x, op=hvd.Sum)
    value = np.random.RandomState(RANK).randn(700_001).astype("f")               # several pieces, and a part of one
    first, second = (run(total, feed={x: value}, times=2)[0] for _ in range(2))
    everyone = np.stack(hvd.allgather_object(first.tobytes()))
    assert (everyone == first.tobytes()).all() and first.tobytes() == second.tobytes()
    assert np.allclose(first, sum(np.random.RandomState(i).randn(700_001) for i in range(SIZE)), atol=1e-5)


@check
def a_result_that_is_kept_is_not_overwritten() -> None:
    x = tf.placeholder(tf.float32, [8])
    with tf.Session() as session:
        total = hvd.allreduce(x, op=hvd.Sum)
        kept = [session.run(total, {x: np.full(8, k, "f")}) for k in range(4)]
    assert [k[0] for k in kept] == [k * SIZE for k in range(4)]


@check
def gathers() -> None:
    for name in ("uint8", "int16", "float16", "float64", "bool"):
        x = tf.cast(tf.fill([RANK + 1, 2], RANK), name)                         # rank i has i + 1 rows
        found = run(hvd.allgather(x), times=2)[0]
        want = np.concatenate([np.full([i + 1, 2], i) for i in range(SIZE)])
        assert found.dtype == x.dtype.as_numpy_dtype and np.array_equal(found, want.astype(found.dtype))
    empty = tf.zeros([0 if RANK else 3, 2])
    assert run(hvd.allgather(empty))[0].shape == (3, 2)
    assert hvd.allgather(tf.zeros([4, 2])).shape.as_list() == [None, 2]
    raised(ValueError, lambda: hvd.allgather(tf.constant(1.0)))


@check
def broadcasts() -> None:
    root = SIZE - 1
    found = run(hvd.broadcast(tf.fill([3], RANK), root), hvd.broadcast(tf.constant([RANK == root]), root), times=2)
    assert found[0].tolist() == [root] * 3 and found[1].tolist() == [True]
    raised(ValueError, lambda: hvd.broadcast(tf.constant(1), SIZE))
    v = tf.get_variable("v", initializer=tf.fill([2, 2], float(RANK)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(hvd.broadcast_global_variables(1))
        assert (session.run(v) == 1).all()


@check
def exchanges() -> None:
    x = tf.constant([[10 * RANK + i] for i in range(SIZE)])
    assert run(hvd.alltoall(x))[0].ravel().tolist() == [10 * i + RANK for i in range(SIZE)]
    splits = [0] * SIZE
    splits[-1] = SIZE                                                           # all rows to the last rank
    found = run(hvd.alltoall(x, splits), times=2)[0]
    assert len(found) == (SIZE * SIZE if RANK == SIZE - 1 else 0)
    assert "splits" in raised(tf.errors.InvalidArgumentError, lambda: run(hvd.alltoall(x, [0] * SIZE)))


@check
def gradients() -> None:
    x = tf.constant([[1.0], [2.0]]) * (RANK + 1)
    weights = tf.reshape(tf.range(1.0, 2 * SIZE + 1), [-1, 1]) * (RANK + 1)      # of the gathered rows, in this rank
    scale = float(sum(range(1, SIZE + 1)))
    losses = {"allreduce": tf.reduce_sum(hvd.allreduce(x) ** 2), "broadcast": tf.reduce_sum(hvd.broadcast(x, 1)),
              "allgather": tf.reduce_sum(hvd.allgather(x) * weights), "alltoall": tf.reduce_sum(
                  hvd.alltoall(x, [2] + [0] * (SIZE - 1))) * 3}
    found = dict(zip(losses, run(*[tf.gradients(loss, x)[0] for loss in losses.values()], times=2), strict=True))
    mean = np.array([[1.0], [2.0]]) * scale / SIZE
    assert np.allclose(found["allreduce"], 2 * mean)                            # of the sum of all ranks' losses
    assert np.allclose(found["broadcast"], SIZE if RANK == 1 else 0)
    assert np.allclose(found["allgather"].ravel(), np.array([2 * RANK + 1, 2 * RANK + 2]) * scale)
    assert np.allclose(found["alltoall"], 3)


def _data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(7)
    x = rng.randn(ROWS, 5).astype("f")
    return x, (x @ rng.randn(5, 3)).argmax(1)


def _losses(distributed: bool, make: Callable[[], Any], rows: slice, dtype: Any = tf.float32) -> list[float]:
    """The losses on all rows while a network is trained on some of them, in 8 steps."""
    tf.reset_default_graph()
    tf.set_random_seed(1 + RANK if distributed else 1)                          # the broadcast makes them equal
    x, y = _data()
    features, labels = tf.placeholder(dtype, [None, 5]), tf.placeholder(tf.int64, [None])
    hidden = tf.layers.dense(features, 8, activation=tf.tanh)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, tf.layers.dense(hidden, 3))
    optimizer = hvd.DistributedOptimizer(make()) if distributed else make()
    step = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    hooks = [hvd.BroadcastGlobalVariablesHook(0)] if distributed else []
    with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
        found = []
        for _ in range(8):
            found.append(session.run(loss, {features: x, labels: y}))
            session.run(step, {features: x[rows], labels: y[rows]})
    return [float(value) for value in found]


@check
def training_is_that_of_one_process_on_the_whole_batch() -> None:
    for make in (lambda: tf.train.GradientDescentOptimizer(0.5), lambda: tf.train.AdamOptimizer(0.05)):
        ours = _losses(True, make, slice(RANK * ROWS // SIZE, (RANK + 1) * ROWS // SIZE))
        again = _losses(True, make, slice(RANK * ROWS // SIZE, (RANK + 1) * ROWS // SIZE))
        whole = _losses(False, make, slice(None))
        assert ours == again, "not the same bits in two runs"
        assert ours == hvd.broadcast_object(ours), "not the same bits in all ranks"
        assert whole[-1] < 0.8 * whole[0] and np.allclose(ours, whole, rtol=0, atol=2e-6), (ours, whole)
        # what is left is the order of float32's sums: float64's differ by as much less as it is more exact
        ours, whole = (_losses(*of, dtype=tf.float64) for of in (
            (True, make, slice(RANK * ROWS // SIZE, (RANK + 1) * ROWS // SIZE)), (False, make, slice(None))))
        assert np.allclose(ours, whole, rtol=0, atol=1e-13), np.subtract(ours, whole)


@check
def sparse_gradients() -> None:
    tables = []
    for dense in (False, True):
        tf.reset_default_graph()
        table = tf.get_variable("table", initializer=tf.ones([6, 2]))
        rows = tf.constant([0, 1 + RANK])                                       # row 0 in all ranks
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, rows) * (RANK + 1))
        optimizer = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(1.0), sparse_as_dense=dense)
        (grad, _), = optimizer.compute_gradients(loss)
        assert isinstance(grad, tf.IndexedSlices) is not dense
        step = optimizer.minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            tables.append(session.run(table))
    want = np.ones([6, 2])
    want[0] -= sum(range(1, SIZE + 1)) / SIZE
    for i in range(SIZE):
        want[1 + i] -= (i + 1) / SIZE
    assert np.allclose(tables, want)


@check
def many_gradients_are_one_collective() -> None:
    from tfnb.horovod import world
    called, agree = [], world.World.agree

    def noted(self, call, *rest, **more):
        called.append(call.lines)
        return agree(self, call, *rest, **more)
    world.World.agree = noted
    try:
        totals = [hvd.allreduce(tf.fill([i + 1], 1.0), op=hvd.Sum) for i in range(5)]
        after = hvd.allreduce(totals[0] * 2.0, op=hvd.Sum)                      # depends on them
        extra = tf.strings.as_string(totals[1]) if RANK == 0 else totals[1]     # what rank 0 alone fetches
        found = run(after, extra, *totals, times=2)
    finally:
        world.World.agree = agree
    assert found[0].tolist() == [2.0 * SIZE * SIZE] and [len(lines) for lines in called] == [5, 1, 5, 1], called


@check
def collectives_in_loops_and_branches() -> None:
    looped = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, hvd.allreduce(x, op=hvd.Sum)), [0, tf.ones([2])])[1]
    chosen = tf.cond(tf.constant(True), lambda: hvd.allreduce(tf.ones([2])), lambda: tf.zeros([2]))
    assert np.allclose(run(looped, chosen, times=2), [[SIZE ** 3] * 2, [1, 1]])


@check
def differences_between_ranks_are_errors_in_all() -> None:
    x = tf.placeholder(tf.float32, [None])
    total = hvd.allreduce(x, name="total")
    with tf.Session() as session:
        assert session.run(total, {x: np.ones(3, "f")}).tolist() == [1, 1, 1]
        fed = {x: np.ones(2 if RANK == 1 else 3, "f")}
        for _ in range(2):
            text = raised(tf.errors.FailedPreconditionError, lambda: session.run(total, fed))
            assert "rank 1: allreduce (sum) 'total' of float32[2]" in text and "'total' of float32[3]" in text, text
        assert session.run(total, {x: np.ones(3, "f")}).tolist() == [1, 1, 1]   # the session goes on
    other = hvd.allgather(tf.ones([2]), name="gathered") if RANK == 1 else hvd.allreduce(tf.ones([2]), name="summed")
    text = raised(tf.errors.FailedPreconditionError, lambda: run(other))
    assert "rank 1: allgather 'gathered'" in text and "allreduce (sum) 'summed'" in text, text
    kind = hvd.allreduce(tf.cast([1], tf.int64 if RANK == 1 else tf.int32), name="typed", op=hvd.Sum)
    assert "int64" in raised(tf.errors.FailedPreconditionError, lambda: run(kind))
    trailing = hvd.allgather(tf.zeros([1, 2 + RANK % 2]), name="trailing")
    assert "'trailing'" in raised(tf.errors.FailedPreconditionError, lambda: run(trailing))
    assert run(hvd.allreduce(tf.ones([]), op=hvd.Sum)) == [SIZE]


@check
def a_time_limit_ends_the_wait_and_init_begins_anew() -> None:
    total = hvd.allreduce(tf.ones([2]), op=hvd.Sum, name="late")
    if RANK == 0:
        with tf.Session() as session:
            raised(tf.errors.DeadlineExceededError,
                   lambda: session.run(total, options=tf.RunOptions(timeout_in_ms=50)))
            assert "half-way" in raised(tf.errors.FailedPreconditionError, lambda: session.run(total))
    # all ranks leave the communicator that rank 0 has left half-way
    from tfnb.horovod import world
    if RANK:
        world.world()._broken = "the test"
    hvd.shutdown()
    assert not hvd.is_initialized()
    assert "hvd.init" in raised(ValueError, hvd.size)
    hvd.init()
    assert run(total)[0].tolist() == [SIZE, SIZE]


@check
def a_rank_that_ends_is_an_error_in_the_others() -> None:
    total = hvd.allreduce(tf.ones([2]), op=hvd.Sum)
    if RANK != 1:
        with tf.Session() as session:
            for _ in range(2):
                text = raised(tf.errors.CancelledError, lambda: session.run(total))
                assert "rank 1 ended" in text, text
    hvd.shutdown()
    hvd.init()
    assert run(total)[0].tolist() == [SIZE, SIZE]


@check
def some_ranks_alone() -> None:
    hvd.shutdown()
    if RANK < 2:
        hvd.init([0, 1])
        assert hvd.size() == 2 and run(hvd.allreduce(tf.ones([]), op=hvd.Sum)) == [2]
        hvd.shutdown()
    else:
        assert "none of its ranks" in raised(tf.errors.UnimplementedError, lambda: hvd.init([0, 1]))
    hvd.init()


@check
def keras_models() -> None:
    from tfnb.horovod import keras as hvd_keras
    tf.keras.backend.clear_session()
    x, y = _data()
    tf.set_random_seed(RANK)
    mine = slice(RANK * ROWS // SIZE, (RANK + 1) * ROWS // SIZE)
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh", input_shape=(5,)),
                                 tf.keras.layers.Dense(3, "softmax")])
    model.compile(hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(0.4)), "sparse_categorical_crossentropy")
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
                 hvd_keras.callbacks.MetricAverageCallback(),
                 hvd_keras.callbacks.LearningRateWarmupCallback(warmup_epochs=2)]
    history = model.fit(x[mine], y[mine], batch_size=ROWS, epochs=4, verbose=0, callbacks=callbacks).history
    seen = hvd.allgather_object((history["loss"], [w.tolist() for w in model.get_weights()]))
    assert all(one == seen[0] for one in seen), "ranks differ"
    assert history["loss"][-1] < history["loss"][0]
    assert np.allclose(history["lr"][-1], 0.4) and history["lr"][0] < 0.4, history["lr"]
    assert hvd_keras.allreduce(float(RANK)) == (SIZE - 1) / 2 and hvd_keras.allgather([RANK]).tolist() == [*range(SIZE)]


def main() -> None:
    global RANK, SIZE
    hvd.init()
    RANK, SIZE = hvd.rank(), hvd.size()
    found: dict[str, str] = {}
    for name in sys.argv[1:] or CHECKS:
        fn = CHECKS[name]
        tf.reset_default_graph()
        try:
            fn()
            text = ""
        except Exception:
            text = f"rank {RANK}: {traceback.format_exc()}"
        texts = [text for text in hvd.allgather_object(text) if text]
        found[name] = "\n".join(texts)
    if RANK == 0:
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
