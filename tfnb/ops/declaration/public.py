"""Public functions of ops: `tf.exp` of the op Exp, under its public name, with the contract of its record.

Functions, not constructors: TF1 programs print `activation.__name__`, copy hyperparameters that hold `tf.nn.relu` and
ask `inspect.isfunction`.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tfnb.opdef.contract import documentation
from tfnb.ops.declaration.construct import Constructor

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def function(op: Constructor, name: str = "", module: str = "tfnb") -> Callable[..., Any]:
    """Return the function that users call for an op. name: by default that of the op in snake_case.

    module: the public module from which it can be imported under that name.
    """
    def call(*args: Any, **kwargs: Any) -> Any:
        return op(*args, **kwargs)
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
