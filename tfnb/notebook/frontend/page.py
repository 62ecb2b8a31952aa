"""Drawings that answer on a page without a kernel: what nbconvert, Quarto, Jupyter Book and nbviewer show of a view.

They prefer a script ("application/javascript") to the picture that stands beside it, and so does JupyterLab, if it
trusts the notebook; there a view takes the place of the drawing while its kernel lives (extension/src/place.ts).
GitHub, LaTeX and Markdown show the picture. The script has no text of the graph in it but as base64.
"""
from __future__ import annotations

import base64
import functools
import json
import re
import zlib
from collections.abc import Mapping
from importlib import resources
from typing import Any

SCRIPT = "application/javascript"
MODULE = "static/page.js"
MOST_BYTES = 300_000
CALL, ELEMENT = "tfnbPage.show(", 'typeof element == "undefined" ? undefined : element[0] ?? element'
FOLD_SIGN = re.compile(r'<g class="fold">.*?</g>')


@functools.cache
def _module_text() -> str:
    """The text of the script, "" where it was not built."""
    file = resources.files("tfnb.notebook").joinpath(MODULE)
    return file.read_text("utf-8").strip() if file.is_file() else ""


def page_script(svg: str, **more: Any) -> str:
    """Return the script that shows a drawing; "" where it was not built.

    more: `insides` of the scopes of a graph, by which they open; `numbers` of the curves of a plot, [xs, ys] of each.
    It is left out where the script would have more than MOST_BYTES.
    """
    text = _packed({"svg": svg, **more}) if _module_text() else ""
    return text if len(text) <= MOST_BYTES else _packed({"svg": svg})


def _packed(content: Mapping[str, Any]) -> str:
    packed = base64.b64encode(zlib.compress(json.dumps(content).encode(), 9)).decode()
    return f'{_module_text()}\n{CALL}"{packed}", {ELEMENT});'


def naming(script: str, place: str) -> str:
    """Return a script whose drawing is the place of the view of that name."""
    return script.removesuffix(f"{ELEMENT});") + f'{ELEMENT}, "{place}");' if script else ""


def picture_script(forms: Mapping[str, str]) -> str:
    """Return the script for a view of which nothing but a picture would show."""
    return page_script(forms["image/svg+xml"]) if "image/svg+xml" in forms and "text/html" not in forms else ""


def without_signs(svg: str) -> str:
    """A picture of a graph without the signs of scopes that would open."""
    return FOLD_SIGN.sub("", svg)
