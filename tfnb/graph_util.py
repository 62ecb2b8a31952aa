"""GraphDefs made smaller: `tf.graph_util`."""
# ruff: noqa: F401, I001
from tfnb.graph.graph_util import (
    convert_variables_to_constants, extract_sub_graph, remove_training_nodes, tensor_shape_from_node_def_name,
)
from tfnb.graph.importing import import_graph_def
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__)
