"""Print the changes of a version for its release: `python tests/release.py v0.2.0`. Fails unless all files name it."""
from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def notes(tag: str) -> str:
    """Return the section of CHANGELOG.md for a tag. Raises ValueError where version.py or CITATION.cff say another."""
    source, citation, changes = ((ROOT / name).read_text(encoding="utf-8") for name in (
        "tfnb/core/version.py", "CITATION.cff", "CHANGELOG.md"))
    for file, pattern, text in (("tfnb/core/version.py", r'^__version__ = "(.+)"$', source),
                                ("CITATION.cff", r"^version: (.+)$", citation)):
        found = re.search(pattern, text, re.MULTILINE)
        if found is None or f"v{found[1]}" != tag:
            raise ValueError(f"{file}: expected the version of the tag {tag}, got {found and found[1]}")
    section = re.search(rf"^## {re.escape(tag[1:])}\b[^\n]*\n(.*?)(?=^## |\Z)", changes, re.MULTILINE | re.DOTALL)
    if section is None:
        raise ValueError(f"CHANGELOG.md: expected a section '## {tag[1:]}', got none")
    return section[1].strip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(notes(sys.argv[1]))
