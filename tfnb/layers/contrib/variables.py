"""Variables of models, and finding them again: `tf.contrib.framework`."""
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.core.arguments import VARIABLES, describe
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import add_to_collection, get_collection
from tfnb.graph.stack import device as _device
from tfnb.layers.contrib.arg_scope import add_arg_scope
from tfnb.ops.control.group import group
from tfnb.ops.control.source import placeholder
from tfnb.ops.state.assign import assign
from tfnb.train.checkpoints.reader import NewCheckpointReader
from tfnb.train.checkpoints.saver import Saver
from tfnb.variables.scope import VariableScope, get_variable
from tfnb.variables.variable import Variable


@add_arg_scope
def variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
             trainable: bool = True, collections: Any = None, caching_device: Any = None, device: Any = None,
             partitioner: Any = None, custom_getter: Any = None, use_resource: Any = None, **options: Any) -> Any:
    """`tf.get_variable` on a device, in GLOBAL_VARIABLES and `collections`.

    >>> w = tf.contrib.framework.variable("w", [2], initializer=tf.ones_initializer())
    >>> w.name, w.shape.as_list()
    ('w:0', [2])
    """
    keys = list(dict.fromkeys([*(collections if collections is not None else [GraphKeys.GLOBAL_VARIABLES])]))
    getter = custom_getter or get_variable
    with _device(device or ""):
        return getter(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                      trainable=trainable, collections=keys, caching_device=caching_device, partitioner=partitioner,
                      use_resource=use_resource, **options)


@add_arg_scope
def model_variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
                   trainable: bool = True, collections: Any = None, **options: Any) -> Any:
    """`variable`, in MODEL_VARIABLES too.

    >>> w = tf.contrib.framework.model_variable("w", [2], initializer=tf.ones_initializer())
    >>> tf.model_variables() == [w]
    True
    """
    keys = [*(collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                    trainable=trainable, collections=keys, **options)


def local_variable(initial_value: Any, validate_shape: bool = True, name: str | None = None) -> Variable:
    """A variable in LOCAL_VARIABLES that is not trained.

    >>> count = tf.contrib.framework.local_variable(0, name="count")
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(count)
    0
    """
    return Variable(initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
                    validate_shape=validate_shape, name=name)


def get_variables(scope: Any = None, suffix: str | None = None,
                  collection: Any = GraphKeys.GLOBAL_VARIABLES) -> list[Any]:
    """The variables of a collection whose names begin with `scope` (a name or VariableScope) and end with `suffix`.

    >>> y = tf.layers.dense(tf.ones([4, 3]), 2, name="hidden")
    >>> [v.name for v in tf.contrib.framework.get_variables("hidden")]
    ['hidden/kernel:0', 'hidden/bias:0']
    """
    scope = scope.name if isinstance(scope, VariableScope) else scope
    if suffix is not None:
        suffix = suffix if ":" in suffix else f"{suffix}:"
        pattern = f"{scope or ''}(.*){suffix}" if scope else f".*{suffix}"
        return [found for found in get_collection(collection) if re.match(pattern, found.name)]
    return get_collection(collection, scope)


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of MODEL_VARIABLES.

    >>> v = tf.contrib.framework.model_variable("w", [2])
    >>> [v.name for v in tf.contrib.framework.get_model_variables()]
    ['w:0']
    """
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of LOCAL_VARIABLES.

    >>> v = tf.contrib.framework.local_variable(0, name="count")
    >>> [v.name for v in tf.contrib.framework.get_local_variables()]
    ['count:0']
    """
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of TRAINABLE_VARIABLES.

    >>> a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b", trainable=False)
    >>> [v.name for v in tf.contrib.framework.get_trainable_variables()]
    ['a:0']
    """
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """`get_variables` whose names end with `suffix`.

    >>> y = tf.layers.dense(tf.ones([4, 3]), 2, name="hidden")
    >>> [v.name for v in tf.contrib.framework.get_variables_by_suffix("bias")]
    ['hidden/bias:0']
    """
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The variables whose last name is this one.

    >>> y = tf.layers.dense(tf.ones([4, 3]), 2, name="hidden")
    >>> [v.name for v in tf.contrib.framework.get_variables_by_name("kernel")]
    ['hidden/kernel:0']
    """
    return [found for found in get_variables(scope) if found.op.name.split("/")[-1] == given_name]


def get_unique_variable(var_op_name: str) -> Any:
    """The one variable of this name. Raises ValueError if there is none, or several.

    >>> y = tf.layers.dense(tf.ones([4, 3]), 2, name="hidden")
    >>> tf.contrib.framework.get_unique_variable("hidden/kernel").shape.as_list()
    [3, 2]
    """
    found = [each for each in get_variables(scope=var_op_name) if each.op.name == var_op_name]
    if len(found) != 1:
        raise ValueError(f"Variable {var_op_name} {'does not exist' if not found else 'is not unique'}")
    return found[0]


def get_variables_to_restore(include: Sequence[str] | None = None, exclude: Sequence[str] | None = None) -> list[Any]:
    """The global variables of the scopes `include` (default: all), without those of the scopes `exclude`.

    >>> a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    >>> [v.name for v in tf.contrib.framework.get_variables_to_restore(exclude=["b"])]
    ['a:0']
    """
    for what, given in (("include", include), ("exclude", exclude)):
        if given is not None and not isinstance(given, (list, tuple)):
            raise TypeError(f"{what} is provided but is not a list or a tuple.")
    chosen = get_variables() if include is None else [each for scope in include for each in get_variables(scope)]
    left_out = {id(each) for scope in exclude or () for each in get_variables(scope)}
    return [each for each in chosen if id(each) not in left_out]


def _by_name(var_list: Any) -> dict[str, Any]:
    return dict(var_list) if isinstance(var_list, dict) else {each.op.name: each for each in var_list}


def assign_from_checkpoint(model_path: str, var_list: Any, ignore_missing_vars: bool = False) -> tuple[Any, Any]:
    """(an op that gives variables the values of a checkpoint, what to feed it).

    var_list: variables, or a dict from the names in the checkpoint. Raises ValueError for a variable that is not in
    the checkpoint (unless ignored) or has another number of elements there.

    >>> v = tf.Variable(7.0, name="v")
    >>> sess.run(v.initializer)
    >>> path = tf.train.Saver().save(sess, "./model")
    >>> assign, feed = tf.contrib.framework.assign_from_checkpoint(path, [v])
    >>> assigned = sess.run(v.assign(0.0))
    >>> sess.run(assign, feed)
    >>> sess.run(v)
    7.0
    """
    reader = NewCheckpointReader(model_path)
    feeds, assigns = {}, []
    for name, found in _by_name(var_list).items():
        if not reader.has_tensor(name):
            if ignore_missing_vars:
                continue
            raise ValueError(f"Checkpoint is missing variable [{name}]")
        value = reader.get_tensor(name)
        if value.size != found.shape.num_elements():
            raise ValueError(f"Total size of new array must be unchanged for {name} lh_shape: [{value.shape}], "
                             f"rh_shape: [{found.shape}]")
        given = placeholder(found.dtype.base_dtype, found.shape.as_list(), name=f"placeholder/{found.op.name}")
        feeds[given] = value.reshape(found.shape.as_list())
        assigns.append(assign(found, given).op)
    return group(*assigns), feeds


def assign_from_checkpoint_fn(model_path: str, var_list: Any, ignore_missing_vars: bool = False,
                              reshape_variables: bool = False) -> Callable[[Any], None] | None:
    """A function of a session that restores variables from a checkpoint; None if there is nothing to restore.

    Raises ValueError for no variables.

    >>> v = tf.Variable(7.0, name="v")
    >>> sess.run(v.initializer)
    >>> restore = tf.contrib.framework.assign_from_checkpoint_fn(tf.train.Saver().save(sess, "./model"), [v])
    >>> assigned = sess.run(v.assign(0.0))
    >>> restore(sess)
    >>> sess.run(v)
    7.0
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    wanted = _by_name(var_list)
    if ignore_missing_vars:
        reader = NewCheckpointReader(model_path)
        wanted = {name: found for name, found in wanted.items() if reader.has_tensor(name)}
    if not wanted:
        return None
    saver = Saver(wanted, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


def add_model_variable(var: Any) -> None:
    """Add a variable to the collection MODEL_VARIABLES, once.

    var: the variable.

    >>> v = tf.Variable(1.0)
    >>> tf.contrib.framework.add_model_variable(v)
    >>> tf.contrib.framework.get_model_variables() == [v]
    True
    """
    if not any(each is var for each in get_collection(GraphKeys.MODEL_VARIABLES)):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


def global_variable(initial_value: Any, validate_shape: bool = True, name: str | None = None,
                    use_resource: bool | None = None) -> Variable:
    """Return a variable in GLOBAL_VARIABLES that is not trained.

    >>> count = tf.contrib.framework.global_variable(0, name="count")
    >>> count in tf.global_variables(), count in tf.trainable_variables()
    (True, False)
    """
    return Variable(initial_value, trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES],
                    validate_shape=validate_shape, name=name, use_resource=use_resource)


def get_variable_full_name(var: Any) -> str:
    """Return the name under which checkpoints have a variable, or the whole variable of which it is a part.

    var: the variable.

    >>> tf.contrib.framework.get_variable_full_name(tf.Variable(1.0, name="v"))
    'v'
    """
    part = getattr(var, "_save_slice_info", None)
    return str(part.full_name if part else var.op.name)


def filter_variables(var_list: Sequence[Any], include_patterns: Sequence[str] | None = None,
                     exclude_patterns: Sequence[str] | None = None, reg_search: bool = True) -> list[Any]:
    """Return the variables whose names match a pattern to include (all if there is none) and no pattern to exclude.

    var_list: variables; include_patterns, exclude_patterns: regular expressions; reg_search: whether a match may be
    anywhere in the name, or at its begin only.

    >>> a, b = tf.Variable(1.0, name="a"), tf.Variable(1.0, name="net/b")
    >>> [v.op.name for v in tf.contrib.framework.filter_variables([a, b], ["net"])]
    ['net/b']
    """
    matches = re.search if reg_search else re.match
    found = [var for var in var_list
             if not include_patterns or any(matches(pattern, var.op.name) for pattern in include_patterns)]
    return [var for var in found
            if not any(matches(pattern, var.op.name) for pattern in exclude_patterns or ())]


def assign_from_values(var_names_to_values: dict[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """Return (an op that gives variables values, what to feed it).

    var_names_to_values: the value of each variable by its name, in an array. Raises ValueError for a name that no
    variable, or several have.

    >>> v = tf.contrib.framework.variable("v", [2], initializer=tf.zeros_initializer())
    >>> assign, feed = tf.contrib.framework.assign_from_values({"v": np.array([3.0, 4.0])})
    >>> sess.run(assign, feed)
    >>> sess.run(v)
    array([3., 4.], dtype=float32)
    """
    feeds, assigns = {}, []
    for name, value in var_names_to_values.items():
        found = get_unique_variable(name)
        given = placeholder(found.dtype.base_dtype, found.shape.as_list(), name=f"placeholder/{name}")
        feeds[given] = np.reshape(value, found.shape.as_list())
        assigns.append(assign(found, given).op)
    return group(*assigns), feeds


def assign_from_values_fn(var_names_to_values: dict[str, Any]) -> Callable[[Any], None]:
    """Return a function of a session that gives variables values.

    var_names_to_values: the value of each variable by its name. Raises as `assign_from_values`.

    >>> v = tf.contrib.framework.variable("v", [2], initializer=tf.zeros_initializer())
    >>> tf.contrib.framework.assign_from_values_fn({"v": np.array([3.0, 4.0])})(sess)
    >>> sess.run(v)
    array([3., 4.], dtype=float32)
    """
    op, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(op, feeds)


describe(globals(), VARIABLES)
