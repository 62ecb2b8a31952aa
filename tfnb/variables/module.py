"""Modules: objects that own variables and other modules (`tf.Module`)."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from tfnb.core import nest
from tfnb.graph.stack import name_scope
from tfnb.ops.declaration.public import public
from tfnb.variables.variable import Variable

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@public("Module")
class Module:
    """Base class of objects with variables, which are found in their attributes, in lists and dicts of them.

    name: a Python identifier, by default the name of the class in snake_case. Raises ValueError for another name.

    >>> class Dense(tf.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.w = tf.get_variable("w", [2, 3])
    >>> dense = Dense()
    >>> dense.name, [v.op.name for v in dense.trainable_variables]
    ('dense', ['w'])
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = _WORD.sub("_", type(self).__name__).lower() if name is None else name
        if not self._name.isidentifier():
            raise ValueError(f"{self._name!r} is not a valid module name: expected a Python identifier")
        with name_scope(self._name) as scope:
            self._scope = scope

    @property
    def name(self) -> str:
        """The name of the module."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """The name scope of the module, to be entered."""
        return name_scope(self._scope)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables of the module and of its submodules."""
        return tuple(self._flatten(lambda value: isinstance(value, Variable)))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The variables that are trained."""
        return tuple(self._flatten(lambda value: isinstance(value, Variable) and value.trainable))

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules in the attributes of this one, and in theirs."""
        return tuple(self._flatten(lambda value: isinstance(value, Module)))

    def _flatten(self, wanted: Callable[[Any], bool]) -> Iterator[Any]:
        """Yield each wanted value once: those of this module, by names of attributes, then those of submodules."""
        seen, waiting = {id(self)}, [self]
        while waiting:
            module, inner = waiting.pop(0), []
            for _, attribute in sorted(vars(module).items()):
                for value in nest.flatten(attribute):
                    if id(value) in seen or not isinstance(value, (Variable, Module)):
                        continue
                    seen.add(id(value))
                    if wanted(value):
                        yield value
                    if isinstance(value, Module):
                        inner.append(value)
            waiting = inner + waiting

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Let a method add its ops in the name scope of the module (a decorator)."""
        @wraps(method)
        def scoped(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)
        return scoped
