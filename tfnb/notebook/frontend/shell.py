"""The IPython that runs us, if any: found without importing it, and what can be shown in it."""
from __future__ import annotations

import os
import sys
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from tfnb.core.lazy import lazy_module

_display = lazy_module("IPython.display")

Bundle = dict[str, Any] | tuple[dict[str, Any], dict[str, Any]]         # mime type -> form; with metadata, or without

SERVED = "VOILA_PREHEAT" in os.environ      # a dashboard of Voila: it tells no ids, but has a person before it
running: Hashable = None        # the key of the cell that runs, where cells are known
cells: Any = None               # notebook/cells/cells.py: what is known of the cells that own ops, where any are
attended = SERVED               # also if the front end told the id of that cell: it is no nbclient, then


def label_of(owner: Hashable) -> str:
    """Return the label of the cell that owns ops, as messages use it: "[3]"; "" if nobody knows."""
    return str(cells.labels.get(owner, "")) if cells is not None else ""


def place_of(op: Any) -> str:
    """Whose an op is: "cell [3]" for the cell that owns it, else the cell or file of the line that made it."""
    label = label_of(getattr(op, "owner", None))
    return f"cell {label}" if label else str(getattr(op, "made_at", "")).partition(", line")[0].partition(":")[0]


def last_run(op: Any) -> tuple[str, str] | None:
    """Return what the last run of its cell did to an op: ("new" | "changed" | "as before", the difference); None if the
    cell ran once, or if no cell is known."""
    story = cells.books.stories.get(op.graph, {}).get(op.owner) if cells is not None else None
    if story is None:
        return None
    if op.name in story.why:
        return "changed", f"{story.why[op.name]}, since {story.label}"
    return ("as before", "") if op.name in story.same else ("new", f"since {story.label}")


def removed(graph: Any) -> list[str]:
    """Names of ops that the last runs of the cells of a graph made no longer."""
    stories = cells.books.stories.get(graph, {}) if cells is not None and graph is not None else {}
    return [name for story in stories.values() for name in sorted(story.removed)]


def current() -> Any | None:
    """The running InteractiveShell, or None. Never imports IPython: where it is not loaded, no shell runs."""
    ipython = sys.modules.get("IPython")
    get = getattr(ipython, "get_ipython", None)
    return get() if get is not None else None


def has_front_end() -> bool:
    """True in a kernel (JupyterLab, Notebook, nbclient...), False in a terminal and in plain Python."""
    return getattr(current(), "kernel", None) is not None


def note_seen(ops: Iterable[Any]) -> None:
    """The running cell shows what these ops are now: once they are others, it must run again to be right."""
    if cells is not None and cells.run is not None:
        cells.run.ran.note_seen(ops, cells.run.key)


def interactive() -> bool:
    """Could a person press a button in the running cell? Not under nbclient and its like, which let no cell ask for
    input: of their pages no kernel is left, and without a network not even the code that would show a widget."""
    return has_front_end() and (attended or bool(request().get("content", {}).get("allow_stdin", True)))


def forgets_widgets() -> bool:
    """Return whether the front end is JupyterLab or Notebook, which show an error in place of an old widget. Only
    they tell of deleted cells."""
    return "deletedCells" in request().get("metadata", {})


def running_info() -> Any | None:
    """The ExecutionInfo of the cell that is running, from IPython's own frame below us; None if none runs.

    The extension is loaded in a cell: no event tells of the beginning of that one.
    """
    frame: Any = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "run_cell_async" and "raw_cell" in frame.f_locals:
            return None if frame.f_locals.get("silent") else frame.f_locals.get("info")
        frame = frame.f_back
    return None


def request(ip: Any = None) -> dict[str, Any]:
    """The execute request of the running cell, from the kernel of a shell (by default the current one); {} in a
    terminal."""
    get = getattr(getattr(ip or current(), "kernel", None), "get_parent", None)
    return (get() if get is not None else None) or {}


@contextmanager
def in_place_of(parent: dict[str, Any], ip: Any) -> Iterator[None]:
    """Send what is printed and shown to the cell of an old request: JupyterLab and Notebook put it there."""
    before = ip.get_parent()
    _flush()
    ip.set_parent(parent)
    try:
        yield
    finally:
        _flush()
        ip.set_parent(before)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def counts_first() -> bool:
    """Return whether `execution_count` is the number of the next cell already while one runs: since IPython 9.8."""
    return getattr(sys.modules.get("IPython"), "version_info", (9, 8)) >= (9, 8)


def cell_number() -> int | None:
    """Return the number of the running cell (the last one, if none runs); None in plain Python."""
    here = current()
    return here.execution_count - counts_first() if here is not None else None


def show(bundle: Bundle, display_id: str) -> None:
    """Show a mime bundle under an id; nothing in plain Python."""
    _publish(bundle, display_id, False)


class Shown(Protocol):
    """A view that notes where it was shown last: the count of that cell's run."""

    shown_in: int | None

    def show(self) -> Any:
        """Show it in the running cell."""


def note_shown(view: Shown) -> bool:
    """Note in a view that the running cell shows it. Returns False in plain Python, where there is nothing to show."""
    here = current()
    view.shown_in = here.execution_count if here is not None else None
    return here is not None


def show_once(view: Shown) -> None:
    """Show a view unless the running cell has already; in plain Python its text is printed.

    (A magic such as `%live` shows its view and returns it, too.)
    """
    here = current()
    if here is None:
        print(repr(view))
    elif view.shown_in != here.execution_count:
        view.show()


def update(bundle: Bundle, display_id: str) -> None:
    """Replace what is shown under that id wherever it still is; a terminal prints it anew."""
    _publish(bundle, display_id, True)


def _publish(bundle: Bundle, display_id: str, again: bool) -> None:
    if current() is not None:
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, None)
        _display.display(data, metadata=metadata, raw=True, display_id=display_id, update=again)
