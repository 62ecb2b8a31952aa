"""tf.gradients: symbolic derivatives by one walk backwards through the graph and a table of functions."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from typing import Any

from tfnb.autodiff.aggregate import AggregationMethod, aggregate
from tfnb.autodiff.loops import Loops, is_loop_switch
from tfnb.autodiff.registry import gradient_function
from tfnb.control_flow import gradients as _registers  # noqa: F401
from tfnb.control_flow.tensor_array import TensorArray
from tfnb.control_flow.while_loop import while_loop
from tfnb.core import shape as shapes
from tfnb.core.nest import listed
from tfnb.graph.closure import closure
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.control_flow_context import is_loop_exit
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, device, graph_of, name_scope
from tfnb.ops.array.create import Fill, zeros_like
from tfnb.ops.array.joining import Pack, concat
from tfnb.ops.array.reshape import Identity, Reshape, shape, size
from tfnb.ops.composite.indexed_slices import IndexedSlices, convert_n_to_tensor_or_indexed_slices
from tfnb.ops.control.group import tuple_


class UnconnectedGradients(Enum):
    """Policy for the gradient where no path leads from x to y: None, or zeros like x.

    >>> x, y = tf.constant(3.0), tf.constant(4.0)
    >>> tf.gradients(y, [x])
    [None]
    >>> sess.run(tf.gradients(y, [x], unconnected_gradients=tf.UnconnectedGradients.ZERO))
    [0.0]
    """

    NONE = "none"
    ZERO = "zero"


def gradients(ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients",
              colocate_gradients_with_ops: bool = False, gate_gradients: bool = False,
              aggregation_method: int | None = None, stop_gradients: Any = None,
              unconnected_gradients: Any = UnconnectedGradients.NONE) -> list[Any]:
    """The derivatives of the sum of all elements of `ys` by each of `xs`: a tensor, IndexedSlices or None for each.

    ys, xs: a tensor or a list of tensors (variables are fine). grad_ys: what the derivative by each y starts from
    (None: ones). name: of the scope of the new nodes. colocate_gradients_with_ops: put each on the device of its op.
    gate_gradients: let no gradient of an op be used before all of that op are there. aggregation_method: one of
    AggregationMethod. stop_gradients: tensors to treat as constants. unconnected_gradients: see UnconnectedGradients.

    Raises LookupError for an op on the way whose gradient is not registered, ValueError for arguments that don't fit,
    TypeError for complex ys without grad_ys and for grad_ys of another kind than their y.

    >>> x = tf.constant(3.0)
    >>> sess.run(tf.gradients(x ** 2, [x]))
    [6.0]
    """
    AggregationMethod.check(aggregation_method)
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None
    ys, xs, stops = _as_list(ys), _as_list(xs), _as_list(stop_gradients)
    starts = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    if len(starts) != len(ys):
        raise ValueError(f"Length mismatch. Passed {len(starts)} grad_ys for {len(ys)} ys")
    with name_scope(name, "gradients", [v for v in (*ys, *xs, *stops, *starts) if v is not None]):
        ys = convert_n_to_tensor_or_indexed_slices(ys, "y")
        xs = convert_n_to_tensor_or_indexed_slices(xs, "x", as_ref=True)
        stops = convert_n_to_tensor_or_indexed_slices(stops, "stop", as_ref=True)
        starts = convert_n_to_tensor_or_indexed_slices(starts, "grad_y")
        walk = _Walk(ys, xs, stops, colocate_gradients_with_ops, gate_gradients, aggregation_method)
        walk.run(starts)
    zero = unconnected is UnconnectedGradients.ZERO
    return [zeros_like(x) if grad is None and zero else grad for x, grad in zip(xs, walk.results(), strict=True)]


class _Walk:
    """One walk from the ys back to the xs: an op's turn comes when the gradients of all its outputs are complete.

    grads: for each op and output the summands so far; once the op had its turn, their sum (or nothing).
    waiting: how many uses of the outputs of an op, by ops between xs and ys, have not had their turn.
    """

    def __init__(self, ys: Sequence[Any], xs: Sequence[Any], stops: Sequence[Any], colocate: bool, gate: bool,
                 method: int | None) -> None:
        self.ys, self.xs = ys, xs
        self.colocate, self.gate, self.method = colocate, gate, method
        self.stops = {t.op for t in stops}
        self.grads: dict[Operation, list[list[Any]]] = {}

    def run(self, starts: Sequence[Any]) -> None:
        """Walk from the ys, whose gradients begin as `starts` (None: ones), to the xs."""
        for i, (y, start) in enumerate(zip(self.ys, starts, strict=True)):
            with self._at(y.op):
                self._add(y, _start(i, y, start))
        between = _between(self.ys, self.xs)
        self.loops = Loops(between)
        self.waiting = dict.fromkeys(between, 0)
        for op in between:
            for t in op.inputs:
                if t.op in self.waiting:
                    self.waiting[t.op] += 1
        self.stops |= {x.op for x in self.xs if all(self.waiting.get(t.op, 0) <= 0 for t in x.op.inputs)}
        begin = dict.fromkeys(y.op for y in self.ys)
        self.ready = deque(op for op in begin if self.waiting.get(op) == 0)
        for y in self.loops.unused_exits(self.waiting, set(begin)) if self.loops.states else ():
            if is_trainable(y):
                self._add(y, self.loops.zeros_for_exit(y))
                self.ready.append(y.op)
        while self.ready:
            op = self.ready.popleft()
            with self._at(op):
                self._backward(op)
            for x in op.inputs:
                if x.op in self.waiting:
                    self.waiting[x.op] -= 1
                    left = self.waiting[x.op]
                    if left == 0 or (left > 0 and is_loop_switch(x.op)):
                        self._release(x)
        self.loops.finish()

    def _release(self, x: Tensor) -> None:
        """The turn of an op comes; the exits of a loop have theirs together, those without a gradient get zeros."""
        state = self.loops.state_of(x.op, before=False) if is_loop_exit(x.op) else None
        if state is None:
            self.ready.append(x.op)
            return
        state.deferred.append(x)
        state.pending_exits -= 1
        if state.pending_exits:
            return
        useful = [y for y in state.deferred if any(self.grads.get(y.op, ()))]
        state.unused += [y for y in state.deferred if y not in useful]
        self.ready += [y.op for y in useful]
        for y in state.unused:
            if useful and is_trainable(y):
                self._add(y, self.loops.zeros_for_exit(y))
            self.ready.append(y.op)

    def results(self) -> list[Any]:
        """The gradient of each x: a tensor, IndexedSlices, or None where no y depends on it."""
        return [next(iter(self.grads[x.op][x.value_index]), None) if x.op in self.grads else None for x in self.xs]

    def _at(self, op: Operation) -> AbstractContextManager[Any]:
        return colocate_with(op) if self.colocate else nullcontext()

    def _add(self, t: Any, grad: Any) -> None:
        if t.op not in self.grads:                  # an op may have thousands of outputs: no list of them for each
            self.grads[t.op] = [[] for _ in t.op.outputs]
        self.grads[t.op][t.value_index].append(grad)

    def _backward(self, op: Operation) -> None:
        """Add the gradients of the inputs of `op` to their summands, from the summands of those of its outputs."""
        sums = self.grads.get(op) or [[] for _ in op.outputs]
        with self.loops.around(op, before=True):
            for i, parts in enumerate(sums):
                sums[i] = [aggregate(parts, op, self.method, self.colocate)] if parts else []
        with self.loops.around(op, before=False):
            for x, dx in zip(op.inputs, self._of_inputs(op, [next(iter(parts), None) for parts in sums]), strict=True):
                if dx is not None:
                    _check_shape(op, x, dx)
                    self._add(x, dx)

    def _of_inputs(self, op: Operation, dys: list[Any]) -> Sequence[Any]:
        nothing = [None] * len(op.inputs)
        if op in self.stops or all(dy is None for dy in dys):
            return nothing
        function = gradient_function(op)
        if function is None:
            return nothing
        if is_loop_switch(op) and self.loops.state_of(op, before=False) is None:
            raise self._through_start(op)
        dys = [self.loops.zeros(y) if dy is None and is_trainable(y) else dy
               for y, dy in zip(op.outputs, dys, strict=True)]
        with name_scope(f"{op.name}_grad"):
            graph = graph_of(op)
            version = graph.version
            dxs = _call(function, op, dys)
            for made in graph.made_since(version):
                made._original_op = op
            if self.gate and sum(dx is not None for dx in dxs) > 1:
                with device(None):
                    dxs = tuple_(dxs)
            return dxs


    def _through_start(self, op: Operation) -> ValueError:
        """The error of a walk inside of a loop that would lead out of it, through a variable of the loop."""
        starts = {x.op for x in self.xs}
        found = next((other for other in closure([op], lambda o: (t.op for t in o.inputs)) if other in starts), op)
        return ValueError(f"Cannot compute gradient inside while loop with respect to op {found.name!r}. The gradient "
                          "wrt or through the initial value of a loop variable is not supported: take it of loop "
                          "invariants, or wrt the input parameters to the loop body.")


def is_trainable(t: Tensor) -> bool:
    """Whether derivatives by `t` make sense: it is real or complex, or a list, not integer, bool or string."""
    return t.dtype.is_floating or t.dtype.is_complex or t.dtype.name == "variant"


def _is_handle(t: Tensor) -> bool:
    """Whether it stands for a variable, whose derivatives have the shape of the value."""
    return t.dtype.name == "resource"


def _as_list(value: Any) -> list[Any]:
    value = listed(value)
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def _between(ys: Sequence[Any], xs: Sequence[Any]) -> dict[Operation, None]:
    """The ops on a way from an x to a y along which derivatives make sense, from the ys on backwards."""
    reached = closure([x.op for x in xs], lambda op: (c for t in op.outputs if is_trainable(t) or _is_handle(t)
                                                       for c in t.consumers()))
    return closure([y.op for y in ys if y.op in reached],
                    lambda op: (t.op for t in op.inputs if t.op in reached))


def _start(i: int, y: Any, start: Any) -> Any:
    """The gradient of the sum by `y` number `i`: ones, or what the caller gave."""
    if start is None:
        if y.dtype.is_complex:
            raise TypeError(f"Gradients of complex tensors ({y}) must set grad_ys (y.dtype = {y.dtype.name})")
        size = shape(y)
        one = convert_to_tensor(1, dtype=y.dtype.base_dtype, name=f"grad_ys_{i}/Const")
        seed = Fill(size, one, name=f"grad_ys_{i}")
        seed.op._original_op = y.op             # what is differentiated, also where no gradient reads its value
        return seed
    numbers = (y.dtype.is_floating or y.dtype.is_integer, start.dtype.is_floating or start.dtype.is_integer)
    if (numbers[0] and not numbers[1]) or (y.dtype.is_complex and not start.dtype.is_complex):
        kind = "real or integer" if numbers[0] else "complex"
        raise TypeError(f"Gradient type {start.dtype.name} generated for tensor {y} of type {y.dtype.name} must be "
                        f"{kind}")
    if isinstance(start, IndexedSlices):
        dense = start.dense_shape
        indices = Identity(start.indices, name=f"grad_ys_{i}_indices")
        return IndexedSlices(Identity(start.values, name=f"grad_ys_{i}_values"), indices,
                             None if dense is None else Identity(dense, name=f"grad_ys_{i}_shape"))
    return Identity(start, name=f"grad_ys_{i}")


def _call(function: Callable[..., Any], op: Operation, dys: Sequence[Any]) -> list[Any]:
    dxs = function(op, *dys)
    dxs = list(dxs) if isinstance(dxs, (list, tuple)) else [dxs]
    if len(dxs) != len(op.inputs):
        raise ValueError(f"Num gradients {len(dxs)} generated for op {op.name!r} of type {op.type} do not match num "
                         f"inputs {len(op.inputs)}")
    return [dx if dx is None or isinstance(dx, (Tensor, IndexedSlices)) else convert_to_tensor(dx) for dx in dxs]


def _check_shape(op: Operation, x: Tensor, dx: Any) -> None:
    if not isinstance(dx, Tensor) or _is_handle(x):
        return
    if not shapes.compatible(x.static, dx.static):
        raise ValueError("Incompatible shapes between op input and calculated input gradient. Forward operation: "
                         f"{op.name}. Input index: {list(op.inputs).index(x)}. Original input shape: "
                         f"{shapes.shape_str(x.static)}. Calculated input gradient shape: "
                         f"{shapes.shape_str(dx.static)}")
    dx.set_shape(x.shape)


def hessians(ys: Any, xs: Any, name: str = "hessians", colocate_gradients_with_ops: bool = False,
             gate_gradients: bool = False, aggregation_method: int | None = None) -> list[Any]:
    """The matrix of second derivatives of the sum of `ys` by each of `xs`, of shape `x.shape + x.shape`.

    It takes a gradient for each element of x: nodes of their own where its shape is known, else iterations of a loop.
    Raises ValueError where nothing leads from an x to the ys; else as `gradients`. gate_gradients, aggregation_method,
    colocate_gradients_with_ops: as of `gradients`.

    >>> x = tf.constant([1.0, 2.0])
    >>> sess.run(tf.hessians(x[0] ** 2 * x[1], [x]))
    [array([[4., 2.],
            [2., 0.]], dtype=float32)]
    """
    xs = _as_list(xs)
    options: dict[str, Any] = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops, "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method}
    found = []
    for x, gradient in zip(xs, gradients(ys, xs, **options), strict=True):
        if gradient is None:
            raise ValueError(f"tf.hessians needs xs that ys depend on, but got {x}")
        with name_scope(name, "hessians"):
            flat: Any = Reshape(gradient, [-1])

            def row(i: Any, x: Any = x, flat: Any = flat) -> Tensor:
                """Return row `i` of the matrix of an x."""
                one: Tensor = gradients(flat[i], x, unconnected_gradients=UnconnectedGradients.ZERO, **options)[0]
                return convert_to_tensor(one)

            if x.shape.is_fully_defined():
                sizes: Any = x.shape.as_list() * 2
                rows = Pack([row(i) for i in range(x.shape.num_elements())], name="stack")
            else:
                sizes, rows = concat([shape(x), shape(x)], 0), stacked_rows(row, size(flat), flat.dtype)
            made = Reshape(rows, sizes)
            if x.shape.ndims is not None:
                made.set_shape(x.shape.concatenate(x.shape))
            found.append(made)
    return found


def stacked_rows(row: Callable[[Any], Tensor], count: Tensor, dtype: Any) -> Tensor:
    """Return the tensors row(0), row(1)... of a loop, stacked."""
    rows = TensorArray(dtype, count)
    _, rows = while_loop(lambda i, _: i < count, lambda i, rows: (i + 1, rows.write(i, row(i))), [0, rows])
    made: Tensor = rows.stack()
    return made
