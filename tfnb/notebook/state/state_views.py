"""`%vars` and `%slots`: the variables of a graph as a table, their values and optimizer slots as heat maps."""
from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from tfnb.autodiff.gradients import gradients
from tfnb.core.text import did_you_mean, expression
from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import get_default_graph
from tfnb.notebook.drawing.heat_map import Picture, Window, picture, zoomed
from tfnb.notebook.drawing.svg import short
from tfnb.notebook.drawing.tensor_stats import Motion, Stats, stats
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.fetch import NoSessionError, find_session, resolve
from tfnb.notebook.frontend.locations import place
from tfnb.notebook.plots import board
from tfnb.notebook.state.tables import Cell, Column, Table, number_cell, share_cell, words_cell
from tfnb.notebook.state.tables_view import SheetView
from tfnb.notebook.state.variable_table import Trained, global_step_in, look, value_in, variables_of, watched
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.runtime.session import BaseSession

HOW = ("max", "mean")
UPDATE = 7              # the place of that column
QUICK = 1 << 16         # elements up to which a variable's figures are renewed while it is trained


class _Values(SheetView):
    """A view of variables of one session."""

    def __init__(self, title: str, session: BaseSession | None, how: str) -> None:
        if how not in HOW:
            raise ValueError(f"blocks are reduced by {' or '.join(map(repr, HOW))}, not {how!r}")
        super().__init__(title)
        self.session, self.how = session, how
        self._window: Window | None = None
        self._drawn: list[tuple[str, np.ndarray]] = []

    @property
    def window(self) -> Window | None:
        """(first row, row after the last, first column, column after the last) of what is seen; None for all."""
        return self._window

    def draw(self, values: list[tuple[str, np.ndarray]], window: Window | None = None) -> None:
        """Show these as heat maps; of those of the first one's shape only the window, if there is one."""
        self._drawn, self._window = values, window
        self.panels = [(name, picture(value, self.how, window if value.shape == values[0][1].shape else None))
                       for name, value in values]
        reduced = any(drawn.block != (1, 1) for _, drawn in self.panels)
        self.buttons = [("how", "Show means" if self.how == "max" else "Show extremes")] if reduced else []

    def act(self, act: str, row: str) -> None:
        """Show the mean of each block in place of its element of largest size, or the reverse."""
        if act == "how" and self.panels:
            self.how = "mean" if self.how == "max" else "max"
            self.draw(self._drawn, self._window)

    def zoom(self, panel: int, row: int, column: int) -> None:
        """Look at the surroundings of a cell, element by element where they fit."""
        drawn: Picture = self.panels[panel][1]
        window = zoomed(drawn, row, column)
        if window is not None and drawn.shape == self._drawn[0][1].shape:
            self.draw(self._drawn, window)

    def whole(self) -> None:
        """Look at the whole matrices again."""
        self.draw(self._drawn)


class VariablesView(_Values):
    """The table of variables; made by `variables`. While it is on display it follows the training, once a second.

    A click on a row (or `pick`) shows the heat maps of the variable and its slots.
    """

    hz = 1.0
    recorder = board.RECORDER

    def __init__(self, pattern: str | None, session: BaseSession | None, sort: str | None, descending: bool,
                 how: str, optimizer: str | None = None, slotted: bool = False) -> None:
        graph = session.graph if session is not None else get_default_graph()
        wanted = expression(pattern or "").search
        super().__init__("Variables", session, how)
        self._all = variables_of(graph)
        self._shown = [v for v in self._all if wanted(v.op.name) and (v.slots or not slotted)]
        if optimizer is not None:
            self._shown = _updated_by(optimizer, self._shown)
        if pattern and self._all and not self._shown:
            raise ValueError(f"no variable matches {pattern!r}"
                             + did_you_mean(pattern, [v.op.name for v in self._all], 0.3))
        self._roles = [*dict.fromkeys(role for v in self._shown for role in v.slots)]
        self.cell: Hashable = shell.running
        self._next = 0.0
        self._figures: dict[str, Stats | None] = {}         # of variables and slots, as last seen
        self._moves, self._resting = 0, True
        self.tables = [Table("variables", self._columns(), [])]
        self.refresh()
        if sort is not None:
            self.sort(sort, descending)

    def _columns(self) -> list[Column]:
        return [Column("name"), Column("cell", "the cell, or file, and line that made it"), Column("dtype"),
                Column("shape"), Column("train", "made with trainable=True"),
                Column("init", "has a value in the session"),
                Column("norm", "L2 norm, at each look that found it changed"),
                Column("update", "|change| / |value| since the look before (of a value that was 0, the new one), "
                       "per step where there is a global step; about 0.001 is usual", True),
                Column("NaN, inf", "share of elements that are not finite", True),
                *(Column(role, f"L2 norm of the optimizer's slot {role!r}", True) for role in self._roles),
                Column("mean", "", True), Column("sd", "standard deviation", True), Column("min", "", True),
                Column("max", "", True)]

    def refresh(self, quick: bool = False) -> VariablesView:
        """Look at the variables now; quick: keep the figures of large ones, but norm and update. Returns the view."""
        with self._lock:
            if self.session is not None and self.session._closed and self._figures:
                self.note = self._heading()[1]              # the rows stay: values as they were
                self.tell()
                return self
            motions = look(self.session, [v.op for v in self._shown]) if self.session is not None else {}
            for op in (op for v in self._shown for op in (v.op, *v.slots.values())):
                value = value_in(self.session, op)
                if value is None:
                    self._figures.pop(op.name, None)
                elif not quick or value.size <= QUICK or op.name not in self._figures:
                    self._figures[op.name] = stats(value)
            self.tables[0].rows = [(v.op.name, self._row(v, motions.get(v.op.name))) for v in self._shown]
            self.title, self.note = self._heading()
            self._moves = sum(motion.moves for motion in motions.values())
            if self.panels and not (quick and self._drawn[0][1].size > QUICK):
                self._redraw()
            self.tell()
        return self

    def _redraw(self) -> None:
        """Draw the picked variable as it is now."""
        found = next((v for v in self._shown if v.op.name == self.tables[0].picked), None)
        if found is not None and value_in(self.session, found.op) is not None:
            values = _weights(self.session, found)
            self.draw(values, self._window if values[0][1].shape == self._drawn[0][1].shape else None)

    def _heading(self) -> tuple[str, str]:
        count = sum(int(np.prod(v.op.attrs["shape"] or (), dtype=np.int64)) for v in self._shown
                    if v.trainable and None not in (v.op.attrs["shape"] or ()))
        step = global_step_in(self.session)
        where = "no session is open" if self.session is None else f"global step {step:,}" if step is not None else ""
        if self.session is not None and self.session._closed:
            where = "its session was closed; these are the values that were seen last"
        elif self._sorts_by_update() and not any(row[UPDATE].text for _, row in self.tables[0].rows):
            where += "; " * bool(where) + "updates are known when the variables have moved: train, this fills by itself"
        words = f"{len(self._shown)} of {len(self._all)}" if len(self._shown) < len(self._all) else f"{len(self._all)}"
        return f"{words} variable{'' if words == '1' else 's'}, {count:,} trainable numbers", where

    def _sorts_by_update(self) -> bool:
        return self.tables[0].sort is not None and self.tables[0].sort[0] == UPDATE

    def _row(self, found: Trained, motion: Motion | None) -> list[Cell]:
        op, value = found.op, value_in(self.session, found.op)
        shape = op.attrs["shape"] if value is None else value.shape
        figures = self._figures.get(op.name)
        cells = [words_cell(op.name), words_cell(place(op)), words_cell(op.attrs["dtype"].name),
                 _shape_cell(shape), _flag(found.trainable), _flag(value is not None)]
        norms = tuple(motion.norms) if motion is not None else ()
        norm = figures.norm if figures is not None and (value is None or value.size <= QUICK or not norms) \
            else norms[-1] if norms else float("nan")
        if figures is None:
            return [*cells, *[Cell()] * (7 + len(self._roles))]
        cells += [Cell(short(norm), norm, spark=norms if len(norms) > 1 else ()),
                  number_cell(motion.ratio if motion is not None else None, 2), share_cell(figures.bad)]
        cells += [self._slot_cell(found.slots.get(role)) for role in self._roles]
        return cells + [number_cell(n, 3) for n in (figures.mean, figures.std, figures.low, figures.high)]

    def _slot_cell(self, op: Operation | None) -> Cell:
        figures = self._figures.get(op.name) if op is not None else None
        return number_cell(figures.norm, 3, figures.bad > 0) if figures is not None else Cell()

    def sort(self, column: str, descending: bool = False) -> VariablesView:
        """Sort by the column of that title ("size" is that of the shape). Returns the view.

        Raises ValueError, with the nearest title.
        """
        titles = [c.title for c in self.tables[0].columns]
        column = "shape" if column == "size" else column
        if column not in titles:
            raise ValueError(f"there is no column {column!r}"
                             + (did_you_mean(column, titles, 0.3) or f"; there are {', '.join(titles)}"))
        self.tables[0].sort = titles.index(column), descending
        self.note = self._heading()[1]
        self.tell()
        return self

    def heat(self) -> VariablesView:
        """Show the heat maps of the first row. Returns the view."""
        rows = self.tables[0].sorted_rows()
        self.pick("variables", rows[0][0] if rows else "")
        self.tell()
        return self

    def pick(self, table: str, row: str) -> None:
        """Show the heat maps of the variable called `row` under the table; of none if it is ""."""
        self.tables[0].picked = row
        found = next((v for v in self._shown if v.op.name == row), None)
        self.panels, self.panels_title, self.buttons = [], row, []
        self.note = self._heading()[1]          # what could not be shown before is past
        if found is not None:
            self.draw(_weights(self.session, found))

    def tick(self, now: float) -> None:
        """Look again, if it is time; the thread that feeds the live boards calls this."""
        if now < self._next or self.session is None:
            return
        if self.session._closed:
            self.refresh()
            board.SENDER.close(self)
            return
        self._next = now + 1 / self.hz
        with self._lock:
            motions = look(self.session, [v.op for v in self._shown])
            resting = sum(motion.moves for motion in motions.values()) == self._moves
            if not resting or not self._resting:            # all of it once the training pauses
                self.refresh(quick=not resting)
            self._resting = resting

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> shell.Bundle:
        bundle = super()._repr_mimebundle_()
        if self.widget is not None:
            board.SENDER.open(self)
        return bundle


class SlotsView(_Values):
    """Heat maps of a variable, its gradient and its slots; made by `slots`."""

    def __init__(self, found: Trained, session: BaseSession, gradient: np.ndarray | None, how: str) -> None:
        super().__init__(found.op.name, session, how)
        values = _weights(session, found)
        if gradient is not None:
            values.insert(1, ("gradient", gradient))
        self.values, self.panels_first = dict(values), True
        self.draw(values)
        self.tables = [Table("values", [Column("what"), Column("norm", "", True), Column("mean", "", True),
                                        Column("sd", "", True), Column("min", "", True), Column("max", "", True),
                                        Column("NaN, inf", "", True)],
                             [(name, _figures(name, value)) for name, value in values], pickable=False)]


def _figures(name: str, value: np.ndarray) -> list[Cell]:
    found = stats(value)
    if found is None:
        return [words_cell(name), *[Cell()] * 6]
    return [words_cell(name), *map(number_cell, (found.norm, found.mean, found.std, found.low, found.high)),
            share_cell(found.bad)]


def _shape_cell(shape: Any) -> Cell:
    if shape is None or None in shape:
        return Cell("?" if shape is None else "×".join("?" if n is None else str(n) for n in shape))
    return Cell("×".join(map(str, shape)) or "()", float(np.prod(shape, dtype=np.float64)))


def _flag(value: bool) -> Cell:
    return Cell("✓" if value else "–", float(value))


def _weights(session: BaseSession | None, found: Trained) -> list[tuple[str, np.ndarray]]:
    """(role, copy of the value) of a variable and its slots. Raises ValueError if it has no value."""
    values = [(role, value_in(session, op)) for role, op in {"value": found.op, **found.slots}.items()]
    if values[0][1] is None:
        raise ValueError(f"{found.op.name} has no value: run its initializer first, for example "
                         "sess.run(tf.global_variables_initializer())")
    return [(role, value.copy()) for role, value in values if value is not None]


def _updated_by(optimizer: str, known: list[Trained]) -> list[Trained]:
    found = [each for each in known if each.updated_by(optimizer)]
    if known and not found:
        names = sorted({name.partition("/update_")[0] for each in known for name in each.updates})
        raise ValueError(f"no optimizer called {optimizer!r} updates these variables"
                         + (did_you_mean(optimizer, names, 0.4) or f"; there are {', '.join(names) or 'none'}"))
    return found


def variables(pattern: str | None = None, *, session: BaseSession | None = None, sort: str | None = None,
              descending: bool = False, how: str = "max", optimizer: Any = None,
              slotted: bool = False) -> VariablesView:
    """The variables of a graph as a table: owning cell, dtype, shape, figures of the values, norms over time, slots.

    pattern: a regular expression that is looked for in the names; session: by default the default session, else the
    only open one on the default graph; without one there are no values. sort: the title of a column. how: "max" or
    "mean": what a cell of a heat map shows of the elements that it stands for. optimizer: only what this one updates,
    an optimizer or its name; slotted: only what has slots. What runs between two looks costs nothing; a look takes some
    0.1 ms for each variable of 100,000 numbers.

    Raises ValueError if no variable matches, with the nearest name, and for a column that is not there.
    """
    return VariablesView(pattern, session or _session_or_none(), sort, descending, how, _name_of(optimizer), slotted)


def _name_of(optimizer: Any) -> str | None:
    name: str | None = optimizer.get_name() if hasattr(optimizer, "get_name") else optimizer
    return name


def slots(variable: Any, *, loss: Any = None, feed: Mapping[Any, Any] | None = None,
          session: BaseSession | None = None, how: str = "max") -> SlotsView:
    """Heat maps of a variable, of its gradient, and of each slot that its optimizer keeps, side by side.

    variable: a tf.Variable or its name. loss: a tensor, or its name, whose gradient is shown too; without one that
    which the variable's optimizer takes, if `feed` is given. feed: tensor or name -> value. The graph is left as it
    was. session, how: as for `variables`.

    Raises ValueError for an unknown variable, with the nearest name, one without a value, and a loss that does not
    depend on it; NoSessionError if it is not clear which session; else what `Session.run` raises.
    """
    op = getattr(variable, "op", variable)
    graph = getattr(op, "graph", None) or (session.graph if session is not None else get_default_graph())
    running = session or find_session(graph)
    found = find_variable(variables_of(graph), op.name if isinstance(op, Operation) else str(variable))
    gradient = None
    if loss is not None or feed is not None:
        gradient = _gradient(running, found, loss, feed or {})
    return SlotsView(found, running, gradient, how)


def find_variable(known: list[Trained], name: str) -> Trained:
    """The variable of that name, or the one that has it as a slot. Raises ValueError, with the nearest name."""
    name = name.removesuffix(":0")
    for each in known:
        if each.op.name == name or any(slot.name == name for slot in each.slots.values()):
            return each
    names = [each.op.name for each in known]
    raise ValueError(f"no variable is called {name!r}"
                     + (did_you_mean(name, names, 0.4) or f"; there are {', '.join(names) or 'none'}"))


def _gradient(session: BaseSession, found: Trained, loss: Any, feed: Mapping[Any, Any]) -> np.ndarray | None:
    graph = session.graph
    feeds = {resolve(graph, key): value for key, value in feed.items()}
    if loss is None:
        if found.gradient is None:
            raise ValueError(f"no op of an optimizer takes the gradient of {found.op.name} as it is: name a loss")
        wanted = [found.gradient] if found.indices is None else [found.gradient, found.indices]
        return _dense(session.run(wanted, feeds), session, found)
    before = graph.snapshot()
    try:
        with graph.as_default():
            grad, = gradients(resolve(graph, loss), [found.op.outputs[0]])
        if grad is None:
            raise ValueError(f"{getattr(loss, 'name', loss)} does not depend on {found.op.name}")
        wanted = [grad.values, grad.indices] if isinstance(grad, IndexedSlices) else [grad]
        return _dense(session.run(wanted, feeds), session, found)
    finally:
        graph.rollback(before, "it was made to look at a gradient")


def _dense(parts: list[Any], session: BaseSession, found: Trained) -> np.ndarray:
    """A gradient as an array of the variable's shape; rows that a sparse one names twice are added up."""
    if len(parts) == 1:
        return np.asarray(parts[0])
    made = np.zeros(session._store.value(found.op, found.op).shape, np.asarray(parts[0]).dtype)
    np.add.at(made, np.asarray(parts[1]), parts[0])
    return made


def _session_or_none() -> BaseSession | None:
    """The session to look into; None if there is none. Raises ValueError if there are several."""
    try:
        return find_session(get_default_graph())
    except NoSessionError as error:
        if "several" in str(error):
            raise
        return None


def look_again() -> None:
    """A cell ended: take a look at the variables of sessions that were looked at before, for their curves."""
    for session in watched():
        look(session, [v.op for v in variables_of(session.graph)])
