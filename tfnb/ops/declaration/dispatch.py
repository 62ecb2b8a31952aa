"""Dispatch of public functions on composite tensors: a function gives way to a handler for arguments of that kind.

A room that brings a class of composite tensors registers the handlers when it is imported. Before that a call costs
one look at an empty dict.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

from tfnb.core.nest import leaves, lists

Function = Callable[..., Any]
LEVELS = 8                              # of lists: up to these, recursion is faster than `leaves`
# Function that users call, or the kind of the op that it adds -> handler(the function behind it, *args, **kwargs).
HANDLERS: dict[Any, Function] = {}
F = TypeVar("F", bound=Function)


class Composite:
    """Base class of what represents several tensors, and which functions take only by a handler."""

    __slots__ = ()


def composite_among(values: Sequence[Any], level: int = 0) -> bool:
    """Return whether there is a Composite among values, or in lists and tuples of them.

    level: of the list `values`. Raises ValueError for a list that contains itself.
    """
    if level == LEVELS:
        return any(isinstance(value, Composite) for value in leaves(values, lists))
    for value in values:
        if isinstance(value, Composite) or isinstance(value, (list, tuple)) and composite_among(value, level + 1):
            return True
    return False


def handler(fn: Any, kind: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Function | None:
    """Return the handler of `fn`, or of ops of `kind`, if a Composite is among the arguments of a call, else None."""
    if not HANDLERS or not composite_among(args) and not composite_among(tuple(kwargs.values())):
        return None
    return HANDLERS.get(fn) or HANDLERS.get(kind)


def dispatched(fn: F) -> F:
    """Let handlers serve the calls of `fn` that have a Composite among their arguments (a decorator)."""
    @wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        handle = HANDLERS and handler(call, None, args, kwargs)
        return handle(fn, *args, **kwargs) if handle else fn(*args, **kwargs)
    return cast(F, call)


def handles(*functions: Any) -> Callable[[Function], Function]:
    """Register a handler of functions, or of kinds of ops (a decorator)."""
    def register(handle: Function) -> Function:
        HANDLERS.update(dict.fromkeys(functions, handle))
        return handle
    return register
