"""The line that each op-making cell shows: what it made, what was kept, and whether it is still fresh."""
from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from tfnb.core.text import counted

# readable on white and on black
FRESH_COLOR, STALE_COLOR, BAD_COLOR, MUTED = "#00845f", "#c65300", "#d6382c", "#6a7580"


@dataclass(frozen=True, slots=True)
class Badge:
    """The badge of a cell.

    label: "[3]"; ops: how many it owns; variables: of these; kept: variables that were there before its last run with
    the same name, dtype and shape, so that their values go on; identical: its last run made what the run before made;
    rewired: inputs of other cells' ops that now take the new tensors; stale: why it must be run again; run: labels of
    the cells to run, in order; outdated: why it would make something else now; notes: anything else.
    """

    label: str
    ops: int = 0
    variables: int = 0
    kept: int = 0
    identical: bool = False
    rewired: int = 0
    removed: int = 0
    stale: str = ""
    run: tuple[str, ...] = ()
    outdated: str = ""
    notes: tuple[str, ...] = field(default=())

    def text(self) -> str:
        """One line, without the label: "7 ops · 2 variables kept · fresh"."""
        if self.stale:
            return " - ".join([f"STALE: {self.stale}", *([f"run {' '.join(self.run)}"] if self.run else [])])
        state = f"OUTDATED: {self.outdated} - run {self.label} again to use it" if self.outdated else "fresh"
        return " · ".join([counted(self.ops, "op"), *self._variables(), *self._changes(), *self.notes, state])

    def _variables(self) -> list[str]:
        new = self.variables - self.kept
        words = [f"{counted(self.kept, 'variable')} kept"] if self.kept else []
        if new:
            words.append(f"{counted(new, 'variable')}{' new' if self.kept or self.removed else ''}")
        return words

    def _changes(self) -> list[str]:
        words = ["as before"] if self.identical else []
        if self.removed:
            words.append(f"{self.removed} removed")
        if self.rewired:
            words.append(f"{counted(self.rewired, 'input')} of later cells moved over")
        return words

    def html(self) -> str:
        """The line, small, with a mark whose form and colour say fresh or stale."""
        mark, color = ("⚠", STALE_COLOR) if self.stale or self.outdated else ("●", FRESH_COLOR)
        return (f'<div style="font: 12px system-ui, sans-serif; color: {STALE_COLOR if self.stale else MUTED}">'
                f'<span style="color: {color}" aria-hidden="true">{mark}</span> {escape(self.text())}</div>')

    def bundle(self) -> dict[str, Any]:
        """The forms for a front end; a terminal shows the text."""
        return {"text/plain": f"tfnb {self.label}: {self.text()}", "text/html": self.html()}
