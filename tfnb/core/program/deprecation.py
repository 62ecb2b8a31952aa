"""Decorators that programs took from `tensorflow.python.util`: marks of deprecated and of exported functions."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Fn = TypeVar("Fn", bound=Callable[..., Any])


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[Fn], Fn]:
    """Return a decorator that warns (DeprecationWarning), once or at each call, that a function is removed on `date`.

    instructions: what to call instead. Raises ValueError if they are missing.
    """
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")

    def decorate(fn: Fn) -> Fn:
        """Wrap the function."""
        warned = False

        @wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal warned
            if not (warned and warn_once):
                warned = True
                when = "in a future version" if date is None else f"after {date}"
                warnings.warn(f"{fn.__qualname__} is deprecated and will be removed {when}: {instructions}",
                              DeprecationWarning, stacklevel=2)
            return fn(*args, **kwargs)
        return call                                # type: ignore[return-value]
    return decorate


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """Return the value that was given under the new or the old name. Raises ValueError if both were."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old_value


class tf_export:      # noqa: N801  TensorFlow's name
    """Decorator that returns its argument: a mark for TensorFlow's generator of public modules."""

    def __init__(self, *names: str, **others: Any) -> None:
        self.names = names

    def __call__(self, value: Any) -> Any:
        return value
