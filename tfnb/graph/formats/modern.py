"""Ops of other releases: nodes of a GraphDef replaced by those of the ops that took their place."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.graph.formats import protos
from tfnb.graph.formats.nodes import copied, node_name

# Queues, readers and stacks of releases before 1.0: other ops only because their handles were references to strings.
_NAMES = {old: f"{old}V2" for old in (
    "FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "RandomShuffleQueue", "QueueClose", "QueueDequeue",
    "QueueDequeueMany", "QueueDequeueUpTo", "QueueEnqueue", "QueueEnqueueMany", "QueueIsClosed", "QueueSize",
    "FixedLengthRecordReader", "IdentityReader", "TFRecordReader", "TextLineReader", "WholeFileReader", "ReaderRead",
    "ReaderReadUpTo", "ReaderReset", "ReaderNumRecordsProduced", "ReaderNumWorkUnitsCompleted", "Stack", "StackPush",
    "StackPop", "StackClose")}
# TensorArrays: references, then strings, at last resources.
_NAMES |= {f"TensorArray{what}{old}": f"TensorArray{what}V3" for old in ("", "V2") for what in (
    "", "Close", "Concat", "Gather", "Grad", "Read", "Scatter", "Size", "Split", "Write")}


def modern(node: Any) -> list[Any]:
    """Return the nodes for one node, itself as it is for an op of today. The last one has its name and outputs."""
    if node.op in _RULES:
        return _RULES[node.op](node)
    return [_renamed(node, _NAMES[node.op])] if node.op in _NAMES else [node]


def _renamed(node: Any, op: str) -> Any:
    made = copied(node)
    made.op = op
    return made


def _added(node: Any, name: str, op: str, inputs: list[str], **types: int) -> Any:
    made = protos.node_def_pb2.NodeDef(name=f"{node.name}/{name}", op=op, input=inputs, device=node.device)
    for key, dtype in types.items():
        made.attr[key].type = dtype
    return made


def _constant(node: Any, name: str, value: int) -> Any:
    """Return a constant int32 scalar, in the loop of the node's first input."""
    made = _added(node, name, "Const", [f"^{node_name(text)}" for text in node.input[:1]], dtype=_INT32)
    made.attr["value"].tensor.CopyFrom(protos.make_tensor_proto(np.array(value, np.int32)))
    return made


def _stack(node: Any) -> list[Any]:
    """Return StackV2, which has a maximal size."""
    size, made = _constant(node, "no_max_size", -1), _renamed(node, "StackV2")
    made.input.insert(0, size.name)
    return [size, made]


def _all_indices(node: Any, size: list[Any]) -> list[Any]:
    """Return nodes for 0, 1, 2... below a size, which the nodes `size` compute."""
    start, step = _constant(node, "start", 0), _constant(node, "delta", 1)
    return [*size, start, step,
            _added(node, "indices", "Range", [start.name, size[-1].name, step.name], Tidx=_INT32)]


def _pack(node: Any) -> list[Any]:
    """Return the gather of all elements."""
    made = _renamed(node, "TensorArrayGatherV3")
    handle, flow = node.input[:2]
    nodes = _all_indices(node, [_added(node, "size", "TensorArraySizeV3", [handle, flow])])
    made.input.insert(1, nodes[-1].name)
    return [*nodes, made]


def _unpack(node: Any) -> list[Any]:
    """Return the scatter of all rows."""
    made = _renamed(node, "TensorArrayScatterV3")
    value, dtype = node.input[1], node.attr["T"].type
    shape = _added(node, "shape", "Shape", [value], T=dtype, out_type=_INT32)
    first, one = _constant(node, "zero", 0), _constant(node, "axis", 0)
    size = _added(node, "size", "GatherV2", [shape.name, first.name, one.name], Tparams=_INT32, Tindices=_INT32,
                  Taxis=_INT32)
    nodes = _all_indices(node, [shape, first, one, size])
    made.input.insert(1, nodes[-1].name)
    return [*nodes, made]


def _nothing(node: Any) -> list[Any]:
    """Return a NoOp that waits for the node's inputs."""
    return [protos.node_def_pb2.NodeDef(name=node.name, op="NoOp", device=node.device, input=dict.fromkeys(
        text if text.startswith("^") else f"^{node_name(text)}" for text in node.input))]


_INT32 = 3                                         # DT_INT32
_RULES = {"Stack": _stack, "TensorArrayPack": _pack, "TensorArrayUnpack": _unpack, "DisableCopyOnRead": _nothing}
