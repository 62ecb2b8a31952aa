"""Arguments that had other names in earlier releases."""
from __future__ import annotations

from typing import Any

import numpy as np


def renamed(new_name: str, new: Any, old_name: str, old: Any, default: Any = None) -> Any:
    """The value given under the new or the old name. Raises ValueError if both are given."""
    if old is None:
        return default if new is None else new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old


def per_axis(value: Any, data_format: str | None, name: str, places: int = 2) -> list[int]:
    """One number for each axis: from one, one for each of `places` axes, or all. Raises ValueError for others."""
    given = [1] if value is None else [value] if np.ndim(value) == 0 else list(value)
    if len(given) not in (1, places, places + 2):
        raise ValueError(f"{name} should be of length 1, {places} or {places + 2}. Received: {name}={value} of length "
                         f"{len(given)}")
    if len(given) == places + 2:
        return given
    spatial = given * places if len(given) == 1 else given
    return [1, 1, *spatial] if data_format is not None and data_format.startswith("NC") else [1, *spatial, 1]


def padding_attrs(padding: Any) -> tuple[Any, list[int]]:
    """The attrs `padding` and `explicit_paddings`. Raises ValueError for a list that is not four pairs."""
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
