"""`%why`: where an op comes from, what its cell's last run did to it, why it is stale, and what depends on it."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from tfnb.core.stale import why_stale
from tfnb.core.text import counted, listed
from tfnb.graph.closure import closure, upstream
from tfnb.graph.parts.collection import op_of
from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import get_default_graph, graph_of
from tfnb.notebook.cells.cells import Cells
from tfnb.notebook.cells.compare import form
from tfnb.notebook.cells.effects import is_variable
from tfnb.notebook.cells.history import Story
from tfnb.notebook.cells.marks import Mark, Orphan
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.badge import FRESH_COLOR, STALE_COLOR
from tfnb.notebook.frontend.fetch import open_sessions, resolve
from tfnb.notebook.frontend.locations import linked
from tfnb.notebook.frontend.python_names import python_names
from tfnb.notebook.ownership.hooks import active

FEW = 4                 # names listed


@dataclass(frozen=True, slots=True)
class Why:
    """The answer: a title, whether its cell is up to date, and (question, answer) rows."""

    title: str
    fresh: bool
    rows: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        width = max((len(question) for question, _ in self.rows), default=0)
        return "\n".join([f"{self.title}: {'up to date' if self.fresh else 'run again'}",
                          *(f"  {question:{width}}  {answer}" for question, answer in self.rows)])

    def _repr_html_(self) -> str:
        mark, color, word = ("●", FRESH_COLOR, "up to date") if self.fresh else ("⚠", STALE_COLOR, "run again")
        style = "text-align:left;vertical-align:top"
        rows = "".join(f"<tr><th style='{style}'>{escape(question)}</th><td style='{style}'>{linked(answer)}</td></tr>"
                       for question, answer in self.rows)
        return (f'<div style="font: 13px system-ui, sans-serif"><b>{escape(self.title)}</b> '
                f'<span style="color: {color}"><span aria-hidden="true">{mark}</span> {word}</span></div>'
                f"<table>{rows}</table>")


def why(target: Any) -> Why:
    """Explain `target`: the line and cell that made it, whether it is stale and what to run, what changed.

    target: a tensor, op or variable, also one that a later run replaced, or the name of one in the default graph.
    Raises KeyError for a name that is not there, with the nearest one; TypeError for what is nothing of a graph.
    """
    op = op_of(resolve(get_default_graph(), target))
    if op is None:
        raise TypeError(f"why is asked of a tensor, an op, a variable or a name, not of {type(target).__name__}")
    hooks = active()
    shell.note_seen([op])
    asked = _Asked(op, hooks.cells if hooks else Cells())
    shape = f" {form(op.outputs[0])}" if op.outputs else ""
    questions: tuple[tuple[str, Callable[[], str]], ...] = (
        ("in Python", asked.names), ("stale", asked.stale), ("out of date", asked.outdated),
        ("run", asked.run), ("made", lambda: op.made_at),
        ("cell", asked.cell), ("last run", asked.last_run), ("changed", asked.changed), ("moved over", asked.moved),
        ("takes", asked.takes), ("used by", asked.used_by), ("gradient", asked.gradient),
        ("collections", asked.collections), ("values", asked.values))
    rows = [(question, answer()) for question, answer in questions]
    fresh = why_stale(op) is None and asked.mark is None
    return Why(f"{op.name} ({op.type}){shape}", fresh, tuple(row for row in rows if row[1]))


class _Asked:
    """The questions about one op; each answer is a line, or "" where there is nothing to say."""

    def __init__(self, op: Operation, cells: Cells) -> None:
        self.op, self.cells, self.graph = op, cells, graph_of(op)
        self.stories: dict[Any, Story] = cells.books.stories.get(graph_of(op), {})
        self.above = upstream([op])

    def _label(self, op: Operation) -> str:
        owner = op.owner
        return "no cell" if owner is None or isinstance(owner, Orphan) else self.cells.labels.get(owner, "a cell")

    def names(self) -> str:
        """The Python names of what it makes."""
        return ", ".join(python_names(self.graph).get(self.op.name, ())[:FEW])

    @property
    def mark(self) -> Mark | None:
        """The mark of its cell, if that must run again."""
        return self.cells.marks.get(self.op.owner) if self.op._dead is None else None

    def stale(self) -> str:
        """Return why the op is stale."""
        return self.mark.why if self.mark is not None and not self.mark.usable else why_stale(self.op) or ""

    def outdated(self) -> str:
        """Return what changed since its cell ran; "" where nothing did."""
        return self.mark.why if self.mark is not None and self.mark.usable else ""

    def run(self) -> str:
        """The cells to run again for it to be current."""
        named = self.cells.named(self.mark.run) if self.mark is not None else ()
        return f"{' '.join(named)} again, or %stale run" if named else ""

    def cell(self) -> str:
        """The cell that owns it, and how many ops that owns."""
        owner = self.op.owner
        if owner is None or isinstance(owner, Orphan):
            return "no cell owns it" if self.cells.labels else ""
        return f"{self._label(self.op)} owns {counted(len(self.graph.ops_of(owner)), 'op')}"

    def last_run(self) -> str:
        """Return what the last run of its cell changed of it."""
        story = self.stories.get(self.op.owner)
        if story is None or self.op._dead is not None:
            return ""
        name, again = self.op.name, f"ran as {story.before}, then as {story.label}"
        if name in story.same:
            return f"{again}, which made it as before"
        return f"{again}: {story.why[name]}" if name in story.why else f"{again}, which made it for the first time"

    def changed(self) -> str:
        """Return what changed above it: the ops that differ of themselves, not because of what they take."""
        found = [f"{each.name!r} in {story.label}: {text}" for each in self.above if each is not self.op
                 for story in self.stories.values() if (text := story.why.get(each.name, ""))
                 and not text.startswith("its input ")]
        gone = [f"{each.name!r} is made no longer" for each in self.above if each._dead is not None
                and any(each.name in story.removed for story in self.stories.values())]
        return "; ".join(dict.fromkeys([*found[:FEW], *gone[:FEW]]))

    def moved(self) -> str:
        """Return which of its inputs are the new ones of another cell."""
        found = [f"its input {story.moved[self.op.name]!r} is the new one of {story.label}: dtype and shape are what "
                 "they were" for story in self.stories.values() if self.op.name in story.moved]
        return "; ".join(found)

    def takes(self) -> str:
        """Its inputs: name, type, form and cell."""
        return listed([f"{t.name.removesuffix(':0')} ({t.op.type}, {form(t)}) of {self._label(t.op)}"
                       for t in self.op.inputs], FEW)

    def used_by(self) -> str:
        """Its consumers, and how many ops of which cells come behind it."""
        direct = list(dict.fromkeys(c for t in self.op.outputs for c in t._consumers))
        below = closure([self.op], lambda each: [c for t in each.outputs for c in t._consumers])
        if not direct:
            return "nothing"
        cells = Counter(self._label(each) for each in below if each is not self.op)
        counted = ", ".join(f"{many} of {label}" for label, many in cells.items())
        return f"{listed([each.name for each in direct], FEW)}; in all {counted}"

    def gradient(self) -> str:
        """The ops that `tf.gradients` made to differentiate it."""
        found = [each for each in self.graph.get_operations() if each._original_op is self.op]
        if not found:
            return ""
        return f"{counted(len(found), 'op')} of {self._label(found[0])} differentiate{'s' * (len(found) == 1)} it: " \
               f"{listed([e.name for e in found], FEW)}"

    def collections(self) -> str:
        """The collections that it or what it makes is in."""
        known = self.graph._collections.lists
        return ", ".join(key for key in self.graph.get_all_collection_keys()
                         if any(op_of(each) is self.op for each in known[key]))

    def values(self) -> str:
        """Of the variables it depends on: kept over the last run of their cell, or without a value."""
        variables = [each for each in self.above if is_variable(each) and each._dead is None]
        return "; ".join(text for each in variables[:2 * FEW] if (text := self._value(each)))

    def _value(self, variable: Operation) -> str:
        story = self.stories.get(variable.owner)
        kept = f", kept over the run {story.label}" if story and variable.name in story.kept else ""
        reason = ("" if story is None or variable.name in story.same else
                  f": {story.why[variable.name]}" if variable.name in story.why else f": it is new in {story.label}")
        told = []
        for name, session in open_sessions(self.graph).items():
            has = session._store.array(variable) is not None
            told.append(f"{variable.name} has {'a value' if has else 'no value'} in {name}{kept if has else reason}")
        return "; ".join(told)
