"""Public functions of ops: `tf.exp` of the op Exp, under its public name, with the contract of its record.

Functions, not constructors: TF1 programs print `activation.__name__`, copy hyperparameters that hold `tf.nn.relu` and
ask `inspect.isfunction`.
"""
from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from tfnb.core.absent import absent
from tfnb.core.interrupts import held_back
from tfnb.opdef.contract import documentation
from tfnb.opdef.index import PUBLIC
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.dispatch import HANDLERS, handler

Declared = TypeVar("Declared")
NAMES: dict[str, Any] = {}              # "math.erfinv" -> the function, of the modules that are imported
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def function(op: Constructor, name: str = "", module: str = "tfnb") -> Callable[..., Any]:
    """Return the function that users call for an op. name: by default that of the op in snake_case.

    module: the public module from which it can be imported under that name.
    """
    def call(*args: Any, **kwargs: Any) -> Any:
        handle = HANDLERS and handler(call, type(op.spec), args, kwargs)
        return handle(op, *args, **kwargs) if handle else op(*args, **kwargs)
    call.__name__ = call.__qualname__ = name or _WORD_START.sub("_", op.spec.name).lower()
    call.__module__ = module
    call.__doc__ = documentation(op.spec)
    vars(call).update(__signature__=op.__signature__, spec=op.spec)
    return call


def named(name: str) -> Callable[[Callable[..., Any]], Any]:
    """Give a function its public name, where its module needs the builtin of that name (a decorator)."""
    def rename(fn: Callable[..., Any]) -> Callable[..., Any]:
        fn.__name__ = fn.__qualname__ = name
        return fn
    return rename


def functions(*ops: Constructor, module: str = "tfnb") -> tuple[Callable[..., Any], ...]:
    """Return the public function of each op."""
    return tuple(function(op, module=module) for op in ops)


def public(*names: str) -> Callable[[Declared], Declared]:
    """Export a function, or the function of an op, under public names without the "tf." (a decorator).

    `@public("math.erfinv")` is all: `tests/opdef/write_index.py` notes the module, which a look at the name imports.
    """
    def export(declared: Declared) -> Declared:
        fn: Any = declared
        if isinstance(declared, Constructor):
            module, _, name = names[0].rpartition(".")
            fn = function(declared, name, f"tfnb.{module}".rstrip("."))
        NAMES.update(dict.fromkeys(names, fn))
        return declared
    return export


def exports(module: str, otherwise: Callable[[str], Any] | None = None) -> Callable[[str], Any]:
    """Return a `__getattr__` for a public module: the names that declarations export to it, then those of `otherwise`.

    `dir(module)` lists them.
    """
    place = module.removeprefix("tfnb").removeprefix(".")
    found, before = PUBLIC.get(place, {}), vars(sys.modules[module]).get("__dir__")

    def find(name: str) -> Any:
        if name not in found:
            if otherwise is not None:
                return otherwise(name)
            raise absent(module, name)
        with held_back():
            importlib.import_module(found[name])
        value = NAMES[f"{place}.{name}".lstrip(".")]
        setattr(sys.modules[module], name, value)
        return value
    vars(sys.modules[module])["__dir__"] = lambda: sorted({
        *(before() if before else vars(sys.modules[module])), *found})
    return find
