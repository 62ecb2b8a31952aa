"""Options of graph views, and the checks of their values."""
from __future__ import annotations

from collections.abc import Iterable, Mapping

from tfnb.core.text import did_you_mean, expression
from tfnb.notebook.graph.costs import Cost
from tfnb.notebook.graph.paint import COSTS, WORDS
from tfnb.notebook.graph.tree import Node

OPTIONS = ("target", "depth", "expand", "aside", "keep", "engine", "direction", "limit", "title",
           "values", "color", "costs", "trace", "detach", "series", "up", "down", "form", "level")
LEVELS = ("layers", "ops")
FORMS = ("auto", "svg", "dot", "text")


def known_level(level: str) -> str:
    """Return a level. Raises ValueError for what is none, with the nearest."""
    if level not in LEVELS:
        raise ValueError(f"a graph is drawn by {' or '.join(LEVELS)}, not {level!r}{did_you_mean(level, LEVELS)}")
    return level


def known_color(how: str, costs: Mapping[str, Cost]) -> str:
    """Return a way to colour. Raises ValueError for what is none, or needs costs that are not there."""
    if how not in WORDS:
        raise ValueError(f"graphs are coloured by {', '.join(WORDS)}, not {how!r}{did_you_mean(how, WORDS)}")
    if how in COSTS and not costs:
        raise ValueError(f"to colour by {how}, a run must be measured: give `costs`, or `%graph FETCH --color {how}`")
    return how


def matching(root: Node, patterns: list[str]) -> list[str]:
    """Keys of the outermost nodes that one of the expressions is found in the names of. Raises ValueError for what is
    no expression, or is found in none."""
    found: list[str] = []
    for pattern in patterns:
        wanted = expression(pattern)
        before, todo = len(found), list(root.children.values())
        while todo:
            node = todo.pop()
            if wanted.search(node.name):
                found.append(node.key)
            else:
                todo += node.children.values()
        if len(found) == before:
            raise ValueError(f"no node has a name that {pattern!r} is found in")
    return found


def as_list(names: Iterable[str] | str) -> list[str]:
    """Return names as a list, one alone too."""
    return [names] if isinstance(names, str) else list(names)


def check_options(options: Iterable[str]) -> None:
    """Raise TypeError, with the nearest name, for what is no option of `graph_view`."""
    for name in options:
        if name not in OPTIONS:
            hint = did_you_mean(name, OPTIONS) or f"; there are {', '.join(OPTIONS)}"
            raise TypeError(f"graph_view has no option {name!r}{hint}")
