"""Build the site: `python -m docs.website [--out build/site] [--lite]`; fails on warnings and on dead links."""
from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import yaml

from docs.website import ROOT, documents, reference, tutorials
from docs.website.config import config
from docs.website.finish import finish, rank_names
from docs.website.links import broken


def main() -> int:
    """Stage the pages, run MkDocs, check the links of what it made; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m docs.website", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="where the site goes")
    parser.add_argument("--lite", action="store_true", help="link to JupyterLite, which is put into lite/ afterwards")
    options = parser.parse_args()
    began, work = time.monotonic(), options.out.with_name(f"{options.out.name}-work").resolve()
    shutil.rmtree(work, ignore_errors=True)
    pages = work / "pages"
    places: dict[str, str] = {}
    nav = [{"Start": documents.stage(pages)}, {"Tutorials": tutorials.stage(pages, work / "outputs", options.lite)},
           *documents.GUIDES, {"Reference": [*reference.stage(pages, places), *documents.TABLES]}, *documents.PROJECT]
    settings = config(pages, options.out.resolve(), nav)
    (work / "mkdocs.yml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-f", str(work / "mkdocs.yml")]
    code = subprocess.run(command, cwd=ROOT, check=False, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}).returncode
    if code:
        return code
    finish(options.out, work / "outputs", places)
    rank_names(options.out, places)
    dead = broken(options.out, allowed=("lite/",) if options.lite else ())
    count = sum(1 for _ in options.out.rglob("*.html"))
    print(*dead, f"{count} pages, {len(dead)} dead links, {time.monotonic() - began:.0f} s: {options.out}/index.html",
          sep="\n")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
