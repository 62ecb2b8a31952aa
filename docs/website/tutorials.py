"""Tutorials as pages: notebooks with the outputs that they were saved with."""
from __future__ import annotations

import base64
import html
import json
import re
import shutil
from pathlib import Path
from typing import Any

from docs.website import ROOT
from docs.website.lite import LEFT_OUT

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
LINK = re.compile(r"\]\((?:(\d\d_\w+)\.ipynb|\.\./docs/(\w+\.md))")
BUTTONS = '[Download the notebook]({name}.ipynb){{ .md-button download="{name}.ipynb" }}'
LITE = ' [Open it in the browser, without an installation](../lite/lab/index.html?path={name}.ipynb){{ .md-button }}'


def stage(pages: Path, outputs: Path, lite: bool) -> list[Any]:
    """Write a page for each notebook and an overview; return their part of the navigation."""
    folder = pages / "tutorials"
    folder.mkdir(parents=True)
    listed, nav = [], []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        buttons = (BUTTONS + (LITE if lite and path.stem not in LEFT_OUT else "")).format(name=path.stem)
        parts = [_part(cell, f"{path.stem}/{number}", outputs, folder) for number, cell in enumerate(cells)]
        title = parts[0].partition("\n")[0].removeprefix("# ")
        text = "\n\n".join([parts[0], buttons, *parts[1:]])
        (folder / f"{path.stem}.md").write_text(text, encoding="utf-8")
        shutil.copy(path, folder)
        nav.append({f"{int(path.stem[:2])}. {title}": f"tutorials/{path.stem}.md"})
        listed.append(f"| {int(path.stem[:2])} | [{title}]({path.stem}.md) | {_question(parts[0])} |")
    overview = (ROOT / "docs" / "website" / "tutorials.md").read_text(encoding="utf-8")
    (folder / "index.md").write_text(overview + "\n".join(listed) + "\n", encoding="utf-8")
    return ["tutorials/index.md", *nav]


def _question(first: str) -> str:
    """Return the exercises that the first cell of a notebook names."""
    found = re.search(r"\*\*Exercises?\.\*\*(.*?)\(", first, re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def _part(cell: dict[str, Any], key: str, outputs: Path, folder: Path) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        text = LINK.sub(lambda found: f"]({found[1]}.md" if found[1] else f"](../{found[2]}", source)
        return text.replace("<details>", '<details markdown="1">')
    shown = "".join(_output(each, f"{key}_{i}".replace("/", "_"), folder) for i, each in enumerate(cell["outputs"]))
    file = outputs / f"{key}.html"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'<div class="nb-output">{shown}</div>' if shown else "", encoding="utf-8")
    return f'```python\n{source}\n```\n\n<div data-output="{key}"></div>'


def _output(output: dict[str, Any], key: str, folder: Path) -> str:
    """Return HTML of one output, the richest of its forms first."""
    if output["output_type"] == "stream":
        return _text("".join(output["text"]))
    if output["output_type"] == "error":
        return _text("\n".join(output["traceback"]))
    data = {kind: "".join(value) for kind, value in output["data"].items() if isinstance(value, (str, list))}
    if "application/javascript" in data:
        return f'<script>{data["application/javascript"]}</script><noscript>{data.get("image/svg+xml", "")}</noscript>'
    if "text/html" in data:
        return f'<div class="nb-html">{data["text/html"]}</div>'
    if "image/svg+xml" in data:
        return data["image/svg+xml"]
    if "image/png" in data:
        (folder / f"{key}.png").write_bytes(base64.b64decode(data["image/png"]))
        return f'<img src="{key}.png" alt="Figure that this cell draws" loading="lazy">'
    return _text(data.get("text/plain", ""))


def _text(text: str) -> str:
    return f"<pre><code>{html.escape(ESCAPE.sub('', text).rstrip())}</code></pre>"
