"""Every op by its official name, with its official arguments: `tf.raw_ops.Sum(input=x, axis=0)`."""
from collections.abc import Callable as _Callable

from tfnb.opdef import registry as _registry
from tfnb.ops.declaration.raw import raw as _raw


def __getattr__(name: str) -> _Callable[..., object]:
    """Return the constructor of an op. Raises AttributeError if there is none of that name."""
    op: _Callable[..., object] = getattr(_raw, name)
    return op


def __dir__() -> list[str]:
    return sorted(_registry.names())
