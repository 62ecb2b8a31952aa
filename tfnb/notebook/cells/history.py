"""History of a cell's runs, op by op, kept in words for `%why`: the ops themselves may go."""
from __future__ import annotations

from dataclasses import dataclass, field

from tfnb.notebook.cells.compare import Changes
from tfnb.notebook.cells.effects import Effects


@dataclass(frozen=True, slots=True)
class Story:
    """A run of a cell that ran before.

    before, label: what the two runs are called; same: names of ops that are what they were; why: name -> what is
    different; removed: names of ops that are made no longer; kept: variables whose values go on; moved: ops of other
    cells -> the changed op whose new tensor they take.
    """

    before: str
    label: str
    same: frozenset[str] = frozenset()
    why: dict[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    kept: frozenset[str] = frozenset()
    moved: dict[str, str] = field(default_factory=dict)


def story_of(before: str, label: str, changes: Changes, effects: Effects) -> Story:
    """The story of a run that replaced another one."""
    same = frozenset(changes.new)
    if not changes.identical:
        same = (same & changes.old.keys()) - changes.why.keys()
    return Story(before, label, same, changes.why, changes.removed, changes.kept,
                 effects.moved)
