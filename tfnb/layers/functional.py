"""The function beside each class of `tf.layers`: it makes a layer and calls it."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import Parameter
from typing import Any

from tfnb.layers.base import Layer

_ORDINARY = Parameter.POSITIONAL_OR_KEYWORD


def functional(cls: type[Layer], name: str, reuse: bool = True) -> Callable[..., Any]:
    """A function `name(inputs, *arguments of the class, reuse=None)`.

    The layer's variable scope is called as the argument `name`. reuse: False leaves that argument out, for layers
    without variables.
    """
    own = [p for p in list(inspect.signature(cls.__init__).parameters.values())[1:] if p.kind is _ORDINARY]
    parameters = [Parameter("inputs", _ORDINARY), *own]
    if reuse:
        parameters.append(Parameter("reuse", _ORDINARY, default=None, annotation="Any"))
    signature = inspect.Signature(parameters)

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}(): {error}") from None
        inputs, shared = given.pop("inputs"), given.pop("reuse", None)
        if reuse:
            given.update(_scope=given.get("name"), _reuse=shared)
        return cls(**given)(inputs)
    function.__name__ = function.__qualname__ = name
    function.__module__ = cls.__module__
    function.__doc__ = f"Apply a layer `{cls.__name__}` to `inputs`.\n\n{inspect.cleandoc(cls.__doc__ or '')}"
    vars(function)["__signature__"] = signature
    return function
