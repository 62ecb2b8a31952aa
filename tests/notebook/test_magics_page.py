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
they are for.
"""
# magic -> (picture in docs/images, what is seen on it)
PICTURES = {
    "%%graph": ("scoped", "A cell's layer in a scope of its own, drawn below the cell"),
    "%%train": ("train", "A training with its progress, its buttons, a slider for the learning rate and the curves"),
    "%ckpt": ("ckpt", "Three checkpoints, and the difference of two of them"),
    "%cluster": ("cluster", "A parameter server and two workers: addresses, state, devices, processes"),
    "%collections": ("collections", "Collections with their entries, each with the cell and the line that made it"),
    "%graph": ("layers", "LeNet as a chain of layers, with gradients, training and savers beside it"),
    "%live": ("live", "Two runs compared: curves of the loss, histograms of the weights over time, pictures"),
    "%nan": ("nan", "inf comes from loss/Log: its line, its input with a zero in it, and the way to the loss"),
    "%profile": ("profile", "A training step of an LSTM: bars added up into columns, the memory in use, the kernels"),
    "%queues": ("queues", "The queues of an input pipeline, how full they are, and the threads that fill them"),
    "%runs": ("runs", "Two trainings in a table, drawn over one another"),
    "%show": ("show", "A dict of fetched values as a tree, the arrays as heat maps"),
    "%slots": ("slots", "Weights, their gradient, and Adam's m and v as heat maps"),
    "%stale": ("cells", "Cells that must run again say why, their old output is faded"),
    "%step": ("step", "A run stopped before a product: what has run is green in the graph"),
    "%tfnb": ("tfnb", "How the notebook stands, and all magics by what they are for"),
    "%vars": ("vars", "Variables with curves of their norms"),
    "%why": ("why", "Why the training op is stale: h changed from Sigmoid to Tanh"),
}


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
    if name in PICTURES:
        picture, seen = PICTURES[name]
        lines += ["", f"![{seen}](images/{picture}.png)"]
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


def test_each_picture_is_of_a_magic():
    assert PICTURES.keys() <= dict(magics()).keys()
