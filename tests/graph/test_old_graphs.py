"""Graphs of releases before 1.0: queues and readers whose handles are references to strings."""
from __future__ import annotations

import tfnb as tf

# As release 0.8 wrote it: a queue of names that is filled, closed and emptied, a reader of lines behind it.
NODES = """
node { name: "names" op: "Const" attr { key: "dtype" value { type: DT_STRING } } attr { key: "value" value { tensor {
  dtype: DT_STRING tensor_shape { dim { size: 1 } } string_val: "PATH" } } } }
node { name: "queue" op: "FIFOQueue" attr { key: "component_types" value { list { type: DT_STRING } } }
  attr { key: "shapes" value { list { shape {} } } } attr { key: "capacity" value { i: 32 } }
  attr { key: "container" value { s: "" } } attr { key: "shared_name" value { s: "" } } }
node { name: "fill" op: "QueueEnqueueMany" input: "queue" input: "names"
  attr { key: "Tcomponents" value { list { type: DT_STRING } } } attr { key: "timeout_ms" value { i: -1 } } }
node { name: "close" op: "QueueClose" input: "queue" attr { key: "cancel_pending_enqueues" value { b: false } } }
node { name: "size" op: "QueueSize" input: "queue" }
node { name: "reader" op: "TextLineReader" attr { key: "skip_header_lines" value { i: 1 } }
  attr { key: "container" value { s: "" } } attr { key: "shared_name" value { s: "" } } }
node { name: "line" op: "ReaderRead" input: "reader" input: "queue" }
node { name: "produced" op: "ReaderNumRecordsProduced" input: "reader" }
"""
RUN = """
from google.protobuf import text_format
tf.import_graph_def(text_format.Parse(nodes, tf.GraphDef()), name="")
result = []
with tf.Session() as sess:
    sess.run("fill")
    sess.run("close")
    result.append(sess.run("size:0"))
    try:
        while True:
            result.append(sess.run(["line:0", "line:1"])[1])
    except tf.errors.OutOfRangeError:
        result.append(sess.run("produced:0"))
"""


def test_queues_and_readers(tmp_path, oracle):
    path = tmp_path / "lines.txt"
    path.write_text("header\none\ntwo\n")
    nodes = NODES.replace("PATH", path.as_posix())
    scope = {"tf": tf, "nodes": nodes}
    exec(RUN, scope)
    assert scope["result"] == [1, b"one", b"two", 2] == oracle(RUN, nodes=nodes)
    assert tf.get_default_graph().get_operation_by_name("queue").type == "FIFOQueueV2"
