"""SubGraphView: ops of a graph as a function, with inputs and outputs in an order."""
from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph_editor.select import compute_boundary_ts, get_name_scope_ops, get_walks_union_ops, select_ops_and_ts
from tfnb.graph_editor.util import get_unique_graph, make_list_of_op, make_list_of_t


def _indices(chosen: Iterable[Any], tensors: Sequence[Tensor], role: str) -> list[int]:
    """The places in `tensors` of what is chosen by place or as a tensor."""
    found = []
    for each in chosen:
        index = tensors.index(each) if isinstance(each, Tensor) and each in tensors else each
        if isinstance(index, Tensor) or not 0 <= index < len(tensors):
            raise ValueError(f"{each!r} is none of the {len(tensors)} {role} of the view")
        found.append(index)
    return found


class SubGraphView:
    """A part of a graph as a function of tensors: it looks at the graph, and changes nothing.

    inside_ops: the ops; passthrough_ts: tensors that are both inputs and outputs, and connected to none of the ops.
    ops, inputs, outputs, passthroughs, connected_inputs, connected_outputs: lists. Inputs are what the ops take from
    outside, outputs what others take or nobody, both in the order of the ops; `remap` gives them another order.
    Raises TypeError for other elements; ValueError for those of two graphs.

    >>> x = tf.constant(1.0, name="x")
    >>> y = tf.square(x, name="y")
    >>> z = tf.add(y, x, name="z")
    >>> view = tf.contrib.graph_editor.SubGraphView([y.op, z.op])
    >>> [t.name for t in view.inputs], [t.name for t in view.outputs]
    (['x:0'], ['z:0'])
    """

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()) -> None:
        self._ops = list(dict.fromkeys(make_list_of_op(inside_ops)))
        passed = dict.fromkeys(make_list_of_t(passthrough_ts))
        self._graph = get_unique_graph([*self._ops, *passed], none_if_empty=True)
        inputs, outputs, inner = compute_boundary_ts(self._ops)
        self._passthrough_ts = [t for t in passed if t not in {*inputs, *outputs, *inner}]
        self._input_ts = [*inputs, *self._passthrough_ts]
        self._output_ts = [*outputs, *self._passthrough_ts]

    def copy(self) -> SubGraphView:
        """A view of its own of the same ops."""
        return copy.copy(self)

    def __copy__(self) -> SubGraphView:
        made = SubGraphView()
        made._assign_from(self)
        return made

    def _assign_from(self, other: SubGraphView) -> None:
        self._graph = other._graph
        for name in ("_ops", "_passthrough_ts", "_input_ts", "_output_ts"):
            setattr(self, name, list(getattr(other, name)))

    def _exchange_inputs(self, inputs: Iterable[Tensor]) -> None:
        """Have other tensors as inputs, in the same order: those that the ops take after a rerouting."""
        new = dict(zip(self._input_ts, inputs, strict=True))
        self._input_ts = list(new.values())
        self._passthrough_ts = [new.get(t, t) for t in self._passthrough_ts]

    @property
    def graph(self) -> Graph | None:
        """The graph; None for an empty view."""
        return self._graph

    @property
    def ops(self) -> list[Operation]:
        """The ops."""
        return list(self._ops)

    @property
    def inputs(self) -> list[Tensor]:
        """The inputs, passthroughs among them."""
        return list(self._input_ts)

    @property
    def outputs(self) -> list[Tensor]:
        """The outputs, passthroughs among them."""
        return list(self._output_ts)

    @property
    def passthroughs(self) -> list[Tensor]:
        """The tensors that are connected to none of the ops."""
        return list(self._passthrough_ts)

    @property
    def connected_inputs(self) -> list[Tensor]:
        """The inputs that an op takes."""
        return [t for t in self._input_ts if not self.is_passthrough(t)]

    @property
    def connected_outputs(self) -> list[Tensor]:
        """The outputs that an op makes."""
        return [t for t in self._output_ts if not self.is_passthrough(t)]

    def is_passthrough(self, t: Tensor) -> bool:
        """Return whether `t` is a passthrough."""
        return t in self._passthrough_ts

    def remap_inputs(self, new_input_indices: Iterable[Any]) -> SubGraphView:
        """A view with these of the inputs (places, or tensors), in their order.

        Raises ValueError for what is no input, and for one that comes twice.
        """
        indices = _indices(new_input_indices, self._input_ts, "inputs")
        if len(set(indices)) != len(indices):
            raise ValueError(f"an input can't come twice: expected different indices, got {indices}")
        made = self.copy()
        made._input_ts = [self._input_ts[i] for i in indices]
        return made

    def remap_outputs(self, new_output_indices: Iterable[Any]) -> SubGraphView:
        """A view with these of the outputs (places, or tensors), in their order; one may come twice.

        Raises ValueError for what is no output.
        """
        made = self.copy()
        made._output_ts = [self._output_ts[i] for i in _indices(new_output_indices, self._output_ts, "outputs")]
        return made

    def remap(self, new_input_indices: Any = None, new_output_indices: Any = None) -> SubGraphView:
        """A view with other inputs and outputs, see `remap_inputs`, `remap_outputs`; None leaves them."""
        made = self if new_input_indices is None else self.remap_inputs(new_input_indices)
        return made.copy() if new_output_indices is None else made.remap_outputs(new_output_indices)

    def remap_default(self, remove_input_map: bool = True, remove_output_map: bool = True) -> SubGraphView:
        """A view with the inputs and outputs that it would have if it were made now."""
        fresh, made = SubGraphView(self._ops, self._passthrough_ts), self.copy()
        if remove_input_map:
            made._input_ts = fresh._input_ts
        if remove_output_map:
            made._output_ts = fresh._output_ts
        return made

    def remap_outputs_make_unique(self) -> SubGraphView:
        """A view whose outputs come once each."""
        return self.remap_outputs(dict.fromkeys(self._output_ts))

    def remap_outputs_to_consumers(self) -> SubGraphView:
        """A view in which an output comes once for each time it is taken outside of the view."""
        return self.remap_outputs([t for t in dict.fromkeys(self._output_ts) for op in t.consumers()
                                   if op not in self._ops])

    def remove_unused_ops(self, control_inputs: bool = True) -> SubGraphView:
        """A view without ops that have nothing to do with its inputs and outputs.

        control_inputs: an op that such an op waits for is used.
        """
        used = set(get_walks_union_ops(self.connected_inputs, self.connected_outputs, within_ops=self._ops,
                                       control_inputs=control_inputs))
        made = self.copy()
        made._ops = [op for op in self._ops if op in used]
        return made

    def find_op_by_name(self, op_name: str) -> Operation:
        """The op of that name. Raises ValueError if the view has none."""
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError(f"{op_name!r} is not in the view")

    def op(self, op_id: int) -> Operation:
        """The op at that place."""
        return self._ops[op_id]

    def input_index(self, t: Tensor) -> int:
        """The place of `t` among the inputs. Raises ValueError if it is none."""
        return _indices([t], self._input_ts, "inputs")[0]

    def output_index(self, t: Tensor) -> int:
        """The place of `t` among the outputs. Raises ValueError if it is none."""
        return _indices([t], self._output_ts, "outputs")[0]

    def consumers(self) -> list[Operation]:
        """The ops outside of the view that take its outputs."""
        return list(dict.fromkeys(op for t in self._output_ts for op in t.consumers() if op not in self._ops))

    def __bool__(self) -> bool:
        return self._graph is not None

    def __repr__(self) -> str:
        ops, inputs, outputs = ([each.name for each in found] for found in (
            self._ops, self._input_ts, self._output_ts))
        return f"SubGraphView({ops=}, {inputs=}, {outputs=})"

    def __enter__(self) -> SubGraphView:
        return self

    def __exit__(self, *error: Any) -> None:
        """Nothing is held."""


def make_view(*args: Any, graph: Graph | None = None) -> SubGraphView:
    """Return a view of ops and tensors. A single SubGraphView is returned as it is.

    args, graph: as in `select_ops_and_ts`: ops, tensors (passthroughs), lists of them, regular expressions, for which
    `graph` is needed. Raises as `select_ops_and_ts`.

    >>> y = tf.square(tf.constant(2.0, name="x"), name="net/y")
    >>> tf.contrib.graph_editor.sgv("^net/", graph=y.graph)
    SubGraphView(ops=['net/y'], inputs=['x:0'], outputs=['net/y:0'])
    """
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return args[0]
    return SubGraphView(*select_ops_and_ts(*args, graph=graph))


def make_view_from_scope(scope: str, graph: Graph) -> SubGraphView:
    """Return a view of the ops of `graph` in the name scope `scope`.

    >>> y = tf.square(tf.constant(2.0, name="x"), name="net/y")
    >>> tf.contrib.graph_editor.sgv_scope("net", graph=y.graph).inputs
    [<tf.Tensor 'x:0' shape=() dtype=float32>]
    """
    return SubGraphView(get_name_scope_ops(graph, scope))
