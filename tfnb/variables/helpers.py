"""The variables of a graph as lists, and the operations that start them and check that they were started."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import SCOPED, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, control_dependencies, get_default_graph, name_scope
from tfnb.opdef import kinds
from tfnb.ops.array.gather import boolean_mask
from tfnb.ops.array.joining import Pack
from tfnb.ops.array.reshape import Rank
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.control.group import group, with_dependencies
from tfnb.ops.math.compare import LogicalNot
from tfnb.ops.state import assign as state
from tfnb.variables.partitioned import PartitionedVariable
from tfnb.variables.variable import Variable


def _collected(key: str, scope: str | None) -> list[Any]:
    return get_default_graph().get_collection(key, scope)


def is_tensor(x: Any) -> bool:
    """Return whether `x` is of the graph: a tensor, sparse tensor, IndexedSlices or variable.

    >>> tf.is_tensor(tf.constant(1)), tf.is_tensor(1)
    (True, False)
    """
    return isinstance(x, (Tensor, SparseTensor, IndexedSlices, Variable, PartitionedVariable))


def global_variables(scope: str | None = None) -> list[Any]:
    """Return the variables that are saved and restored; with `scope`, those whose name starts with it (re.match).

    >>> w = tf.Variable(1.0, name="w")
    >>> [v.name for v in tf.global_variables()]
    ['w:0']
    """
    return _collected(GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables() -> list[Any]:
    """`global_variables` under its name in TensorFlow 0.x.

    >>> v = tf.Variable(1.0)
    >>> tf.all_variables() == [v]
    True
    """
    return global_variables()


def trainable_variables(scope: str | None = None) -> list[Any]:
    """Return the variables that were made with trainable=True.

    >>> w = tf.Variable(1.0, name="w")
    >>> step = tf.Variable(0, trainable=False, name="step")
    >>> [v.name for v in tf.trainable_variables()]
    ['w:0']
    """
    return _collected(GraphKeys.TRAINABLE_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Any]:
    """Return the variables of this process only, which are not saved (collection LOCAL_VARIABLES).

    >>> total, update = tf.metrics.mean([1.0, 2.0])
    >>> [v.name for v in tf.local_variables()]
    ['mean/total:0', 'mean/count:0']
    """
    return _collected(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """Return the variables that inference needs (collection MODEL_VARIABLES).

    >>> tf.model_variables()
    []
    """
    return _collected(GraphKeys.MODEL_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """Return the variables of which an ExponentialMovingAverage keeps an average.

    >>> v = tf.Variable(1.0)
    >>> update = tf.train.ExponentialMovingAverage(0.9).apply([v])
    >>> tf.moving_average_variables() == [v]
    True
    """
    return _collected(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list: Sequence[Any], name: str = "init") -> Operation:
    """Return an operation that initializes all of `var_list`. Without variables it does nothing.

    >>> a, b = tf.Variable(1.0), tf.Variable(2.0)
    >>> sess.run(tf.variables_initializer([a]))
    >>> sess.run(tf.is_variable_initialized(a)), sess.run(tf.is_variable_initialized(b))
    (True, False)
    """
    return group(*[variable.initializer for variable in var_list], name=name)


def initialize_variables(var_list: Sequence[Any], name: str = "init") -> Operation:
    """`variables_initializer` under its name in TensorFlow 0.x.

    var_list: a list of variables.

    >>> v = tf.Variable(1.0)
    >>> sess.run(tf.initialize_variables([v]))
    >>> sess.run(v)
    1.0
    """
    return variables_initializer(var_list, name)


def global_variables_initializer() -> Operation:
    """Return an operation that initializes all global variables there are at this moment.

    >>> v = tf.Variable([1.0, 2.0])
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(v)
    array([1., 2.], dtype=float32)
    """
    return variables_initializer(global_variables())


def initialize_all_variables() -> Operation:
    """`global_variables_initializer` under its name in TensorFlow 0.x.

    >>> v = tf.Variable(1.0)
    >>> sess.run(tf.initialize_all_variables())
    >>> sess.run(v)
    1.0
    """
    return global_variables_initializer()


def local_variables_initializer() -> Operation:
    """Return an operation that initializes all local variables there are at this moment.

    >>> total, update = tf.metrics.mean([1.0, 2.0])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    1.5
    """
    return variables_initializer(local_variables())


def initialize_local_variables() -> Operation:
    """`local_variables_initializer` under its name in TensorFlow 0.x.

    >>> total, update = tf.metrics.mean([1.0, 2.0])
    >>> sess.run(tf.initialize_local_variables())
    >>> sess.run(update)
    1.5
    """
    return local_variables_initializer()


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """Return an operation that initializes all lookup tables there are now (collection TABLE_INITIALIZERS).

    >>> sess.run(tf.tables_initializer())
    """
    return group(*_collected(GraphKeys.TABLE_INITIALIZERS, None), name=name)


def initialize_all_tables(name: str = "init_all_tables") -> Operation:
    """`tables_initializer` under its name in TensorFlow 0.x.

    >>> sess.run(tf.initialize_all_tables())
    """
    return tables_initializer(name)


def report_uninitialized_variables(var_list: Sequence[Any] | None = None,
                                   name: str = "report_uninitialized_variables") -> Tensor:
    """Return a string vector with the names of the variables that have no value when it is run.

    var_list: by default the global and local variables, or where there are none, all variable nodes of the graph.

    >>> a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    >>> sess.run(a.initializer)
    >>> sess.run(tf.report_uninitialized_variables())
    array([b'b'], dtype=object)
    """
    if var_list is None:
        var_list = global_variables() + local_variables() or _variable_nodes()
    with name_scope(name):
        if not var_list:
            return convert_to_tensor([], dtype=dtypes.string, name="Const")
        missing = LogicalNot(Pack([state.is_variable_initialized(v) for v in var_list], name="stack"))
        names = convert_to_tensor([v.op.name for v in var_list], dtype=dtypes.string, name="Const")
        return boolean_mask(names, missing)


def assert_variables_initialized(var_list: Sequence[Any] | None = None) -> Tensor | None:
    """Return a tensor that, when it is run, raises FailedPreconditionError if one of the variables has no value.

    var_list: as for `report_uninitialized_variables`, which programs should prefer. None if there are no variables.

    >>> v = tf.Variable(1.0)
    >>> check = tf.assert_variables_initialized([v])
    >>> sess.run(v.initializer)
    >>> sess.run(check).shape
    ()
    """
    if var_list is None:
        var_list = global_variables() + local_variables() or _variable_nodes()
    if not var_list:
        return None
    with name_scope("assert_variables_initialized"):
        reads = [convert_to_tensor(v) for v in var_list]
        ranks = []
        for variable, read in zip(var_list, reads, strict=True):
            with colocate_with(variable.op), control_dependencies([read]):
                ranks.append(Rank(read))
        checked: Tensor = with_dependencies(reads, ranks[0] if len(ranks) == 1 else Pack(ranks, name="stack"))
        return checked


def _variable_nodes() -> list[Tensor]:
    return [op.outputs[0] for op in get_default_graph().get_operations() if isinstance(op.spec, kinds.Variable)]


describe(globals(), SCOPED)
