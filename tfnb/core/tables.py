"""Tables of texts that stand in files of their own, beside the module that reads them."""
from __future__ import annotations

from pathlib import Path


def read_tables(file: Path) -> dict[str, dict[str, str]]:
    """Return the tables of a file by name: `[NAME BASE...]` begins one, with the rows of its bases; `key: text` a row.

    Empty lines, and those that begin with #, say nothing.
    """
    tables: dict[str, dict[str, str]] = {}
    rows: dict[str, str] = {}
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("["):
            name, *bases = line[1:-1].split()
            rows = tables[name] = {key: text for base in bases for key, text in tables[base].items()}
        elif line and not line.startswith("#"):
            key, _, text = line.partition(": ")
            rows[key] = text
    return tables
