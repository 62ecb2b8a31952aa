"""Helpers of libraries that programs took from `tensorflow.python.util`: decorators, and lists of public names."""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from types import ModuleType
from typing import Any


def make_decorator(target: Callable[..., Any], decorator_func: Callable[..., Any], decorator_name: str | None = None,
                   decorator_doc: str = "", decorator_argspec: Any = None) -> Callable[..., Any]:
    """Return `decorator_func` with the name, the docstring and the signature of `target`, which it wraps.

    decorator_name, decorator_doc, decorator_argspec: notes for TensorFlow's generator of documentation.

    >>> from tfnb.core.program.decorators import make_decorator, unwrap
    >>> def double(x):
    ...     return 2 * x
    >>> traced = make_decorator(double, lambda *args: double(*args))
    >>> traced(4), traced.__name__, unwrap(traced)[1] is double
    (8, 'double', True)
    """
    return wraps(target)(decorator_func)


def unwrap(maybe_tf_decorator: Callable[..., Any]) -> tuple[list[Callable[..., Any]], Callable[..., Any]]:
    """Return (decorators, outermost first; the function within) of a function that `make_decorator` made."""
    decorators, inner = [], maybe_tf_decorator
    while hasattr(inner, "__wrapped__"):
        decorators.append(inner)
        inner = inner.__wrapped__
    return decorators, inner


def make_all(module_name: str, doc_string_modules: Sequence[ModuleType] | None = None) -> list[str]:
    """Return the public names of an imported module, for its `__all__`: all but modules and names that begin with "_".

    doc_string_modules: a note for TensorFlow's generator of documentation.
    """
    return sorted(name for name, value in vars(sys.modules[module_name]).items()
                  if not name.startswith("_") and not isinstance(value, ModuleType))


def remove_undocumented(module_name: str, allowed_exception_list: Sequence[str] | None = None,
                        doc_string_modules: Sequence[ModuleType] | None = None) -> None:
    """Leave a module as it is: TensorFlow takes names away that its documentation does not mention."""
