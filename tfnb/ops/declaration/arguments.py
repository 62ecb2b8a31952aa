"""Arguments that had other names in earlier releases, and arguments given once for all axes."""
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

Fn = TypeVar("Fn", bound=Callable[..., Any])


def renamed(new_name: str, new: Any, old_name: str, old: Any, default: Any = None) -> Any:
    """Return the value given under the new or the old name. Raises ValueError if both are given."""
    if old is None:
        return default if new is None else new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old


def logits_first(*rest: str) -> Callable[[Fn], Fn]:
    """Return a decorator that lets a loss be called by position, in the order of 0.x: (logits, labels, *rest).

    1.x refuses such calls (the first parameter of the decorated function stands for them and must be None), since it
    has another order. A string among `rest` is the name, and `targets` an older name for the keyword `labels`. Raises
    ValueError where a position and a keyword give the same argument, TypeError for too many of them.
    """
    names = ("logits", "labels", *rest)

    def decorate(loss: Fn) -> Fn:
        """Wrap the loss."""
        @wraps(loss)
        def call(*args: Any, **named: Any) -> Any:
            if "targets" in named:
                named["labels"] = renamed("labels", named.get("labels"), "targets", named.pop("targets"))
            if not args or args[0] is None:
                return loss(*args, **named)
            if len(args) > len(names):
                raise TypeError(f"{loss.__name__} takes at most {len(names)} positional arguments, got {len(args)}")
            given = {"name" if isinstance(value, str) else name: value
                     for name, value in zip(names, args, strict=False)}
            if given.keys() & named.keys():
                raise ValueError(f"Only call `{loss.__name__}` with named arguments (labels=..., logits=..., ...), or "
                                 f"in the order ({', '.join(names)}) of release 0.x: positions and keywords both give "
                                 f"{', '.join(sorted(given.keys() & named.keys()))}")
            return loss(**given, **named)
        return call                                # type: ignore[return-value]
    return decorate


def per_axis(value: Any, data_format: str | None, name: str, places: int = 2) -> list[int]:
    """Return one value for each axis: from one, one for each of `places` axes, or all. Raises ValueError for others."""
    given = [1] if value is None else [value] if np.ndim(value) == 0 else list(value)
    if len(given) not in (1, places, places + 2):
        raise ValueError(f"{name} should be of length 1, {places} or {places + 2}. Received: {name}={value} of length "
                         f"{len(given)}")
    if len(given) == places + 2:
        return given
    spatial = given * places if len(given) == 1 else given
    return [1, 1, *spatial] if data_format is not None and data_format.startswith("NC") else [1, *spatial, 1]


def padding_attrs(padding: Any) -> tuple[Any, list[int]]:
    """Return the attrs `padding` and `explicit_paddings`. Raises ValueError for a list that is not four pairs."""
    if padding is None:
        raise TypeError("Expected string for argument 'padding' not None.")
    if isinstance(padding, (str, bytes)):
        if padding in ("EXPLICIT", b"EXPLICIT"):
            raise ValueError("'EXPLICIT' is not a valid value for `padding`. To use explicit padding, `padding` must "
                             "be a list.")
        return padding, []
    if len(padding) != 4:
        raise ValueError(f"When padding is a list, it must be of size 4. Received: padding={padding} of size "
                         f"{len(padding)}")
    for pair in padding:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise ValueError(f"When padding is a list, each element must be a list/tuple of size 2. Received: "
                             f"padding={padding}")
    return "EXPLICIT", [int(n) for pair in padding for n in pair]
