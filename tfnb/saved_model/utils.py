"""Tensors as messages: `tf.saved_model.utils`."""
from __future__ import annotations

from typing import Any

from tfnb.core.dtypes import as_dtype
from tfnb.core.lazy import lazy_module
from tfnb.graph.stack import get_default_graph
from tfnb.ops.composite.sparse_tensor import SparseTensor

_pb = lazy_module("tfnb.proto.meta_graph_pb2")


def build_tensor_info(tensor: Any) -> Any:
    """The TensorInfo (name, dtype, shape) of a tensor or a SparseTensor.

    >>> info = tf.saved_model.build_tensor_info(tf.constant([1, 2], name="x"))
    >>> info.name, info.dtype == tf.int32.as_datatype_enum
    ('x:0', True)
    """
    made = _pb.TensorInfo(dtype=as_dtype(tensor.dtype).base_dtype.as_datatype_enum,
                          tensor_shape=tensor.get_shape().as_proto())
    if isinstance(tensor, SparseTensor):
        for part in ("values", "indices", "dense_shape"):
            setattr(made.coo_sparse, f"{part}_tensor_name", getattr(tensor, part).name)
    else:
        made.name = tensor.name
    return made


def get_tensor_from_tensor_info(tensor_info: Any, graph: Any = None, import_scope: str | None = None) -> Any:
    """The tensor or SparseTensor that a TensorInfo names, in `graph`, where it was imported into `import_scope`.

    Raises KeyError if it is not in the graph, ValueError if the TensorInfo names none. tensor_info: the TensorInfo.

    >>> x = tf.constant([1, 2], name="x")
    >>> info = tf.saved_model.build_tensor_info(x)
    >>> tf.saved_model.get_tensor_from_tensor_info(info) is x
    True
    """
    graph = graph or get_default_graph()

    def find(name: str) -> Any:
        return graph.get_tensor_by_name(f"{import_scope}/{name}" if import_scope else name)
    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return find(tensor_info.name)
    if encoding == "coo_sparse":
        parts = tensor_info.coo_sparse
        return SparseTensor(find(parts.indices_tensor_name), find(parts.values_tensor_name),
                            find(parts.dense_shape_tensor_name))
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")
