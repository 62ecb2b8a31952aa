"""Readers, Examples, strings of numbers and sparse tensors: what they give, and their errors, as in TensorFlow."""
from __future__ import annotations

import re

import numpy as np
import pytest

import tfnb as tf
from tfnb.proto.example_pb2 import Example


def example(**features) -> bytes:
    made = Example()
    for key, values in features.items():
        kind = {float: "float_list", int: "int64_list", bytes: "bytes_list"}[type(values[0])]
        getattr(made.features.feature[key], kind).value.extend(values)
    return made.SerializeToString()


# ---- readers ---------------------------------------------------------------------------------------------------------

@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\nthree")
    (tmp_path / "b.txt").write_bytes(b"four\n\nsix\n")
    for name, options in (("r", None), ("z", tf.python_io.TFRecordOptions("ZLIB"))):
        with tf.python_io.TFRecordWriter(str(tmp_path / name), options) as writer:
            for data in (b"first", b"", b"third" * 100):
                writer.write(data)
    return tmp_path


def read_all(reader, names, many: int = 0) -> list:
    queue = tf.train.string_input_producer([str(n) for n in names], num_epochs=1, shuffle=False)
    record = reader.read_up_to(queue, many) if many else reader.read(queue)
    counts = reader.num_records_produced(), reader.num_work_units_completed()
    found = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coord)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                key, value = session.run(record)
                found.append((key.tolist(), value.tolist()) if many else
                             (key.decode().rpartition("/")[2], value))
        made = sum(len(keys) for keys, _ in found) if many else len(found)
        assert session.run(counts) == (made, len(names))
        session.run(reader.reset())
        assert session.run(counts) == (0, 0)
        coord.request_stop()
        coord.join(threads)
    return found


def test_lines(files):
    names = [files / "a.txt", files / "b.txt"]
    assert read_all(tf.TextLineReader(), names) == [
        ("a.txt:1", b"one"), ("a.txt:2", b"two"), ("a.txt:3", b"three"),
        ("b.txt:1", b"four"), ("b.txt:2", b""), ("b.txt:3", b"six")]
    tf.reset_default_graph()
    assert read_all(tf.TextLineReader(skip_header_lines=2), names) == [("a.txt:3", b"three"), ("b.txt:3", b"six")]
    tf.reset_default_graph()
    assert [values for _, values in read_all(tf.TextLineReader(), names, 2)] == [
        [b"one", b"two"], [b"three"], [b"four", b""], [b"six"]]


def test_other_records(files):
    assert read_all(tf.WholeFileReader(), [files / "b.txt"]) == [("b.txt", b"four\n\nsix\n")]
    assert [v for _, v in read_all(tf.IdentityReader(), ["x", "y"])] == [b"x", b"y"]
    fixed = read_all(tf.FixedLengthRecordReader(3, header_bytes=1, footer_bytes=1, hop_bytes=2), [files / "b.txt"])
    assert fixed == [("b.txt:0", b"our"), ("b.txt:1", b"r\n\n"), ("b.txt:2", b"\nsi")]
    assert read_all(tf.TFRecordReader(), [files / "r"]) == [
        ("r:0", b"first"), ("r:21", b""), ("r:37", b"third" * 100)]
    assert len(read_all(tf.TFRecordReader(options=tf.python_io.TFRecordOptions("ZLIB")), [files / "z"])) == 3


def test_a_file_that_is_not_there(tmp_path):
    queue = tf.FIFOQueue(3, [tf.string], [[]])
    read = tf.TextLineReader().read(queue)
    with tf.Session() as session:
        session.run(queue.enqueue(str(tmp_path / "none")))
        with pytest.raises(tf.errors.NotFoundError, match="none; No such file or directory") as caught:
            session.run(read)
        assert caught.value.op is read[0].op
        with pytest.raises(tf.errors.NotFoundError):
            session.run(tf.read_file(str(tmp_path / "none")))
        session.run(tf.write_file(str(tmp_path / "new" / "f"), "text"))
        assert session.run(tf.read_file(str(tmp_path / "new" / "f"))) == b"text"


def test_records_for_programs(files):
    assert list(tf.python_io.tf_record_iterator(files / "r")) == [b"first", b"", b"third" * 100]
    kind = tf.python_io.TFRecordCompressionType
    assert tf.python_io.TFRecordOptions.get_compression_type_string(tf.python_io.TFRecordOptions(kind.GZIP)) == "GZIP"
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        tf.python_io.TFRecordOptions("RAR")


def test_readers_give_what_tensorflow_gives(oracle, files):
    code = """
queue = tf.FIFOQueue(9, [tf.string], [[]])
readers = [tf.TextLineReader(skip_header_lines=1), tf.WholeFileReader(), tf.FixedLengthRecordReader(4, 2, 1, 3)]
reads = [reader.read(queue) for reader in readers]
result = [(n.name, n.op, list(n.input)) for n in tf.get_default_graph().as_graph_def().node]
with tf.Session() as session:
    for read in reads:
        session.run(queue.enqueue_many([[name, name]]))
        result += [tuple(session.run(read)) for _ in range(2)]
        if session.run(queue.size()):
            session.run(queue.dequeue())
"""
    scope = {"tf": tf, "name": str(files / "a.txt")}
    exec(code, scope)
    assert scope["result"] == oracle(code, name=scope["name"])


# ---- Examples --------------------------------------------------------------------------------------------------------

def test_examples():
    data = [example(n=[3], x=[1.0, 2.0], w=[b"a", b"b"]), example(n=[4], x=[5.0, 6.0])]
    features = {"n": tf.FixedLenFeature([], tf.int64), "x": tf.FixedLenFeature([2], tf.float32),
                "d": tf.FixedLenFeature([2], tf.int64, default_value=[7, 8]), "w": tf.VarLenFeature(tf.string),
                "s": tf.FixedLenSequenceFeature([1], tf.float32, allow_missing=True)}
    with tf.Session() as session:
        found = session.run(tf.parse_example(data, features))
        assert found["n"].tolist() == [3, 4] and found["d"].tolist() == [[7, 8], [7, 8]]
        np.testing.assert_array_equal(found["x"], [[1, 2], [5, 6]])
        assert found["s"].shape == (2, 0, 1)
        assert found["w"].indices.tolist() == [[0, 0], [0, 1]] and found["w"].dense_shape.tolist() == [2, 2]
        one = session.run(tf.parse_single_example(data[0], features))
        assert one["n"] == 3 and one["w"].values.tolist() == [b"a", b"b"] and one["x"].shape == (2,)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example input"):
            session.run(tf.parse_single_example(b"no example", features))


SETS = ["{'a': tf.FixedLenFeature([], tf.int64)}", "{'a': tf.FixedLenFeature([2], tf.float32)}",
        "{'a': tf.FixedLenFeature([], tf.float32, default_value=3.)}", "{'a': tf.VarLenFeature(tf.float32)}",
        "{'a': tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True)}",
        "{'a': tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True, default_value=-1)}"]
DATA = [[example(a=[1])], [example(a=[1.0, 2.0])], [example(b=[1.0])], [example(a=[1.0, 2.0, 3.0]), example(a=[4.0])],
        [example(a=[1.0, 2.0, 3.0, 4.0]), example(b=[1])]]
FOUND = """
import re
def found(make):
    try:
        with tf.Session() as session:
            return repr(session.run(make()))
    except Exception as error:
        text = re.search(r"Node: .*?\\n(.*?)(\\n|$)", str(error), re.S)
        return type(error).__name__ + ": " + (text[1] if text else str(error).split("\\n")[0])
"""


def both(oracle, code: str, **inputs) -> tuple[list, list]:
    scope = {"tf": tf, "np": np, **inputs}
    exec(FOUND + code, scope)
    return scope["result"], oracle(FOUND + code, **inputs)


@pytest.mark.parametrize("features", SETS)
def test_examples_are_parsed_as_in_tensorflow(oracle, features):
    ours, theirs = both(oracle, f"""
made = tf.parse_example(tf.placeholder(tf.string, [None]), {features})
single = tf.parse_single_example(tf.placeholder(tf.string, []), {features})
result = [(n.name, n.op, list(n.input)) for n in tf.get_default_graph().as_graph_def().node]
result += [str(t.get_shape()) for t in [*made.values(), *single.values()]]
result += [found(lambda: tf.parse_example(d, {features})) for d in data]
result.append(found(lambda: tf.parse_single_example(data[2][0], {features})))
""", data=DATA)
    other_order = re.compile(r"Data types don't match\. .*")       # TensorFlow words it so and so
    kept = [[other_order.sub("", str(x)) for x in side if "Reshape" not in str(x)] for side in (ours, theirs)]
    assert kept[0] == kept[1]                      # (TensorFlow's reshape(x, []) leaves a constant that nobody reads)


# ---- strings, sparse tensors -----------------------------------------------------------------------------------------

CALLS = [
    *[f"tf.decode_csv({line!r}, [tf.constant([], tf.int32), [2.0], ['d']])" for line in (
        ["1,2.5,x"], ["1,2.5"], ["a,1,x"], [",1,x"], ["1,,x"], ['1,2,"x,""y"""'], ['1,2,x"y'], ["1, 2 ,x"],
        ['1,2,"x'], ["1,2,x", '3,"4",'])],
    "tf.decode_csv('1,2,3', [[1], [3]], select_cols=[0, 2])", "tf.decode_csv('1 NA 3', [[1], [2], [3]], ' ', "
    "na_value='NA')", "tf.decode_csv('1,\"2\",3', [['1'], ['2'], ['3']], use_quote_delim=False)",
    "tf.decode_raw(['abcd', 'efgh'], tf.int16)", "tf.decode_raw(['abc'], tf.int16)",
    "tf.decode_raw('abcd', tf.int16, little_endian=False)", "tf.string_to_number(['1.5', '-2e3', ' 3 '])",
    "tf.string_to_number(['1.5x'])", "tf.string_to_number(['15', '-3'], tf.int32)",
    "tf.string_to_number(['99999999999'], tf.int32)", "tf.string_split(['a b  c', ' d ', ''])",
    "tf.string_split(['a,b,,c'], ',', skip_empty=False)", "tf.string_split(['a,b;c'], ',;')",
    "tf.string_split(['abc'], '')", "tf.sparse_to_dense([[0, 1], [0, 1]], [2, 3], [1.0, 2.0])",
    "tf.sparse_to_dense([[0, 5]], [2, 3], [1.0])", "tf.sparse_to_dense([1, 2], [4], 9)", "tf.as_string([1.5, 2.25])",
    "tf.as_string([1, -2], width=4, fill='0')", "tf.as_string([1.5, 1e10], scientific=True, precision=3)",
    "tf.as_string([0.1], shortest=True)", "tf.as_string([True])",
    "tf.sparse_tensor_to_dense(tf.SparseTensor([[0, 1], [1, 2]], ['a', 'b'], [2, 3]))",
]


@pytest.mark.parametrize("call", CALLS)
def test_strings_and_sparse_tensors_are_those_of_tensorflow(oracle, call):
    ours, theirs = both(oracle, f"result = found(lambda: {call})")
    assert ours == theirs


def test_sparse_placeholders():
    sparse = tf.sparse_placeholder(tf.float32, [2, 3])
    dense = tf.sparse_tensor_to_dense(sparse)
    open_ = tf.sparse_placeholder(tf.float32, name="open")
    assert (sparse.get_shape().as_list(), open_.values.name) == ([2, 3], "open/values:0")
    value = tf.SparseTensorValue([[0, 1], [1, 2]], [1.0, 2.0], [2, 3])
    with tf.Session() as session:
        assert session.run(dense, {sparse: value}).tolist() == [[0, 1, 0], [0, 0, 2]]
        fetched = session.run(open_, {open_: value})
        assert isinstance(fetched, tf.SparseTensorValue) and fetched.values.tolist() == [1, 2]
    with pytest.raises(ValueError):
        tf.SparseTensor([[0, 1]], [1.0, 2.0], [2, 3])
