"""The README as package indexes show it: relative links and images, which they don't resolve, lead to the site.

Hatchling loads this file by its path for the metadata of a wheel or sdist (`pyproject.toml`); the addresses are those
of `project.urls`.
"""
from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # outside of a build
    MetadataHookInterface = object

README = Path(__file__).resolve().parents[2] / "README.md"
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
# documents outside of docs/ -> their page
PAGES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "README.md": "index.md",
         ".github/CODE_OF_CONDUCT.md": "conduct.md", ".github/SECURITY.md": "security.md",
         "notebooks": "tutorials/index.md"}


def page_of(path: str) -> str | None:
    """Return the page or picture of the site that a file of the repository becomes, None where it becomes none."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    lesson = re.fullmatch(r"notebooks/(\w+)\.ipynb", path)
    return f"tutorials/{lesson[1]}.md" if lesson else PAGES.get(path)


def relinked(text: str, name: str, urls: Mapping[str, str], page: Callable[[str], str]) -> str:
    """Return a document with its relative links replaced: `page` of the page, or the source where there is none."""
    def replaced(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), found[1]))
        made = page_of(path)
        return (page(made) if made else f"{urls['Repository']}/blob/main/{path}") + (found[2] or "")
    return LINK.sub(replaced, text)


def absolute(text: str, urls: Mapping[str, str]) -> str:
    """Return the README with absolute links."""
    return relinked(text, "README.md", urls, lambda page: urls["Documentation"] + re.sub(r"\.md$", ".html", page))


class ReadmeHook(MetadataHookInterface):
    """The description of the project, as Hatchling asks for it."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `readme`."""
        text = absolute(README.read_text(encoding="utf-8"), metadata["urls"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
