"""Looks at values while a graph is built: static values, kinds of arguments, sizes; ops outside of all blocks."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, get_default_graph, name_scope
from tfnb.ops.composite.sparse_tensor import SparseTensor, SparseTensorValue
from tfnb.ops.declaration.public import public


@public("get_static_value")
def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """Return the value of a tensor as an array if it is known while the graph is built, else None.

    tensor: a tensor; an array or a number is returned as an array. partial: where some elements are known, return an
    array of objects with None for the others.

    >>> tf.get_static_value(tf.shape(tf.ones([4, 5])))
    array([4, 5], dtype=int32)
    """
    return constant_value(tensor, partial) if isinstance(tensor, Tensor) else np.asarray(tensor)


@public("is_symbolic_tensor")
def is_symbolic_tensor(tensor: Any) -> bool:
    """Return whether `tensor` is a node's output, not a value: True for all tensors and SparseTensors of a graph.

    >>> tf.is_symbolic_tensor(tf.constant(1)), tf.is_symbolic_tensor(1)
    (True, False)
    """
    return isinstance(tensor, (Tensor, SparseTensor))


@public("convert_to_tensor_or_sparse_tensor")
def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Convert a value to a tensor; a SparseTensor stays one, and a SparseTensorValue becomes one.

    dtype: of the tensor. name: of the constant. Raises RuntimeError for a SparseTensor of another dtype.

    >>> tf.convert_to_tensor_or_sparse_tensor([1, 2]).dtype
    tf.int32
    """
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        sparse = SparseTensor.from_value(value)
        if dtype is not None and sparse.dtype != dtype:
            raise RuntimeError(f"Sparse dtype mismatch. Requested: {dtype!r}, actual: {sparse.dtype!r}")
        return sparse
    return convert_to_tensor(value, dtype=dtype, name=name)


@public("assert_proper_iterable", "debugging.assert_proper_iterable")
def assert_proper_iterable(values: Any) -> None:
    """Raise TypeError unless `values` is an iterable that is no tensor, array, string or SparseTensor.

    >>> tf.assert_proper_iterable([tf.constant(1)])
    """
    if isinstance(values, (Tensor, SparseTensor, np.ndarray, bytes, str)) or not hasattr(values, "__iter__"):
        raise TypeError(f"Expected argument 'values' to be an iterable, such as a list, got {type(values).__name__}")


@public("executing_eagerly_outside_functions")
def executing_eagerly_outside_functions() -> bool:
    """Return False: there is no eager execution.

    >>> tf.executing_eagerly_outside_functions()
    False
    """
    return False


@public("dimension_value")
def dimension_value(dimension: Any) -> Any:
    """Return a size as an int, or None for an unknown one.

    dimension: a Dimension, an int or None.

    >>> tf.dimension_value(tf.zeros([2]).shape[0])
    2
    """
    return dimension.value if hasattr(dimension, "value") else dimension


@public("dimension_at_index")
def dimension_at_index(shape: Any, index: int) -> Any:
    """Return the Dimension at an index, an unknown one where the rank is unknown.

    shape: a TensorShape. index: an axis.

    >>> tf.dimension_at_index(tf.zeros([2, 3]).shape, 1)
    Dimension(3)
    """
    return TensorShape([None])[0] if shape.rank is None else shape.dims[index]


@public("init_scope")
@contextmanager
def init_scope() -> Iterator[None]:
    """Add ops outside of control dependencies, branches and loops; the name scope stays.

    >>> with tf.control_dependencies([tf.no_op()]), tf.init_scope():
    ...     x = tf.constant(1)
    >>> x.op.control_inputs
    []
    """
    scope = get_default_graph().get_name_scope()
    with name_scope(scope + "/" if scope else None), control_dependencies(None):
        yield


_PINNED_VARIABLES = frozenset({"Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
                               "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
                               "MutableDenseHashTableV2", "VarHandleOp", "BoostedTreesEnsembleResourceHandleOp"})


@public("graph_util.must_run_on_cpu")
def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """Return whether TensorFlow 1 would place a node on a CPU only: constant strings and int32.

    node: an Operation or a NodeDef. pin_variables_on_cpu: so for variables, too.

    >>> tf.graph_util.must_run_on_cpu(tf.constant("text").op)
    True
    """
    proto = node.node_def if isinstance(node, Operation) else node
    if pin_variables_on_cpu and proto.op in _PINNED_VARIABLES:
        return True
    if proto.op == "Const":
        return proto.attr["dtype"].type in (dtypes.int32.as_datatype_enum, dtypes.string.as_datatype_enum)
    return bool(proto.op == "DynamicStitch" and proto.attr["T"].type == dtypes.int32.as_datatype_enum)
