"""Ops, one file a family. As `tf.ops`, before 1.0, it had the names of `tensorflow.python.framework.ops`."""
from tfnb.core.lazy import lazy_names as _lazy_names

__getattr__ = _lazy_names(__name__, {
    **dict.fromkeys(("add_to_collection", "add_to_collections", "colocate_with", "control_dependencies", "device",
                     "get_collection", "get_collection_ref", "get_default_graph", "name_scope", "op_scope",
                     "reset_default_graph"), "tfnb.graph.stack"),
    **dict.fromkeys(("convert_n_to_tensor", "convert_to_tensor", "register_tensor_conversion_function"),
                    "tfnb.graph.convert"),
    **dict.fromkeys(("Operation", "Tensor"), "tfnb.graph.parts.operation"),
    "Graph": "tfnb.graph.graph", "GraphKeys": "tfnb.graph.parts.keys",
    "get_default_session": "tfnb.graph.parts.context",
})
