"""Where upper layers listen to what runs below them. Nobody listens: one look at None."""
from __future__ import annotations

from collections.abc import Callable

# fn(serialized Summary, global step or None): of each fetched value of a summary op (step None) and of each summary
# that is given to an event file writer. Set and reset by `tfnb.notebook`; must be cheap and must not raise.
on_summary: Callable[[bytes, int | None], None] | None = None
