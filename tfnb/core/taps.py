"""Observer hooks of upper layers on lower ones. Without an observer they cost one comparison with None."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

# fn(serialized Summary, global step or None, run): of each fetched value of a summary op (step None; run: the target of
# a session that names a server, else "") and of each summary that is given to an event file writer (run: its log
# directory). Set by `tfnb.notebook`; must be cheap and must not raise.
on_summary: Callable[[bytes, int | None, str], None] | None = None

# fn(executor, values): of each run that a server answered; its `plan` says what was fetched, its `address` by whom.
# Set by `tfnb.notebook`; must not raise.
on_remote_run: Callable[[Any, Any], None] | None = None

# fn(op, traceback or None): lines, each after a line break, for the text of an error: the Python names, shapes and
# places of what the op takes. Set by graph/parts/python_names.py; must not raise.
tell_op: Any = None

# The module of the continuous NaN check: its `NanGuard` runs the plans of a session while `options.nan_check` is set.
# Set by `tfnb`; imported at the first such run.
nan_guard: Any = None

# The run of a notebook's cell that goes on, any object; None between cells. With one, `on_run(graph, plan)` is told of
# the first run of each signature of a session in it, until it returns True (the run counts for the cell), and
# `on_collection(collections, key)` of each read of a graph's collection.
cell: Any = None
on_run: Callable[[Any, Any], bool] | None = None
on_collection: Callable[[Any, Any], None] | None = None
