"""%step: a run op by op: the graph with the next op lit, what that takes, the queue of ops, and values to change."""
from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tfnb.core.describe import FEW, one_line
from tfnb.core.errors import OpError
from tfnb.core.text import did_you_mean, expression
from tfnb.debug.conditions import conditions as compiled
from tfnb.debug.conditions import split_slice
from tfnb.debug.nan import patterns
from tfnb.debug.stepper import Stepper
from tfnb.debug.tap import inspect_run
from tfnb.graph.parts.collection import op_of
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.notebook.debug.edge_values import watched
from tfnb.notebook.debug.enlarged import Frame
from tfnb.notebook.debug.typed import typed_value
from tfnb.notebook.debug.watch_view import ValuesGraph, elements_of
from tfnb.notebook.drawing.geometry import shorten
from tfnb.notebook.drawing.scene import Scene
from tfnb.notebook.drawing.value_label import pill_of
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.fetch import in_session
from tfnb.notebook.graph.paint import amount_text, progressed
from tfnb.notebook.state.tables import Cell, Column, Table
from tfnb.notebook.state.tables_view import Inside, SheetView
from tfnb.runtime.session import BaseSession

_numbers = itertools.count(1)
AROUND = 5              # ops shown before and after the next one
LETTERS = 42            # of names in tables
BUTTONS = [("step", "Step"), ("back", "Back"), ("go", "Go on"), ("restart", "Restart")]
ALL_OPS, AROUND_IT = ("all ops", "All ops"), ("near ops", "Only the next ops")
MOST_OPS = 2000         # listed together


class RunGraph(ValuesGraph):
    """The graph of a run: what has run, what runs next, and (in the panel) the values of now."""

    def __init__(self, stepper: Stepper, ends: Sequence[Any]) -> None:
        self.stepper = stepper
        super().__init__(ends, level="ops")

    def follow(self) -> None:
        """Show how far the run is: what is around the next op opens."""
        here = self.stepper
        if here.op is not None and here.op.name in self.model.nodes:
            self._expanded |= self.model.path(self.model.nodes[here.op.name])
        self._follow()
        self._draw()

    def frames(self, tensor: str) -> list[Frame]:
        """Return the value of now."""
        return [("now", self.stepper.values[tensor])] if tensor in self.stepper.values else []

    def _painted(self, scene: Scene) -> Scene:
        here = self.stepper
        ran = {op.name for op in here.calls[:here.position]}
        at = here.op.name if here.op is not None else ""
        return progressed(scene, self.model.nodes, [op.name for op in here.calls], ran, at)

    def widget_state(self) -> dict[str, Any]:
        """As GraphView.widget_state, with values of now; colours say how far the run is."""
        state = super().widget_state()
        op = self._selected.rstrip("/")
        if state["details"]:
            state["details"]["values"] = [{"name": name, "tensor": name, **watched(array, keep=False).as_json()}
                                          for name, array in self.stepper.values.items()
                                          if name.rpartition(":")[0] == op]
        return state | {"colors": []}


class StepView(SheetView):
    """A Stepper as it is displayed; made by `step`. A click on an op goes there, forth or back.

    ends: the tensors and operations that the run is for, of which the graph is drawn.
    """

    def __init__(self, stepper: Stepper, ends: Sequence[Any] = ()) -> None:
        super().__init__("Step")
        self.stepper = stepper
        self.display_id = f"tfnb-step-{next(_numbers)}-{id(self):x}"
        self.shown_in: int | None = None
        self.buttons = [*BUTTONS, ALL_OPS]
        self.listed: re.Pattern[str] | None = None      # which ops are listed; None: those around the next one
        self.slices: list[str] = []
        self.graph: RunGraph | None = RunGraph(stepper, ends) if ends else None
        self._draw()
        if self.graph is not None:
            self.graph.widget = Inside(self)

    def show(self) -> StepView:
        """Show it in the running cell. Returns the view."""
        shell.note_shown(self)
        shell.show(self.bundle(self.forms()), self.display_id)
        return self

    def _ipython_display_(self) -> None:
        # `%step` both shows the view and returns it: not a second time in the same cell
        shell.show_once(self)

    def step(self, calls: int = 1) -> StepView:
        """Run `calls` ops. Returns the view."""
        return self._after(self.stepper.step(calls))

    def back(self, calls: int = 1) -> StepView:
        """Go back to before the last `calls` ops. Returns the view."""
        return self._after(self.stepper.back(calls))

    def go(self, until: str = "", when: str = "") -> StepView:
        """Go on to the next breakpoint, to the next op that `until` is found in the name of, to behind the next op
        whose value meets `when`, or to the end. Raises ValueError for a condition that fails; it stands behind that op.
        """
        try:
            self.stepper.go(until, when)
        finally:
            self._after(self.stepper)
        return self

    def watch(self, *tensors: str) -> StepView:
        """Show the values of tensors, or of slices of them, in a table: `s.watch("h[0:10, :]", "loss")`.

        Returns the view. Raises ValueError for what is no slice. Those that have no value yet get one as the run goes
        on.
        """
        for text in tensors:
            split_slice(text)
        self.slices += [text.strip() for text in tensors if text.strip() and text.strip() not in self.slices]
        return self._after(self.stepper)

    def stop_when(self, *conditions: str) -> StepView:
        """Let `go` stop where one of these conditions is met, in place of those before. Returns the view.

        `s.stop_when("has_inf_or_nan", "abs(x).max() > 100")`: Python expressions over the value x that an op has made;
        docs/notebook.md has the other names. Raises ValueError for what is no expression or reads another name.
        """
        self.stepper.when = compiled(conditions)
        return self._after(self.stepper)

    def ops(self, pattern: str = "") -> StepView:
        """List all ops of the run whose names, types or last values the expression is found in, with the time of each.

        Raises ValueError for a wrong expression. Returns the view.
        """
        self.listed = expression(pattern)
        return self._after(self.stepper)

    def restart(self) -> StepView:
        """Go back to the beginning. Returns the view."""
        return self._after(self.stepper.restart())

    def value(self, name: str) -> np.ndarray:
        """The value that a tensor has now. Raises NotFoundError while it has none."""
        return self.stepper.value(self._meant(name))

    def set(self, name: str, value: Any) -> StepView:
        """Let a tensor, a fed one or a variable have another value: what has run since runs again. Returns the view."""
        return self._after(self.stepper.set(self._meant(name), value))

    def _meant(self, text: str) -> str:
        """A tensor, or a slice of one, with the name that it has in the graph for the one that it has in Python."""
        name, bracket, index = text.partition("[")
        found = getattr(shell.current(), "user_ns", {}).get(name.strip())
        tensor = found if isinstance(found, Tensor) else next(iter(getattr(op_of(found), "outputs", ())), None)
        here = tensor is not None and any(op.graph is tensor.graph for op in self.stepper.calls[:1])
        return f"{tensor.name}{bracket}{index}" if tensor is not None and here else text

    def act(self, act: str, row: str) -> None:
        """A button was pressed."""
        moves: dict[str, Callable[[], object]] = {
            "step": self.step, "back": self.back, "go": self.go, "restart": self.restart}
        if act in moves:
            moves[act]()
        elif act in (ALL_OPS[0], AROUND_IT[0]):
            self.listed = expression("") if act == ALL_OPS[0] else None
            self._after(self.stepper)
        elif act == "forget" and row in self.slices:
            self.slices.remove(row)
            self._after(self.stepper)
        elif act == "take back" and row.isdecimal() and int(row) < len(self.stepper.changes):
            self._after(self.stepper.take_back(self.stepper.changes[int(row)]))

    def edit(self, table: str, row: str, text: str) -> None:
        """A value was typed for a tensor, or a condition, slice or filter. Raises ValueError for what can't be one."""
        if table == "stops":
            self.stop_when(*text.split(";"))
        elif table == "watched":
            self.watch(text)
        elif table == "filter":
            self.ops(text)
        elif row in self.stepper.values:
            self.set(row, typed_value(text, self.stepper.values[row]))

    def pick(self, table: str, row: str) -> None:
        """An op was clicked: go there. Raises ValueError for what is no place in the run."""
        if table != "ops":
            return
        if not row.isdecimal() or int(row) >= len(self.stepper.calls):
            raise ValueError(f"the run has {len(self.stepper.calls)} calls of ops, and no {row!r}")
        self.stepper.restart().step(int(row))
        self._draw()

    def _after(self, _stepper: Stepper) -> StepView:
        with self._lock:
            self._draw()
            self.tell()
        return self

    def _draw(self) -> None:
        here = self.stepper
        if here.error is not None:
            self.note = f"{here.op.name if here.op else ''} failed: {str(here.error).partition(chr(10))[0]}"
        elif here.op is None:
            self.note = f"the run is over: {here.position} ops"
        else:
            self.note = f"next is {here.op.name}, {here.position + 1} of {len(here.calls)}, made at {here.op.made_at}"
        if here.met:
            self.note = f"{here.met}; {self.note}"
        if self.graph is not None:
            self.graph.follow()
        self.buttons = [*BUTTONS, ALL_OPS if self.listed is None else AROUND_IT]
        self.tables = [self._takes(), *([self._changes()] if here.changes else []), self._watched()]
        self.tables += [self._ops(), self._stops()] if self.listed is None else [self._filter(), self._ops()]

    def _ops(self) -> Table:
        here = self.stepper
        first = max(0, min(here.position - AROUND, len(here.calls) - 2 * AROUND - 1))
        window = range(len(here.calls))[first:first + 2 * AROUND + 1]
        rows = [self._op_row(i) for i in (window if self.listed is None else self._found(self.listed))]
        columns = [Column("", "▶ is next, ● is a breakpoint"), Column("#", "", True), Column("op"), Column("type"),
                   Column("made", "the first output"), Column(""),
                   Column("time", "of this op by itself, interpreted: the best of all replays", True)]
        title = "Queue of ops" if self.listed is None else f"All ops: {len(rows):,} of {len(here.calls):,}"
        return Table("ops", columns, rows[:MOST_OPS], title=title,
                     picked=str(here.position) if here.op is not None else "",
                     note=f"the first {MOST_OPS:,}" if len(rows) > MOST_OPS else "")

    def _found(self, pattern: re.Pattern[str]) -> list[int]:
        """The calls whose op, type or last value the expression is found in."""
        here = self.stepper

        def words(i: int) -> str:
            op = here.calls[i]
            made = here.values.get(op.outputs[0].name) if op.outputs and i < here.position else None
            return f"{op.name} {op.type}" + (f" {_value_cells(made)[0].text}" if made is not None else "")

        everything = not pattern.pattern        # then no value is looked at
        return [i for i in range(len(here.calls)) if everything or pattern.search(words(i))]

    def _op_row(self, i: int) -> tuple[str, list[Cell]]:
        here, op = self.stepper, self.stepper.calls[i]
        stops = any(pattern.search(op.name) for pattern in here.breaks)
        made = here.values.get(op.outputs[0].name) if i < here.position and op.outputs else None
        mark = "▶" if i == here.position and here.op is not None else "●" if stops else ""
        seconds = here.seconds[i]
        took = Cell(amount_text("time", seconds), seconds) if seconds < float("inf") else Cell()
        return str(i), [Cell(mark), Cell(str(i + 1), float(i)), Cell(shorten(op.name, LETTERS)), Cell(op.type),
                        *_value_cells(made), took]

    def _watched(self) -> Table:
        """Return the slices that are watched, and a place to type another."""
        rows = []
        for text in self.slices:
            try:
                value, drawn = _value_cells(self.value(text))
            except (ValueError, OpError) as problem:
                value, drawn = Cell(problem.message if isinstance(problem, OpError) else str(problem)), Cell()
            rows.append((text, [Cell(text), value, drawn, Cell(acts=(("forget", "Forget"),))]))
        rows.append(("new", [Cell(edit="A tensor or a slice to watch: h[0:10, :]"), Cell(), Cell(), Cell()]))
        columns = [Column("tensor or slice"), Column("value"), Column(""), Column("")]
        return Table("watched", columns, rows, title="Watched", pickable=False)

    def _stops(self) -> Table:
        """Return the breakpoints by name, and a place to type conditions."""
        names = [(f"before {p.pattern}", [Cell("before an op of that name"), Cell(p.pattern), Cell()])
                 for p in self.stepper.breaks]
        told = "; ".join(condition.text for condition in self.stepper.when)
        typed = [Cell("behind a value that meets"), Cell(told), Cell(edit="A condition: has_nan, abs(x).max() > 100")]
        return Table("stops", [Column("Go on stops"), Column(""), Column("")], [*names, ("when", typed)],
                     title="Breakpoints", pickable=False)

    def _filter(self) -> Table:
        shown = self.listed.pattern if self.listed is not None else ""
        return Table("filter", [Column("names, types and values with"), Column("")],
                     [("filter", [Cell(shown), Cell(edit="A regular expression: MatMul, NaN")])], pickable=False)

    def _takes(self) -> Table:
        """Return what the last op made, and what the next one takes; at the end what was fetched."""
        here = self.stepper
        columns = [Column(""), Column("tensor"), Column("value"),
                   Column("change", "a number, a list, or arithmetic with `value`; what has run since runs again"),
                   Column("")]
        if here.op is None:
            fetched = [(str(i), [Cell("fetched"), Cell(str(i)), value, Cell(), drawn])
                       for i, (value, drawn) in enumerate(map(_value_cells, here.result or []))]
            return Table("takes", columns, fetched, title="Fetched", pickable=False)
        last = here.calls[here.position - 1].outputs if here.position else []
        takes = [self._editable(name, tensor, array) for name, (tensor, array) in
                 zip(_argument_names(here.op), here.inputs, strict=True)]
        shown = {row for row, _ in takes}
        made = [self._editable("just made", tensor, here.values[tensor.name]) for tensor in last
                if tensor.name in here.values and tensor.name not in shown]
        return Table("takes", columns, [*made, *takes], title=f"{here.op.name} takes", pickable=False)

    def _editable(self, word: str, tensor: Tensor, array: np.ndarray) -> tuple[str, list[Cell]]:
        known = tensor.name in self.stepper.values and not self.stepper.fixed(tensor.name)
        value, drawn = _value_cells(array)
        return tensor.name, [Cell(word), Cell(shorten(tensor.name, LETTERS)), value,
                             Cell(edit=f"New value of {tensor.name}" if known else ""), drawn]

    def _changes(self) -> Table:
        rows = [(str(i), [Cell(c.tensor.name), *_value_cells(c.value), Cell(acts=(("take back", "Take back"),))])
                for i, c in enumerate(self.stepper.changes)]
        return Table("changes", [Column("tensor"), Column("value"), Column(""), Column("")], rows, title="Changed",
                     pickable=False)


def _argument_names(op: Operation) -> list[str]:
    """Return the names of the inputs of an op: "a", "b"; "values[0]", "values[1]", "axis"."""
    names: list[str] = []
    for arg in op.spec.inputs:
        many = op.attrs[arg.number] if arg.number else len(op.attrs[arg.type_list]) if arg.type_list else None
        names += [arg.name] if many is None else [f"{arg.name}[{i}]" for i in range(many)]
    return names


def _value_cells(array: np.ndarray | None) -> tuple[Cell, Cell]:
    """Return a value and its histogram; of many elements mean and standard deviation."""
    if array is None:
        return Cell(), Cell()
    pill = pill_of(array)
    if pill is None or array.size <= FEW:
        return Cell(one_line(array), bad=pill is not None and bool(pill.bad)), Cell()
    kind = f"{pill.dtype}[{', '.join(map(str, pill.shape))}]"
    return Cell(f"{kind} {pill.words}", bad=bool(pill.bad)), Cell(hist=(pill.counts,))


def _check_found(stepper: Stepper, wanted: list[re.Pattern[str]]) -> None:
    names = {op.name for op in stepper.calls}
    for pattern in wanted if stepper.error is None else ():
        if not any(map(pattern.search, names)):
            raise ValueError(f"no op of the run matches {pattern.pattern!r}{did_you_mean(pattern.pattern, names)}")


def step(*fetches: Any, feed: Mapping[Any, Any] | None = None, session: BaseSession | None = None,
         breaks: str | Iterable[str] = (), until: str = "", back: bool = False,
         when: str | Iterable[str] = (), show: Iterable[str] = ()) -> StepView:
    """Go through a run of `fetches` op by op, on a copy of the session's values.

    feed: tensor or name -> value. breaks: regular expressions of the names of ops before which `go` stops. It stands
    before the first op; with breaks before the first of those, with `until`, an expression, before the op that it is
    found in, with `back` at the end, to go back from there. when: conditions such as "has_nan" and
    "abs(x).max() > 100", Python expressions over a value x; it stands behind the first op whose value meets one. show:
    tensors or slices whose values are to be seen, such as "h[0:10, :]".

    Raises NoSessionError if it is not clear which session, KeyError for a name that is not there, ValueError for a
    wrong expression, and what `Session.run` raises for wrong feeds.
    """
    chosen, wanted, fed = in_session(fetches, feed, session)
    stepper = Stepper(inspect_run(chosen, wanted, fed), breaks, when)
    _check_found(stepper, [*stepper.breaks, *patterns(until)] if until else stepper.breaks)
    if back:
        stepper.step(len(stepper.calls))
    problem = ""
    try:
        if not back and (until or stepper.breaks or stepper.when):
            stepper.go(until)
    except ValueError as error:                 # a condition failed: the view stands there, and says so
        problem = str(error)
    view = StepView(stepper, elements_of(chosen, wanted)).watch(*show)
    view.note = problem or view.note
    return view
