"""The browser side of the views: one small ES module, and the widget that carries it.

Views never need it: without anywidget, or in a checkout whose `extension/` was not built, they show their SVG.
"""
from __future__ import annotations

import functools
from importlib import resources
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.notebook.shell import has_front_end

anywidget = lazy_module("anywidget")
traitlets = lazy_module("traitlets")

MODULE = "static/tfnb.js"


@functools.cache
def module_text() -> str | None:
    """The text of the front-end module, or None where it was not built. Text, not a path: anywidget watches paths."""
    file = resources.files("tfnb.notebook").joinpath(MODULE)
    return file.read_text("utf-8") if file.is_file() else None


@functools.cache
def _widget_class() -> Any | None:
    text = module_text()
    if text is None:
        return None
    try:
        base = anywidget.AnyWidget
    except ImportError:
        return None
    return type("View", (base,), {
        "__module__": __name__, "__doc__": "A view of tfnb in the browser: `kind` says which.", "_esm": text,
        "kind": traitlets.Unicode().tag(sync=True), "state": traitlets.Dict().tag(sync=True)})


def make_widget(kind: str, state: dict[str, Any]) -> Any | None:
    """A widget of that kind ("graph", "live") with its JSON state, or None where there can't be one.

    In a terminal there is none: importing ipywidgets would be for nothing.
    """
    cls = _widget_class() if has_front_end() else None
    return cls(kind=kind, state=state) if cls is not None else None
