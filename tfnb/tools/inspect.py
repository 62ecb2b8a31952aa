"""Contents of TensorFlow's files, as plain dicts: graphs, meta graphs, SavedModels, checkpoints, events, records."""
from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tfnb.core.dtypes import as_dtype
from tfnb.core.errors import DataLossError, NotFoundError, OpError
from tfnb.core.files.os_errors import os_errors
from tfnb.core.lazy import lazy_module
from tfnb.graph.formats.nodes import VARIABLE_OPS, node_name
from tfnb.graph.formats.protos import make_ndarray
from tfnb.proto.checkpoint import checkpoint_files
from tfnb.proto.records import read_records
from tfnb.saved_model.loader import model_file
from tfnb.tools.tensors import TensorFile, open_tensors

_graph_pb2 = lazy_module("tfnb.proto.graph_pb2")
_meta_graph_pb2 = lazy_module("tfnb.proto.meta_graph_pb2")
_saved_model_pb2 = lazy_module("tfnb.proto.saved_model_pb2")
_event_pb2 = lazy_module("tfnb.proto.event_pb2")
_example_pb2 = lazy_module("tfnb.proto.example_pb2")
_text_format = lazy_module("google.protobuf.text_format")

Found = dict[str, Any]
GRAPHS = (".pb", ".pbtxt", ".meta")                # the endings of files that hold one


def inspect(path: Any) -> Found:
    """Return the contents of a file or directory: a dict that JSON can hold, of which "kind" says what it is.

    "checkpoint", "graph", "meta graph", "SavedModel", "events" or "records". Raises NotFoundError for a path that is
    not there, DataLossError for a file that is none of these or damaged.
    """
    name = os.fsdecode(path)
    if os.path.isdir(name):
        return _directory(name)
    if not os.path.exists(name) and not checkpoint_files(name):
        raise NotFoundError(None, None, f"there is no file {name}, and no checkpoint of that prefix")
    if name.endswith((".npz", ".safetensors", ".index")) or not os.path.exists(name):
        return _checkpoint(name)
    if name.endswith(GRAPHS):
        return describe_message(name)
    if ".tfevents." in os.path.basename(name):
        return describe_events(name)
    return _by_trying(name)


def _directory(name: str) -> Found:
    model = model_file(name)
    if model is not None:
        return describe_message(model)
    events = sorted(str(p) for p in Path(name).glob("*.tfevents.*"))
    if os.path.exists(os.path.join(name, "checkpoint")):
        return _checkpoint(name)
    if events:
        return describe_events(*events)
    raise NotFoundError(None, None, f"the directory {name} has no SavedModel, no checkpoint and no event files")


def _by_trying(name: str) -> Found:
    """A file whose name tells nothing: a checkpoint of either format, a proto, or records."""
    for describe in (_checkpoint, describe_message, describe_records):
        try:
            return describe(name)
        except OpError:
            continue
    raise DataLossError(None, None, f"{name} is no checkpoint, graph, meta graph, event file or TFRecord file, or a "
                        "damaged one")


def _checkpoint(name: str) -> Found:
    return describe_tensors(open_tensors(name))


# ---- checkpoints -----------------------------------------------------------------------------------------------------

def describe_tensors(found: TensorFile) -> Found:
    """The tensors of a file by name, with their sizes."""
    told = sorted(found.tensors.items())
    return {"kind": "checkpoint", "path": found.path, "format": found.format,
            "tensors": [{"name": name, "dtype": t.dtype.name, "shape": list(t.shape), "bytes": t.bytes}
                        for name, t in told],
            "elements": sum(math.prod(t.shape) for _, t in told), "bytes": sum(t.bytes for _, t in told)}


# ---- graphs ----------------------------------------------------------------------------------------------------------

def describe_message(path: str) -> Found:
    """A GraphDef, MetaGraphDef or SavedModel, binary or text, whichever parses and holds something."""
    with os_errors(path):
        data = Path(path).read_bytes()
    found = _message(data)
    if found is None:
        raise DataLossError(None, None, f"{path} is no GraphDef, MetaGraphDef or SavedModel, neither binary nor text")
    kind, describe = _KINDS[type(found).DESCRIPTOR.name]
    return {"kind": kind, "path": path, "file bytes": len(data), **describe(found)}


def read_graph(path: Any) -> Any:
    """The GraphDef in a file of a graph, a meta graph or a SavedModel (its first); None if it holds none of these.

    Raises NotFoundError and the like for a file that can't be read.
    """
    name = os.fsdecode(path)
    name = model_file(name) or name
    if not os.path.isfile(name) or name.endswith((".npz", ".safetensors", ".index")):
        return None
    with os_errors(name):
        found = _message(Path(name).read_bytes())
    kind = None if found is None else type(found).DESCRIPTOR.name
    return found.meta_graphs[0].graph_def if kind == "SavedModel" else \
        found.graph_def if kind == "MetaGraphDef" else found


def _message(data: bytes) -> Any:
    """The first kind of message that the bytes are: SavedModel, MetaGraphDef, GraphDef; or None."""
    for kind in (_saved_model_pb2.SavedModel, _meta_graph_pb2.MetaGraphDef, _graph_pb2.GraphDef):
        found = _parsed(data, kind)
        if found is not None:
            return found
    return None


def _parsed(data: bytes, kind: Any) -> Any:
    """The message if the bytes are one of this kind, and tell something that this kind has; else None."""
    try:
        found = kind.FromString(data)
    except Exception:                              # the protobuf runtime's own class
        try:
            found = _text_format.Parse(data.decode(), kind())
        except Exception:
            return None
    fields = [field.name for field, _ in found.ListFields()]
    needed = {"GraphDef": "node", "MetaGraphDef": "graph_def", "SavedModel": "meta_graphs"}[kind.DESCRIPTOR.name]
    return found if needed in fields and _sound(found) else None


def _sound(found: Any) -> bool:
    """Bytes of one message may parse as another; nodes without a name or type give it away."""
    kind = type(found).DESCRIPTOR.name
    if kind == "SavedModel":
        return all(meta.HasField("graph_def") and _sound(meta.graph_def) for meta in found.meta_graphs)
    graph = found.graph_def if kind == "MetaGraphDef" else found
    return all(node.name and node.op for node in graph.node)


def _graph(graph: Any) -> Found:
    read = {node_name(text) for node in graph.node for text in node.input}
    variables = [node for node in graph.node if node.op in VARIABLE_OPS]
    return {
        "producer": graph.versions.producer, "nodes": len(graph.node),
        "ops": dict(Counter(node.op for node in graph.node).most_common()),
        "placeholders": [_placeholder(node) for node in graph.node if node.op in ("Placeholder", "PlaceholderV2")],
        "variables": [_placeholder(node) for node in variables],
        "outputs": [node.name for node in graph.node if node.name not in read
                    and node.op not in ("NoOp", "Const", "Assign")],
        "functions": [function.signature.name for function in graph.library.function],
    }


def _placeholder(node: Any) -> Found:
    dtype = as_dtype(node.attr["dtype"].type).name if node.attr["dtype"].type else "?"
    return {"name": node.name, "dtype": dtype, "shape": _shape(node.attr["shape"].shape)}


def _shape(proto: Any) -> list[int | None] | None:
    return None if proto.unknown_rank else [None if dim.size < 0 else dim.size for dim in proto.dim]


def _meta(meta: Any) -> Found:
    return {
        "tags": list(meta.meta_info_def.tags), "written by": meta.meta_info_def.tensorflow_version,
        **_graph(meta.graph_def),
        "collections": {key: len(getattr(entry, entry.WhichOneof("kind")).value) if entry.WhichOneof("kind") else 0
                        for key, entry in sorted(meta.collection_def.items())},
        "signatures": {key: _signature(entry) for key, entry in sorted(meta.signature_def.items())},
        "saver": {"version": meta.saver_def.version, "save": meta.saver_def.save_tensor_name,
                  "restore": meta.saver_def.restore_op_name} if meta.HasField("saver_def") else None,
    }


def _signature(signature: Any) -> Found:
    def infos(entries: Mapping[str, Any]) -> Found:
        return {key: {"name": info.name, "dtype": as_dtype(info.dtype).name if info.dtype else "?",
                      "shape": _shape(info.tensor_shape)} for key, info in sorted(entries.items())}
    return {"method": signature.method_name, "inputs": infos(signature.inputs), "outputs": infos(signature.outputs)}


def _saved_model(model: Any) -> Found:
    return {"schema version": model.saved_model_schema_version, "meta graphs": [_meta(m) for m in model.meta_graphs]}


# Message -> what it is called, and what tells of it.
_KINDS = {"SavedModel": ("SavedModel", _saved_model), "MetaGraphDef": ("meta graph", _meta),
          "GraphDef": ("graph", _graph)}


# ---- events and records ----------------------------------------------------------------------------------------------

def describe_events(*paths: str) -> Found:
    """The tags of event files: kind, how many values, first and last step, and the last value of scalars."""
    tags: dict[str, Found] = {}
    count, times, other = 0, [], Counter[str]()
    for path in paths:
        for record in read_records(path, partial=True):
            event = _event(path, record)
            count += 1
            times.append(event.wall_time)
            what = event.WhichOneof("what")
            if what == "summary":
                _note(tags, event)
            elif what:
                other[what] += 1
    return {"kind": "events", "paths": list(paths), "events": count, "tags": dict(sorted(tags.items())),
            "other": dict(other), "seconds": max(times) - min(times) if times else 0.0}


def _event(path: str, record: bytes) -> Any:
    try:
        return _event_pb2.Event.FromString(record)
    except Exception as error:                     # the protobuf runtime's own class
        raise DataLossError(None, None, f"{path} has a record that is no Event: {error}") from None


def _note(tags: dict[str, Found], event: Any) -> None:
    for value in event.summary.value:
        kind = (value.WhichOneof("value") or "nothing").replace("simple_value", "scalar").replace("histo", "histogram")
        tag = tags.setdefault(value.tag or value.node_name, {"kind": kind, "values": 0, "first step": event.step})
        tag["values"] += 1
        tag["last step"] = event.step
        if kind == "scalar":
            tag["last value"] = value.simple_value
        elif kind == "tensor" and _scalar(value.tensor) is not None:
            tag["last value"] = _scalar(value.tensor)


def _scalar(proto: Any) -> float | None:
    if proto.tensor_shape.dim or as_dtype(proto.dtype).name == "string":
        return None
    return float(make_ndarray(proto))


def describe_records(path: str) -> Found:
    """A TFRecord file: how many records, and the features of the first, if it is a tf.train.Example."""
    count = size = 0
    first: bytes | None = None
    for record in read_records(path):
        first = record if first is None else first
        count, size = count + 1, size + len(record)
    return {"kind": "records", "path": path, "records": count, "bytes": size,
            "first record": _features(first) if first is not None else {}}


def _features(record: bytes) -> Found:
    try:
        example = _example_pb2.Example.FromString(record)
    except Exception:                              # the protobuf runtime's own class: other records are no Examples
        return {}
    kinds = {key: feature.WhichOneof("kind") for key, feature in sorted(example.features.feature.items())}
    return {key: {"kind": kind or "nothing",
                  "values": len(getattr(example.features.feature[key], kind).value) if kind else 0}
            for key, kind in kinds.items()}


def as_text_shape(shape: Iterable[int | None] | None) -> str:
    """A shape as messages show it: [3,?], or <unknown>."""
    return "<unknown>" if shape is None else f"[{','.join('?' if n is None else str(n) for n in shape)}]"
