"""Last steps over built pages, apart from the program that built them: outputs of tutorials, links of public names.

Outputs are put in after the search index was made, which has no use for them.
"""
from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

CODE = re.compile(r"<code>(tf\.[\w.]+)([^<]*)</code>")
SKIPPED = re.compile(r"(<h\d.*?</h\d>|<a [^>]*>.*?</a>|<pre.*?</pre>|<script.*?</script>)", re.DOTALL)
ARTICLE = re.compile(r"<article.*?</article>", re.DOTALL)
OUTPUT = re.compile(r'<div data-output="([\w/]+)"></div>')


def finish(site: Path, outputs: Path, places: Mapping[str, str]) -> None:
    """Rewrite the pages of a site. outputs: the folder of the HTML of each cell; places: name -> its address."""
    for path in site.rglob("*.html"):
        text, up = path.read_text(encoding="utf-8"), "../" * (len(path.relative_to(site).parts) - 1)
        text = ARTICLE.sub(lambda found, up=up: linked(found[0], places, up), text)
        text = OUTPUT.sub(lambda found: (outputs / f"{found[1]}.html").read_text(encoding="utf-8"), text)
        path.write_text(text, encoding="utf-8")


def rank_names(site: Path, places: Mapping[str, str]) -> None:
    """Let the search find the name that was typed before longer ones that contain it, and functions before methods.

    The search itself counts matches, however long a name is.
    """
    file = site / "search" / "search_index.json"
    index = json.loads(file.read_text(encoding="utf-8"))
    for entry in index["docs"]:
        page, _, name = entry["location"].partition("#")
        if page.startswith("reference/") and name in places:
            holder, _, last = name.rpartition(".")
            entry["boost"] = round(3 * entry.get("boost", 1) / len(last) ** 0.5 * (0.3 if holder in places else 1), 3)
    file.write_text(json.dumps(index, separators=(",", ":")), encoding="utf-8")


def linked(page: str, places: Mapping[str, str], up: str) -> str:
    """Return HTML in which public names that stand as code, outside of headings and links, lead to the reference."""
    def link(found: re.Match[str]) -> str:
        place = places.get(found[1])
        return f'<a class="name" href="{up}{place}">{found[0]}</a>' if place else found[0]
    parts = SKIPPED.split(page)
    return "".join(part if i % 2 else CODE.sub(link, part) for i, part in enumerate(parts))
