"""Rerouting: ops take other tensors, and wait for other ops, than they were made with.

A session runs the changed graph with its next call. Static shapes downstream are inferred again: constant folding
relies on them.
"""
from __future__ import annotations

from collections import deque
from typing import Any

from tfnb.core.shape import Static, TensorShape
from tfnb.graph.closure import closure
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.shape_context import ShapeContext
from tfnb.graph_editor.subgraph import SubGraphView, make_view
from tfnb.graph_editor.util import check_graphs, make_list_of_op, make_list_of_t


def _check_compatible(ts0: list[Tensor], ts1: list[Tensor]) -> None:
    if len(ts0) != len(ts1):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(ts0)} != {len(ts1)}")
    for t0, t1 in zip(ts0, ts1, strict=True):
        if t0.dtype != t1.dtype:
            raise ValueError(f"Dtypes {t0.dtype} of {t0.name!r} and {t1.dtype} of {t1.name!r} are not compatible.")
        if not t0.shape.is_compatible_with(t1.shape):
            raise ValueError(f"Shapes {t0.shape} of {t0.name!r} and {t1.shape} of {t1.name!r} are not compatible.")


def _reroute(ts0: Any, ts1: Any, can_modify: Any, cannot_modify: Any, swap: bool) -> int:
    """Let who takes `ts1` take `ts0`; with `swap`, the other way round as well. Returns how many inputs changed."""
    first, second = make_list_of_t(ts0), make_list_of_t(ts1)
    check_graphs(*first, *second)
    _check_compatible(first, second)
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    forbidden = set() if cannot_modify is None else set(make_list_of_op(cannot_modify))
    pairs = [(t1, t0) for t0, t1 in zip(first, second, strict=True)]
    new = {(op, i): after for before, after in [*pairs, *([(b, a) for a, b in pairs] if swap else [])]
           if before is not after for op in dict.fromkeys(before.consumers())
           if op not in forbidden and (allowed is None or op in allowed)
           for i, t in enumerate(op.inputs) if t is before}         # all found before the first one changes
    known = {op: _inferred(op) for op in closure((op for op, _ in new), _by_value)}
    for (op, i), tensor in new.items():
        op.graph.replace_input(op, i, tensor)
    _widen_shapes(known)
    return len(new)


def _by_value(op: Operation) -> list[Operation]:
    """The ops whose static shapes may come from values of `op`, which are sizes: a vector of integers, or one."""
    return [each for t in op.outputs if t.dtype.is_integer and (t.static is None or len(t.static) < 2)
            for each in t.consumers()]


def _inferred(op: Operation) -> list[Static]:
    try:
        return list(op.spec.shape(ShapeContext(op)))
    except ValueError:                              # no shape fits: the run says so, with the values at hand
        return [None] * len(op.outputs)


def _widen_shapes(known: dict[Operation, list[Static]]) -> None:
    """Let static shapes say no more than holds with the present inputs. known: op -> what followed from the old ones.

    Sizes only become unknown, so that loops end; shapes that were set stay where inference gives the same as before.
    """
    todo = deque(known)
    while todo:
        op = todo.popleft()
        for t, before, now in zip(op.outputs, known[op], _inferred(op), strict=True):
            wider = t.shape.most_specific_compatible_shape(TensorShape.of(now)).static
            if before == now or wider == t.static:
                continue
            for each in t.consumers():
                if each not in known:
                    known[each] = _inferred(each)
            op.graph._save(t, "static")
            t.static = wider
            todo.extend(t.consumers())


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Let the ops that take the tensors `ts1` take those of `ts0`, each its own. Returns how many inputs changed.

    can_modify: the only ops to change; cannot_modify: ops to leave as they are. Raises TypeError for what is no tensor;
    ValueError for lists of two lengths, and dtypes or static shapes that don't fit.

    >>> x = tf.constant(1.0, name="x")
    >>> y = tf.multiply(x, 2.0, name="y")
    >>> noisy = x + 10.0
    >>> tf.contrib.graph_editor.reroute_ts(noisy, x, cannot_modify=noisy.op)
    1
    >>> sess.run(y)
    22.0
    """
    return _reroute(ts0, ts1, can_modify, cannot_modify, swap=False)


def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Let the ops that take `ts0` take `ts1`, and the other way round. Returns how many inputs changed.

    can_modify, cannot_modify: as in `reroute_ts`, which raises the same errors.

    >>> x, y = tf.constant(1.0), tf.constant(2.0)
    >>> u, v = tf.identity(x), tf.identity(y)
    >>> tf.contrib.graph_editor.swap_ts(x, y), sess.run([u, v])
    (2, [2.0, 1.0])
    """
    return _reroute(ts0, ts1, can_modify, cannot_modify, swap=True)


def _views(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    first, second = make_view(sgv0), make_view(sgv1)
    check_graphs(first, second)
    return first, second


def _reroute_inputs(sgv0: Any, sgv1: Any, swap: bool) -> tuple[SubGraphView, SubGraphView]:
    first, second = _views(sgv0, sgv1)
    inputs0, inputs1 = first.inputs, second.inputs
    _reroute(inputs0, inputs1, [*(first.ops if swap else ()), *second.ops], None, swap)
    second._exchange_inputs(inputs0)
    if swap:
        first._exchange_inputs(inputs1)
    return first, second


def reroute_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Let the ops of view `sgv1` take the inputs of `sgv0`, in order. Returns both views.

    They are views, changed in place, or what `make_view` makes some of. Raises as `reroute_ts`.

    >>> x, y = tf.constant(1.0), tf.constant(2.0)
    >>> u, v = tf.negative(x), tf.negative(y)
    >>> _ = tf.contrib.graph_editor.reroute_inputs(u.op, v.op)
    >>> sess.run([u, v])
    [-1.0, -1.0]
    """
    return _reroute_inputs(sgv0, sgv1, swap=False)


def swap_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Let the ops of view `sgv0` take the inputs of `sgv1`, and the other way round. Returns both, as `reroute_inputs`.

    >>> x, y = tf.constant(1.0), tf.constant(2.0)
    >>> u, v = tf.negative(x), tf.negative(y)
    >>> _ = tf.contrib.graph_editor.swap_inputs(u.op, v.op)
    >>> sess.run([u, v])
    [-2.0, -1.0]
    """
    return _reroute_inputs(sgv0, sgv1, swap=True)


def _reroute_outputs(sgv0: Any, sgv1: Any, swap: bool) -> tuple[SubGraphView, SubGraphView]:
    first, second = _views(sgv0, sgv1)
    _reroute(first.outputs, second.outputs, None, [*first.ops, *second.ops], swap)
    return first, second


def reroute_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Let others that take the outputs of view `sgv1` take those of `sgv0`, in order. Returns both views.

    They are views, or what `make_view` makes some of; their own ops stay as they are. Raises as `reroute_ts`.

    >>> u, v = tf.negative(1.0), tf.negative(2.0)
    >>> y = v + 10.0
    >>> _ = tf.contrib.graph_editor.reroute_outputs(u.op, v.op)
    >>> sess.run(y)
    9.0
    """
    return _reroute_outputs(sgv0, sgv1, swap=False)


def swap_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Let others that take the outputs of view `sgv0` take those of `sgv1`, and the other way round.

    Returns both, as `reroute_outputs`.

    >>> u, v = tf.negative(1.0), tf.negative(2.0)
    >>> x, y = u + 10.0, v + 10.0
    >>> _ = tf.contrib.graph_editor.swap_outputs(u.op, v.op)
    >>> sess.run([x, y])
    [8.0, 9.0]
    """
    return _reroute_outputs(sgv0, sgv1, swap=True)


def reroute_ios(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Put view `sgv0` in the place of `sgv1`: `reroute_outputs`; and give `sgv1` its inputs: `reroute_inputs`.

    >>> u, v = tf.square(3.0), tf.negative(2.0)
    >>> y = v + 10.0
    >>> _ = tf.contrib.graph_editor.reroute_ios(u.op, v.op)
    >>> sess.run([y, v])
    [19.0, -3.0]
    """
    return reroute_inputs(*reroute_outputs(sgv0, sgv1))


def swap_ios(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Exchange the places of views `sgv0` and `sgv1`: `swap_outputs` and `swap_inputs`.

    >>> u, v = tf.square(3.0), tf.negative(2.0)
    >>> y = v + 10.0
    >>> _ = tf.contrib.graph_editor.swap_ios(u.op, v.op)
    >>> sess.run(y)
    14.0
    """
    return swap_inputs(*swap_outputs(sgv0, sgv1))


def _checked(op: Any, cops: Any) -> list[Operation]:
    if not isinstance(op, Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op).__name__}")
    return make_list_of_op(cops, allow_graph=False)


def add_control_inputs(op: Any, cops: Any) -> None:
    """Let `op` run after `cops`, an op or a list of ops.

    Raises TypeError for what is no op; ValueError for one that it waits for already, and for another graph's.

    >>> w = tf.Variable(1.0)
    >>> y, step = w + 0.0, w.assign(5.0)
    >>> tf.contrib.graph_editor.add_control_inputs(y.op, step.op)
    >>> y.op.control_inputs == [step.op]
    True
    """
    waited = _checked(op, cops)
    for each in waited:
        if each in op.control_inputs:
            raise ValueError(f"{each.name!r} is already a control input of {op.name!r}")
    op._add_control_inputs(waited)


def remove_control_inputs(op: Any, cops: Any) -> None:
    """Let `op` wait no more for `cops`, an op or a list of ops.

    Raises TypeError for what is no op; ValueError for one that it does not wait for.

    >>> first = tf.no_op()
    >>> with tf.control_dependencies([first]):
    ...     second = tf.no_op()
    >>> tf.contrib.graph_editor.remove_control_inputs(second, first)
    >>> second.control_inputs
    []
    """
    waited = _checked(op, cops)
    for each in waited:
        if each not in op.control_inputs:
            raise ValueError(f"{each.name!r} is not a control input of {op.name!r}")
    op._remove_control_inputs(waited)
