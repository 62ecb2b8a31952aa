"""Editing of views: taking them out of their graph, joining two, leaving one out."""
from __future__ import annotations

from typing import Any

from tfnb.graph.parts.operation import Tensor
from tfnb.graph_editor import reroute
from tfnb.graph_editor.select import check_cios
from tfnb.graph_editor.subgraph import SubGraphView, make_view
from tfnb.graph_editor.util import ControlOutputs, check_graphs, make_placeholder_from_tensor


def detach_control_inputs(sgv: Any) -> None:
    """Let the ops of view `sgv` wait for none outside of it.

    >>> first = tf.no_op()
    >>> with tf.control_dependencies([first]):
    ...     second = tf.no_op()
    >>> tf.contrib.graph_editor.detach_control_inputs(second)
    >>> second.control_inputs
    []
    """
    ops = make_view(sgv).ops
    for op in ops:
        outside = [each for each in op.control_inputs if each not in ops]
        if outside:
            reroute.remove_control_inputs(op, outside)


def detach_control_outputs(sgv: Any, control_outputs: ControlOutputs) -> None:
    """Let ops outside of view `sgv` wait for none of its ops. control_outputs: who waits for whom.

    Raises TypeError for another class.

    >>> first = tf.no_op()
    >>> with tf.control_dependencies([first]):
    ...     second = tf.no_op()
    >>> tf.contrib.graph_editor.detach_control_outputs(first, tf.contrib.graph_editor.ControlOutputs(first.graph))
    >>> second.control_inputs
    []
    """
    _, waiting = check_cios(False, control_outputs)
    ops = make_view(sgv).ops
    for op in ops if waiting is not None else ():
        for each in [each for each in control_outputs.get(op) if each not in ops]:
            reroute.remove_control_inputs(each, op)


def _stand_ins(sgv: SubGraphView, tensors: list[Tensor]) -> list[Tensor]:
    """A placeholder for each tensor."""
    if sgv.graph is None:
        return []
    with sgv.graph.as_default(), sgv.graph.name_scope(None):
        return [make_placeholder_from_tensor(t) for t in tensors]


def detach_inputs(sgv: Any, control_inputs: bool = False) -> tuple[SubGraphView, list[Tensor]]:
    """Give new placeholders to the ops of view `sgv` in place of its inputs. Returns (view, placeholders).

    The view is changed in place. control_inputs: let its ops wait for none outside, too.

    >>> y = tf.negative(tf.constant(1.0, name="x"), name="y")
    >>> view, (fed,) = tf.contrib.graph_editor.detach_inputs(y.op)
    >>> fed.name, sess.run(y, {fed: 3.0})
    ('geph__x_0:0', -3.0)
    """
    view = make_view(sgv)
    made = _stand_ins(view, view.inputs)
    reroute.reroute_inputs(SubGraphView(passthrough_ts=made), view)
    if control_inputs:
        detach_control_inputs(view)
    return view, made


def detach_outputs(sgv: Any, control_outputs: ControlOutputs | None = None) -> tuple[SubGraphView, list[Tensor]]:
    """Give new placeholders to who takes the outputs of view `sgv`. Returns (view, placeholders).

    The view returned has only those outputs that anybody took. control_outputs: who waits for whom; then none outside
    waits for its ops any more.

    >>> y = tf.negative(1.0, name="y")
    >>> z = y + 1.0
    >>> view, (fed,) = tf.contrib.graph_editor.detach_outputs(y.op)
    >>> fed.name, sess.run([y, z], {fed: 3.0})
    ('geph__y_0:0', [-1.0, 4.0])
    """
    view = make_view(sgv)
    view = view.remap_outputs([t for t in view.outputs if t.consumers()])
    made = _stand_ins(view, view.outputs)
    reroute.reroute_outputs(SubGraphView(passthrough_ts=made), view)
    if control_outputs is not None:
        detach_control_outputs(view, control_outputs)
    return view, made


def detach(sgv: Any, control_inputs: Any = False, control_outputs: Any = None, control_ios: Any = None
           ) -> tuple[SubGraphView, list[Tensor], list[Tensor]]:
    """Detach the inputs and the outputs of view `sgv`. Returns (view, its new inputs, placeholders for its outputs).

    control_inputs, control_outputs, control_ios: detach these control edges, too, see `check_cios`.

    >>> y = tf.negative(tf.constant(1.0, name="x"), name="y")
    >>> z = y + 1.0
    >>> view, inputs, outputs = tf.contrib.graph_editor.detach(y.op)
    >>> [t.name for t in inputs], [t.name for t in outputs]
    (['geph__x_0:0'], ['geph__y_0:0'])
    """
    waited, waiting = check_cios(control_inputs, control_outputs, control_ios)
    view, inputs = detach_inputs(sgv, waited)
    view, outputs = detach_outputs(view, waiting)
    return view, inputs, outputs


def connect(sgv0: Any, sgv1: Any, disconnect_first: bool = False) -> tuple[SubGraphView, SubGraphView]:
    """Let the ops of view `sgv1` take the outputs of `sgv0` as their inputs, in order. Returns both views.

    disconnect_first: detach the outputs of `sgv0` from who takes them first. Raises as `reroute_ts`.

    >>> y, z = tf.negative(1.0), tf.square(3.0)
    >>> _ = tf.contrib.graph_editor.connect(y.op, z.op)
    >>> sess.run(z)
    1.0
    """
    first, second = make_view(sgv0), make_view(sgv1)
    check_graphs(first, second)
    if disconnect_first:
        detach_outputs(first)
    reroute.reroute_inputs(SubGraphView(passthrough_ts=first.outputs), second)
    return first, second


def bypass(sgv: Any) -> tuple[SubGraphView, list[Tensor]]:
    """Let who takes the outputs of view `sgv` take its inputs, in order. Returns (view, its new inputs: placeholders).

    Raises as `reroute_ts`.

    >>> x = tf.constant(2.0)
    >>> y = tf.square(x)
    >>> z = y + 1.0
    >>> _ = tf.contrib.graph_editor.bypass(y.op)
    >>> sess.run(z)
    3.0
    """
    view = make_view(sgv)
    inputs = view.inputs
    view, made = detach_inputs(view)
    reroute.reroute_ts(inputs, view.outputs, cannot_modify=view.ops)
    return view, made
