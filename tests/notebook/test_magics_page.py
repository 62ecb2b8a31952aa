"""docs/magics.md: every magic with its options and its example; TFNB_WRITE_DOCS=1 in the environment writes it."""
from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tfnb.notebook.extension import MAGICS

PAGE = Path(__file__).parents[2] / "docs" / "magics.md"
INTRODUCTION = """# The magics, one by one

Written by `tests/notebook/test_magics_page.py` from what `%tfnb help NAME` says. [notebook.md](notebook.md) tells what
they are for, with pictures.
"""


def magics() -> Iterator[tuple[str, Any]]:
    """The magics with their signs, and their functions."""
    for family in MAGICS:
        for kind, sign in (("line", "%"), ("cell", "%%")):
            for name, method in family.magics[kind].items():
                yield sign + name, getattr(family, method) if isinstance(method, str) else method


def section(name: str, magic: Any) -> str:
    parser = getattr(magic, "parser", None)
    told = inspect.cleandoc(parser.description if parser is not None else magic.__doc__)
    summary, _, rest = told.partition("\n\n")
    lines = [f"## `{name}`", "", summary.replace("\n", " ")]
    if rest:
        lines += ["", rest]
    taken = [action for action in parser._actions if action.help] if parser is not None else []
    if taken:
        lines.append("")
    for action in taken:
        named, choices = ", ".join(action.option_strings), ""
        word = action.metavar or action.dest.upper()
        if action.choices:
            word, choices = "", f" (one of {', '.join(map(str, action.choices))})"
        written = f"{named} {word if action.nargs != 0 else ''}".strip() if named else action.dest
        lines.append(f"* `{written}`: {action.help}{choices}")
    return "\n".join(lines) + "\n"


def test_the_page_tells_of_every_magic_as_its_help_does():
    found = "\n".join([INTRODUCTION, *(section(*each) for each in sorted(magics()))])
    if os.environ.get("TFNB_WRITE_DOCS"):
        PAGE.write_text(found, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == found, "set TFNB_WRITE_DOCS=1 and run this test again"
