from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tfnb.core import taps
from tfnb.graph.stack import get_default_graph
from tfnb.proto.config_pb2 import RunMetadata
from tfnb.proto.event_pb2 import Event, SessionLog
from tfnb.proto.graph_pb2 import GraphDef
from tfnb.proto.meta_graph_pb2 import MetaGraphDef
from tfnb.proto.node_def_pb2 import NodeDef
from tfnb.proto.summary_pb2 import Summary, SummaryMetadata
from tfnb.summary.events import summary_iterator
from tfnb.summary.writer import FileWriter, FileWriterCache, SummaryWriter


def events(folder, number=-1):
    """Those of one file of a folder (the last one), without the file version."""
    paths = sorted(Path(folder).iterdir(), key=lambda path: int(path.name.split(".")[-1]))
    return list(summary_iterator(paths[number]))[1:]


def scalar(tag="loss", value=0.5):
    return Summary(value=[Summary.Value(tag=tag, simple_value=value)])


def test_summaries_as_messages_and_as_bytes(tmp_path):
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_summary(scalar(), 3)
        writer.add_summary(scalar().SerializeToString(), global_step=np.int64(4))
        writer.add_summary(scalar())
    found = events(tmp_path)
    assert [event.step for event in found] == [3, 4, 0]
    assert all(event.summary == scalar() and event.wall_time > 1e9 for event in found)
    assert writer.get_logdir() == str(tmp_path)


def test_metadata_is_written_once_for_a_tag(tmp_path):
    summary = Summary(value=[Summary.Value(tag="a", metadata=SummaryMetadata(display_name="A"))])
    with FileWriter(str(tmp_path)) as writer:
        writer.add_summary(summary, 1)
        writer.add_summary(summary, 2)
    assert [event.summary.value[0].HasField("metadata") for event in events(tmp_path)] == [True, False]
    assert summary.value[0].HasField("metadata")


def test_listeners_hear_of_summaries(tmp_path, monkeypatch):
    heard = []
    monkeypatch.setattr(taps, "on_summary", lambda *heard_now: heard.append(heard_now))
    with FileWriter(str(tmp_path)) as writer:
        writer.add_summary(scalar(), np.int32(3))
        writer.add_summary(scalar().SerializeToString())
    data = scalar().SerializeToString()
    assert heard == [(data, 3, str(tmp_path)), (data, None, str(tmp_path))]
    assert type(heard[0][1]) is int


def test_graphs(tmp_path):
    graph_def = GraphDef(node=[NodeDef(name="a", op="NoOp")])
    with FileWriter(str(tmp_path), graph_def=graph_def) as writer:
        writer.add_graph(graph_def, global_step=5)
        writer.add_graph(get_default_graph())
        with pytest.raises(TypeError, match="must be an instance of `Graph`"):
            writer.add_graph("graph")
        with pytest.raises(TypeError, match="must be an instance of `Graph`"):
            writer.add_graph(None)
    found = events(tmp_path)
    assert [GraphDef.FromString(event.graph_def) for event in found[:2]] == [graph_def, graph_def]
    assert found[1].step == 5
    assert not GraphDef.FromString(found[2].graph_def).node


def test_other_events(tmp_path):
    with FileWriter(str(tmp_path)) as writer:
        writer.add_run_metadata(RunMetadata(), "step 1", 1)
        with pytest.raises(ValueError, match="tag was already used"):
            writer.add_run_metadata(RunMetadata(), "step 1", 2)
        writer.add_session_log(SessionLog(status=SessionLog.START), 2)
        writer.add_meta_graph(MetaGraphDef(), 3)
        with pytest.raises(TypeError, match="must be type MetaGraphDef"):
            writer.add_meta_graph(GraphDef())
        writer.add_event(Event(step=4))
    assert [event.WhichOneof("what") for event in events(tmp_path)] == [
        "tagged_run_metadata", "session_log", "meta_graph_def", None]


def test_closed_and_reopened(tmp_path):
    writer = FileWriter(str(tmp_path))
    writer.reopen()
    writer.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(scalar(), 1)
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.flush()
    with pytest.raises(RuntimeError, match="closed"), writer:
        pass
    writer.reopen()
    writer.add_summary(scalar(), 2)
    writer.flush()
    assert len(list(tmp_path.iterdir())) == 2
    assert [event.step for event in events(tmp_path)] == [2]
    assert events(tmp_path, 0) == []
    writer.close()


def test_cache_shares_writers(tmp_path):
    one = FileWriterCache.get(str(tmp_path / "a"))
    assert FileWriterCache.get(str(tmp_path / "a")) is one
    assert FileWriterCache.get(str(tmp_path / "b")) is not one
    FileWriterCache.clear()
    assert events(tmp_path / "a")[0].WhichOneof("what") == "graph_def"
    assert FileWriterCache.get(str(tmp_path / "a")) is not one
    FileWriterCache.clear()


def test_tensorflow_reads_our_events(oracle, tmp_path):
    with FileWriter(str(tmp_path)) as writer:
        for step in range(3):
            writer.add_summary(scalar(value=step), step)
    path, = tmp_path.iterdir()
    assert oracle("""
events = list(tf.train.summary_iterator(path))
result = events[0].file_version, [(e.step, e.summary.value[0].tag, e.summary.value[0].simple_value) for e in events[1:]]
""", path=str(path)) == ("brain.Event:2", [(step, "loss", float(step)) for step in range(3)])


def test_we_read_tensorflows_events(oracle, tmp_path):
    oracle("""
with tf.summary.FileWriter(folder) as writer:
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=1.5)]), 9)
""", folder=str(tmp_path))
    path, = tmp_path.iterdir()
    version, event = summary_iterator(path)
    assert version.file_version == "brain.Event:2"
    assert (event.step, event.summary) == (9, scalar("a", 1.5))


@pytest.mark.slow
@pytest.mark.filterwarnings("default")                # not ours: TensorBoard's own imports
def test_tensorboard_reads_our_events(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with FileWriter(str(tmp_path), GraphDef(node=[NodeDef(name="a", op="NoOp")])) as writer:
        for step in range(3):
            writer.add_summary(scalar(value=step), step)
    read = accumulator.EventAccumulator(str(tmp_path)).Reload()
    assert [(event.step, event.value) for event in read.Scalars("loss")] == [(0, 0.0), (1, 1.0), (2, 2.0)]
    assert read.Graph().node[0].name == "a"


def test_a_name_where_a_number_stands_is_ignored_with_a_warning(tmp_path):
    with pytest.warns(UserWarning, match="max_queue, a number, as its third argument, got 'graph.pbtxt'"), \
            SummaryWriter(str(tmp_path), get_default_graph(), "graph.pbtxt") as writer:
        writer.add_summary(scalar(), 1)
    assert len(events(tmp_path)) == 2
