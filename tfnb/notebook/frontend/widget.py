"""The browser side of the views: one small ES module, and the widget that carries it.

Views never need it: without anywidget, or in a checkout whose `extension/` was not built, they show their SVG.
"""
from __future__ import annotations

import asyncio
import functools
import logging
import secrets
import threading
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.notebook.frontend.page import SCRIPT, naming, picture_script
from tfnb.notebook.frontend.settings import settings
from tfnb.notebook.frontend.shell import Bundle, forgets_widgets, has_front_end, interactive

anywidget = lazy_module("anywidget")
traitlets = lazy_module("traitlets")

MODULE = "static/tfnb.js"
log = logging.getLogger(__name__)


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
        "kind": traitlets.Unicode().tag(sync=True), "state": traitlets.Dict().tag(sync=True),
        "place": traitlets.Unicode().tag(sync=True)})


def make_widget(kind: str, state: dict[str, Any]) -> Any | None:
    """A widget of that kind ("graph", "live"...) with its JSON state, or None where there can't or shall not be one.

    In a terminal there is none: importing ipywidgets would be for nothing.
    """
    wanted = interactive() if settings.view_format == "auto" else has_front_end() and settings.view_format == "widget"
    cls = _widget_class() if wanted else None
    if cls is None:
        return None
    return cls(kind=kind, state=state, place=secrets.token_hex(8) if forgets_widgets() else "")


def with_widget(forms: dict[str, Any], widget: Any | None,
                script: Callable[[Mapping[str, str]], str] = picture_script) -> Bundle:
    """The forms that `settings.view_format` asks for, and the widget or the script beside them, if there is one.

    script: makes that of the forms, for pages without a kernel.

    Colab must be told with each widget where the code is that shows it: there it is (data, metadata).
    """
    if settings.view_format == "text":
        return {"text/plain": forms["text/plain"]}
    if settings.view_format == "static":
        return forms
    place = getattr(widget, "place", "")
    if widget is None or place:
        page = script(forms) if has_front_end() else ""
        both = forms | ({SCRIPT: page} if page else {})
        return {kind: _named(kind, form, place) for kind, form in both.items()} if place else both
    made = widget._repr_mimebundle_()
    data, metadata = made if isinstance(made, tuple) else (made or {}, {})
    more = forms | {kind: value for kind, value in data.items() if kind != "text/plain"}
    return (more, metadata) if metadata else more


def _named(kind: str, form: str, place: str) -> str:
    """A picture or table whose place the view of that name takes in JupyterLab's page: extension/src/place.ts."""
    if kind == SCRIPT:
        return naming(form, place)
    if kind == "image/svg+xml":
        return form.replace("<svg ", f'<svg data-tfnb="{place}" ', 1)
    return f'<div data-tfnb="{place}">{form}</div>' if kind == "text/html" else form


class View:
    """Base of views that ask the kernel, with a form that needs no browser beside it.

    A subclass says its `kind`, its `forms` (of which one is "text/plain"), the widget's `widget_state`, and `hear`s
    messages, in any thread but one at a time. Errors of the browser are logged, and kept in `errors`.
    """

    kind = ""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.widget: Any | None = None
        self._lock = threading.RLock()          # a front end's message may come in any thread

    def forms(self) -> dict[str, str]:
        """Mime type -> what is shown where there is no widget."""
        raise NotImplementedError

    def widget_state(self) -> dict[str, Any]:
        """Return the state that the widget shows, as JSON holds it."""
        raise NotImplementedError

    def hear(self, message: Mapping[str, Any]) -> None:
        """Answer a request of the front end; what can't be done is said in the state, never raised."""

    def tell(self) -> None:
        """Bring the widget up to date."""
        if self.widget is not None:
            self.widget.state = self.widget_state()

    def __repr__(self) -> str:
        return self.forms()["text/plain"]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Bundle:
        return self.bundle(self.forms())

    def bundle(self, forms: dict[str, str]) -> Bundle:
        """Return what to display: these forms, and the widget, if there can be one."""
        if self.widget is None:
            self.widget = make_widget(self.kind, self.widget_state())
            if self.widget is not None:
                self.widget.on_msg(self._on_message)
        return with_widget(forms, self.widget, self.script)

    def script(self, forms: Mapping[str, str]) -> str:
        """The script that shows the view on a page without a kernel; "" where its forms do."""
        return picture_script(forms)

    def _on_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        if not isinstance(content, Mapping):
            return
        with self._lock:
            if content.get("type") == "error":
                message = str(content.get("message", ""))
                self.errors = [*self.errors, message][-20:]
                log.error("in the browser: %s", message)
                return
            try:
                self.hear(content)
            except Exception as problem:
                if self.widget is not None:     # the page waits for an answer
                    self.widget.send({"type": "failed", "message": f"{type(problem).__name__}: {problem}"})
                raise


class ActingView(View):
    """Base of views whose buttons change the notebook: in the kernel's main thread, between two cells.

    A button sends {type: "do", name}; `note` says what came of it, errors too.
    """

    def __init__(self) -> None:
        super().__init__()
        self.note = ""
        try:
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    def acts(self) -> Mapping[Any, Callable[[], str]]:
        """Name of a button -> what it does, which returns a note."""
        raise NotImplementedError

    def hear(self, message: Mapping[str, Any]) -> None:
        """A button was pressed."""
        act = self.acts().get(message.get("name")) if message.get("type") == "do" else None
        if act is not None:
            if threading.current_thread() is threading.main_thread() or self._loop is None:
                self._do(act)
            else:
                self._loop.call_soon_threadsafe(self._do, act)

    def _do(self, act: Callable[[], str]) -> None:
        try:
            self.note = act()
        except Exception as problem:            # told on the page: nobody stands above a button
            self.note = f"{type(problem).__name__}: {problem}"
        self.tell()
