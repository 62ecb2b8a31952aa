"""Functions `get(identifier)` of Keras: an object from its name, its config, or itself."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tfnb.keras.utils.registry import deserialize_keras_object


def getter(known: Mapping[str, Any], kind: str) -> Callable[[Any], Any]:
    """Return a function that finds the object of a name or config in `known`; None and callables come back.

    It raises ValueError, which names the `kind`, for an unknown name and for anything else.
    """
    def get(identifier: Any) -> Any:
        if identifier is None or isinstance(identifier, (str, dict)):
            return deserialize_keras_object(identifier, known, printable_module_name=kind)
        if callable(identifier):
            return identifier() if inspect.isclass(identifier) else identifier
        raise ValueError(f"Could not interpret {kind} identifier: expected a name, a config dict or a callable, got "
                         f"{identifier!r}")
    return get
