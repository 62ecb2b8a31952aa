"""Cells of IPython: what runs before and after each one, whatever the front end tells of it.

Front ends that know cells send their id (JupyterLab, Notebook, VS Code, Colab) and the ids of deleted ones (JupyterLab,
Notebook); where there is none (nbclient, papermill, Voila, a terminal) each run is a cell of its own. Code that is run
silently belongs to nobody.
"""
from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from tfnb.core import taps
from tfnb.core.source import set_cell_label
from tfnb.core.text import listed
from tfnb.graph.graph import Graph
from tfnb.graph.mutation import Snapshot
from tfnb.graph.parts.collection import op_of
from tfnb.graph.stack import all_graphs
from tfnb.notebook.cells.cells import Cells
from tfnb.notebook.cells.journal import Past
from tfnb.notebook.cells.sessions import Listener
from tfnb.notebook.cells.statements import Text, text_of
from tfnb.notebook.debug.failed_call import failed_call
from tfnb.notebook.debug.failed_cell import bundle, partial_graph
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.locations import NAMELESS
from tfnb.notebook.frontend.settings import settings
from tfnb.notebook.lessons.teacher import Teacher
from tfnb.notebook.ownership.badges import Badges, Source
from tfnb.notebook.plots import active_runs, board
from tfnb.notebook.state import state_views
from tfnb.notebook.state.initialize import initialize_new

FEW = 4                 # names listed


@dataclass
class Frame:
    """A cell that runs. number: of In. inner: the state to go back to if it runs inside of another one (`%run`)."""

    info: Any
    number: int
    inner: dict[Graph, Snapshot] | None = None


class Hooks:
    """The ownership of cells for one InteractiveShell."""

    def __init__(self, ip: Any) -> None:
        self.ip = ip
        self.cells = Cells()
        self.names: dict[str, Hashable] = {}        # `%%graph NAME`: the key that the cell ran under last
        self._stack: list[Frame] = []
        self.sources: dict[Hashable, Source] = {}   # of the cells that may have to run again
        self.again: dict[str, str] = {}             # file name -> label, of a cell while `run_stale` runs it again
        self._files: dict[str, str] = {}            # file name -> label, where IPython doesn't tell: before 8 (Colab)
        self.teacher = Teacher(self.look_again)
        self.badges = Badges(ip, self.cells, self.sources)
        self.button: Any = None                     # that runs stale cells
        self.expected: set[Hashable] = set()        # cells that a button lets the front end run again
        self._unstored: tuple[Any, int] = (None, 0)         # the last run beside the history, how many there were
        # Cells in ipykernel's subshells run in other threads, beside the one that owns what is made meanwhile.
        self._thread = threading.main_thread() if getattr(ip, "kernel", None) else threading.current_thread()
        self._listener = Listener(self._thread, self.cells)

    def register(self) -> None:
        """Begin to listen, also to the rest of the cell that runs now."""
        self.ip.events.register("pre_run_cell", self.pre_run_cell)
        self.ip.events.register("post_run_cell", self.post_run_cell)
        settings.listeners.append(self._set)
        set_cell_label(self.label_of_file)
        shell.cells = self.cells
        self._listener.start()
        board.listen()
        _active.append(self)
        info = shell.running_info()
        if info is not None:
            self.pre_run_cell(info)

    def unregister(self) -> None:
        """Stop listening. What cells made stays, and is nobody's until `register`. A second call changes nothing."""
        if self not in _active:
            return
        if self._stack:
            self._stack.clear()
            self.badges.show(self.cells.commit() if self.cells.run else ())
        self.ip.events.unregister("pre_run_cell", self.pre_run_cell)
        self.ip.events.unregister("post_run_cell", self.post_run_cell)
        settings.listeners.remove(self._set)
        set_cell_label(None)
        shell.cells = None
        self._listener.stop()
        _active.remove(self)
        self.cells.journal.clear()                  # nobody keeps account of what is made from now on

    def _set(self, name: str, value: Any) -> None:
        """A setting changed. Cells own from now on, or no more: also what the rest of the running cell makes."""
        if name == "own_cells" and not value:
            self.cells.disown()
            self.cells.journal.clear()              # nobody keeps account of what is made from now on
        elif name == "own_cells" and self._stack:
            if self.cells.run is None:
                self._begin(self._stack[0].info)
            else:
                self.cells.own_again()

    # events

    def pre_run_cell(self, info: Any) -> None:
        """A cell is about to run."""
        if threading.current_thread() is not self._thread:
            return
        active_runs.hold_runs()
        try:
            self._enter(info)
        finally:
            self._release()

    def _release(self) -> None:
        """Trainings go on, unless ops left that come back with the end of the running cell."""
        if not (self.cells.run and self.cells.run.detached):
            active_runs.release_runs()

    def _enter(self, info: Any) -> None:
        number = self._count(info)
        if self._stack:
            self._stack.append(Frame(info, number, self.cells.save()))
            return
        self._stack.append(Frame(info, number))
        if not hasattr(self.ip.compile, "format_code_name"):
            self._files[self.ip.compile.get_code_name(info.raw_cell, info.raw_cell, number)] = f"[{number}]"
        key, meta = self._identity(info)
        shell.running, shell.attended = key, shell.SERVED or not str(key).startswith(NAMELESS)
        self._close_views(key)
        if not self.again or self.sources[key].has_place:
            self.badges.cleared(key)                # the front end has cleared the cell's output
        if settings.own_cells:
            for gone in meta.get("deletedCells") or ():
                if gone != key:                     # cut, pasted elsewhere and run: still the same cell
                    self._forget(gone)
            self._begin(info)

    def _begin(self, info: Any) -> None:
        key = self._identity(info)[0]
        label = self.cells.labels.get(key) if self.again else None         # run by us: its number stays
        self.cells.begin(key, label or self._label(info), self._graph_names())
        taps.cell = self.cells.run

    def post_run_cell(self, result: Any) -> None:
        """A cell has ended. result: an ExecutionResult; None where even that could not be made."""
        if threading.current_thread() is not self._thread:
            return
        active_runs.hold_runs()
        try:
            self._finish(result)
        finally:
            active_runs.release_runs()

    def _finish(self, result: Any) -> None:
        info = getattr(result, "info", None)
        if self._emptied(info):
            return
        place = next((i for i, frame in enumerate(self._stack) if frame.info is info), len(self._stack) - 1)
        failed = result is None or not result.success
        while len(self._stack) > max(place, 0):     # those above it ended without saying so
            frame = self._stack.pop()
            if frame.inner is not None:
                self.cells.restore(frame.inner, failed or frame.info is not info)
            else:
                self._end(frame, failed, getattr(result, "error_in_exec", None))

    def _end(self, frame: Frame, failed: bool, error: BaseException | None = None) -> None:
        run = self.cells.run
        self.teacher.look(error if failed else None, self.ip.user_ns, run)
        if run is not None:
            call = failed_call(error) if failed and settings.partial_graphs else None
            drawn = bundle(partial_graph(call, run.key)) if call is not None else None
            rebound = self._rebound(run.label, run.names) if run.detached and not failed else {}
            taps.cell = None
            text = self._text(frame.info, run.key)
            self.cells.observe(self.ip.user_ns, text)  # what failed may have defined something, too
            changed = self.cells.rollback() if failed else self.cells.commit(rebound, self.ip.user_ns, text)
            if failed:
                self._restore_names(run.names)
            self._end_trainings(run.key, run.label)
            badge = self.cells.badges.get(run.key)
            if failed and badge is not None and badge.ops:      # its output was cleared, its old ops are back
                note = f"this run failed, those of {badge.label} are kept"
                self.cells.badges[run.key] = replace(badge, notes=(note,))
                changed = [*changed, run.key]
            self._remember(run.key, frame, failed)
            if run.key in self.expected and not failed:
                self.initialize(run.key)
                changed = [*changed, run.key]
            self.expected.discard(run.key)
            self.badges.show(dict.fromkeys([*changed, *self.cells.look_again()]))
            if run.marked:                              # also where it has no line any more
                self.badges.tell()
            if drawn is not None:
                shell.show(drawn, f"tfnb-failed-{run.key}")
        self.teacher.tell("" if failed else frame.info.raw_cell, self.ip, run)
        board.settle_boards()
        state_views.look_again()
        shell.running = None

    def _end_trainings(self, key: Hashable, label: str) -> None:
        """End what trains ops that a cell, run just now, made otherwise, or of cells that must run again."""
        for graph, stories in self.cells.books.stories.items():
            story = stories.get(key)
            if story is not None and story.label == label:
                stale = [name for mark in self.cells.stale(graph).values() for name in self.cells.named(mark.run)]
                active_runs.model_changed(graph, {*story.why, *story.removed}, label, sorted(set(stale), key=_number))
        for run in active_runs.active_runs():
            if not run.anyway and (doubts := self.cells.doubts(run._graph, run.uses)):
                run.stop(f"{doubts} {run.label}", wait=False)

    def _text(self, info: Any, key: Hashable) -> Text | None:
        """The data flow of a cell. One without an id never runs again: its text is looked at only if it made ops."""
        nameless = str(key).startswith(NAMELESS) and self.cells.untouched()
        return None if nameless else text_of(str(info.raw_cell), self.ip.transform_cell)

    def _remember(self, key: Hashable, frame: Frame, failed: bool) -> None:
        """Note how to run the cell again: the text that made its ops, the request that its outputs belong to now."""
        if key not in self.cells.badges and str(key).startswith(NAMELESS):
            return
        before = self.sources.get(key)
        if before is not None and self.again:       # run by us: the kernel's request is that of the cell that asks
            return
        self.sources[key] = replace(before, parent=shell.request(self.ip)) if before is not None and failed else \
            Source(frame.info.raw_cell, frame.number, shell.request(self.ip))

    def initialize(self, key: Hashable) -> list[str]:
        """Give first values to the variables that a cell, and others that ran again before it, made anew."""
        done = [name for graph in all_graphs()
                for name in initialize_new(graph, {key, *self.cells.books.stories.get(graph, ())})]
        badge = self.cells.badges.get(key)
        if done and badge is not None:
            self.cells.badges[key] = replace(badge, notes=(*badge.notes, f"initialized {listed(done, FEW)}"))
        return done

    def look_again(self) -> None:
        """A button changed something beside the cells: see which variables have values, and what views show."""
        if changed := self.cells.look_again():
            self.badges.show(changed)
        else:
            self.badges.tell()
        state_views.look_again()

    def _rebound(self, label: str, names: Mapping[str, Any]) -> dict[str, str]:
        """Old op -> what to say where a name of it means another op of the cell now: `out = tf.nn.relu(out)`, added."""
        found, now = {}, self.ip.user_ns
        for name, value in names.items():
            old = op_of(value)
            new = op_of(now.get(name)) if old is not None and old._dead else None
            if old and new and not new._dead and new.owner == old.owner and new.name != old.name:
                found[old.name] = f"{name!r} means {new.name!r} in {label}, no longer {old.name!r}"
        return found

    def _graph_names(self) -> dict[str, Any]:
        if not any(graph.version for graph in all_graphs()):
            return {}
        return {name: value for name, value in self.ip.user_ns.items()
                if op_of(value) is not None and not name.startswith("_")}      # _, __, _7: IPython's own

    def _restore_names(self, names: Mapping[str, Any]) -> None:
        """Names that a run bound to ops which were taken back stand for the ops before it again."""
        for name, value in names.items():
            op, before = op_of(self.ip.user_ns.get(name)), op_of(value)
            if op and before and op._dead and not before._dead:
                self.ip.user_ns[name] = value

    def _emptied(self, info: Any) -> bool:
        """A cell of blanks has no begin: it ends only. What it made when there was something in it leaves."""
        blank = info is not None and not str(info.raw_cell).strip()
        if blank and not self._stack:
            key = self._identity(info)[0]
            self._forget(key)
        return blank

    def _close_views(self, key: Hashable) -> None:
        board.close_boards_of(key)
        active_runs.stop_runs_of(key)

    def _forget(self, key: Hashable) -> None:
        self._close_views(key)
        self.badges.cleared(key)
        self.sources.pop(key, None)
        self.badges.show(self.cells.delete(key, self._graph_names()))

    # cells

    def _identity(self, info: Any) -> tuple[Hashable, dict[str, Any]]:
        """The key of a cell, and the metadata of the request."""
        # IPython itself tells the metadata since 9.7.
        meta = getattr(info, "cell_meta", None) or shell.request(self.ip).get("metadata") or {}
        cell_id = getattr(info, "cell_id", None) or meta.get("cellId") or (meta.get("colab") or {}).get("cell_id")
        return (cell_id or self._ordinal(info)), meta

    def _ordinal(self, info: Any) -> str:
        """The key of a run of a cell without an id. Runs outside of the history (nbval) all have one count."""
        if info.store_history:
            return f"{NAMELESS}{self._count(info)}"
        if info is not self._unstored[0]:
            self._unstored = info, self._unstored[1] + 1
        return f"{NAMELESS}{self._count(info)}, {self._unstored[1]} beside history"

    def _count(self, info: Any) -> int:
        return int(self.ip.execution_count) - (1 if info.store_history and shell.counts_first() else 0)

    def _label(self, info: Any) -> str:
        return f"[{self._count(info)}]"

    def name_cell(self, name: str) -> None:
        """The running cell is the one called `name`: what it made before, under whatever id, is replaced."""
        run = self.cells.run
        if run is not None:
            if name in self.names:
                self.cells.take_over(self.names[name])
            self.names[name] = run.key

    def label_of_file(self, filename: str) -> str | None:
        """ "cell [3]" for the file name that IPython gave to the code of a cell; None for another file."""
        if filename in self.again:
            return f"cell {self.again[filename]}"
        if self._files:
            return f"cell {self._files[filename]}" if filename in self._files else None
        named = self.ip.compile.format_code_name(filename)
        return f"cell {named[1].removeprefix('In')}" if named else None

    # from a cell that does something to the others

    @contextmanager
    def aside(self, what: str) -> Iterator[None]:
        """Let the running cell stand aside, as if it had not begun; afterwards it begins again.

        Raises RuntimeError if it has made ops: `what` must be in a cell of its own.
        """
        run = self.cells.run
        if run is None or self._stack[1:]:
            yield
            return
        if not self.cells.untouched():
            raise RuntimeError(f"this cell has made ops: {what} must stand in a cell of its own")
        active_runs.hold_runs()
        self.badges.show(self.cells.rollback())
        stack, self._stack = self._stack, []
        running = shell.running
        try:
            yield
        finally:
            self._stack, shell.running = stack, running
            self.cells.begin(run.key, run.label, self._graph_names())
            self._release()

    def undo(self) -> Past:
        """Take back the last run of a cell that made or removed ops, or the last deletion of one.

        Graphs, the user's names and the default graph are as they were before. Raises LookupError if there is nothing
        to undo, RuntimeError if the running cell has made ops.
        """
        with self.aside("%graph undo"):
            past, names, changed = self.cells.undo()
            self._restore_names(names)
            self.badges.show(changed)
        return past


def _number(label: str) -> int:
    """The number in a cell's label."""
    return int("".join(filter(str.isdigit, label)) or 0)


_active: list[Hooks] = []


def active() -> Hooks | None:
    """The hooks that listen, those of the running shell where there are several; None where no cells are known."""
    mine = [hooks for hooks in _active if hooks.ip is shell.current()]
    listening = mine or _active
    return listening[-1] if listening else None
