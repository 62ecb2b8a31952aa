"""The line under a cell that makes ops, or must run again: whether it is up to date; what it made is folded away.

The style of a cell that must run again fades the outputs beside the line. Its button is hidden until the page has a
kernel to press it for: see ownership/run_button.py.
"""
from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from html import escape
from typing import Any

from tfnb.core.text import counted
from tfnb.notebook.frontend.locations import linked

# readable on white and on black
FRESH_COLOR, STALE_COLOR, BAD_COLOR, MUTED = "#00845f", "#c65300", "#d6382c", "#6a7580"
MOST = 6                            # labels in a line
TOKEN = secrets.token_hex(6)        # of the buttons of this kernel
OLD = (".jp-OutputArea:has(.tfnb-old)>.jp-OutputArea-child:not(:has(.tfnb-old))"
       "{opacity:.7;filter:grayscale(.8);box-shadow:inset 2px 0 #c65300}"
       ".jp-OutputArea:has(.tfnb-old)>.jp-OutputArea-child:is(:hover,:focus-within){opacity:1;filter:none}")
PRESS = ("margin-left: 8px; padding: 1px 8px; font: inherit; color: inherit; background: transparent; cursor: pointer; "
         "border: 1px solid; border-radius: 3px")


@dataclass(frozen=True, slots=True)
class Badge:
    """The badge of a cell.

    label: "[3]"; ops: how many it owns; variables: of these; kept: variables that were there before its last run with
    the same name, dtype and shape, and have values that go on; empty: such as have no value; identical: its last run
    made what the run before made; rewired: inputs of other cells' ops that now take the new tensors; why: the reason
    why it must run again, or ""; run: labels of the cells to run, in order, itself last; usable: what it made still
    runs; many: how many cells must run again; notes: anything else.
    """

    label: str
    ops: int = 0
    variables: int = 0
    kept: int = 0
    empty: int = 0
    identical: bool = False
    rewired: int = 0
    removed: int = 0
    why: str = ""
    run: tuple[str, ...] = ()
    usable: bool = True
    many: int = 0
    notes: tuple[str, ...] = field(default=())

    def text(self) -> str:
        """One line, without the label: "up to date · 7 ops · 2 variables kept"."""
        if self.why:
            return self.state() + (f" - run {self._order()}" if self.run[:-1] else "")
        return " · ".join([self.state(), *self._made()])

    def state(self) -> str:
        """The state, in the words that are always seen."""
        return f"run again: {self.why}" if self.why else " · ".join(["up to date", *self.notes])

    def details(self) -> str:
        """The words that are folded away: what to do, and what the cell made."""
        do = [f"run {self._order()}, or all stale cells by %stale run",
              "what it made still runs as it was" if self.usable else "what it made can't be used until then"]
        made = self._made()
        return " · ".join([*(do if self.why and made else do[:1] if self.why else []), *made])

    def _order(self) -> str:
        return " ".join(self.run if len(self.run) <= MOST else (*self.run[:MOST // 2], "...", *self.run[-MOST // 2:]))

    def _made(self) -> list[str]:
        return [*([counted(self.ops, "op")] if self.ops or self.removed else []), *self._variables(), *self._changes()]

    def _variables(self) -> list[str]:
        new = self.variables - self.kept - self.empty
        words = [f"{counted(self.kept, 'variable')} kept"] if self.kept else []
        if new:
            words.append(f"{counted(new, 'variable')}{' new' if self.kept or self.removed else ''}")
        if self.empty:
            words.append(f"{counted(self.empty, 'variable')} without a value")
        return words

    def _changes(self) -> list[str]:
        words = ["as before"] if self.identical else []
        if self.removed:
            words.append(f"{self.removed} removed")
        if self.rewired:
            words.append(f"{counted(self.rewired, 'input')} of later cells moved over")
        return words

    def html(self) -> str:
        """The line, small, with a mark of its own form and colour; the rest unfolds."""
        mark, color = ("⚠", STALE_COLOR) if self.why else ("●", FRESH_COLOR)
        said = linked(self.state()).replace(" -&gt; ", " → ")
        line = f'<span style="color: {color}" aria-hidden="true">{mark}</span> {said}'
        rest = self.details()
        if rest:
            line = (f'<details style="display: inline-block; margin: 0"><summary title="{escape(rest)}" '
                    f'style="cursor: pointer">{line}</summary>{linked(rest)}</details>')
        if self.why:
            line = (f'<style>{OLD}</style>{line}<button type="button" hidden data-tfnb-run="{TOKEN}" style="{PRESS}">'
                    f"Run {counted(self.many, 'stale cell')}</button>")
        name = "tfnb-badge tfnb-old" if self.why else "tfnb-badge"
        return (f'<div class="{name}" data-lm-suppress-shortcuts style="font: 12px/1.5 system-ui, sans-serif">'
                f"{line}</div>")

    def bundle(self) -> dict[str, Any]:
        """The forms for a front end; a terminal shows the text."""
        return {"text/plain": f"tfnb {self.label}: {self.text()}", "text/html": self.html()}
