"""Values on the edges of a graph, and one of them enlarged (enlarged.py), over the runs that were looked at."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfnb.debug.tap import inspect_run, run_tapped
from tfnb.notebook.debug.edge_values import ROOM, Recorder, Values
from tfnb.notebook.debug.enlarged import Enlargement, Frame
from tfnb.notebook.frontend.fetch import in_session
from tfnb.notebook.graph.view import GraphView
from tfnb.notebook.graph.view_options import check_options
from tfnb.notebook.state.variable_table import global_step_in
from tfnb.runtime.fetch import read_fetches
from tfnb.runtime.session import BaseSession

KEPT = 20               # runs whose values are kept
OURS = ("enlarge", "slide", "zoom", "whole", "look")            # messages of the front end


class ValuesGraph(GraphView):
    """A graph with values of which one can be enlarged. A subclass says which `frames` of a tensor there are."""

    enlarged: Enlargement | None = None

    def frames(self, tensor: str) -> Sequence[Frame]:
        """Return the values of a tensor that are there, with a word for the run of each; the newest last."""
        raise NotImplementedError

    def look(self) -> Any:
        """Run once more for another frame, where that can be."""

    def enlarge(self, tensor: str = "") -> ValuesGraph:
        """Draw the value of a tensor (":0" is optional) large below the graph; "": none. Returns the view.

        Raises ValueError for one that was not seen, was not kept or has no numbers.
        """
        with self._lock:
            name = tensor if not tensor or ":" in tensor else f"{tensor}:0"
            frames = self.frames(name) if name else ()
            if name and not frames:
                raise ValueError(f"no value of {tensor!r} was kept")
            found = Enlargement(name, frames) if name else None
            if found is not None:
                found.panels()                  # raises for what has no numbers
            self.enlarged = found
            self.tell()
        return self

    def _follow(self) -> None:
        """Take the newest frames of what is enlarged; nothing is, where there are none any more."""
        if self.enlarged is not None:
            frames = self.frames(self.enlarged.name)
            if frames:
                self.enlarged.follow(frames)
            else:
                self.enlarged = None

    def widget_state(self) -> dict[str, Any]:
        """As GraphView.widget_state, with what is enlarged."""
        large = self.enlarged.as_json() | {"close": True} if self.enlarged is not None else None
        return super().widget_state() | {"enlarged": large}

    def hear(self, message: Mapping[str, Any]) -> None:
        """Answer a request of the front end; what can't be done is said in the note."""
        if message.get("type") not in OURS:
            super().hear(message)
            return
        try:
            self._enlarge(message)
        except ValueError as problem:
            self._note = str(problem)
        self.tell()
        if self.widget is not None:
            self.widget.send({"type": "heard"})

    def _enlarge(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "enlarge":
            self.enlarge(str(message.get("name", "")))
        elif message["type"] == "look":
            self.look()
        elif self.enlarged is not None:
            self.enlarged.hear(message)


class WatchView(ValuesGraph):
    """The graph of a run with its values on the edges; made by `watch`.

    `look` runs it again, on a copy of all values, and the runs are kept, at most `runs`, for the slider of what is
    enlarged. again: (feed or None) -> the recorder and the label of such a run.
    """

    def __init__(self, target: Any, values: Values, again: Callable[[Any], tuple[Recorder, str]] | None = None,
                 runs: int = KEPT, label: str = "", **options: Any) -> None:
        check_options(options)
        self._runs: deque[tuple[str, Values]] = deque([(label or "run 1", values)], maxlen=max(1, runs))
        self._again, self._count = again, 1
        super().__init__(target, values=values, **options)

    @property
    def values(self) -> Values:
        """Tensor name -> what was seen of it in the last run, with its array."""
        return self._runs[-1][1]

    def look(self, feed: Mapping[Any, Any] | None = None, label: str = "") -> WatchView:
        """Run again and show the values of now; those before stay for comparison. Returns the view.

        The run is on a copy of all values: variables and generators stay as they are. feed: others than the first ones;
        label: a word for this run, by default its global step or number. In a loop of a training, or in the body of
        `%%train`, it collects what the training does: `if step % 100 == 0: view.look()`.

        Raises RuntimeError for a view whose run can't be repeated, and what `Session.run` raises.
        """
        if self._again is None:
            raise RuntimeError("this view has the values of one run; tf.notebook.watch makes views that run again")
        recorder, told = self._again(feed)
        with self._lock:
            self._count += 1
            self._runs.append((label or told or f"run {self._count}", recorder.values))
            while len(self._runs) > 1 and sum(map(_nbytes, self._runs)) > ROOM:
                self._runs.popleft()
            self.model.values = dict(recorder.values)
            self._follow()
            self._draw()
        return self

    def frames(self, tensor: str) -> list[Frame]:
        """Return the values that were kept: of each run, those of loops oldest first."""
        found = []
        for label, values in self._runs:
            last = values.get(tensor)
            chain = [*reversed(last.before), last] if last is not None else []
            for ago, seen in zip(range(len(chain) - 1, -1, -1), chain, strict=True):
                if seen.array is not None:
                    found.append((f"{label}, {ago} before" if ago else label, seen.array))
        return found

    def widget_state(self) -> dict[str, Any]:
        """As ValuesGraph.widget_state; whether it can run again."""
        state = super().widget_state()
        if state["enlarged"] is not None:
            state["enlarged"]["again"] = self._again is not None
        return state


def _nbytes(run: tuple[str, Values]) -> int:
    return sum(one.array.nbytes for seen in run[1].values() for one in (seen, *seen.before) if one.array is not None)


def watch(*fetches: Any, feed: Mapping[Any, Any] | None = None, session: BaseSession | None = None,
          pattern: str = "", last: int = 1, runs: int = KEPT, **options: Any) -> WatchView:
    """Run `fetches` op by op, and draw what they need with the values of this run on its edges.

    pattern: a regular expression: ops whose values are shown; last: how many of each, as loops make them; runs: how
    many are kept of those that `look` makes. options: those of `graph_view`. The run is a real one, and `values` of the
    view has what was seen, by the names of tensors: `view.values["conv/Relu"].array`.

    Raises NoSessionError if it is not clear which session, KeyError for a name that is not there, ValueError for a
    wrong expression, and what `Session.run` raises.
    """
    chosen, wanted, fed = in_session(fetches, feed, session)
    recorder = Recorder(pattern, last)
    run_tapped(chosen, wanted, fed, recorder)

    def again(other: Mapping[Any, Any] | None) -> tuple[Recorder, str]:
        found = Recorder(pattern, last)
        inspect_run(chosen, wanted, fed if other is None else in_session(fetches, other, chosen)[2]).run(found)
        return found, step_label(chosen)

    options.setdefault("level", "ops" if pattern else "layers")
    return WatchView(elements_of(chosen, wanted), recorder.values, again, runs, step_label(chosen), **options)


def step_label(session: BaseSession) -> str:
    """Return "step 200" by the global step; "" where there is none."""
    step = global_step_in(session)
    return f"step {step}" if step is not None else ""


def elements_of(session: BaseSession, wanted: Any) -> list[Any]:
    """The tensors and operations that fetches, also nested ones, stand for: variables are their tensors."""
    found = read_fetches(wanted, session.graph)
    return [*found.tensors, *found.targets]
