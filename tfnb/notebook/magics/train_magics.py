"""%%train: the body of the cell is one step of a training. Needs IPython."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from IPython.core.error import UsageError
from IPython.core.magic import cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfnb.core.source import frames_of
from tfnb.core.text import counted
from tfnb.graph.closure import upstream
from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import get_default_graph
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.fetch import NoSessionError
from tfnb.notebook.magics.arguments import Body, LineMagics, compile_body, fetchable, parse, unquote, usage_errors
from tfnb.notebook.plots.learning_rate import NumberRate, Rate, rate_of
from tfnb.notebook.plots.training import Run
from tfnb.notebook.run_store.train import begin, prepare
from tfnb.runtime.fetch import read_fetches

STEP = "_tfnb_step"     # the number of the step, for the body alone: `step` is the user's


@magics_class
class TrainMagics(LineMagics):
    """%%train."""

    @no_var_expand
    @cell_magic("train")
    @magic_arguments("train")
    @argument("--steps", type=int, metavar="N", help="how many; by default until Stop or the end of the input")
    @argument("--every", type=int, default=1, metavar="K", help="report each K steps only")
    @argument("--live", nargs="+", metavar="TAG", help="what to plot; by default what the first step reports")
    @argument("--no-live", action="store_true", help="plot nothing here")
    @argument("--stop", nargs="+", default=(), metavar="RULE", help="end at nan, at a plateau, at plateau=REPORTS")
    @argument("--lr", metavar="NAME[=VALUE]", help="what the slider sets: a number, variable, tensor or optimizer")
    @argument("--ckpt", type=int, default=0, metavar="EVERY", help="save once in this number of steps, and at the end")
    @argument("--folder", default="checkpoints", help="where checkpoints go")
    @argument("--run", default="", metavar="NAME", help="the name of the curves, to compare runs: %%live --runs A B")
    @argument("--no-keep", action="store_true", help="keep nothing of it on disk")
    @argument("--as", dest="variable", metavar="VARIABLE", help="the variable that holds the Run")
    @argument("--anyway", action="store_true", help="train although cells that the model is of must run again")
    @argument("--foreground", action="store_true", help="wait for the end, as nbconvert does")
    @argument("--background", action="store_true", help="never wait for the end")
    def train_cell(self, line: str, cell: str) -> Run:
        """Repeat the cell beside the notebook: other cells and views stay usable. `step`, in the body, counts from 0.

        Reported are the floats that the body assigns (not those that begin with _), a dict or number that it ends
        with, and its summaries. Buttons and Interrupt pause and stop it between two steps.

        `%%train --steps 2000 --stop nan --lr optimizer` over `_, loss_now = sess.run([train, loss], feed)`
        """
        __tracebackhide__ = True
        args = parse(self.train_cell, line)
        tags = split(args.live or ())
        body = compile_body(self.ip, cell, {"step": STEP})
        step = Step(body, self.ip.user_ns, tags)
        used = _used(body.reads, self.ip.user_ns)
        self._check_cells(used, body.reads, args.anyway)
        with usage_errors(ValueError, RuntimeError, KeyError, NoSessionError):
            rate = self._rate(args.lr) if args.lr else None
            run = prepare(step, args.steps, every=args.every, stop=split(args.stop), learning_rate=rate,
                          checkpoint=args.ckpt, folder=unquote(args.folder), run=unquote(args.run))
        run.uses, run.anyway = frozenset(op.name for op in used), args.anyway
        if args.variable:
            self.ip.user_ns[unquote(args.variable)] = run
        foreground = True if args.foreground else False if args.background else None
        return begin(run, () if args.no_live else tags or None, foreground, False if args.no_keep else None,
                     {**self._sources(used), "%%train": cell})

    def _sources(self, used: Iterable[Operation]) -> dict[str, str]:
        """The texts of the cells that made ops, by their labels."""
        found = {owner: self.hooks.sources[owner] for owner in dict.fromkeys(op.owner for op in used)
                 if owner in self.hooks.sources}
        return {shell.label_of(owner) or str(owner): source.code for owner, source in found.items()}

    def _check_cells(self, used: Collection[Operation], reads: Iterable[str], anyway: bool) -> None:
        """Note what the steps run. Raises UsageError if cells that they depend on must run again."""
        cells = self.hooks.cells
        if cells.run is None:                   # they own nothing: %config Tfnb.own_cells
            return
        doubts = "" if anyway else cells.doubts(get_default_graph(), (op.name for op in used), reads, cells.run.key)
        if doubts:
            raise UsageError(f"this training would be of a model that is out of date, for {doubts} first (%stale run). "
                             "%%train --anyway trains it as it is")
        cells.run.ran.note(get_default_graph(), used, cells.run.key)

    def _rate(self, words: str) -> Rate:
        """The learning rate of NAME or NAME=VALUE; one tensor is called as it is in Python."""
        name, _, number = unquote(words).partition("=")
        value = self._value(number, (int, float), "number") if number else None
        held = self.ip.user_ns.get(name)
        if isinstance(held, (int, float, np.number)):
            return NumberRate(self.ip.user_ns, name, value)
        rate = rate_of(held if held is not None else self._fetchable(name), get_default_graph(), value)
        if held is not None and not hasattr(held, "compute_gradients"):
            rate.name = name
        return rate


def _used(names: Iterable[str], namespace: Mapping[str, Any]) -> list[Operation]:
    """The ops that a body runs which reads these names: what they stand for, and all that needs."""
    found = dict[Operation, None]()
    for value in [namespace[name] for name in names if fetchable(namespace.get(name))]:
        with suppress(ValueError):                      # of another graph
            fetches = read_fetches(value, get_default_graph())
            found.update(dict.fromkeys([*(tensor.op for tensor in fetches.tensors), *fetches.targets]))
    return list(upstream(found))


class Step:
    """The body of the cell as a step: runs it, and reports what it assigned.

    Which names are worth reporting is seen at the first call. Raises RuntimeError if the body makes ops: they would
    add up.
    """

    def __init__(self, body: Body, namespace: dict[str, Any], tags: Iterable[str] = ()) -> None:
        self._body, self._namespace, self._tags = body, namespace, tuple(tags)
        self._names: tuple[str, ...] | None = None
        self._graph = get_default_graph()
        self._version = self._graph.version

    def __call__(self, number: int) -> dict[str, Any] | None:
        """Run the body, whose `step` is the number, and return its report."""
        __tracebackhide__ = True
        namespace = self._namespace
        namespace[STEP] = number
        value = self._body.run(namespace)
        if self._graph.version != self._version:
            self._refuse_ops()
        if self._names is None:
            self._names = tuple(name for name in self._body.names if self._wanted(name))
        report = {name: namespace[name] for name in self._names}
        if value is not None:
            if isinstance(value, dict):
                report |= value
            elif isinstance(value, (float, np.floating)):
                report["value"] = value
        return report or None

    def _wanted(self, name: str) -> bool:
        value = self._namespace.get(name)
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if name in self._tags:
            return isinstance(value, (int, float, np.number))
        return isinstance(value, (float, np.floating)) and not name.startswith("_")

    def _refuse_ops(self) -> None:
        """Other cells may make ops meanwhile; the body may not."""
        before, self._version = self._version, self._graph.version
        made = [op for op in self._graph.get_operations() if op._id > before
                and any(code.co_filename == self._body.filename for code, _ in frames_of(op._recorded))]
        if made:
            raise RuntimeError(f"a step of a training made {counted(len(made), 'op')}, {made[0].name!r} "
                               f"({made[0].type}) first: each step would add as many. "
                               "Make them once, in a cell before this one")


def split(parts: Iterable[str]) -> list[str]:
    """Words that are divided by blanks or commas."""
    return [unquote(word) for part in parts for word in part.split(",") if word]
