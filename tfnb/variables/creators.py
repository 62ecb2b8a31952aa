"""Variable creators: functions of the user that make, change or replace the variables made in their scope."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from tfnb.core.arguments import SCOPED, describe
from tfnb.graph.stack import get_default_graph
from tfnb.ops.declaration.public import public

Creator = Callable[..., Any]
_CREATORS = ("variable creators",)                 # of a graph: a collection, whose key no program meets


class Created(type):
    """Metaclass of a class that scopes of the default graph may create otherwise; subclasses are not concerned."""

    scoped: type | None = None

    @property
    def __signature__(cls) -> inspect.Signature:
        """Signature of the constructor: `inspect` would take that of `__call__`."""
        made = inspect.signature(cls.__init__)  # type: ignore[misc]
        return made.replace(parameters=list(made.parameters.values())[1:])

    def __call__(cls, *args: Any, **options: Any) -> Any:
        """Return what the creators around make of the arguments, without any an object of the class."""
        creators = get_default_graph().get_collection_ref(_CREATORS) if cls is Created.scoped else ()
        if not creators:
            return super().__call__(*args, **options)
        given = cls.__signature__.bind(*args, **options)
        given.apply_defaults()
        make: Creator = partial(type.__call__, cls)
        for creator in creators:
            make = partial(creator, make)
        return make(**given.arguments)


@public("variable_creator_scope")
@contextmanager
def variable_creator_scope(variable_creator: Creator) -> Iterator[None]:
    """Open a scope in which `variable_creator` makes all variables, those of `tf.get_variable` too.

    variable_creator: a function `(next_creator, **kwargs)`; kwargs are the arguments of `tf.Variable`, all of them.
    It returns `next_creator(**kwargs)`, with changed arguments or not, or something else in the variable's place.
    next_creator is that of the scope around, at last `tf.Variable` itself. The scope is one of the default graph.
    Raises TypeError for a creator that can't be called.

    >>> def frozen(next_creator, **kwargs):
    ...     kwargs["trainable"] = False
    ...     return next_creator(**kwargs)
    >>> with tf.variable_creator_scope(frozen):
    ...     v = tf.Variable(1.0)
    >>> v.trainable, tf.trainable_variables()
    (False, [])
    """
    if not callable(variable_creator):
        raise TypeError(f"variable_creator must be a function (next_creator, **kwargs), got {variable_creator!r}")
    creators = get_default_graph().get_collection_ref(_CREATORS)
    creators.append(variable_creator)
    try:
        yield
    finally:
        creators.remove(variable_creator)


describe(globals(), SCOPED)
