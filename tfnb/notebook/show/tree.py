"""Results as trees: dicts, lists and tuples of arrays, folded by <details>, or as indented lines.

Nothing is run for it. A tree has at most MOST_PICTURES pictures and MOST_PARTS parts at each place, so a page stays
below 300 kB.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.core.text import counted, cut
from tfnb.notebook.drawing.svg import text as escaped
from tfnb.notebook.frontend.locations import linked
from tfnb.notebook.show.array_page import MUTED, array_html, words_of

MOST_PARTS = 60         # of a container
MOST_PICTURES = 24
DEEPEST = 12
LETTERS = 120           # of a repr
MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"


@dataclass(frozen=True)
class Part:
    """A value by the name that it has where it is. words: the value in a line; array: to be drawn; parts: those inside;
    more: how many of these are left out; bad: something is wrong with it."""

    name: str
    words: str
    array: np.ndarray | None = None
    parts: tuple[Part, ...] = ()
    more: int = 0
    bad: bool = False


Describe = Callable[[str, Any], Part | None]        # (name, value) -> what it is, for values that are no containers


def tree_of(name: str, value: Any, describe: Describe = lambda name, value: None, above: tuple[int, ...] = ()) -> Part:
    """Describe a value: arrays, containers of values, whatever `describe` knows, and the rest by their repr."""
    found = describe(name, value)
    if found is not None:
        return found
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        return Part(name, words_of(array), array)
    if isinstance(value, (Mapping, list, tuple, set, frozenset)):
        if id(value) in above or len(above) >= DEEPEST:
            return Part(name, "… itself" if id(value) in above else "…")
        return _container(name, value, describe, (*above, id(value)))
    return Part(name, _repr(value))


def _container(name: str, value: Any, describe: Describe, above: tuple[int, ...]) -> Part:
    parts = [tree_of(key, part, describe, above) for key, part in _named(value)]
    return Part(name, f"{type(value).__name__}: {counted(len(value), 'item')}",
                parts=tuple(parts), more=max(0, len(value) - len(parts)))


def _named(value: Any) -> Iterable[tuple[str, Any]]:
    """The first parts of a container, by what they are called in it."""
    if isinstance(value, Mapping):
        pairs = zip((key if isinstance(key, str) else getattr(key, "name", None) or _repr(key) for key in value),
                    value.values(), strict=False)
    else:
        names = getattr(value, "_fields", None) or (f"[{i}]" for i in range(len(value)))
        pairs = zip(names, value, strict=False)
    return [(str(key), part) for (key, part), _ in zip(pairs, range(MOST_PARTS), strict=False)]


def _repr(value: Any) -> str:
    try:
        return cut(" ".join(repr(value).split()), LETTERS)
    except Exception as problem:        # a user's class may do anything in its repr
        return f"<{type(value).__name__}, whose repr raises {type(problem).__name__}>"


def has_arrays(value: Any, depth: int = 4) -> bool:
    """Return whether a value is a container with an array of several elements in it, among the first at each place."""
    if isinstance(value, np.ndarray):
        return value.size > 1
    return depth > 0 and isinstance(value, (Mapping, list, tuple)) and any(
        has_arrays(part, depth - 1) for _, part in _named(value))


def as_text(part: Part, indent: int = 0) -> str:
    """Return an indented line for each part."""
    head = "  " * indent + "  ".join(filter(None, (part.name, part.words)))
    inner = [as_text(each, indent + 1) for each in part.parts]
    more = ["  " * (indent + 1) + f"… {part.more:,} more"] if part.more else []
    return "\n".join([head, *inner, *more])


def as_html(root: Part) -> str:
    """Return the tree as HTML without scripts: parts fold, arrays have a picture while there is room for it."""
    room = [MOST_PICTURES]

    def shown(part: Part, depth: int, opened: bool) -> str:
        picture = ""
        if part.array is not None and room[0] > 0:
            picture = array_html(part.array)
            room[0] -= bool(picture)
        inner = "".join(shown(each, depth + 1, depth == 0 and len(part.parts) <= 3) for each in part.parts)
        inner += f'<div style="margin-left:18px;{MUTED}">… {part.more:,} more</div>' if part.more else ""
        name = f"<b>{escaped(part.name)}</b>&ensp;" if part.name else ""
        wrong = ";color:#d6382c" if part.bad else ""
        line = f'{name}<span style="{MONO};font-size:92%{wrong}">{linked(part.words)}</span>'
        if not inner and not picture:
            return f'<div style="padding-left:16px">{line}</div>'
        body = f'<div style="margin-left:16px">{inner}</div>' if inner else ""
        return f'<details{" open" * opened}><summary style="cursor:pointer">{line}</summary>{picture}{body}</details>'

    return f'<div class="tfnb-show" style="font-size:13px;line-height:1.5;overflow-x:auto">{shown(root, 0, True)}</div>'
