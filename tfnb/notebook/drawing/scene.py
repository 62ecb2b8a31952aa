"""The records of a drawing before it is laid out."""
from __future__ import annotations

from dataclasses import dataclass

from tfnb.notebook.drawing.value_label import Pill


@dataclass(frozen=True, slots=True)
class SceneNode:
    """A visible node, or an open group.

    `refs_in` and `refs_out` are the numbers of the set-aside nodes that it reads from and feeds; 0 is the main drawing.
    """

    key: str
    name: str
    label: str
    form: str                       # op, scope, variable, series, rest
    role: str
    sub: str = ""                   # second line
    parent: str = ""                # key of the open group around it
    expandable: bool = False
    count: int = 1
    panel: str = ""                 # "": the main drawing; else the key of what is set aside
    number: int = 0                 # of what is set aside for being busy; 0: none
    refs_in: tuple[int, ...] = ()
    refs_out: tuple[int, ...] = ()
    paint: str = ""                 # "": coloured by role; else a class of notebook/graph/paint.py
    off: bool = False               # pale, for it is not on what is traced
    lit: bool = False               # it, or something in it, is what runs next
    loop: bool = False              # it holds a loop,
    weights: bool = False           # or variables
    bound: str = ""                 # the Python name of the tensor that it makes


@dataclass(frozen=True, slots=True)
class SceneEdge:
    """All tensors (or control edges) from one visible node to another of the same panel."""

    source: str
    target: str
    label: str
    tensors: int
    control: bool = False
    tip: str = ""
    pill: Pill | None = None        # of the tensor, or of the most important one,
    tensor: str = ""                # which that is
    off: bool = False
    bad: bool = False               # what flows there does not fit


@dataclass(frozen=True, slots=True)
class Scene:
    """A drawing before it is laid out. `groups` are the open scopes, outermost first (not counted as nodes)."""

    nodes: tuple[SceneNode, ...]
    groups: tuple[SceneNode, ...]
    edges: tuple[SceneEdge, ...]
    ops: int
    hidden: int = 0                 # ops behind "rest" nodes
    legend: tuple[tuple[str, str], ...] = ()        # (paint, word), where nodes are painted
