"""Default arguments for functions, by blocks: `tf.contrib.framework.arg_scope`."""
from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Defaults = dict[Any, dict[str, Any]]


class _Stack(threading.local):
    def __init__(self) -> None:
        self.scopes: list[Defaults] = [{}]


_stack = _Stack()
_KEY = "_arg_scope_key"
_known: dict[Any, frozenset[str]] = {}          # of each function, the arguments that may have defaults


def current_arg_scope() -> Defaults:
    """Return the defaults that are in force: key of a function (`arg_scope_func_key`) -> arguments.

    >>> slim = tf.contrib.slim
    >>> with slim.arg_scope([slim.conv2d], padding="VALID"):
    ...     scope = tf.contrib.framework.current_arg_scope()
    >>> scope[tf.contrib.framework.arg_scope_func_key(slim.conv2d)]
    {'padding': 'VALID'}
    """
    return _stack.scopes[-1]


def arg_scope_func_key(op: Any) -> Any:
    """Return the key of a function in the dict of an arg_scope.

    op: the function.

    >>> slim = tf.contrib.slim
    >>> with slim.arg_scope([slim.conv2d], stride=2) as scope:
    ...     pass
    >>> scope[tf.contrib.framework.arg_scope_func_key(slim.conv2d)]
    {'stride': 2}
    """
    return getattr(op, _KEY, op)


def add_arg_scope(func: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function take defaults from `arg_scope` (a decorator).

    func: the function.

    >>> @tf.contrib.framework.add_arg_scope
    ... def scale(x, factor=1):
    ...     return x * factor
    >>> with tf.contrib.framework.arg_scope([scale], factor=3):
    ...     scale(2)
    6
    """
    key = func

    @functools.wraps(func)
    def with_defaults(*args: Any, **kwargs: Any) -> Any:
        defaults = current_arg_scope().get(key)
        return func(*args, **{**defaults, **kwargs}) if defaults else func(*args, **kwargs)
    setattr(with_defaults, _KEY, key)
    _known[key] = frozenset(name for name, p in inspect.signature(func).parameters.items()
                            if p.default is not p.empty or p.kind is p.KEYWORD_ONLY)
    return with_defaults


def preset(fn: Callable[..., Any], **preset: Any) -> Callable[[Callable[..., None]], Callable[..., Any]]:
    """Define a function as `fn` with other defaults (a decorator; the decorated one has a name and docstring only)."""
    def define(named: Callable[..., None]) -> Callable[..., Any]:
        @functools.wraps(named, updated=())
        def call(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, **{**preset, **kwargs})
        own = inspect.signature(fn).parameters.values()
        parameters = [p.replace(default=preset.get(p.name, p.default)) for p in own if p.name != "conv_dims"]
        vars(call).update(__wrapped__=fn, __signature__=inspect.Signature(parameters))
        return call
    return define


def has_arg_scope(func: Any) -> bool:
    """Return whether a function may take defaults from `arg_scope`.

    func: the function.

    >>> tf.contrib.framework.has_arg_scope(tf.contrib.slim.conv2d)
    True
    """
    return arg_scope_func_key(func) in _known


def arg_scoped_arguments(func: Any) -> tuple[str, ...]:
    """Return the names of the arguments of a function that may have defaults, sorted.

    func: the function.

    >>> @tf.contrib.framework.add_arg_scope
    ... def scale(x, factor=1, shift=0):
    ...     return x * factor + shift
    >>> tf.contrib.framework.arg_scoped_arguments(scale)
    ('factor', 'shift')
    """
    return tuple(sorted(_known[arg_scope_func_key(func)]))


@contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Defaults]:
    """A block in which the functions have other defaults; or, given what such a block gave, those of that one.

    Raises TypeError for what is neither a list nor a dict, ValueError for functions without `add_arg_scope` and for
    arguments beside a dict. list_ops_or_scope: a list of functions that take other defaults, or the dict that such a
    block gave.

    >>> slim = tf.contrib.slim
    >>> with slim.arg_scope([slim.conv2d], padding="VALID"):
    ...     y = slim.conv2d(tf.ones([1, 8, 8, 3]), 4, [3, 3])
    >>> y.shape.as_list()
    [1, 6, 6, 4]
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError("When attempting to re-use a scope by suppling a dictionary, kwargs must be empty.")
        made = dict(list_ops_or_scope)
    else:
        if not isinstance(list_ops_or_scope, (list, tuple)):
            raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
        made = dict(current_arg_scope())
        for op in list_ops_or_scope:
            if not has_arg_scope(op):
                raise ValueError(f"{getattr(op, '__module__', '')}.{getattr(op, '__name__', op)} is not decorated with "
                                 "@add_arg_scope")
            key = arg_scope_func_key(op)
            made[key] = {**made.get(key, {}), **kwargs}
    _stack.scopes.append(made)
    try:
        yield made
    finally:
        _stack.scopes.pop()
