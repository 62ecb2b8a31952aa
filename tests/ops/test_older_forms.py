"""Queues and readers behind string references, as graphs of early releases have them."""
import numpy as np

import tfnb as tf


def test_an_old_input_pipeline_is_imported_and_runs(tmp_path):
    """Files by name through a queue to a reader, records of fixed length: the graph comes from a GraphDef."""
    (tmp_path / "a.bin").write_bytes(b"headAABBCC")
    raw = tf.raw_ops
    with tf.Graph().as_default() as graph:
        names = raw.FIFOQueue(component_types=[tf.string], shapes=[[]])
        raw.QueueEnqueue(handle=names, components=[(tmp_path / "a.bin").as_posix()], name="put")
        raw.QueueClose(handle=names, name="close")
        reader = raw.FixedLengthRecordReader(record_bytes=2, header_bytes=4)
        key, value = raw.ReaderRead(reader_handle=reader, queue_handle=names)
        tf.identity(value, "record")
        raw.ReaderNumRecordsProduced(reader_handle=reader, name="count")
    assert {node.op for node in graph.as_graph_def().node} >= {"FIFOQueue", "QueueEnqueue", "ReaderRead"}
    with tf.Graph().as_default(), tf.Session() as sess:
        put, close, record, count = tf.import_graph_def(
            graph.as_graph_def(), return_elements=["put", "close", "record:0", "count:0"])
        sess.run(put)
        sess.run(close)
        assert [sess.run(record) for _ in range(3)] == [b"AA", b"BB", b"CC"] and sess.run(count) == 3


def test_old_queues_of_all_kinds():
    raw = tf.raw_ops
    for kind in (raw.PaddingFIFOQueue, raw.RandomShuffleQueue, raw.PriorityQueue):
        with tf.Graph().as_default(), tf.Session() as sess:
            queue = kind(component_types=[tf.int32], shapes=[[]])
            first = [np.int64([2, 1])] if kind is raw.PriorityQueue else []
            put = raw.QueueEnqueueMany(handle=queue, components=[*first, [7, 8]])
            taken = raw.QueueDequeueUpTo(handle=queue, n=2, component_types=[*[tf.int64] * len(first), tf.int32])
            sess.run(put)
            assert sess.run(raw.QueueSize(handle=queue)) == 2 and not sess.run(raw.QueueIsClosed(handle=queue))
            found = sess.run(taken)
            assert sorted((found[-1] if isinstance(found, list) else found).tolist()) == [7, 8]
