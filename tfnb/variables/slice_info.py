"""Position of a part of a partitioned variable in the whole, as checkpoints and VariableDefs record it."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core.lazy import lazy_module

_proto = lazy_module("tfnb.proto.variable_pb2")


class SaveSliceInfo:
    """A part of the variable `full_name` of shape `full_shape`: it begins at `var_offset` and has `var_shape`.

    save_slice_info_def: a SaveSliceInfoDef to take these from; import_scope: what its name was prefixed with.
    """

    def __init__(self, full_name: str | None = None, full_shape: Sequence[int] | None = None,
                 var_offset: Sequence[int] | None = None, var_shape: Sequence[int] | None = None,
                 save_slice_info_def: Any = None, import_scope: str | None = None) -> None:
        if save_slice_info_def is not None:
            found = save_slice_info_def
            prefix = f"{import_scope.rstrip('/')}/" if import_scope else ""
            full_name, full_shape = prefix + found.full_name, list(found.full_shape)
            var_offset, var_shape = list(found.var_offset), list(found.var_shape)
        self.full_name, self.full_shape = full_name, full_shape
        self.var_offset, self.var_shape = var_offset, var_shape

    @property
    def spec(self) -> str:
        """The part as ops that save and restore take it: "10 4 0,5:0,4" is the first half of [10, 4]."""
        sizes = " ".join(map(str, self.full_shape or ()))
        return f"{sizes} " + ":".join(f"{start},{length}" for start, length
                                      in zip(self.var_offset or (), self.var_shape or (), strict=True))

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return the SaveSliceInfoDef; None if the whole does not stand under `export_scope`, which its name loses."""
        prefix = f"{export_scope.rstrip('/')}/" if export_scope else ""
        name = self.full_name or ""
        if not name.startswith(prefix):
            return None
        return _proto.SaveSliceInfoDef(full_name=name.removeprefix(prefix), full_shape=self.full_shape,
                                       var_offset=self.var_offset, var_shape=self.var_shape)
