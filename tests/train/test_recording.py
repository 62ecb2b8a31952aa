"""tf.contrib.summary: writers that are resources of a session, whose event files hold what TensorFlow's hold."""
from __future__ import annotations

import pytest

import tfnb as tf
from tests.differential import differences

SETUP = """
import glob, tempfile
if hasattr(tf, "contrib"):
    contrib = tf.contrib.summary
else:
    from tensorflow.python.ops import summary_ops_v2 as contrib
folder = tempfile.mkdtemp()
raw, at = tf.raw_ops, np.int64
graph = getattr(contrib, "graph_v1", None) or contrib.graph
def kept(value):
    value.image.encoded_image_string = b""         # compressed by another library
    return value.SerializeToString()
def wrote():
    # All that is in the event files but for wall times.
    found = []
    for path in sorted(glob.glob(folder + "/*")):
        for event in list(tf.train.summary_iterator(path))[1:]:
            found.append((event.step, event.WhichOneof("what"), [kept(value) for value in event.summary.value]))
    return found
def tried(what, feed=None):
    told = outcome(lambda: sess.run(what, feed))
    return told if str(told).startswith("raises") else "ran"
"""
PROGRAM = """
step = tf.train.get_or_create_global_step()
x = tf.placeholder(tf.float32, [])
writer = contrib.create_file_writer(folder)
with writer.as_default(), contrib.record_summaries_every_n_global_steps(2):
    with tf.name_scope("model"):
        made = [contrib.scalar("loss", x), contrib.scalar("loss", 2 * x, family="f")]
        made += [contrib.histogram("h", [x, x + 1])]
    with contrib.always_record_summaries():
        made += [contrib.image("i", tf.ones([2, 3, 4, 1]) * x, max_images=1)]
        made += [contrib.audio("a", [[0.0, 0.5]], 8000.0, 2)]
        made += [contrib.generic("g", tf.stack([x, x]), metadata=b"\\x12\\x01k", step=40)]
    with contrib.never_record_summaries():
        made += [contrib.scalar("never", x)]
    count = tf.assign_add(step, 1)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    contrib.initialize(graph=tf.get_default_graph(), session=sess)
    found = []
    for i in range(4):
        for op in made:
            found.append(sess.run(op, {x: i}))
        sess.run(count)
    sess.run(contrib.flush())
"""
RAW = """
w = raw.SummaryWriter(shared_name="w")
b, s = tf.placeholder(tf.string, []), tf.placeholder(tf.int64)
scalar = raw.WriteScalarSummary(writer=w, step=at(1), tag="a", value=[1.5])
opened = raw.CreateSummaryFileWriter(writer=w, logdir=folder, max_queue=10, flush_millis=1000, filename_suffix=".x")
ops = [raw.WriteHistogramSummary(writer=w, step=at(2), tag="h", values=[True, False, True]),
       raw.WriteHistogramSummary(writer=w, step=at(2), tag="h", values=[1.0, np.nan]),
       raw.WriteSummary(writer=w, step=at(2), tensor=[b"x", b"yz"], tag="t", summary_metadata=""),
       raw.WriteImageSummary(writer=w, step=at(3), tag="i", tensor=np.ones([2, 2, 1], np.float32),
                             bad_color=np.array([255, 0, 0, 255], np.uint8)),
       raw.WriteScalarSummary(writer=w, step=at(1), tag="n", value=np.int32(3))]
event, graph = raw.ImportEvent(writer=w, event=b), raw.WriteGraphSummary(writer=w, step=at(0), tensor=b)
pieces = raw.WriteRawProtoSummary(writer=w, step=at(9), tensor=[b, b])
close, flush = raw.CloseSummaryWriter(writer=w), raw.FlushSummaryWriter(writer=w)
sess = tf.Session()
found = [tried(op) for op in (scalar, flush, close, opened, opened, scalar, *ops)]
found += [tried(event, {b: tf.Event(step=7).SerializeToString()}), tried(event, {b: b"abc"}),
          tried(graph, {b: tf.GraphDef().SerializeToString()}), tried(graph, {b: b"abc"}),
          tried(pieces, {b: tf.Summary(value=[tf.Summary.Value(tag="q", simple_value=2.0)]).SerializeToString()}),
          tried(pieces, {b: b"abc"})] + [tried(op) for op in (flush, close, scalar, flush, close)]
found += [tried(op) for op in (opened, scalar, close)]
"""
SNIPPETS = {
    "recorded": PROGRAM + "found, wrote()",
    "names": PROGRAM + """
[op.name for op in made] + [op.type for op in made] + [len(contrib.all_v2_summary_ops()), writer._resource.name,
 contrib.summary_writer_initializer_op()[0].name, contrib.eval_dir("m") == contrib.eval_dir("m", "")]""",
    "raw": RAW + "found, wrote()",
    "no writer": """
with contrib.always_record_summaries():
    found = [contrib.scalar("a", 1.0, step=1).type, contrib.flush().type,
             graph(tf.constant(""), step=1).type]
with contrib.create_file_writer(None).as_default(), contrib.always_record_summaries():
    found += [contrib.scalar("a", 1.0, step=1).type]
found + [outcome(lambda: graph("text", step=1)), outcome(contrib.initialize)]""",
}


def test_files_names_and_errors_are_those_of_tensorflow(oracle):
    assert differences(oracle, SNIPPETS, SETUP, modes=("never", "always")) == {}


@pytest.mark.parametrize("value", [[1.0, 2.0], []])
def test_a_scalar_is_one_number(value, tmp_path):
    """TensorFlow ends the process for these."""
    writer = tf.contrib.summary.create_file_writer(tmp_path)
    x = tf.placeholder(tf.float32)
    with writer.as_default(), tf.contrib.summary.always_record_summaries():
        written = tf.contrib.summary.scalar("loss", x, step=1)
    sess = tf.Session()
    sess.run(writer.init())
    with pytest.raises(tf.errors.InvalidArgumentError, match="value must have one element, got shape"):
        sess.run(written, {x: value})


def test_a_closed_session_has_written_all(tmp_path):
    writer = tf.contrib.summary.create_file_writer(tmp_path, max_queue=100)
    with writer.as_default(), tf.contrib.summary.always_record_summaries():
        written = tf.contrib.summary.scalar("loss", 0.5, step=1)
    with tf.Session() as sess:
        sess.run(tf.contrib.summary.summary_writer_initializer_op())
        for _ in range(5):
            sess.run(written)
    [path] = tmp_path.iterdir()
    assert len(list(tf.train.summary_iterator(path))) == 6


def test_databases_are_refused():
    with pytest.raises(AttributeError, match="create_file_writer"):
        tf.contrib.summary.create_db_writer("x")
