"""Decorators that programs took from `tensorflow.python.util`: marks of deprecated and of exported functions."""
from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Fn = TypeVar("Fn", bound=Callable[..., Any])
_UNSET = object()


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[Fn], Fn]:
    """Return a decorator that warns (DeprecationWarning), once or at each call, that a function is removed on `date`.

    instructions: what to call instead; warn_once: whether a second call is silent. Raises ValueError if the
    instructions are missing.

    >>> @tf.contrib.framework.deprecated("2018-01-01", "Use tf.reduce_sum.")
    ... def total(x):
    ...     return tf.reduce_sum(x)
    >>> total.__name__
    'total'
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


def _telling(date: str | None, instructions: str, warn_once: bool, faults: Callable[[dict[str, Any]], list[str]]
             ) -> Callable[[Fn], Fn]:
    """Return a decorator that warns of a call for whose arguments, by name, `faults` returns some text."""
    def decorate(fn: Fn) -> Fn:
        """Wrap the function."""
        told: set[str] = set()

        @wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = dict(zip(inspect.signature(fn).parameters, args, strict=False)) | kwargs
            for fault in faults(given):
                if not (warn_once and fault in told):
                    told.add(fault)
                    when = "in a future version" if date is None else f"after {date}"
                    warnings.warn(f"calling {fn.__qualname__} with {fault} is deprecated and will be removed {when}: "
                                  f"{instructions}", DeprecationWarning, stacklevel=2)
            return fn(*args, **kwargs)
        return call                                # type: ignore[return-value]
    return decorate


def deprecated_args(date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any, warn_once: bool = True
                    ) -> Callable[[Fn], Fn]:
    """Return a decorator that warns (DeprecationWarning) of a call that gives one of the arguments.

    date: when they are removed, or None; instructions: what to give instead; deprecated_arg_names_or_tuples: names, or
    (name, value that raises no warning); warn_once: whether a second call is silent.

    >>> @tf.contrib.framework.deprecated_args("2018-01-01", "Use axis.", "dim")
    ... def mean(x, axis=None, dim=None):
    ...     return tf.reduce_mean(x, dim if axis is None else axis)
    >>> sess.run(mean([1.0, 3.0], axis=0))
    2.0
    """
    named: dict[str, Any] = dict(one if isinstance(one, tuple) else (one, _UNSET)
                                 for one in deprecated_arg_names_or_tuples)
    return _telling(date, instructions, warn_once, lambda given: [
        name for name, passing in named.items()
        if name in given and (passing is _UNSET or given[name] is not passing and given[name] != passing)])


def deprecated_arg_values(date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any
                          ) -> Callable[[Fn], Fn]:
    """Return a decorator that warns (DeprecationWarning) of a call that gives an argument its deprecated value.

    date: when it is removed, or None; instructions: what to give instead; deprecated_kwargs: the values, by argument;
    warn_once: whether a second call is silent.

    >>> @tf.contrib.framework.deprecated_arg_values(None, "Give True.", keep=False)
    ... def total(x, keep=True):
    ...     return tf.reduce_sum(x, keepdims=keep)
    >>> sess.run(total([1.0, 3.0]))
    array([4.], dtype=float32)
    """
    return _telling(date, instructions, warn_once, lambda given: [
        f"{name}={value}" for name, value in deprecated_kwargs.items() if name in given and given[name] is value])


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
