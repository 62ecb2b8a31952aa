"""Settings of MkDocs and of its theme."""
from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from docs.website import ROOT

FEATURES = ["navigation.tabs", "navigation.tabs.sticky", "navigation.indexes", "navigation.prune", "navigation.top",
            "navigation.footer", "toc.follow", "search.suggest", "search.highlight", "content.code.copy"]
PALETTE = [("(prefers-color-scheme)", None, "material/brightness-auto", "light"),
           ("(prefers-color-scheme: light)", "default", "material/brightness-7", "dark"),
           ("(prefers-color-scheme: dark)", "slate", "material/brightness-4", "the system's")]
EXTENSIONS: list[Any] = [
    "admonition", "attr_list", "def_list", "md_in_html", "tables", "pymdownx.details",
    {"toc": {"permalink": True, "permalink_title": "Link to this section", "toc_depth": "2-2"}},
    {"pymdownx.highlight": {"anchor_linenums": False, "use_pygments": True}}, "pymdownx.superfences",
    "pymdownx.inlinehilite"]

def urls() -> dict[str, str]:
    """Return project.urls of pyproject.toml: the only place that says where the project lives."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        found: dict[str, str] = tomllib.load(file)["project"]["urls"]
    return found

def config(pages: Path, out: Path, nav: list[Any]) -> dict[str, Any]:
    """Return the settings for the pages in a folder, without anything that a page would load from elsewhere."""
    palette = [{"media": media, **({"scheme": scheme} if scheme else {}), "primary": "custom", "accent": "custom",
                "toggle": {"icon": icon, "name": f"Switch to {then} colors"}} for media, scheme, icon, then in PALETTE]
    return {
        "site_name": "tfnb", "site_url": urls()["Documentation"],
        "site_description": "TensorFlow 1's graphs and sessions, made for notebooks",
        "docs_dir": str(pages), "site_dir": str(out), "use_directory_urls": False, "nav": nav,
        "theme": {"name": "material", "font": False, "language": "en", "features": FEATURES, "palette": palette,
                  "logo": "assets/logo.svg", "favicon": "assets/logo.svg"},

        # tf.where and tf.case are names, so no stop words; dots and underscores part names. A stemmer would hide
        # "entropi" from "entropy*", which the search asks for.
        "plugins": [{"search": {"separator": r"[\s\-,:!=\[\]()\"'`/._%<>;?]+", "pipeline": ["trimmer"]}}],
        "markdown_extensions": EXTENSIONS, "extra_css": ["assets/site.css"],
        "extra": {"generator": False, "social": [{"icon": "material/source-repository", "link": urls()["Repository"],
                                                 "name": "Source"}]},
        "validation": {"links": {"anchors": "warn", "unrecognized_links": "warn", "not_found": "warn"}},
    }
