"""Documents of docs/ and of the root as pages, with links to what is not in the site made links to the source."""
from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from docs.website import ROOT
from docs.website.config import urls
from tfnb.proto.readme_build_hook import PAGES, relinked

GUIDES: list[Any] = [
    {"Guides": ["guides.md", {"Port a program": ["porting.md", "releases.md", "compatibility.md"]},
                {"Work in a notebook": ["notebook.md", "magics.md", "front_ends.md", "browser.md", "teaching.md"]},
                {"Go further": ["files.md", "custom_ops.md", "cluster.md", "gpu.md"]},
                {"Performance": ["faster.md", "performance.md", "accuracy.md"]}]}]
TABLES: list[Any] = [{"Status, name by name": ["api_status.md", "reference_status.md"]}]
PROJECT: list[Any] = [{"Project": ["versions.md", "changelog.md", "contributing.md", "architecture.md",
                                   "adding_an_op.md", "conduct.md", "security.md"]}]
# lists of names, each of which the reference has
UNSEARCHED = ("api_status.md", "reference_status.md")


def stage(pages: Path) -> list[Any]:
    """Copy documents and pictures; return the first part of the navigation."""
    shutil.copytree(ROOT / "docs" / "images", pages / "images")
    shutil.copytree(ROOT / "docs" / "website" / "assets", pages / "assets")
    elsewhere = {name: page for name, page in PAGES.items() if name.endswith(".md") and page != "index.md"}
    own = {f"docs/{path.name}": path.name for path in (ROOT / "docs").glob("*.md")}
    for name, page in {**elsewhere, **own}.items():
        head = "---\nsearch:\n  exclude: true\n---\n" if page in UNSEARCHED else ""
        text = relinked((ROOT / name).read_text(encoding="utf-8"), name, urls(), str)
        (pages / page).write_text(head + text, encoding="utf-8")
    for name in ("index.md", "guides.md"):
        shutil.copy(ROOT / "docs" / "website" / name, pages / name)
    return ["index.md", "start.md"]
