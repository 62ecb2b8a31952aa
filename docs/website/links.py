"""Links of built pages: each must lead to a file of the site, and to an element with that id."""
from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit


class _Page(HTMLParser):
    """Targets of links and images, and the ids, of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value and tag != "base":
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.ids.add(value)


def broken(site: Path, allowed: tuple[str, ...] = ()) -> list[str]:
    """Return `page: link` for each link inside of a site that leads nowhere.

    allowed: folders of the site that another program fills later.
    """
    site = site.resolve()
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")
             if not path.relative_to(site).as_posix().startswith(allowed or "\0")}
    return sorted({f"{path.relative_to(site)}: {link}" for path, page in pages.items() for link in page.links
                   if not _leads(site, path, link, pages, allowed)})


def _leads(site: Path, path: Path, link: str, pages: dict[Path, _Page], allowed: tuple[str, ...]) -> bool:
    target, anchor = urldefrag(link)
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return True                                     # outside of the site, or data:
    file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if file.is_dir():
        file /= "index.html"
    if not file.is_relative_to(site):
        return path.name == "404.html"                  # which has the addresses of the place it is served from
    if allowed and file.relative_to(site).as_posix().startswith(allowed):
        return True
    return file.exists() and (not anchor or file not in pages or unquote(anchor) in {*pages[file].ids, "__top"})
