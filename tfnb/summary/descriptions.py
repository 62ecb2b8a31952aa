"""Descriptions of summaries in their nodes: `tf.summary.get_summary_description`."""
from __future__ import annotations

from typing import Any

from google.protobuf import json_format

from tfnb.ops.io.summary import TensorSummary
from tfnb.proto.summary_pb2 import SummaryDescription


def get_summary_description(node_def: Any) -> Any:
    """Return the SummaryDescription that a node of the op TensorSummary has as JSON.

    node_def: its NodeDef. Raises ValueError for a node of another op.

    >>> summary = tf.raw_ops.TensorSummary(tensor=[1.0], description='{"typeHint": "vector"}')
    >>> tf.summary.get_summary_description(summary.op.node_def).type_hint
    'vector'
    """
    if node_def.op != TensorSummary.spec.name:
        raise ValueError(f"Can't get_summary_description on {node_def.op}: expected the node of a TensorSummary")
    return json_format.Parse(node_def.attr["description"].s.decode(), SummaryDescription())
