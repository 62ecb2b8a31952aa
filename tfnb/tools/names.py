"""Public functions, ops and classes by dotted name, for the reference and the tests of examples and contracts."""
from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Iterator
from functools import cache
from typing import Any

from google.protobuf.message import Message

from tfnb.tools.stubs import PUBLIC_FOLDERS, public_names

# Not TensorFlow's names, or each op by its official name.
_OTHER = {"tfnb.notebook", "tfnb.raw_ops", "tfnb.python", "tfnb.user_ops"}
# The names of TensorFlow in modules that hold helpers of ours beside them.
_SHARED = {"tfnb.core.nest": {"assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"},
           "tfnb.saved_model.loader": {"load", "maybe_saved_model_directory"}}


def members(module: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield (dotted name, value) of what a public module called `path` holds, and its submodules, the nearest first."""
    waiting, seen = [(path, inspect.getmodule(module))], set[str]()
    for place, holder in waiting:
        assert holder is not None
        for name in sorted(_SHARED.get(holder.__name__, public_names(holder))):
            value = getattr(holder, name)
            if not isinstance(value, types.ModuleType):
                if _names_only(holder.__name__) or getattr(value, "__module__", "") == holder.__name__:
                    yield f"{place}.{name}", value
                continue
            inner = value.__name__
            if _names_only(holder.__name__) and inner.startswith("tfnb.") and inner not in seen | _OTHER:
                seen.add(inner)
                waiting.append((f"{place}.{name}", importlib.import_module(inner)))


def _names_only(module: str) -> bool:
    """Return whether a module has public names only: other modules have their own beside what they import."""
    return module.count(".") < 2 or module in PUBLIC_FOLDERS or module.startswith("tfnb.contrib.")


@cache
def documented() -> dict[str, Any]:
    """Return dotted name -> each public function, op and class but protobuf messages; of several names the shortest."""
    found: dict[int, tuple[str, Any]] = {}
    for name, value in members(importlib.import_module("tfnb"), "tf"):
        ours = str(getattr(value, "__module__", "")).startswith("tfnb")
        message = isinstance(value, type) and issubclass(value, Message)
        if ours and callable(value) and not message and isinstance(value, (type, types.FunctionType)):
            found.setdefault(id(value), (name, value))
    return dict(found.values())


def documentation(value: Any) -> str:
    """Return the docstring of a function, of an op, or of a class itself (not of its base)."""
    doc = vars(value).get("__doc__") if isinstance(value, type) else value.__doc__
    return inspect.cleandoc(doc) if isinstance(doc, str) else ""
