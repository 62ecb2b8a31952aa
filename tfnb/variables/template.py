"""`make_template`: a function that makes its variables at its first call and shares them afterwards."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tfnb.core.program import log
from tfnb.core.source import describe, user_frames
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import get_collection, get_collection_ref
from tfnb.variables.scope import VariableScope, variable_scope

_HINT = "perhaps you used tf.Variable when you meant tf.get_variable"


class Template:
    """A function in a variable scope of its own: what `make_template` gives."""

    def __init__(self, name: str, func: Callable[..., Any], create_scope_now: bool = False,
                 unique_name: str | None = None, custom_getter: Callable[..., Any] | None = None) -> None:
        if name is None:
            raise ValueError("name cannot be None.")
        self._name, self._func, self._unique_name, self._custom_getter = name, func, unique_name, custom_getter
        self._frames = user_frames()
        self._variables_created = False
        self._scope: VariableScope | None = None
        if create_scope_now:
            with variable_scope(unique_name, name, custom_getter=custom_getter, auxiliary_name_scope=False) as scope:
                self._scope = scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function. Raises ValueError for a later call that makes trainable variables by `tf.Variable`."""
        if self._scope is not None:
            with variable_scope(self._scope, reuse=self._variables_created):
                return self._call(args, kwargs)
        with variable_scope(self._unique_name, self._name, custom_getter=self._custom_getter) as scope:
            self._scope = scope
            return self._call(args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        trainable = len(get_collection_ref(GraphKeys.TRAINABLE_VARIABLES))
        others = len(get_collection_ref(GraphKeys.GLOBAL_VARIABLES))
        try:
            result = self._func(*args, **kwargs)
            if self._variables_created:
                self._check_new(trainable, others)
        except Exception as error:
            first = error.args[0] if error.args else ""
            if isinstance(first, str):
                error.args = (f"{first}\n\nin the template {self._name!r}, originally defined at: "
                              f"{describe(self._frames)}", *error.args[1:])
            raise
        self._variables_created = True
        return result

    def _check_new(self, trainable: int, others: int) -> None:
        made = get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)[trainable:]
        if made:
            raise ValueError("Trainable variable created when calling a template after the first time, "
                             f"{_HINT}: {made}")
        made = get_collection_ref(GraphKeys.GLOBAL_VARIABLES)[others:]
        if made:
            log.info("New variables created when calling a template after the first time, %s: %s", _HINT, made)

    @property
    def name(self) -> str:
        """The name given."""
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        """The function."""
        return self._func

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope of its variables; None before the first call, unless it was made at once."""
        return self._scope

    var_scope = variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        """The prefix of its variables' names, with a slash; None before the first call."""
        if self._scope is None:
            return None
        return f"{self._scope.name}/" if self._scope.name else ""

    def _collected(self, key: str) -> list[Any]:
        scope = self.variable_scope_name
        return [] if scope is None else [v for v in get_collection(key) if v.name.startswith(scope)]

    @property
    def global_variables(self) -> list[Any]:
        """Its global variables."""
        return self._collected(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        """Its local variables."""
        return self._collected(GraphKeys.LOCAL_VARIABLES)

    @property
    def trainable_variables(self) -> list[Any]:
        """Those that optimizers train."""
        return self._collected(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def variables(self) -> list[Any]:
        """Its global and local variables."""
        return self.global_variables + self.local_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        """Those that optimizers don't train."""
        trained = set(self.trainable_variables)
        return [v for v in self.variables if v not in trained]

    weights, trainable_weights, non_trainable_weights = variables, trainable_variables, non_trainable_variables


def make_template(name_: str, func_: Callable[..., Any], create_scope_now_: bool = False,
                  unique_name_: str | None = None, custom_getter_: Callable[..., Any] | None = None,
                  **kwargs: Any) -> Template:
    """`func_` with `kwargs`, as a function that makes its variables (by `tf.get_variable`) once and then shares them.

    name_: of its scope, made unique; unique_name_: instead of it, as it is. create_scope_now_: choose the scope now,
    not at the first call. custom_getter_: stands between `get_variable` and the variables. Raises ValueError without
    a name. The names of these arguments end in "_" to leave others to `func_`.

    >>> def scale(x):
    ...     w = tf.get_variable("w", [], initializer=tf.ones_initializer())
    ...     return w * x
    >>> shared = tf.make_template("scale", scale)
    >>> y, z = shared(2.0), shared(3.0)
    >>> len(tf.trainable_variables())
    1
    """
    return Template(name_, partial(func_, **kwargs) if kwargs else func_, create_scope_now_, unique_name_,
                    custom_getter_)
