"""Checkpoint readers that need no graph, and initialization of variables from checkpoints."""
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tfnb.core.arguments import CHECKPOINTS, describe
from tfnb.core.dtypes import DType
from tfnb.core.files.paths import local
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import TensorShape
from tfnb.graph.stack import device, get_default_graph
from tfnb.ops.io import checkpoints as io
from tfnb.train.checkpoints.saver_builder import op_list_to_dict, saveables_of
from tfnb.train.checkpoints.state import latest_checkpoint
from tfnb.variables.variable import Variable

_checkpoint = lazy_module("tfnb.proto.checkpoint")


class CheckpointReader:
    """Reader of a checkpoint of either format. filepattern: its prefix (for version 1 a file or a glob pattern).

    Raises NotFoundError if there is none, DataLossError for a damaged one.
    """

    def __init__(self, filepattern: Any) -> None:
        self._found = _checkpoint.open_checkpoint(os.fsdecode(filepattern))

    def has_tensor(self, tensor_str: Any) -> bool:
        """Return whether the checkpoint has a tensor of this name."""
        return os.fsdecode(tensor_str) in self._found.entries

    def get_tensor(self, tensor_str: Any) -> Any:
        """Return the value of a tensor, as a NumPy array (of bytes objects for strings). Raises NotFoundError."""
        return np.array(self._found.read(os.fsdecode(tensor_str)))[()]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Return a dict of tensor names to shapes."""
        return {name: list(entry.shape) for name, entry in self._found.entries.items()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """Return a dict of tensor names to dtypes."""
        return {name: entry.dtype for name, entry in self._found.entries.items()}

    def debug_string(self) -> bytes:
        """Return one line per tensor: its name, dtype and shape."""
        names = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}
        return "".join(f"{name} (DT_{names.get(e.dtype.name, e.dtype.name.upper())}) "
                       f"[{','.join(map(str, e.shape))}]\n" for name, e in sorted(self._found.entries.items())).encode()


def NewCheckpointReader(filepattern: Any) -> CheckpointReader:
    """Return a reader of the checkpoint `filepattern`; see CheckpointReader.

    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> sess.run(v.initializer)
    >>> reader = tf.train.NewCheckpointReader(tf.train.Saver().save(sess, "./model"))
    >>> reader.has_tensor("v"), reader.get_tensor("v")
    (True, array([1., 2.], dtype=float32))
    """
    return CheckpointReader(filepattern)


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """Return a reader of a checkpoint, or of a directory's newest one. Raises ValueError if the directory has none.

    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> sess.run(v.initializer)
    >>> reader = tf.train.load_checkpoint(tf.train.Saver().save(sess, "./model"))
    >>> reader.get_variable_to_shape_map(), reader.get_tensor("v")
    ({'v': [2]}, array([1., 2.], dtype=float32))
    """
    path = local(ckpt_dir_or_file)
    if os.path.isdir(path):
        newest = latest_checkpoint(path)
        if newest is None:
            raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
        path = newest
    return CheckpointReader(path)


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """Return (name, shape) of all tensors of a checkpoint, or of a directory's newest one, sorted by name.

    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> sess.run(v.initializer)
    >>> tf.train.list_variables(tf.train.Saver().save(sess, "./model"))
    [('v', [2])]
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """Return the value of a tensor in a checkpoint, or in a directory's newest one. Raises NotFoundError.

    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> sess.run(v.initializer)
    >>> path = tf.train.Saver().save(sess, "./model")
    >>> tf.train.load_variable(path, "v")
    array([1., 2.], dtype=float32)
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def init_from_checkpoint(ckpt_dir_or_file: Any, assignment_map: Any) -> None:
    """Initialize variables from a checkpoint, by replacing their initializers.

    assignment_map: a dict (or pairs): "name in the checkpoint" -> a variable, its name, a partitioned variable or a
    list of its parts; "scope/" (or "/" for all) -> "scope/" in the graph, for all variables under it. Raises ValueError
    for a tensor that is not in the checkpoint, a name that no variable has, or shapes that differ.

    >>> v = tf.Variable(7.0, name="v")
    >>> sess.run(v.initializer)
    >>> path = tf.train.Saver().save(sess, "./model")
    >>> w = tf.get_variable("w", [])
    >>> tf.train.init_from_checkpoint(path, {"v": w})
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(w)
    7.0
    """
    path = os.fsdecode(ckpt_dir_or_file)
    path = (latest_checkpoint(path) or path) if os.path.isdir(path) else path
    shapes = load_checkpoint(path).get_variable_to_shape_map()
    pairs = assignment_map.items() if isinstance(assignment_map, Mapping) else assignment_map
    for source, target in pairs:
        for name, variables in _targets(source, target, shapes, path):
            if name not in shapes:
                raise ValueError(f"Tensor {name} is not found in {path} checkpoint {shapes}")
            for variable in variables:
                _start_from(variable, path, name, shapes[name])


def _targets(source: str, target: Any, shapes: Mapping[str, Any], path: str) -> Iterator[tuple[str, list[Any]]]:
    """Return (name in the checkpoint, variables or parts) pairs of one item of an assignment map."""
    if not isinstance(target, str):
        yield source, list(target) if isinstance(target, (list, tuple)) or not isinstance(target, Variable) \
            else [target]
        return
    everything: dict[str, Any] = {}
    for key in ("variables", "local_variables", "trainable_variables"):
        for variable in get_default_graph().get_collection(key):
            info = getattr(variable, "_save_slice_info", None)
            name = info.full_name if info is not None else variable.op.name
            parts = everything.setdefault(name, [])
            if variable not in parts:
                parts.append(variable)
    if not source.endswith("/"):
        if target.endswith("/") or target not in everything:
            raise ValueError(f"Assignment map with name {source!r} in the checkpoint should map to the name of a "
                             f"variable, but there is none called {target!r} (scopes: 'scope/' to 'other_scope/')")
        yield source, everything[target]
        return
    if not target.endswith("/"):
        raise ValueError(f"Assignment map with scope only name {source} should map to scope only {target}. Should be "
                         "'scope/': 'other_scope/'.")
    scope, prefix = ("" if s == "/" else s for s in (target, source))
    for name, variables in everything.items():
        if name.startswith(scope):
            stored = prefix + name.removeprefix(scope)
            if stored not in shapes:
                raise ValueError(f"Tensor {name} ({stored} in {path}) is not found in {path} checkpoint")
            yield stored, variables


def _start_from(variable: Any, path: str, name: str, shape: list[int]) -> None:
    info = getattr(variable, "_save_slice_info", None)
    full = TensorShape(variable.get_shape() if info is None else info.full_shape)
    if not full.is_compatible_with(shape):
        raise ValueError(f"Shape of variable {variable.name} ({full}) doesn't match with shape of tensor {name} "
                         f"({shape}) from checkpoint reader.")
    with device(variable.device or None), device("/cpu:0"):
        value = io.RestoreV2(path, [name], [info.spec if info is not None else ""],
                             dtypes=[variable.dtype.base_dtype], name="checkpoint_initializer")[0]
    (key, found), = op_list_to_dict([variable]).items()
    saveable, = saveables_of(found, key)
    assigned = saveable.restore([value], None)
    value.set_shape(variable.get_shape())
    variable._initializer_op, variable._initial_value = assigned, value


describe(globals(), CHECKPOINTS)
