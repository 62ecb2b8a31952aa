"""Replacement of attributes for the time of a test: `tf.test.StubOutForTesting`."""
from __future__ import annotations

import inspect
from typing import Any, Self


class StubOutForTesting:
    """Replaces attributes of objects, and puts them back: `UnsetAll`, `CleanUp`, or the end of a `with` block.

    >>> import time
    >>> with tf.test.StubOutForTesting() as stubs:
    ...     stubs.Set(time, "time", lambda: 5)
    ...     time.time()
    5
    >>> time.time() == 5
    False
    """

    def __init__(self) -> None:
        self._set: list[tuple[Any, str, Any]] = []
        self._smart: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.CleanUp()

    def CleanUp(self) -> None:  # noqa: N802 (the public name)
        """Put everything back."""
        self.SmartUnsetAll()
        self.UnsetAll()

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:  # noqa: N802 (the public name)
        """Replace an attribute of a module or class where it is defined: in a base class if it is inherited.

        Raises AttributeError if there is none.
        """
        holders = inspect.getmro(obj) if inspect.isclass(obj) else [obj]
        holder = next((each for each in holders if attr_name in vars(each)), obj)
        if not hasattr(obj, attr_name):
            raise AttributeError(f"{obj!r} has no attribute {attr_name!r} to replace")
        old = vars(holder).get(attr_name, getattr(obj, attr_name))     # a staticmethod stays one
        self._smart.append((holder, attr_name, old))
        setattr(holder, attr_name, new_attr)

    def SmartUnsetAll(self) -> None:  # noqa: N802 (the public name)
        """Put back what `SmartSet` replaced, the last one first."""
        _restore(self._smart)

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:  # noqa: N802 (the public name)
        """Replace an attribute of an object. Raises AttributeError if there is none."""
        old = vars(parent).get(child_name) if hasattr(parent, "__dict__") else None
        old = old if isinstance(old, (staticmethod, classmethod)) else getattr(parent, child_name)
        self._set.append((parent, child_name, old))
        setattr(parent, child_name, new_child)

    def UnsetAll(self) -> None:  # noqa: N802 (the public name)
        """Put back what `Set` replaced, the last one first."""
        _restore(self._set)


def _restore(kept: list[tuple[Any, str, Any]]) -> None:
    while kept:
        holder, name, value = kept.pop()
        setattr(holder, name, value)
