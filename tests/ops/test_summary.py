from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core import dtypes
from tfnb.core.errors import FailedPreconditionError, InvalidArgumentError
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.ops.control import source
from tfnb.ops.io import summary
from tfnb.proto.summary_pb2 import Summary, SummaryMetadata
from tfnb.runtime.session import Session
from tfnb.variables import variable as variables


def run(fetch, feeds=None):
    with Session() as session:
        return session.run(fetch, feeds)


def values(fetch, feeds=None):
    return list(Summary.FromString(run(fetch, feeds)).value)


def nodes():
    return [(op.name, op.type, [t.op.name for t in op.inputs]) for op in get_default_graph().get_operations()]


NAMES = """
x = {placeholder}(tf.float32, [], name="x")
with tf.name_scope("sc"):
    a = tf.summary.scalar("loss", x)
    b = tf.summary.scalar("loss", x, family="fam")
    c = tf.summary.histogram("hi there", x)
    d = tf.summary.image("im", {image}, max_outputs=1)
    e = tf.summary.text("tt", {text})
    f = tf.summary.tensor_summary("te", x, display_name="T", summary_description="d", family="/f")
    g = tf.summary.merge([a, c])
h = tf.summary.merge_all()
i = tf.summary.merge_all(scope="sc/l", name="some")
j = tf.summary.scalar("kept", 1.5, collections=["mine"])
k = tf.summary.scalar("unkept", 2, collections=[])
"""


def made_here():
    class Both:
        summary = summary
        name_scope = name_scope
        float32 = dtypes.float32

    scope = {"tf": Both, "placeholder": source.placeholder,
             "image": convert_to_tensor(np.zeros([1, 2, 2, 3], np.float32), name="i"),
             "text": convert_to_tensor([b"one", b"two"], name="t")}
    exec(NAMES.format(placeholder="placeholder", image="image", text="text"), scope)
    return scope


def test_names_tags_and_collections_are_tensorflows(oracle):
    theirs = oracle("image = tf.constant(np.zeros([1, 2, 2, 3], np.float32), name='i')\n"
                    "text = tf.constant([b'one', b'two'], name='t')\n"
                    + NAMES.format(placeholder="tf.placeholder", image="image", text="text") + """
g = tf.get_default_graph()
result = ([(op.name, op.type, [t.op.name for t in op.inputs]) for op in g.get_operations()],
          [t.name for t in g.get_collection("summaries")], [t.name for t in g.get_collection("mine")],
          tf.Session().run(h, {x: 2.5}), tf.Session().run(i, {x: 3.5}))
""")
    scope, graph = made_here(), get_default_graph()
    assert nodes() == theirs[0]
    assert [t.name for t in graph.get_collection(GraphKeys.SUMMARIES)] == theirs[1]
    assert [t.name for t in graph.get_collection("mine")] == theirs[2]
    merged = Summary.FromString(theirs[3])
    for value in merged.value:                     # PNG bytes differ: filters and window are the encoder's choice
        value.image.ClearField("encoded_image_string")
    ours = Summary.FromString(run(scope["h"], {scope["x"]: 2.5}))
    for value in ours.value:
        value.image.ClearField("encoded_image_string")
    assert ours == merged
    assert run(scope["i"], {scope["x"]: 3.5}) == theirs[4]


def test_scalar_by_hand():
    with name_scope("a"):
        made = summary.scalar("b", 1.5)
    assert values(made) == [Summary.Value(tag="a/b", simple_value=1.5)]
    assert [name for name, _, _ in nodes()] == ["a/b/tags", "a/b/values", "a/b"]
    assert made.dtype == dtypes.string and made.static == ()


def test_older_functions(oracle):
    code = """
a = {0}scalar_summary(["p", "q"], [1.0, 2.0])
b = {0}histogram_summary("h", [1.0, 2.0, 2.0], name="named")
c = {0}merge_summary([a, b])
"""
    scope = {"tf": summary}
    exec(code.format("tf."), scope)
    merged = summary.merge_all_summaries()
    image = summary.image_summary("i", np.zeros([2, 1, 1, 1], np.float32), max_images=1)
    assert [t.name for t in get_default_graph().get_collection("summaries")] == [
        "ScalarSummary:0", "named:0", "ImageSummary:0"]
    assert [scope["c"].name, merged.name] == ["MergeSummary/MergeSummary:0", "MergeSummary_1/MergeSummary:0"]
    theirs = oracle("""
from tensorflow.python.ops import gen_logging_ops as g
a = g.scalar_summary(["p", "q"], [1.0, 2.0])
b = g.histogram_summary("h", [1.0, 2.0, 2.0])
result = tf.Session().run(g.merge_summary([a, b]))
""")
    assert run(merged) == run(scope["c"]) == theirs
    assert [value.tag for value in values(image)] == ["i/image"]


def test_merge_all_of_nothing():
    assert summary.merge_all() is None and summary.merge_all_summaries() is None
    summary.scalar("a", 1.0)
    assert summary.merge_all(scope="b") is None


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "uint8", "uint16", "int8"])
def test_scalars_of_all_dtypes(oracle, dtype):
    value = np.array(7, dtype)
    theirs = oracle("result = tf.Session().run(tf.summary.scalar('s', tf.constant(v)))", v=value)
    assert run(summary.scalar("s", value)) == theirs


def test_not_finite_scalars():
    assert np.isnan(values(summary.scalar("s", np.float32("nan")))[0].simple_value)
    assert values(summary.scalar("s", 1e300 * np.ones(())))[0].simple_value == np.inf


@pytest.mark.parametrize("make, message", [
    (lambda: summary.scalar("q", [1.0, 2.0]), r"tags and values are not the same shape: \[\] != \[2\] \(tag 'q'\)"),
    (lambda: summary.scalar_summary(["a", "b"], [1.0, 2.0, 3.0]), r"are not the same shape: \[2\] != \[3\]"),
    (lambda: summary.histogram("q", [1.0, np.nan]), "Nan in summary histogram for: q"),
    (lambda: summary.histogram("q", [1.0, np.inf]), "Infinity in Histogram for: q"),
    (lambda: summary.image("q", np.zeros([2, 3, 3])), r"Tensor must be 4-D with last dim 1, 3, or 4, not \[2,3,3\]"),
    (lambda: summary.image("q", np.zeros([2, 3, 3, 2])), r"last dim 1, 3, or 4, not \[2,3,3,2\]"),
    (lambda: summary.merge([summary.scalar_summary("d", 1.0), summary.scalar_summary("d", 2.0)]),
     "Duplicate tag d found in summary inputs"),
    (lambda: summary.merge([np.array(b"\xff", object)]), "Could not parse one of the summary inputs"),
])
def test_errors_are_tensorflows(make, message):
    made = make()
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        run(made)
    assert caught.value.op is made.op


def test_text_wants_strings():
    with pytest.raises(ValueError, match="to have dtype string"):
        summary.text("t", 1.0)


def test_metadata_of_the_caller_is_left_alone():
    metadata = SummaryMetadata(display_name="a")
    value, = values(summary.tensor_summary("t", [1, 2], summary_metadata=metadata, display_name="b"))
    assert (value.metadata.display_name, metadata.display_name) == ("b", "a")
    assert np.frombuffer(value.tensor.tensor_content, np.int32).tolist() == [1, 2]


RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=(2, 5, 4, 3))
SPOILED = np.where(RNG.random((2, 5, 4, 3)) < 0.1, np.nan, NORMAL)
IMAGES = {
    "float": NORMAL.astype(np.float32), "positive": RNG.random((1, 6, 5, 1)).astype(np.float32) * 3,
    "spoiled": SPOILED.astype(np.float32), "double": NORMAL, "half": NORMAL.astype(np.float16),
    "rgba": RNG.random((4, 2, 2, 4)).astype(np.float32), "tiny": np.full((1, 2, 2, 1), 1e-9, np.float32),
    "zero": np.zeros((1, 2, 2, 3), np.float32), "bytes": RNG.integers(0, 256, (2, 3, 3, 3), np.uint8),
    "all bad": np.full((1, 2, 2, 1), np.inf, np.float32), "none": np.zeros((0, 2, 2, 1), np.float32),
}


@pytest.mark.parametrize("name", IMAGES)
def test_images_have_tensorflows_pixels(oracle, name):
    ours = values(summary.image("i", convert_to_tensor(IMAGES[name])))
    theirs, pixels = oracle("""
data = tf.Session().run(tf.summary.image("i", tf.constant(image)))
values = tf.Summary.FromString(data).value
decode = lambda png: tf.Session().run(tf.image.decode_png(png))
result = ([(v.tag, v.image.height, v.image.width, v.image.colorspace) for v in values],
          [(decode(v.image.encoded_image_string), decode(png)) for v, png in zip(values, pngs)])
""", image=IMAGES[name], pngs=[value.image.encoded_image_string for value in ours])
    assert [(v.tag, v.image.height, v.image.width, v.image.colorspace) for v in ours] == theirs
    for right, found in pixels:
        assert np.array_equal(right, found)


def test_a_histogram_of_a_variable_is_of_what_it_holds_now():
    v = variables.Variable(np.zeros(1000, np.float32))
    made = summary.histogram("v", v)
    add = v.assign_add(np.ones(1000, np.float32))
    with Session() as session:
        with pytest.raises(FailedPreconditionError, match="uninitialized value Variable"):
            session.run(made)
        session.run(v.initializer)
        sums = []
        for _ in range(3):
            sums.append(Summary.FromString(session.run(made)).value[0].histo.sum)
            session.run(add)
    assert sums == [0, 1000, 2000]


def test_graphs_with_images_are_written_and_read():
    image = summary.image("i", convert_to_tensor(np.full([1, 4, 4, 3], np.nan, np.float32)))
    written = image.graph.as_graph_def()
    assert list(tf.make_ndarray(written.node[-1].attr["bad_color"].tensor)) == [255, 0, 0, 255]
    with tf.Graph().as_default():
        read, = tf.import_graph_def(written, return_elements=[image.name], name="")
        assert tf.Session().run(read) == tf.Session(graph=image.graph).run(image)
