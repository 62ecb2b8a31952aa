"""Save and restore ops that a Saver adds to a graph, named as TensorFlow names them.

    save/Const        the file name, which is fed
    save/SaveV2       writes all variables; save/control_dependency is the file name after that
    save/RestoreV2    reads all values; save/Assign... give them to the variables; save/restore_all is all of these
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tfnb.core.device import DeviceSpec, canonical
from tfnb.core.dtypes import DType
from tfnb.core.lazy import lazy_module
from tfnb.core.nest import listed
from tfnb.graph.convert import internal_convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, control_dependencies, device, name_scope
from tfnb.ops.array.reshape import Identity, reshape, shape
from tfnb.ops.control.group import group
from tfnb.ops.control.source import constant, placeholder_with_default
from tfnb.ops.io import checkpoints as io
from tfnb.ops.math.compare import where
from tfnb.ops.state import assign as state
from tfnb.ops.strings.string_ops import StaticRegexFullMatch, string_join
from tfnb.variables.partitioned import PartitionedVariable
from tfnb.variables.resource_variable import ResourceVariable
from tfnb.variables.variable import Variable

_saver_pb2 = lazy_module("tfnb.proto.saver_pb2")

V1, V2 = 1, 2                                      # SaverDef.CheckpointFormatVersion


class SaveSpec:
    """One tensor of a saveable: its name in the checkpoint, and its slice of a partitioned tensor ("": all of it).

    tensor: a tensor, or a function that makes it (then `dtype` and `device` must be given).
    """

    def __init__(self, tensor: Any, slice_spec: str, name: str, dtype: DType | None = None,
                 device: str | None = None) -> None:
        self._tensor = tensor
        self.slice_spec, self.name = slice_spec, name
        lazy = callable(tensor) and not hasattr(tensor, "dtype")
        if lazy and (dtype is None or device is None):
            raise AssertionError("When passing a callable `tensor` to a SaveSpec, an explicit dtype and device must be "
                                 "provided.")
        self.dtype: DType = dtype if dtype is not None else tensor.dtype
        self.device: str = device if device is not None else tensor.device
        self._lazy = lazy

    @property
    def tensor(self) -> Any:
        """Tensor to store."""
        return self._tensor() if self._lazy else self._tensor


class SaveableObject:
    """Object to save and restore: its op, the specs of its tensors, its name. Subclasses define `restore`."""

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str) -> None:
        self.op, self.specs, self.name = op, specs, name

    @property
    def device(self) -> str:
        """Device of its tensors."""
        return self.specs[0].device

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Any] | None) -> Any:
        """Return an op that assigns the restored values. restored_shapes: to reshape the values to, or None."""
        raise ValueError("Calling an abstract method.")


class VariableSaveable(SaveableObject):
    """Saveable of a reference variable, or of a part of a partitioned one."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        super().__init__(var, [SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Any] | None) -> Any:
        """Return the op that assigns the restored value."""
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = reshape(value, restored_shapes[0])
        return state.assign(self.op, value, validate_shape=restored_shapes is None
                            and self.op.get_shape().is_fully_defined())


class ResourceSaveable(SaveableObject):
    """Saveable of a resource variable, or of a part of a partitioned one."""

    def __init__(self, var: ResourceVariable, slice_spec: str, name: str) -> None:
        super().__init__(var.handle, [SaveSpec(var.value(), slice_spec, name, var.dtype, var.device)], name)
        self._variable = var

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Any] | None) -> Any:
        """Return the op that assigns the restored value."""
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = reshape(value, restored_shapes[0])
        return self._variable.assign(value, read_value=False)


# ---- parsing of a var_list -------------------------------------------------------------------------------------------

def op_list_to_dict(op_list: Iterable[Any]) -> dict[str, Any]:
    """Map the names in the checkpoint to the variables of a list; parts of a partitioned one share its name.

    Raises TypeError for other structures than lists and dicts, and for non-variables; ValueError for duplicate names.
    """
    if isinstance(op_list, Mapping):
        return dict(op_list)
    op_list = listed(op_list)
    if not isinstance(op_list, (list, tuple)):
        raise TypeError(f"Variables to save should be passed in a dict or a list. Got {op_list}")
    found: dict[str, Any] = {}
    for item in sorted(op_list, key=_name_of):
        info = getattr(item, "_save_slice_info", None)
        if isinstance(item, Variable) and info is not None:
            parts = found.setdefault(info.full_name, [])
            if not isinstance(parts, list):
                raise ValueError(f"Mixing slices and non-slices with the same name: {info.full_name}")
            parts.append(item)
            continue
        key = item.name if isinstance(item, (SaveableObject, PartitionedVariable)) else _variable_name(item)
        if key in found:
            raise ValueError(f"At least two variables have the same name: {key}")
        found[key] = item
    return found


def _name_of(item: Any) -> str:
    if not hasattr(item, "name"):
        raise TypeError(f"Variable to save is not a Variable: {item!r}")
    return str(item.name)


def _saveable(var: Any, slice_spec: str, name: str) -> SaveableObject:
    kind = ResourceSaveable if isinstance(var, ResourceVariable) else VariableSaveable
    return kind(var, slice_spec, name)


def _variable_name(item: Any) -> str:
    if isinstance(item, ResourceVariable):
        return item.op.name
    tensor = internal_convert_to_tensor(item, as_ref=True)
    if not tensor.dtype._is_ref_dtype:
        raise TypeError(f"Variable to save is not a Variable: {item!r}")
    return tensor.op.name


def saveables_of(op: Any, name: str) -> Iterator[SaveableObject]:
    """Return the saveables of a variable, a partitioned one, or a list of parts. Raises TypeError, ValueError."""
    if not isinstance(name, str):
        raise TypeError("names_to_saveables must be a dict mapping string names to trackable operations. Name is not a "
                        f"string: {name}")
    if isinstance(op, SaveableObject):
        yield op
    elif isinstance(op, (list, tuple, PartitionedVariable)):
        infos: list[Any] = [getattr(part, "_save_slice_info", None) for part in op]
        if None in infos or len({info.full_name for info in infos}) > 1:
            raise ValueError(f"Slices must all be from the same tensor, but {name!r} stands for {list(op)}")
        for part, info in zip(op, infos, strict=True):
            yield _saveable(part, info.spec, name)
    elif isinstance(op, ResourceVariable):
        yield _saveable(op, "", name)
    else:
        tensor = internal_convert_to_tensor(op, as_ref=True)
        if not tensor.dtype._is_ref_dtype:
            raise TypeError("names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a "
                            f"variable: {op!r}")
        yield VariableSaveable(tensor, "", name)


def validate_and_slice_inputs(names_to_saveables: Mapping[str, Any]) -> list[SaveableObject]:
    """Return the saveables of a dict, sorted by name. Raises ValueError for a variable that comes twice."""
    found: list[SaveableObject] = []
    seen: set[Any] = set()
    for name, op in sorted(names_to_saveables.items(), key=lambda item: str(item[0])):
        for saveable in saveables_of(op, name):
            if saveable.op in seen:
                raise ValueError(f"The same saveable will be restored with two names: {saveable.name}")
            seen.add(saveable.op)
            found.append(saveable)
    return found


def set_cpu0(where: str) -> str:
    """Return CPU 0 of the task that a device belongs to."""
    spec = DeviceSpec.from_string(where)
    spec.device_type, spec.device_index = "CPU", 0
    return spec.to_string()


def _set_device(where: str) -> Any:
    return device(where or None)


# ---- builders --------------------------------------------------------------------------------------------------------

_Saveable = SaveableObject                    # BaseSaverBuilder has an attribute of that name


class BaseSaverBuilder:
    """Builder of a Saver's ops. `build` returns the SaverDef with their names. write_version: 1 or 2 (default)."""

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject

    def __init__(self, write_version: int = V2) -> None:
        self._write_version = write_version

    def save_op(self, filename_tensor: Tensor, saveables: Sequence[_Saveable]) -> Operation:
        """Return an op that writes all `saveables` to the file. Raises RuntimeError for an unknown write_version."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        names, parts = [spec.name for spec in specs], [spec.slice_spec for spec in specs]
        tensors = [spec.tensor for spec in specs]
        if self._write_version == V1:
            made: Operation = io.SaveSlices(filename_tensor, names, parts, tensors, name="save")
        elif self._write_version == V2:
            made = io.SaveV2(filename_tensor, names, parts, tensors)
        else:
            raise RuntimeError(f"Unexpected write_version: {self._write_version}")
        return made

    def bulk_restore(self, filename_tensor: Tensor, saveables: Sequence[_Saveable], preferred_shard: int,
                     restore_sequentially: bool) -> list[Tensor]:
        """Return the restored values of all saveables, read by one op each."""
        found: list[Tensor] = []
        for saveable in saveables:
            with _set_device(set_cpu0(saveable.device) if saveable.device else ""):
                found += self.restore_op(filename_tensor, saveable, preferred_shard)
        return found

    def restore_op(self, filename_tensor: Tensor, saveable: _Saveable, preferred_shard: int) -> list[Tensor]:
        """Return the restored values of one saveable."""
        return [_restored(filename_tensor, [spec])[0] for spec in saveable.specs]

    def sharded_filename(self, filename_tensor: Tensor, shard: int, num_shards: Tensor) -> Tensor:
        """Return the file name of a shard."""
        made: Tensor = io.ShardedFilename(filename_tensor, shard, num_shards)
        return made

    def _add_save_ops(self, filename_tensor: Tensor, saveables: Sequence[_Saveable]) -> Tensor:
        save = self.save_op(filename_tensor, saveables)
        with name_scope("control_dependency") as scope:
            with colocate_with(filename_tensor.op), control_dependencies([save]):
                made: Tensor = Identity(filename_tensor, name=scope)
                return made

    def _add_restore_ops(self, filename_tensor: Tensor, saveables: Sequence[_Saveable], reshaped: bool,
                         sequentially: bool, preferred_shard: int = -1, name: str = "restore_all") -> Operation:
        values = self.bulk_restore(filename_tensor, saveables, preferred_shard, sequentially)
        assigned = []
        for saveable in saveables:
            shapes: list[Any] | None = None
            if reshaped:
                shapes = [_target_shape(spec.tensor) for spec in saveable.specs]
            mine, values = values[:len(saveable.specs)], values[len(saveable.specs):]
            assigned.append(saveable.restore(mine, shapes))
        return group(*assigned, name=name)

    def _add_sharded_save_ops(self, prefix: Tensor, shards: Sequence[tuple[str, list[_Saveable]]]) -> Tensor:
        """Add ops that write one temporary checkpoint per device, then merge them."""
        with device("CPU"):
            suffix = where(StaticRegexFullMatch(prefix, pattern="^s3://.*"), constant(".part"),
                           constant("_temp/part"))
            beside = string_join([prefix, suffix])
        count = constant(len(shards), name="num_shards")
        names, saves, last = [], [], ""
        for shard, (where_, saveables) in enumerate(shards):
            last = set_cpu0(where_)
            with device(last):
                names.append(self.sharded_filename(beside, shard, count))
                saves.append(self._add_save_ops(names[-1], saveables))
        with control_dependencies([save.op for save in saves]), device(last):
            merged = io.MergeV2Checkpoints(names, prefix, delete_old_dirs=True)
            with control_dependencies([merged]):
                made: Tensor = Identity(prefix)
                return made

    def _add_sharded_save_ops_v1(self, prefix: Tensor, shards: Sequence[tuple[str, list[_Saveable]]]) -> Tensor:
        count = constant(len(shards), name="num_shards")
        saves = []
        for shard, (where_, saveables) in enumerate(shards):
            with _set_device(where_):
                saves.append(self._add_save_ops(self.sharded_filename(prefix, shard, count), saveables))
        with control_dependencies([save.op for save in saves]):
            made: Tensor = io.ShardedFilespec(prefix, count)
            return made

    def _add_sharded_restore_ops(self, filename_tensor: Tensor, shards: Sequence[tuple[str, list[_Saveable]]],
                                 reshaped: bool, sequentially: bool) -> Operation:
        restores = []
        for shard, (where_, saveables) in enumerate(shards):
            with _set_device(where_):
                restores.append(self._add_restore_ops(filename_tensor, saveables, reshaped, sequentially, shard,
                                                      "restore_shard"))
        return group(*restores, name="restore_all")

    def _by_device(self, saveables: Iterable[_Saveable]) -> list[tuple[str, list[_Saveable]]]:
        found: dict[str, list[_Saveable]] = {}
        for saveable in saveables:
            devices = {canonical(spec.device) for spec in saveable.specs}
            if len(devices) != 1:
                raise ValueError(f"All tensors of a saveable object must be on the same device: {saveable.name}")
            found.setdefault(devices.pop(), []).append(saveable)
        return sorted(found.items())

    def build(self, names_to_saveables: Any, reshape: bool = False, sharded: bool = False, max_to_keep: int = 5,
              keep_checkpoint_every_n_hours: float = 10000.0, name: str | None = None,
              restore_sequentially: bool = False, filename: str = "model") -> Any:
        """Add the ops for a list or dict of variables, and return their SaverDef. Raises as Saver."""
        if not isinstance(names_to_saveables, Mapping):
            names_to_saveables = op_list_to_dict(names_to_saveables)
        saveables = validate_and_slice_inputs(names_to_saveables)
        with name_scope(name, "save", [saveable.op for saveable in saveables]):
            default = placeholder_with_default(filename or "model", shape=(), name="filename")
            path = placeholder_with_default(default, shape=(), name="Const")
            if sharded:
                shards = self._by_device(saveables)
                add: Callable[..., Tensor] = self._add_sharded_save_ops if self._write_version == V2 \
                    else self._add_sharded_save_ops_v1
                saved = add(path, shards)
                restored = self._add_sharded_restore_ops(path, shards, reshape, restore_sequentially)
            else:
                saved = self._add_save_ops(path, saveables)
                restored = self._add_restore_ops(path, saveables, reshape, restore_sequentially)
        return _saver_pb2.SaverDef(
            filename_tensor_name=path.name, save_tensor_name=saved.name, restore_op_name=restored.name,
            max_to_keep=max_to_keep, sharded=sharded, version=self._write_version,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours)


class BulkSaverBuilder(BaseSaverBuilder):
    """Builder that restores all values by one op, the default of Saver."""

    def bulk_restore(self, filename_tensor: Tensor, saveables: Sequence[SaveableObject], preferred_shard: int,
                     restore_sequentially: bool) -> list[Tensor]:
        """Return the restored values of all saveables, read by one op."""
        with device("cpu:0"):
            return _restored(filename_tensor, [spec for saveable in saveables for spec in saveable.specs])


def _restored(filename: Tensor, specs: Sequence[SaveSpec]) -> list[Tensor]:
    made: list[Tensor] = io.RestoreV2(filename, [spec.name for spec in specs], [spec.slice_spec for spec in specs],
                                      dtypes=[spec.dtype.base_dtype for spec in specs])
    return made


def _target_shape(tensor: Any) -> Any:
    static = tensor.get_shape()
    return static if static.is_fully_defined() else shape(tensor)
