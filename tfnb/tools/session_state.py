"""The variables of a session as a file of tensors: compared with checkpoints, saved, and restored with a plan first.

No op is added to the graph: values are copied between the session's memory and the files.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from tfnb.core.dtypes import DType
from tfnb.core.errors import FailedPreconditionError, InvalidArgumentError
from tfnb.core.shape import compatible
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation
from tfnb.proto import slices
from tfnb.proto.bundle_writer import BundleWriter
from tfnb.proto.slices import Shape, Slice
from tfnb.runtime.session import BaseSession
from tfnb.runtime.state.store import uninitialized
from tfnb.tools.tensors import TensorFile, TensorInfo
from tfnb.train.checkpoints.state import get_checkpoint_state, update_checkpoint_state


@dataclass(frozen=True)
class Held:
    """A variable as checkpoints know it: the name of its tensor; full, part: of a part of a partitioned one."""

    name: str
    op: Operation
    full: Shape = ()
    part: Slice | None = None

    @property
    def dtype(self) -> DType:
        """The dtype and shape of its values."""
        dtype: DType = self.op.attrs["dtype"]
        return dtype

    @property
    def index(self) -> tuple[slice, ...]:
        """The place of the part in the whole."""
        return () if self.part is None else tuple(slice(b, b + n) for b, n in slices.extents(self.full, self.part))


@dataclass(frozen=True)
class Fate:
    """The fate of a tensor of the checkpoint or a variable of the graph when the checkpoint is restored.

    action: "restored", "kept" (the variable stays as it is; why says the reason) or "unused" (no variable takes it).
    name: of the tensor in the checkpoint, variable: of the variable, "" where there is none.
    """

    action: str
    name: str
    variable: str
    why: str = ""
    shape: Shape | None = None
    held: Held | None = None


def held_variables(session: BaseSession) -> list[Held]:
    """The variables that a Saver would save (GraphKeys.GLOBAL_VARIABLES), by the names of their tensors."""
    found = [_held(variable) for variable in session.graph.get_collection(GraphKeys.GLOBAL_VARIABLES)]
    return sorted(found, key=lambda held: (held.name, held.op.name))


def _held(variable: Any) -> Held:
    info = getattr(variable, "_save_slice_info", None)
    if info is None:
        return Held(variable.op.name, variable.op)
    full, part = slices.read_spec(info.spec)
    return Held(str(info.full_name), variable.op, full, part)


def _by_name(held: Iterable[Held]) -> dict[str, list[Held]]:
    found: dict[str, list[Held]] = {}
    for each in held:
        found.setdefault(each.name, []).append(each)
    return found


def session_tensors(session: BaseSession) -> TensorFile:
    """The variables of a session that have values, as a file of tensors. Reading copies what is there then."""
    known = {name: parts for name, parts in _by_name(held_variables(session)).items()
             if all(session._store.array(part.op) is not None for part in parts)}
    told = {name: TensorInfo(parts[0].dtype, parts[0].full or session._store.value(parts[0].op, parts[0].op).shape)
            for name, parts in known.items()}

    def read(name: str) -> np.ndarray:
        """A copy of a variable's value, of a partitioned one put together."""
        values = [session._store.value(part.op, part.op) for part in known[name]]
        if known[name][0].part is None:
            return values[0].copy()
        whole = np.zeros(told[name].shape, values[0].dtype)
        for part, value in zip(known[name], values, strict=True):
            whole[part.index] = value
        return whole
    return TensorFile("session", "session", told, read)


# Restoring

def restore_plan(session: BaseSession, file: TensorFile, renamed: Mapping[str, str] | None = None,
                 scope: str = "") -> list[Fate]:
    """Return what restoring `file` would do: variables first, then what the file has beside them.

    renamed: name of a variable, or "scope/" -> name of the tensor, or "scope/", that it takes; scope: only of the
    variables below it.
    """
    held = [each for each in held_variables(session) if in_scope(each.name, scope)]
    fates = [_fate(each, stored_name(each.name, renamed or {}), file) for each in held]
    used = {fate.name for fate in fates}
    rest = [name for name in sorted(file.tensors) if name not in used and not scope]
    return fates + [Fate("unused", name, "", "the graph has no such variable", file.tensors[name].shape)
                    for name in rest]


def in_scope(name: str, scope: str) -> bool:
    """Return whether a name is that scope, or below it. All names are below ""."""
    return not scope or name == scope or name.startswith(scope.rstrip("/") + "/")


def stored_name(name: str, renamed: Mapping[str, str]) -> str:
    """Return the name of a variable in a checkpoint, for `renamed` as in `restore_plan`."""
    if name in renamed:
        return renamed[name]
    for old, new in renamed.items():
        if old.endswith("/") and name.startswith(old):
            return new + name.removeprefix(old)
    return name


def _fate(held: Held, name: str, file: TensorFile) -> Fate:
    found, op = file.tensors.get(name), held.op
    if found is None:
        near = get_close_matches(name, file.tensors, n=1)
        why = "not in the checkpoint" + (f"; it has {near[0]}" if near else "")
        return Fate("kept", name, op.name, why, None, held)
    static = held.full if held.part is not None else op.attrs["shape"]
    if found.dtype != held.dtype:
        why = f"{found.dtype.name} in the checkpoint, {held.dtype.name} in the graph"
    elif not compatible(static, found.shape):
        why = f"shape {_shape(found.shape)} in the checkpoint, {_shape(static)} in the graph"
    else:
        return Fate("restored", name, op.name, "", found.shape, held)
    return Fate("kept", name, op.name, why, found.shape, held)


def _shape(shape: Sequence[int | None]) -> str:
    return "×".join("?" if n is None else str(n) for n in shape) or "()"


def restore(session: BaseSession, file: TensorFile, renamed: Mapping[str, str] | None = None,
            partial: bool = False, scope: str = "") -> list[Fate]:
    """Give the variables of a session the values of `file`; all is read and checked before the first one changes.

    renamed, scope: as for `restore_plan`.

    Returns what was done. Raises InvalidArgumentError if a variable would not be restored, unless `partial`; and
    DataLossError for a damaged file.
    """
    plan = restore_plan(session, file, renamed, scope)
    kept = [fate for fate in plan if fate.action == "kept"]
    if kept and not partial:
        more = f" and {len(kept) - 3} more" if len(kept) > 3 else ""
        raise InvalidArgumentError(None, None, f"{file.path} does not restore " + "; ".join(
            f"{fate.variable} ({fate.why})" for fate in kept[:3]) + more + ". Restore the others with partial=True")
    values = {fate.name: file.read(fate.name) for fate in plan if fate.action == "restored"}
    for fate in plan:
        if fate.action == "restored" and fate.held is not None:
            session._store.assign(fate.held.op, values[fate.name][fate.held.index])
    return plan


# Saving

def save(session: BaseSession, path: Any, step: int | None = None,
         progress: Callable[[int], Any] | None = None) -> str:
    """Write the variables of a session to a checkpoint of the second format, and enter it in the file "checkpoint".

    path: the prefix, to which "-<step>" is appended; progress: called with the bytes of each tensor. Returns the
    checkpoint's prefix. Raises FailedPreconditionError if a variable has no value, InvalidArgumentError without any.
    """
    prefix = os.fsdecode(path) if step is None else f"{os.fsdecode(path)}-{step}"
    held = held_variables(session)
    if not held:
        raise InvalidArgumentError(None, None, "the graph has no variables to save")
    for each in held:
        if session._store.array(each.op) is None:
            raise FailedPreconditionError(None, each.op, str(uninitialized(each.op, each.op).message))
    os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
    writer = BundleWriter(prefix)
    try:
        for each, array in _values(session, held):
            writer.add(each.name, array, each.dtype, each.full, each.part)
            if progress is not None:
                progress(array.nbytes)
    except BaseException:
        writer.discard()
        raise
    writer.finish()
    update_checkpoint_state(os.path.dirname(prefix) or ".", prefix, _others(prefix))
    return prefix


def _values(session: BaseSession, held: Iterable[Held]) -> Iterator[tuple[Held, np.ndarray]]:
    for each in held:
        yield each, session._store.value(each.op, each.op)


def _others(prefix: str) -> list[str]:
    """The checkpoints that the directory's file names beside this one."""
    state = get_checkpoint_state(os.path.dirname(prefix) or ".")
    return [path for path in (state.all_model_checkpoint_paths if state is not None else ())
            if os.path.abspath(path) != os.path.abspath(prefix)]
