"""Arguments that had other names in earlier releases."""
from __future__ import annotations

from typing import Any


def renamed(new_name: str, new: Any, old_name: str, old: Any, default: Any = None) -> Any:
    """The value given under the new or the old name. Raises ValueError if both are given."""
    if old is None:
        return default if new is None else new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old
