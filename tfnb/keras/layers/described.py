"""Layers that keep the arguments of their constructor for `get_config`: activations, initializers... by their names."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from tfnb.core.dimension import Dimension
from tfnb.core.shape import TensorShape
from tfnb.keras.engine.layer import Layer
from tfnb.keras.functions import activations, constraints, initializers, regularizers

_MODULES: dict[str, Any] = {"activation": activations, "initializer": initializers, "regularizer": regularizers,
                            "constraint": constraints}


def _module(name: str) -> Any:
    """Return the module that knows values of an argument such as kernel_initializer; None for others."""
    return _MODULES.get(name.rpartition("_")[2])


class Described(Layer):
    """A layer whose constructor's arguments are attributes. `_arguments`: their names."""

    _arguments: ClassVar[tuple[str, ...]] = ()

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:                # what `_keep` sets
            ...

    def _keep(self, **given: Any) -> None:
        """Set attributes: names and configs of activations, initializers, regularizers, constraints become objects."""
        for name, value in given.items():
            module = _module(name)
            setattr(self, name, value if module is None else module.get(value))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        config = super().get_config()
        for name in self._arguments:
            value, module = getattr(self, name), _module(name)
            config[name] = value if module is None else module.serialize(value)
        return config


def shape_list(shape: Any) -> list[int | None]:
    """Return the sizes of a shape: a TensorShape, or a list or tuple of integers, Dimensions and None."""
    if isinstance(shape, (list, tuple)):
        return [each.value if isinstance(each, Dimension) else each for each in shape]
    return list(TensorShape(shape).as_list())


def product(sizes: list[int | None]) -> int | None:
    """Return the product of sizes, None if one is not known."""
    total = 1
    for size in sizes:
        if size is None:
            return None
        total *= size
    return total
