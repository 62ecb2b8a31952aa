"""tf.data where TensorFlow need not be asked: sessions, iterators, files, errors, graphs that travel."""
from __future__ import annotations

import gc
import gzip
import threading
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfnb as tf

D = tf.data.Dataset


def elements(dataset: Any, session: Any = None, feed: Any = None, most: int = 50) -> list[Any]:
    """All elements, taken by an iterator of its own."""
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    with session or tf.Session() as run:
        run.run(iterator.initializer, feed)
        return rest(run, element, most)


def rest(session: Any, element: Any, most: int = 50) -> list[Any]:
    """What an iterator still gives."""
    found = []
    try:
        while len(found) < most:
            found.append(session.run(element))
    except tf.errors.OutOfRangeError:
        pass
    return found


def test_structure_is_told() -> None:
    dataset = D.from_tensor_slices({"a": [[1., 2.]], "b": ([3], ["x"])}).batch(4)
    assert dataset.output_types == {"a": tf.float32, "b": (tf.int32, tf.string)}
    assert dataset.output_shapes["a"].as_list() == [None, 2]
    assert dataset.output_classes == {"a": tf.Tensor, "b": (tf.Tensor, tf.Tensor)}
    element = dataset.make_one_shot_iterator().get_next()
    assert element["b"][1].dtype == tf.string and element["a"].shape.as_list() == [None, 2]
    assert D.range(5).batch(2, drop_remainder=True).output_shapes.as_list() == [2]
    assert D.range(5).window(2).output_classes is D
    assert repr(D.range(3)) == "<Dataset shapes: (), types: <dtype: 'int64'>>"


def test_iterator_must_begin_and_ends() -> None:
    iterator = D.range(2).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
            session.run(element)
        for _ in range(2):
            session.run(iterator.initializer)
            assert rest(session, element) == [0, 1]
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            session.run(element)


def test_each_session_has_its_own_place() -> None:
    element = D.range(9).make_one_shot_iterator().get_next()
    with tf.Session() as first, tf.Session() as second:
        assert [first.run(element), first.run(element), second.run(element)] == [0, 1, 0]


def test_fed_values_are_those_of_the_initializer() -> None:
    most, data = tf.placeholder(tf.int64, []), tf.placeholder(tf.float32, [None, 2])
    array = np.ones((3, 2), np.float32)
    dataset = D.from_tensor_slices(data).repeat(2).take(most)
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer, {most: 4, data: array})
        array[:] = 7                               # the dataset keeps what was fed
        found = rest(session, element)
    assert len(found) == 4 and np.all(np.array(found) == 1)


def test_what_is_fetched_belongs_to_the_caller() -> None:
    element = D.from_tensor_slices(np.zeros((2, 3))).repeat(2).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        for _ in range(4):
            value = session.run(element)
            assert not value.any()
            value[:] = 5


def test_one_element_a_run_for_all_that_need_it() -> None:
    x, y = D.zip((D.range(5), D.range(10, 15))).make_one_shot_iterator().get_next()
    total, product = x + y, x * y
    with tf.Session() as session:
        assert session.run([total, product, x]) == [10, 0, 0]
        assert session.run([total, product, x]) == [12, 11, 1]


def test_training_from_a_dataset() -> None:
    rng = np.random.RandomState(0)
    inputs = rng.rand(64, 3).astype(np.float32)
    dataset = D.from_tensor_slices((inputs, inputs @ [[1.], [2.], [3.]])).shuffle(64, seed=1).repeat().batch(16)
    x, y = dataset.map(lambda a, b: (a, tf.cast(b, tf.float32))).prefetch(2).make_one_shot_iterator().get_next()
    w = tf.Variable(tf.zeros([3, 1]))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_mean(tf.square(tf.matmul(x, w) - y)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(300):
            session.run(train)
        np.testing.assert_allclose(session.run(w)[:, 0], [1, 2, 3], atol=0.02)


def test_a_function_takes_values_from_outside() -> None:
    scale, shift = tf.Variable(3.), tf.placeholder(tf.float32)
    dataset = D.from_tensor_slices([1., 2.]).map(lambda x: x * scale + shift)
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(scale.initializer)
        session.run(iterator.initializer, {shift: 1.})
        session.run(scale.assign(100.))            # the value is that of the initializer's run
        assert rest(session, element) == [4., 7.]


def test_one_shot_iterators_say_what_they_cannot_take() -> None:
    with pytest.raises(ValueError, match=r"Cannot capture a placeholder .*make_initializable_iterator"):
        D.from_tensor_slices(tf.placeholder(tf.float32, [3])).make_one_shot_iterator()
    scale = tf.Variable(2.)
    with pytest.raises(ValueError, match=r"Cannot capture a stateful node \(name:Variable, type:VariableV2\)"):
        D.range(3).map(lambda x: tf.cast(x, tf.float32) * scale).make_one_shot_iterator()
    assert D.range(3).make_one_shot_iterator().get_next() is not None


def test_reinitializable_iterators() -> None:
    train, test = D.range(3), D.range(100, 102)
    iterator = tf.data.Iterator.from_structure(train.output_types, train.output_shapes)
    element = iterator.get_next()
    begin_train, begin_test = iterator.make_initializer(train), iterator.make_initializer(test)
    with pytest.raises(ValueError, match="does not have an initializer"):
        _ = iterator.initializer
    with pytest.raises(TypeError, match="Expected output types"):
        iterator.make_initializer(D.from_tensors(1.))
    with pytest.raises(TypeError, match="Expected output shapes"):
        iterator.make_initializer(train.batch(2))
    with tf.Session() as session:
        session.run(begin_train)
        assert session.run(element) == 0
        session.run(begin_test)
        assert rest(session, element) == [100, 101]


def test_iterators_by_their_handles() -> None:
    handle = tf.placeholder(tf.string, [])
    first, second = D.range(5).make_one_shot_iterator(), D.range(50, 55).make_initializable_iterator()
    element = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    with tf.Session() as session:
        a, b = session.run([first.string_handle(), second.string_handle()])
        session.run(second.initializer)
        assert [session.run(element, {handle: h}) for h in (a, b, b, a)] == [0, 50, 51, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="no iterator called b'nothing'"):
            session.run(element, {handle: b"nothing"})


def test_a_step_that_fails_names_its_op_and_the_next_goes_on() -> None:
    dataset = D.from_tensor_slices([4., 0., 2.]).map(lambda x: tf.check_numerics(1. / x, "not finite"))
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == 0.25
        with pytest.raises(tf.errors.InvalidArgumentError, match="not finite") as caught:
            session.run(element)
        assert caught.value.op.name == "CheckNumerics" and "test_datasets.py" in str(caught.value)
        assert session.run(element) == 0.5


@pytest.mark.parametrize("make, error, words", [
    (lambda: D.range(3).map(lambda x: None), TypeError, "must return tensors"),
    (lambda: D.range(3).map(3), TypeError, "function of elements"),
    (lambda: D.range(3).filter(lambda x: x), ValueError, "`predicate` must return a scalar bool"),
    (lambda: D.range(3).flat_map(lambda x: x), TypeError, "must return a `Dataset`"),
    (lambda: D.zip([D.range(3), D.range(3)]), TypeError, "a Python list is none"),
    (lambda: D.from_tensor_slices(3), ValueError, "scalar"),
    (lambda: D.from_tensor_slices(([1, 2], [1])), ValueError, "Dimensions 1 and 2 are not compatible"),
    (lambda: D.range(3).concatenate(D.from_tensors(1.)), TypeError, "different types"),
    (lambda: D.range(3).shard(2, 5), ValueError, "index must be"),
    (lambda: D.range(3).apply(lambda d: 3), TypeError, "must return a Dataset"),
    (lambda: D.range(3).map(lambda x: tf.Variable(1.)), ValueError, "can't make variables"),
    (lambda: D.range(3).reduce(0., lambda s, x: x), TypeError, "must match the initial state"),
    (lambda: D.range(3).batch(2).padded_batch(2, padded_shapes=[3, 3]), ValueError, "not compatible with the shape"),
    (lambda: iter(D.range(3)), RuntimeError, "make_one_shot_iterator"),
])
def test_wrong_pipelines_are_refused(make: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("make, words", [
    (lambda: D.from_tensor_slices([1, 2, 3]).batch(0), "Batch size must be greater than zero"),
    (lambda: D.range(1, 4).map(lambda x: tf.fill([x], x)).batch(2), "Cannot batch tensors with different shapes"),
    (lambda: D.range(1, 4).map(lambda x: tf.fill([x], x)).padded_batch(2, [1]), "pad to a smaller size"),
    (lambda: D.range(3).shuffle(0), "buffer_size must be greater than zero"),
    (lambda: D.range(3).cache("file"), "in memory only"),
    (lambda: D.range(0, 3, 0), "step must be"),
])
def test_wrong_values_are_refused_when_they_are_known(make: Any, words: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=words) as caught:
        elements(make())
    assert caught.value.op is not None


def test_generators_may_fail_and_begin_anew() -> None:
    calls = []

    def numbers() -> Any:
        calls.append(1)
        yield 1
        yield "text"
    element = D.from_generator(numbers, tf.int32, []).repeat(2).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="expected type was int32"):
            session.run(element)
    assert calls == [1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="element of shape"):
        elements(D.from_generator(lambda: iter([[1, 2], [1]]), tf.int32, [2]))
    with pytest.raises(TypeError, match="callable"):
        D.from_generator([1, 2], tf.int32)


def test_files(tmp_path: Path) -> None:
    text = b"one\r\ntwo\nthree"
    (tmp_path / "a.txt").write_bytes(text)
    (tmp_path / "b.txt").write_bytes(b"four\n")
    (tmp_path / "z.gz").write_bytes(gzip.compress(text))
    (tmp_path / "z.zlib").write_bytes(zlib.compress(text))
    names = [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
    assert elements(tf.data.TextLineDataset(names)) == [b"one", b"two", b"three", b"four"]
    for name, kind in (("z.gz", "GZIP"), ("z.zlib", "ZLIB")):
        assert elements(tf.data.TextLineDataset(str(tmp_path / name), kind)) == [b"one", b"two", b"three"]
    assert elements(tf.data.TextLineDataset(names, num_parallel_reads=2)) == [b"one", b"four", b"two", b"three"]
    with tf.python_io.TFRecordWriter(str(tmp_path / "r")) as writer:
        for record in (b"x", b"", b"yz"):
            writer.write(record)
    assert elements(tf.data.TFRecordDataset(str(tmp_path / "r"))) == [b"x", b"", b"yz"]
    (tmp_path / "fixed").write_bytes(b"HHaabbccF")
    assert elements(tf.data.FixedLengthRecordDataset(str(tmp_path / "fixed"), 2, 2, 1)) == [b"aa", b"bb", b"cc"]
    assert elements(D.list_files(str(tmp_path / "*.txt"), shuffle=False)) == [name.encode() for name in names]
    assert sorted(elements(D.list_files(str(tmp_path / "*.txt")))) == [name.encode() for name in names]
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        elements(tf.data.TextLineDataset(str(tmp_path / "nowhere")))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unsupported compression_type"):
        elements(tf.data.TFRecordDataset(names[0], "ZIP"))


def test_examples_of_a_file_by_batches(tmp_path: Path) -> None:
    with tf.python_io.TFRecordWriter(str(tmp_path / "r")) as writer:
        for i in range(5):
            feature = tf.train.Feature(float_list=tf.train.FloatList(value=[i, i + 0.5]))
            writer.write(tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString())
    dataset = tf.data.TFRecordDataset(str(tmp_path / "r")).map(
        lambda r: tf.parse_single_example(r, {"x": tf.FixedLenFeature([2], tf.float32)})["x"]).batch(2)
    assert [batch.tolist() for batch in elements(dataset)] == [[[0, 0.5], [1, 1.5]], [[2, 2.5], [3, 3.5]], [[4, 4.5]]]


def test_prefetching_ends_with_its_iterator() -> None:
    made = []
    others = set(threading.enumerate())             # iterators of other tests that live on

    def count() -> Any:
        for i in range(10**6):
            made.append(i)
            yield i

    def left() -> bool:
        return any(t.name == "tfnb-prefetch" for t in set(threading.enumerate()) - others)
    session = tf.Session()
    element = D.from_generator(count, tf.int64, []).prefetch(3).make_one_shot_iterator().get_next()
    assert [session.run(element) for _ in range(3)] == [0, 1, 2] and left()
    session.close()
    del session
    for _ in range(200):
        gc.collect()
        if not left():
            break
        time.sleep(0.02)
    assert not left() and len(made) < 20


def test_map_by_threads_keeps_order_and_errors() -> None:
    dataset = D.from_tensor_slices([1., 0., 4., 5.]).map(lambda x: tf.check_numerics(1. / x, "bad"), 3)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
            session.run(element)
        assert rest(session, element) == [0.25, pytest.approx(0.2)]


def test_options_and_the_single_element() -> None:
    options = tf.data.Options()
    options.experimental_deterministic = False
    dataset = D.range(3).with_options(options)
    single = tf.data.experimental.get_single_element(dataset.batch(3))
    with tf.Session() as session:
        assert session.run(single).tolist() == [0, 1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than one element"):
            session.run(tf.data.experimental.get_single_element(dataset))


def test_sampling_takes_from_all() -> None:
    parts = [D.from_tensors(i).repeat(200) for i in range(3)]
    found = elements(tf.data.experimental.sample_from_datasets(parts, [0.5, 0.5, 0.], seed=1), most=100)
    assert 30 < found.count(0) < 70 and found.count(0) + found.count(1) == 100


def a_pipeline() -> Any:
    offset = tf.constant(10, tf.int64, name="offset")
    inner = D.range(6).flat_map(lambda x: D.range(x).map(lambda y: x * 100 + y + offset))
    return inner.filter(lambda x: x % 2 < 1).batch(3)


def test_graphs_with_datasets_travel() -> None:
    iterator = a_pipeline().make_initializable_iterator()
    tf.identity(iterator.get_next(), name="element")
    graph_def = tf.get_default_graph().as_graph_def()
    assert len(graph_def.library.function) == 3
    want = [b.tolist() for b in elements(a_pipeline())]
    for _ in range(2):                             # what was imported is exported again
        tf.reset_default_graph()
        tf.import_graph_def(graph_def, name="")
        with tf.Session() as session:
            session.run("MakeIterator")
            assert [b.tolist() for b in rest(session, "element:0")] == want
        graph_def = tf.get_default_graph().as_graph_def()


def test_datasets_run_in_tensorflow(oracle: Any) -> None:
    want = [b.tolist() for b in elements(a_pipeline())]
    tf.reset_default_graph()
    iterator = a_pipeline().make_initializable_iterator()
    tf.identity(iterator.get_next(), name="element")
    found = oracle("""
graph_def = tf.GraphDef.FromString(data)
tf.import_graph_def(graph_def, name="")
result = []
with tf.Session() as session:
    session.run("MakeIterator")
    try:
        while True:
            result.append(session.run("element:0").tolist())
    except tf.errors.OutOfRangeError:
        pass
""", data=tf.get_default_graph().as_graph_def().SerializeToString())
    assert found == want


def test_datasets_of_tensorflow_run_here(oracle: Any) -> None:
    data = oracle("""
D = tf.data.Dataset
offset = tf.constant(10, tf.int64)
dataset = D.range(6).flat_map(lambda x: D.range(x).map(lambda y: x * 100 + y + offset)).shuffle(3, seed=1).batch(3)
iterator = tf.data.make_initializable_iterator(dataset)
tf.identity(iterator.get_next(), name="element")
tf.identity(tf.data.make_one_shot_iterator(D.range(3)).get_next(), name="once")
result = tf.get_default_graph().as_graph_def().SerializeToString()
""")
    tf.import_graph_def(tf.GraphDef.FromString(data), name="")
    with tf.Session() as session:
        session.run("MakeIterator")
        assert sorted(np.concatenate(rest(session, "element:0")).tolist()) == sorted(
            x * 100 + y + 10 for x in range(6) for y in range(x))
        assert rest(session, "once:0") == [0, 1, 2]


def test_equal_functions_are_one() -> None:
    D.range(3).map(lambda x: x + 1)
    D.range(4).map(lambda x: x + 1)
    D.range(4).map(lambda x: x + 2)
    assert len(tf.get_default_graph().as_graph_def().library.function) == 2


def test_the_first_names_of_contrib() -> None:
    dataset = D.range(7).apply(tf.contrib.data.batch_and_drop_remainder(3))
    assert dataset.output_shapes.as_list() == [3] and len(elements(dataset)) == 2
    padded = D.range(1, 4).map(lambda x: tf.fill([x], x))
    found = elements(padded.apply(tf.contrib.data.padded_batch_and_drop_remainder(2, [None])))
    assert [f.tolist() for f in found] == [[[1, 0], [2, 2]]]
    assert tf.contrib.data.Dataset is D


@pytest.mark.parametrize("count", [2, 3])
def test_parallel_calls_of_a_map_are_under_way_at_once(count: int) -> None:
    """Each call waits for the others of its group."""
    together = threading.Barrier(count, timeout=30)

    def meet(x: Any) -> Any:
        together.wait()
        return x * 2
    dataset = D.range(2 * count).map(lambda x: tf.py_func(meet, [x], tf.int64), num_parallel_calls=count)
    assert elements(dataset) == [2 * i for i in range(2 * count)]
