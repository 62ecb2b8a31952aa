"""Observer hooks of upper layers on lower ones. Without an observer they cost one comparison with None."""
from __future__ import annotations

from collections.abc import Callable

# fn(serialized Summary, global step or None, run): of each fetched value of a summary op (step None, run "") and of
# each summary that is given to an event file writer (run: its log directory). Set by `tfnb.notebook`; must be cheap
# and must not raise.
on_summary: Callable[[bytes, int | None, str], None] | None = None
