"""Selections of ops and tensors: by name, by a filter, by walks along the edges of a graph."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from tfnb.graph.closure import closure
from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph_editor.util import (
    ControlOutputs,
    get_consuming_ops,
    get_generating_ops,
    make_list_of_op,
    make_list_of_t,
)

_OPS, _TENSORS = "(?#ops)", "(?#ts)"


def can_be_regex(obj: Any) -> bool:
    """Return whether `obj` is a string or a compiled regular expression.

    >>> tf.contrib.graph_editor.can_be_regex("a/.*")
    True
    """
    return isinstance(obj, (str, re.Pattern))


def make_regex(obj: Any) -> re.Pattern[str]:
    """Return a regular expression, compiled if `obj` is a string. Raises ValueError for anything else.

    >>> tf.contrib.graph_editor.make_regex("^a/").pattern
    '^a/'
    """
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj).__name__}")
    return re.compile(obj)


def _inputs(ops: Iterable[Operation]) -> list[Tensor]:
    return list(dict.fromkeys(t for op in ops for t in op.inputs))


def _outputs(ops: Iterable[Operation]) -> list[Tensor]:
    return list(dict.fromkeys(t for op in ops for t in op.outputs))


def filter_ts(ops: Any, positive_filter: Any) -> list[Tensor]:
    """Return the inputs and outputs of `ops` (an op, some, or a graph) for which a filter holds.

    positive_filter: a function of a tensor, or True for all.

    >>> x = tf.constant([1.0], name="x")
    >>> y = tf.cast(x, tf.int32, name="y")
    >>> [t.name for t in tf.contrib.graph_editor.filter_ts(y.op, lambda t: t.dtype == tf.int32)]
    ['y:0']
    """
    found = make_list_of_op(ops)
    tensors = dict.fromkeys([*_inputs(found), *_outputs(found)])
    return [t for t in tensors if positive_filter is True or positive_filter(t)]


def filter_ts_from_regex(ops: Any, regex: Any) -> list[Tensor]:
    """Return the inputs and outputs of `ops` whose names (`"a/x:0"`) have a match of `regex` somewhere.

    >>> x = tf.constant(1, name="a/x")
    >>> [t.name for t in tf.contrib.graph_editor.filter_ts_from_regex(x.graph, "a/")]
    ['a/x:0']
    """
    pattern = make_regex(regex)
    return filter_ts(ops, lambda t: pattern.search(t.name))


def filter_ops(ops: Any, positive_filter: Any) -> list[Operation]:
    """Return those of `ops` (an op, some, or a graph) for which a filter holds.

    positive_filter: a function of an op, or True for all.

    >>> y = tf.constant(1, name="x") + 2
    >>> [op.name for op in tf.contrib.graph_editor.filter_ops(y.graph, lambda op: op.type == "AddV2")]
    ['add']
    """
    return [op for op in make_list_of_op(ops) if positive_filter is True or positive_filter(op)]


def filter_ops_from_regex(ops: Any, regex: Any) -> list[Operation]:
    """Return those of `ops` whose names have a match of `regex` somewhere.

    >>> x = tf.constant(1, name="a/x")
    >>> [op.name for op in tf.contrib.graph_editor.filter_ops_from_regex(x.graph, "^a/")]
    ['a/x']
    """
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: pattern.search(op.name))


def get_name_scope_ops(ops: Any, scope: str) -> list[Operation]:
    """Return those of `ops` that are called `scope` or are in the scope of that name.

    >>> x, y = tf.constant(1, name="a/x"), tf.constant(1, name="ab/x")
    >>> [op.name for op in tf.contrib.graph_editor.get_name_scope_ops(x.graph, "a")]
    ['a/x']
    """
    return filter_ops_from_regex(ops, f"^{re.escape(scope.removesuffix('/'))}(/.*)?$" if scope else "")


def check_cios(control_inputs: Any = False, control_outputs: Any = None, control_ios: Any = None
               ) -> tuple[bool, ControlOutputs | None]:
    """Return (control_inputs, control_outputs): whether walks follow control inputs, and who waits for whom, or None.

    control_inputs: a bool; control_outputs: a ControlOutputs, the graph to make it of, or None; control_ios: a
    ControlOutputs that stands for both. Raises TypeError for other classes; ValueError for `control_ios` with others.

    >>> tf.contrib.graph_editor.check_cios(control_inputs=True)
    (True, None)
    """
    if control_ios is not None:
        if control_inputs is not False or control_outputs is not None:
            raise ValueError("control_ios stands for control_inputs and control_outputs: give one or the others")
        control_inputs, control_outputs = True, control_ios
    if not isinstance(control_inputs, bool):
        raise TypeError(f"Expected a bool for control_inputs, got: {type(control_inputs).__name__}")
    if isinstance(control_outputs, Graph):
        control_outputs = ControlOutputs(control_outputs)
    if control_outputs is not None and not isinstance(control_outputs, ControlOutputs):
        raise TypeError(f"Expected a ControlOutputs, got: {type(control_outputs).__name__}")
    return control_inputs, control_outputs


def _before(op: Operation, waited: bool, stop: Iterable[Tensor] = ()) -> list[Operation]:
    return [*(t.op for t in op.inputs if t not in stop), *(op.control_inputs if waited else ())]


def _after(op: Operation, waiting: ControlOutputs | None, stop: Iterable[Tensor] = ()) -> list[Operation]:
    found = [each for t in op.outputs if t not in stop for each in t.consumers()]
    return found + waiting.get(op) if waiting is not None else found


def get_ops_ios(ops: Any, control_inputs: Any = False, control_outputs: Any = None, control_ios: Any = None
                ) -> list[Operation]:
    """Return the neighbours of `ops`: whose outputs they take, and who takes theirs.

    control_inputs, control_outputs, control_ios: which control edges count, see `check_cios`.

    >>> x = tf.constant(1, name="x")
    >>> y = tf.identity(x, name="y")
    >>> [op.name for op in tf.contrib.graph_editor.get_ops_ios(y.op)]
    ['x']
    """
    waited, waiting = check_cios(control_inputs, control_outputs, control_ios)
    found = make_list_of_op(ops)
    return list(dict.fromkeys(each for op in found for each in (*_before(op, waited), *_after(op, waiting))))


def compute_boundary_ts(ops: Any) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Return three lists of tensors for `ops`: those that enter, those that leave, those that stay inside.

    A tensor that is taken inside and outside is in the last two; one that nobody takes leaves.

    >>> x = tf.constant(1, name="x")
    >>> y = tf.identity(x, name="y")
    >>> z = tf.identity(y, name="z")
    >>> [[t.name for t in ts] for ts in tf.contrib.graph_editor.compute_boundary_ts([y.op, z.op])]
    [['x:0'], ['z:0'], ['y:0']]
    """
    inside = dict.fromkeys(make_list_of_op(ops))
    taken, made = dict.fromkeys(_inputs(inside)), _outputs(inside)
    return ([t for t in taken if t.op not in inside],
            [t for t in made if t not in taken or any(op not in inside for op in t.consumers())],
            [t for t in made if t in taken])


def get_within_boundary_ops(ops: Any, seed_ops: Any, boundary_ops: Any = (), inclusive: bool = True,
                            control_inputs: Any = False, control_outputs: Any = None, control_ios: Any = None
                            ) -> list[Operation]:
    """Return those of `ops` that are reached from `seed_ops`, along edges in both directions, up to `boundary_ops`.

    inclusive: with the boundary; control_inputs, control_outputs, control_ios: which control edges count, see
    `check_cios`. Raises ValueError if an op is both a seed and of the boundary.

    >>> a = tf.constant(1, name="a")
    >>> b = tf.identity(a, name="b")
    >>> c = tf.identity(b, name="c")
    >>> [op.name for op in tf.contrib.graph_editor.get_within_boundary_ops(a.graph, a.op, b.op)]
    ['a', 'b']
    """
    within, boundary = set(make_list_of_op(ops)), set(make_list_of_op(boundary_ops))
    waited, waiting = check_cios(control_inputs, control_outputs, control_ios)
    seeds = make_list_of_op(seed_ops)
    if boundary.intersection(seeds):
        raise ValueError("Boundary is intersecting with the seeds.")

    def following(op: Operation) -> list[Operation]:
        found = [] if op in boundary else [*_before(op, waited), *_after(op, waiting)]
        return [each for each in found if each in within]
    return [op for op in closure(seeds, following) if inclusive or op not in boundary]


def _walk(seeds: list[Operation], inclusive: bool, within_ops: Any, within_ops_fn: Callable[[Operation], Any] | None,
          following: Callable[[Operation], Iterable[Operation]]) -> list[Operation]:
    """The closure of `seeds`, restricted to some ops."""
    within = None if within_ops is None else set(make_list_of_op(within_ops, allow_graph=False))

    def inside(op: Operation) -> bool:
        return (within is None or op in within) and (within_ops_fn is None or bool(within_ops_fn(op)))
    begin = dict.fromkeys(op for op in seeds if inside(op))
    reached = closure(begin, lambda op: filter(inside, following(op)))
    return [op for op in reached if inclusive or op not in begin]


def _seeds(given: Any, of_tensors: Callable[[list[Tensor]], list[Operation]]) -> list[Operation]:
    tensors = make_list_of_t(given, allow_graph=False, ignore_ops=True)
    ops = make_list_of_op(given, allow_graph=False, ignore_ts=True)
    return [*ops, *of_tensors(tensors)]


def get_forward_walk_ops(seed_ops: Any, inclusive: bool = True, within_ops: Any = None, within_ops_fn: Any = None,
                         stop_at_ts: Any = (), control_outputs: Any = None) -> list[Operation]:
    """Return the ops that need `seed_ops` (ops; or tensors, for the ops that take them), breadth first.

    inclusive: with the seeds; within_ops: the only ops to enter, within_ops_fn: a condition for them, a function of an
    op; stop_at_ts: tensors that are not followed; control_outputs: which control edges count, see `check_cios`.

    >>> x = tf.constant(1, name="x")
    >>> y = tf.identity(x, name="y")
    >>> [op.name for op in tf.contrib.graph_editor.get_forward_walk_ops(x.op)]
    ['x', 'y']
    >>> [op.name for op in tf.contrib.graph_editor.get_forward_walk_ops(x)]
    ['y']
    """
    _, waiting = check_cios(False, control_outputs)
    stop = set(make_list_of_t(stop_at_ts))
    return _walk(_seeds(seed_ops, get_consuming_ops), inclusive, within_ops, within_ops_fn,
                 lambda op: _after(op, waiting, stop))


def get_backward_walk_ops(seed_ops: Any, inclusive: bool = True, within_ops: Any = None, within_ops_fn: Any = None,
                          stop_at_ts: Any = (), control_inputs: Any = False) -> list[Operation]:
    """Return the ops that `seed_ops` need (ops; or tensors, for the ops that make them), breadth first.

    inclusive: with the seeds; within_ops: the only ops to enter, within_ops_fn: a condition for them, a function of an
    op; stop_at_ts: tensors that are not followed; control_inputs: follow control edges, too.

    >>> y = tf.identity(tf.constant(1, name="x"), name="y")
    >>> [op.name for op in tf.contrib.graph_editor.get_backward_walk_ops(y)]
    ['y', 'x']
    """
    waited, _ = check_cios(control_inputs)
    stop = set(make_list_of_t(stop_at_ts))
    return _walk(_seeds(seed_ops, get_generating_ops), inclusive, within_ops, within_ops_fn,
                 lambda op: _before(op, waited, stop))


def _walks(forward_seed_ops: Any, backward_seed_ops: Any, forward_inclusive: bool, backward_inclusive: bool,
           within_ops: Any, within_ops_fn: Any, cios: tuple[Any, Any, Any]) -> tuple[list[Operation], list[Operation]]:
    waited, waiting = check_cios(*cios)
    return (get_forward_walk_ops(forward_seed_ops, forward_inclusive, within_ops, within_ops_fn,
                                 control_outputs=waiting),
            get_backward_walk_ops(backward_seed_ops, backward_inclusive, within_ops, within_ops_fn,
                                  control_inputs=waited))


def get_walks_intersection_ops(forward_seed_ops: Any, backward_seed_ops: Any, forward_inclusive: bool = True,
                               backward_inclusive: bool = True, within_ops: Any = None, within_ops_fn: Any = None,
                               control_inputs: Any = False, control_outputs: Any = None, control_ios: Any = None
                               ) -> list[Operation]:
    """Return the ops between: reached forward from `forward_seed_ops` and backward from `backward_seed_ops`.

    forward_inclusive, backward_inclusive: with the seeds of that walk; within_ops, within_ops_fn: as in
    `get_forward_walk_ops`; control_inputs, control_outputs, control_ios: which control edges count (`check_cios`).

    >>> x, w = tf.constant(1, name="x"), tf.constant(2, name="w")
    >>> y = tf.add(x, w, name="y")
    >>> [op.name for op in tf.contrib.graph_editor.get_walks_intersection_ops([x], [y])]
    ['y']
    """
    ahead, back = _walks(forward_seed_ops, backward_seed_ops, forward_inclusive, backward_inclusive, within_ops,
                         within_ops_fn, (control_inputs, control_outputs, control_ios))
    both = set(back)
    return [op for op in ahead if op in both]


def get_walks_union_ops(forward_seed_ops: Any, backward_seed_ops: Any, forward_inclusive: bool = True,
                        backward_inclusive: bool = True, within_ops: Any = None, within_ops_fn: Any = None,
                        control_inputs: Any = False, control_outputs: Any = None, control_ios: Any = None
                        ) -> list[Operation]:
    """Return the ops of either walk: forward from `forward_seed_ops`, backward from `backward_seed_ops`.

    forward_inclusive, backward_inclusive, within_ops, within_ops_fn, control_inputs, control_outputs, control_ios: as
    in `get_walks_intersection_ops`.

    >>> x, w = tf.constant(1, name="x"), tf.constant(2, name="w")
    >>> y = tf.add(x, w, name="y")
    >>> [op.name for op in tf.contrib.graph_editor.get_walks_union_ops([x], [y])]
    ['y', 'x', 'w']
    """
    ahead, back = _walks(forward_seed_ops, backward_seed_ops, forward_inclusive, backward_inclusive, within_ops,
                         within_ops_fn, (control_inputs, control_outputs, control_ios))
    return list(dict.fromkeys([*ahead, *back]))


def _patterns(args: Iterable[Any], graph: Graph | None, other: str, needed: str) -> list[Any]:
    """The arguments of a selection, without the regular expressions that are for the `other` kind of element."""
    found = []
    for arg in args:
        if can_be_regex(arg):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            arg = make_regex(arg)
            if arg.pattern.startswith(other) or not arg.pattern.startswith(needed):
                continue
        found.append(arg)
    return found


def select_ops(*args: Any, graph: Graph | None = None, positive_filter: Any = None, restrict_ops_regex: bool = False
               ) -> list[Operation]:
    """Return ops, each once: of regular expressions of their names, ops, lists of ops, or graphs.

    args: these; a match may be anywhere in a name; an expression that begins with `(?#ts)` is for tensors and selects
    no op. graph: where the names are looked for; positive_filter: a function of an op that must hold;
    restrict_ops_regex: use only expressions that begin with `(?#ops)`. Raises ValueError for an expression without a
    graph; TypeError for other arguments.

    >>> x = tf.constant(1, name="a/x")
    >>> y = tf.identity(x, name="b/y")
    >>> [op.name for op in tf.contrib.graph_editor.select_ops("^a/", y.op, graph=tf.get_default_graph())]
    ['a/x', 'b/y']
    """
    found: dict[Operation, None] = {}
    for arg in _patterns(args, graph, _TENSORS, _OPS if restrict_ops_regex else ""):
        found |= dict.fromkeys(filter_ops_from_regex(graph, arg) if isinstance(arg, re.Pattern)
                               else make_list_of_op(arg, ignore_ts=True))
    return filter_ops(found, True if positive_filter is None else positive_filter)


def select_ts(*args: Any, graph: Graph | None = None, positive_filter: Any = None, restrict_ts_regex: bool = False
              ) -> list[Tensor]:
    """Return tensors, each once: of regular expressions of their names, tensors, lists of tensors, or graphs.

    args: these; an expression that begins with `(?#ops)` is for ops and selects no tensor. graph: where the names are
    looked for; positive_filter: a function of a tensor that must hold; restrict_ts_regex: use only expressions that
    begin with `(?#ts)`. Raises ValueError for an expression without a graph; TypeError for other arguments.

    >>> x = tf.constant(1, name="a/x")
    >>> [t.name for t in tf.contrib.graph_editor.select_ts("x:0$", graph=tf.get_default_graph())]
    ['a/x:0']
    """
    found: dict[Tensor, None] = {}
    for arg in _patterns(args, graph, _OPS, _TENSORS if restrict_ts_regex else ""):
        found |= dict.fromkeys(filter_ts_from_regex(graph, arg) if isinstance(arg, re.Pattern)
                               else make_list_of_t(arg, ignore_ops=True))
    return [t for t in found if positive_filter is None or positive_filter(t)]


def select_ops_and_ts(*args: Any, graph: Graph | None = None) -> tuple[list[Operation], list[Tensor]]:
    """Return (ops, tensors) of regular expressions, ops, tensors, and lists of them.

    args: these; expressions are for names of ops, those that begin with `(?#ts)` for names of tensors. graph: where
    the names are looked for. Raises ValueError for an expression without a graph; TypeError for other arguments.

    >>> x = tf.constant(1, name="a/x")
    >>> tf.contrib.graph_editor.select_ops_and_ts(x.op, "(?#ts)^a/", graph=x.graph)
    ([<tf.Operation 'a/x' type=Const>], [<tf.Tensor 'a/x:0' shape=() dtype=int32>])
    """
    return select_ops(*args, graph=graph), select_ts(*args, graph=graph, restrict_ts_regex=True)
