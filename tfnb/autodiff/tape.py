"""tf.GradientTape over a graph: derivatives through the ops that were made while the tape recorded."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from tfnb.autodiff.gradients import UnconnectedGradients, gradients, stacked_rows
from tfnb.core import dtypes, nest
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.ops.array.create import zeros_like
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reshape, shape, transpose


class GradientTape:
    """Record of the ops that are made inside of `with`, through which `gradient` differentiates.

    persistent: whether `gradient` may be called more than once. watch_accessed_variables: whether trainable variables
    that the ops read are watched by themselves. Only what was made while the tape recorded, from what it watches, has
    a gradient; tf.gradients goes through all ops.

    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> sess.run(tape.gradient(y, x))
    6.0
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent, self._watches_variables = persistent, watch_accessed_variables
        self._recording, self._used = False, False
        self.reset()

    def __enter__(self) -> GradientTape:
        """Begin to record. Raises ValueError if it does already."""
        if self._recording:
            raise ValueError("Tape is already recording.")
        self._start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """End the recording."""
        if self._recording:
            self._stop()

    def _start(self) -> None:
        self._recording = True
        graph = get_default_graph()
        self._spans.append((graph, graph.version, None))

    def _stop(self) -> None:
        self._recording = False
        graph, start, _ = self._spans.pop()
        self._spans.append((graph, start, graph.version))

    def watch(self, tensor: Any) -> None:
        """Watch a tensor or variable, or all of a structure. Raises ValueError unless the tape records."""
        if not self._recording:
            raise ValueError("GradientTape.watch can only be called while the tape records: inside of its `with`")
        self._watched += nest.flatten(tensor)

    def watched_variables(self) -> tuple[Any, ...]:
        """Return the variables that are watched: by `watch`, and the trainable ones that recorded ops read."""
        read = {each.op for op in self._ops() for each in map(_origin, op.inputs) if each is not None}
        given = [each for each in self._watched if not isinstance(each, Tensor)]
        known = [each for each in self._variables() if each.op in read and all(each is not other for other in given)]
        return (*given, *known)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Return a context whose ops are not recorded. Raises ValueError unless the tape records."""
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self) -> None:
        """Forget all that was recorded and watched; a tape that records goes on."""
        self._spans: list[tuple[Any, int, int | None]] = []
        self._watched: list[Any] = []
        if self._recording:
            self._start()

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None,
                 unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Return the derivative of the sum of `target` by each of `sources`, in their structure.

        target: a tensor or a structure of them; sources: tensors or variables. output_gradients: what the derivative
        by each target starts from. unconnected_gradients: a tf.UnconnectedGradients: None or zeros for a source that
        is not watched, or not connected. Raises RuntimeError at the second call, unless the tape is persistent; else
        as tf.gradients.

        >>> v = tf.Variable(2.0)
        >>> with tf.GradientTape(persistent=True) as tape:
        ...     y, z = v * v, 5.0 * v
        >>> sess.run(v.initializer)
        >>> sess.run([tape.gradient(y, v), tape.gradient(z, [v])])
        [4.0, [5.0]]
        """
        self._use("gradient")
        starts = [None] * len(nest.flatten(target)) if output_gradients is None else nest.flatten(output_gradients)
        return nest.pack_sequence_as(sources, self._gradients(
            nest.flatten(target), nest.flatten(sources), starts, UnconnectedGradients(unconnected_gradients)))

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
                 parallel_iterations: int | None = None, experimental_use_pfor: bool = True) -> Any:
        """Return the derivative of each element of `target` by each of each source: target.shape + source.shape.

        sources, unconnected_gradients: as of `gradient`. A loop over the elements of the target; parallel_iterations,
        experimental_use_pfor: without effect. Raises as `gradient`.

        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> sess.run(tape.jacobian(y, x))
        array([[2., 0.],
               [0., 4.]], dtype=float32)
        """
        self._use("jacobian")
        kind = UnconnectedGradients(unconnected_gradients)
        target = convert_to_tensor(target)
        return nest.map_structure(lambda source: self._jacobian(target, source, kind), sources)

    def batch_jacobian(self, target: Any, source: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
                       parallel_iterations: int | None = None, experimental_use_pfor: bool = True) -> Any:
        """Return the derivative of each row of `target` by its row of `source`: [batch, *target rows, *source rows].

        target: [batch, ...], of which row i depends on row i of `source` alone. Zeros, whatever unconnected_gradients
        says, where they are not connected. parallel_iterations, experimental_use_pfor: as of `jacobian`. Raises
        ValueError for different batch sizes or unknown ranks; else as `gradient`.

        >>> x = tf.constant([[1.0, 2.0]])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> sess.run(tape.batch_jacobian(y, x))
        array([[[2., 0.],
                [0., 4.]]], dtype=float32)
        """
        self._use("batch_jacobian")
        target, source = convert_to_tensor(target), convert_to_tensor(source)
        if not target.shape.ndims or not source.shape.ndims or not target.shape[:1].is_compatible_with(
                source.shape[:1]):
            raise ValueError("target and source must have the same number of rows, got the shapes "
                             f"{target.shape} and {source.shape}")
        UnconnectedGradients(unconnected_gradients)                  # (raises for another word)
        columns = transpose(reshape(target, [shape(target)[0], -1]))
        made = self._stacked(target, columns, source, UnconnectedGradients.ZERO)
        ahead = transpose(reshape(made, [shape(columns)[0], shape(source)[0], -1]), [1, 0, 2])
        return reshape(ahead, concat([shape(target), shape(source)[1:]], 0))

    def _use(self, what: str) -> None:
        if self._used and not self._persistent:
            raise RuntimeError(f"GradientTape.{what} can only be called once on non-persistent tapes.")
        self._used = True

    def _jacobian(self, target: Tensor, source: Any, kind: UnconnectedGradients) -> Any:
        made = self._stacked(target, reshape(target, [-1]), source, kind)
        return None if made is None else reshape(made, concat([shape(target), shape(source)], 0))

    def _stacked(self, target: Tensor, parts: Tensor, source: Any, kind: UnconnectedGradients) -> Any:
        """Return the derivatives of each part of a target by a source, stacked; None where there are none."""
        stops = self._stops()
        known = self._gradients([target], [source], [None], UnconnectedGradients.NONE)[0]
        if known is None and kind is UnconnectedGradients.NONE:
            return None

        def row(i: Any) -> Tensor:
            """Return the derivative of part i."""
            if known is None:
                return zeros_like(convert_to_tensor(source))
            return convert_to_tensor(gradients(parts[i], source, stop_gradients=stops,
                                               unconnected_gradients=UnconnectedGradients.ZERO)[0])
        return stacked_rows(row, shape(parts)[0], convert_to_tensor(source).dtype)

    def _gradients(self, targets: list[Any], sources: list[Any], starts: list[Any],
                   kind: UnconnectedGradients) -> list[Any]:
        """Return the derivative by each source: None, or zeros, where the tape knows of none."""
        made, alive = set(self._ops()), self._alive()
        given = [_key(each) for each in sources]
        used = [(y, start) for y, start in zip(map(convert_to_tensor, targets), starts, strict=True)
                if y.op in made or y in given]
        there = [i for i, key in enumerate(given) if key in alive]
        found: list[Any] = [None] * len(sources)
        if used and there:
            derived = gradients([y for y, _ in used], [sources[i] for i in there], [start for _, start in used],
                                stop_gradients=self._stops())
            for i, each in zip(there, derived, strict=True):
                found[i] = each
        if kind is UnconnectedGradients.NONE:
            return found
        return [zeros_like(convert_to_tensor(x)) if each is None else each
                for x, each in zip(sources, found, strict=True)]

    def _ops(self) -> list[Operation]:
        """Return the recorded ops, in the order in which they were made."""
        return [op for graph, start, end in self._spans for op in graph.get_operations()
                if start < op._id and (end is None or op._id <= end)]

    def _variables(self) -> list[Any]:
        """Return the variables that are watched when something reads them."""
        if not self._watches_variables or not self._spans:
            return []
        found: list[Any] = self._spans[0][0].get_collection(GraphKeys.TRAINABLE_VARIABLES)
        return found

    def _alive(self) -> set[Any]:
        """Return what is watched, and what recorded ops made of that."""
        alive = {_key(each) for each in self._watched} | {_key(each) for each in self._variables()}
        for op in self._ops():
            if any(x in alive or _origin(x) in alive for x in op.inputs):
                alive.update(op.outputs)
        return alive

    def _stops(self) -> list[Tensor]:
        """Return the inputs of recorded ops that were made before, or while the tape did not record.

        Not the reads of variables, which may have been made with the variable.
        """
        ops = self._ops()
        made = set(ops)
        return list(dict.fromkeys(x for op in ops for x in op.inputs if x.op not in made and _origin(x) is None))


def _origin(tensor: Tensor) -> Tensor | None:
    """Return the reference or handle of the variable that a tensor is, or was read from; else None."""
    for each in (tensor, *tensor.op.inputs[:1]):
        if each.dtype._is_ref_dtype or each.dtype == dtypes.resource:
            return each
    return None


def _key(source: Any) -> Any:
    """Return the tensor that a source is known by: a variable's reference or handle."""
    if isinstance(source, Tensor):
        return _origin(source) if source.dtype._is_ref_dtype else source
    return source.handle if hasattr(source, "handle") else source.op.outputs[0]
