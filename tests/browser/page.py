"""A page with the built front-end module and a model whose other half is Python here: the views with no Jupyter."""
from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable
from typing import Any

PAGE = """<!doctype html><meta charset="utf-8"><title>tfnb</title>
<body style="margin:0;padding:12px;font-family:sans-serif"><div id="place"></div></body>"""
SCRIPT = """
window.makeView = async (text, kind, state) => {
  const listeners = {};
  const values = { kind, state };
  window.sent = [];
  window.model = {
    get: (key) => values[key],
    on: (event, call) => (listeners[event] ??= []).push(call),
    off: (event, call) => (listeners[event] = (listeners[event] ?? []).filter((one) => one !== call)),
    send: (message) => { window.sent.push(message); window.toPython?.(JSON.stringify(message)); },
    setState: (next) => { values.state = next; for (const call of listeners["change:state"] ?? []) call(); },
    receive: (message, bytes) => {
      const buffers = bytes ? [new DataView(new Uint8Array(bytes).buffer)] : [];
      for (const call of listeners["msg:custom"] ?? []) call(message, buffers);
    },
  };
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const module = await import(url);
  window.stopView = module.default.render({ model: window.model, el: document.getElementById("place") });
};
"""


class ViewPage:
    """A view in a browser page; `answer` gets each message it sends and may return the next state."""

    def __init__(self, page: Any, module: str, kind: str, state: dict[str, Any],
                 answer: Callable[[dict[str, Any]], dict[str, Any] | None] | None = None) -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.set_content(PAGE)
        page.add_script_tag(content=SCRIPT)
        if answer is not None:
            page.expose_function("toPython", lambda text: self._reply(answer(json.loads(text))))
        page.evaluate("([text, kind, state]) => window.makeView(text, kind, state)", [module, kind, state])

    def _reply(self, state: dict[str, Any] | None) -> None:
        if state is not None:
            # not now: the page waits for this very call to return
            self.page.evaluate("(state) => { setTimeout(() => window.model.setState(state), 0); }", state)

    def set_state(self, state: dict[str, Any]) -> None:
        """Give the view a new state."""
        self.page.evaluate("(state) => window.model.setState(state)", state)

    def points(self, tag: int, start: int, pairs: Iterable[tuple[float, float]]) -> None:
        """Send points (step, value) as the live board does; half a second a step."""
        flat = [number for step, value in pairs for number in (step, value, step / 2)]
        bytes_ = list(struct.pack(f"<{len(flat)}f", *flat))
        self.page.evaluate("([m, b]) => window.model.receive(m, b)",
                           [{"type": "points", "tag": tag, "start": start}, bytes_])

    def sent(self) -> list[dict[str, Any]]:
        """The messages that the view has sent."""
        return list(self.page.evaluate("() => window.sent"))
