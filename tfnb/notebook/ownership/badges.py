"""Badges on display, and the requests of the cells that they are in."""
from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

from tfnb.notebook.cells.cells import Cells
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.settings import settings


@dataclass(frozen=True, slots=True)
class Source:
    """A cell to be run again: its text, its number, and the request whose outputs the front end shows in it."""

    code: str
    number: int
    parent: Any

    @property
    def has_place(self) -> bool:
        """Return whether output sent under this old request appears in its cell: in JupyterLab, Notebook."""
        return bool(self.parent.get("metadata", {}).get("cellId"))


class Badges:
    """The badges of a notebook's cells, each shown at the end of its cell's run and kept up to date there.

    sources: of the cells that may have to run again; listeners: views whose `update` is called when badges change.
    """

    def __init__(self, ip: Any, cells: Cells, sources: Mapping[Hashable, Source]) -> None:
        self.listeners: WeakSet[Any] = WeakSet()
        self._ip, self._cells, self._sources = ip, cells, sources
        self._shown: set[Hashable] = set()          # keys whose badge is on display

    def cleared(self, key: Hashable) -> None:
        """The front end has cleared the output of a cell."""
        self._shown.discard(key)

    def show(self, keys: Collection[Hashable]) -> None:
        """Show the badges of these cells as they are now."""
        for key in keys if settings.badges else ():
            badge = self._cells.badges.get(key)
            if badge is None:
                continue
            if key in self._shown:
                shell.update(badge.bundle(), f"tfnb-cell-{key}")
            elif key == shell.running:
                self._shown.add(key)
                shell.show(badge.bundle(), f"tfnb-cell-{key}")
            elif badge.why and key in self._sources and self._sources[key].has_place:       # it shows nothing until now
                self._shown.add(key)
                with shell.in_place_of(self._sources[key].parent, self._ip):
                    shell.show(badge.bundle(), f"tfnb-cell-{key}")
        if keys:
            self.tell()

    def tell(self) -> None:
        """Bring the views up to date that tell how the notebook stands."""
        for view in list(self.listeners):
            view.update()
