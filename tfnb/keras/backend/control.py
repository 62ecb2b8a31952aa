"""Phases, conditions, loops, functions and gradients of `tf.keras.backend`."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfnb.core import nest
from tfnb.core.arguments import KERAS, describe
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.keras.backend import ops
from tfnb.keras.backend.phase import forget_phase, learning_phase, set_learning_phase
from tfnb.keras.backend.session import get_session
from tfnb.layers.choices import either, known


@contextmanager
def learning_phase_scope(value: int) -> Iterator[None]:
    """Return a context in which the learning phase is fixed. value: 0 (test) or 1 (train), else ValueError.

    >>> with tf.keras.backend.learning_phase_scope(1):
    ...     tf.keras.backend.learning_phase()
    1
    """
    before = learning_phase()
    set_learning_phase(value)
    try:
        yield
    finally:
        restore_phase(before)


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """Return `x` in the train phase, else `alt`: tensors, or functions that make them.

    >>> sess.run(tf.keras.backend.in_train_phase(tf.constant(1.0), tf.constant(2.0)))
    2.0
    """
    training = learning_phase() if training is None else training
    fixed = known(training)
    if fixed is not None:
        chosen = x if fixed else alt
        return chosen() if callable(chosen) else chosen
    return either(training, _function(x), _function(alt))


def _function(value: Any) -> Callable[[], Any]:
    return value if callable(value) else lambda: ops.identity(value)


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """Return `x` in the test phase, else `alt`: tensors, or functions that make them.

    >>> sess.run(tf.keras.backend.in_test_phase(tf.constant(1.0), tf.constant(2.0)))
    1.0
    """
    return in_train_phase(alt, x, training)


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """Return one of two tensors by a condition: a scalar, or one for each element or for leading axes.

    then_expression, else_expression: tensors, or functions that make them. Raises ValueError for a condition of a
    rank above that of the tensors.

    >>> sess.run(tf.keras.backend.switch(tf.constant([True, False]), tf.constant([1, 2]), tf.constant([3, 4])))
    array([1, 4], dtype=int32)
    """
    condition = ops.cast(condition, "bool")
    if condition.shape.ndims == 0:
        return either(condition, _function(then_expression), _function(else_expression))
    yes = then_expression() if callable(then_expression) else ops.convert_to_tensor(then_expression)
    no = else_expression() if callable(else_expression) else ops.convert_to_tensor(else_expression)
    missing = yes.shape.ndims - condition.shape.ndims
    if missing < 0:
        raise ValueError(f"Rank of `condition` should be at most that of the expressions: condition has rank "
                         f"{condition.shape.ndims}, then_expression {yes.shape.ndims}")
    for _ in range(missing):
        condition = ops.expand_dims(condition, -1)
    return ops.where(ops.logical_and(condition, ops.ones_like(yes, dtype="bool")), yes, no)


def stop_gradient(variables: Any) -> Any:
    """Return tensors through which no gradient flows. variables: a tensor or a list of them.

    >>> x = tf.constant(3.0)
    >>> tf.gradients(tf.keras.backend.stop_gradient(x), x)
    [None]
    """
    if isinstance(variables, (list, tuple)):
        return [ops.stop_gradient(each) for each in variables]
    return ops.stop_gradient(variables)


def gradients(loss: Any, variables: Any) -> list[Any]:
    """Return the gradients of `loss` with respect to `variables`, tensors or variables; None where there is none.

    >>> x = tf.constant(3.0)
    >>> sess.run(tf.keras.backend.gradients(x * x, [x]))
    [6.0]
    """
    return list(ops.gradients(loss, variables))


def print_tensor(x: Any, message: str = "") -> Any:
    """Return `x`, which prints `message` and its value to standard error when it is computed.

    >>> sess.run(tf.keras.backend.print_tensor(tf.constant(3), "x = "))
    3
    """
    return ops.Print(x, [x], message)


def map_fn(fn: Any, elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    """Return the results of `fn` for each row of `elems`. dtype: that of the results; None: that of `elems`.

    >>> sess.run(tf.keras.backend.map_fn(lambda x: x * 2, tf.constant([1, 2])))
    array([2, 4], dtype=int32)
    """
    return ops.map_fn(fn, elems, name=name, dtype=dtype)


def foldl(fn: Any, elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    """Return `fn` folded over the rows of `elems`. fn: (accumulator, row) -> accumulator. initializer: the first one.

    >>> sess.run(tf.keras.backend.foldl(lambda acc, x: acc - x, tf.constant([5, 1, 1])))
    3
    """
    return ops.foldl(fn, elems, initializer=initializer, name=name)


def foldr(fn: Any, elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    """Return `fn` folded over the rows of `elems` from the last. initializer: the first accumulator.

    >>> sess.run(tf.keras.backend.foldr(lambda acc, x: acc - x, tf.constant([1, 1, 5])))
    3
    """
    return ops.foldr(fn, elems, initializer=initializer, name=name)


class Function:
    """Outputs for values of inputs, by Keras' session: what `tf.keras.backend.function` returns."""

    def __init__(self, inputs: Any, outputs: Any, updates: Any, name: str | None, feed: Any, fetches: Any) -> None:
        self.inputs, self.outputs, self.name = list(inputs), nest.flatten(outputs), name
        self._structure, self._feed, self._fetches = outputs, dict(feed or {}), nest.flatten(fetches or [])
        with ops.control_dependencies([each for each in self.outputs if isinstance(each, (Tensor, Operation))]):
            made = [ops.assign(*each) if isinstance(each, tuple) else each for each in updates or []]
        self._updates = [each.op if isinstance(each, Tensor) else each for each in made]

    def __call__(self, inputs: Any) -> Any:
        """Return the outputs for a list of arrays, one for each input."""
        values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        if len(values) != len(self.inputs):
            raise TypeError(f"Expected {len(self.inputs)} inputs ({', '.join(map(_name_of, self.inputs))}), got "
                            f"{len(values)}")
        feed = {tensor: np.asarray(value, tensor.dtype.base_dtype.as_numpy_dtype)
                for tensor, value in zip(self.inputs, values, strict=True)
                if isinstance(tensor, Tensor) and value is not None}
        found = get_session().run([self.outputs, self._updates + self._fetches], {**feed, **self._feed})[0]
        return nest.pack_sequence_as(self._structure, found)


def _name_of(tensor: Any) -> str:
    return str(getattr(tensor, "name", tensor))


def function(inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, feed_dict: Any = None,
             fetches: Any = None) -> Function:
    """Return a function of lists of arrays: the values of `outputs` where `inputs` have these values.

    inputs: a list of placeholders. outputs: tensors. updates: ops, or pairs (variable, new value), that each call
    runs. feed_dict: further values to feed. fetches: further tensors and ops to run.

    >>> x = tf.keras.backend.placeholder((2,))
    >>> double = tf.keras.backend.function([x], [2 * x])
    >>> double([np.array([1.0, 2.0])])
    [array([2., 4.], dtype=float32)]
    """
    return Function(inputs, outputs, updates, name, feed_dict, fetches)


def _swapped(x: Any) -> Any:
    return ops.transpose(x, [1, 0, *range(2, x.shape.ndims)])


def rnn(step_function: Any, inputs: Any, initial_states: Any, go_backwards: bool = False, mask: Any = None,
        constants: Any = None, unroll: bool = False, input_length: Any = None, time_major: bool = False,
        zero_output_for_mask: bool = False) -> tuple[Any, Any, list[Any]]:
    """Iterate `step_function(inputs at a time, states) -> (output, new states)` over time.

    inputs: (batch, time, ...), or (time, batch, ...) with time_major, or a nest of such. initial_states: a list.
    mask: bools (batch, time): where False, states stay and the output is the one before, or zeros with
    zero_output_for_mask. constants: tensors that each step gets behind the states. input_length: number of steps, if
    the shape does not say it. Returns (last output, all outputs, last states). Raises ValueError to unroll an unknown
    number of steps.

    >>> step = lambda x, states: (x + states[0], [x + states[0]])
    >>> last, outputs, states = tf.keras.backend.rnn(step, tf.ones([1, 3, 2]), [tf.zeros([1, 2])])
    >>> sess.run(outputs)
    array([[[1., 1.],
            [2., 2.],
            [3., 3.]]], dtype=float32)
    """
    steps = inputs if time_major else nest.map_structure(_swapped, inputs)
    first = nest.flatten(steps)[0]
    if mask is not None:
        mask = ops.cast(mask, "bool")
        mask = ops.expand_dims(mask, -1) if mask.shape.ndims == 2 else mask
        mask = mask if time_major else _swapped(mask)
    if go_backwards:
        steps = nest.map_structure(lambda x: ops.reverse(x, [0]), steps)
        mask = None if mask is None else ops.reverse(mask, [0])
    extra = list(constants or [])
    run = _unrolled if unroll else _looped
    outputs, states = run(lambda x, old: step_function(x, list(old) + extra), steps, list(initial_states), mask,
                          first.shape.as_list()[0], zero_output_for_mask)
    for each in nest.flatten(outputs):
        each.set_shape([first.shape.as_list()[0], first.shape.as_list()[1], *[None] * (each.shape.ndims - 2)])
    last = nest.map_structure(lambda each: each[-1], outputs)
    return last, outputs if time_major else nest.map_structure(_swapped, outputs), states


def _chosen(mask: Any, new: Any, old: Any) -> Any:
    """Return `new` for the examples whose mask is True, else `old`: nests of one structure."""
    def choose(a: Any, b: Any) -> Any:
        wide = mask
        while wide.shape.ndims < a.shape.ndims:
            wide = ops.expand_dims(wide, -1)
        return ops.where(ops.logical_and(wide, ops.ones_like(a, dtype="bool")), a, b)
    return nest.map_structure(choose, new, old)


def _unrolled(step: Any, inputs: Any, states: list[Any], mask: Any, count: int | None,
              zero_output: bool) -> tuple[Any, list[Any]]:
    if not count:
        raise ValueError("Unrolling requires a fixed number of timesteps: the shape of the inputs says None")
    outputs: list[Any] = []
    for time in range(count):
        output, new = step(nest.map_structure(lambda x, at=time: x[at], inputs), states)
        if mask is not None:
            before = outputs[-1] if outputs and not zero_output else nest.map_structure(ops.zeros_like, output)
            output = _chosen(mask[time], output, before)
            new = _chosen(mask[time], list(new), states)
        outputs.append(output)
        states = list(new)
    return nest.map_structure(lambda *each: ops.stack(each), *outputs), states


def _looped(step: Any, inputs: Any, states: list[Any], mask: Any, count: int | None,
            zero_output: bool) -> tuple[Any, list[Any]]:
    flat = nest.flatten(inputs)
    sizes: Any = ops.shape(flat[0])
    length = sizes[0]
    # outside of the loop: dropout masks and constants that the cell keeps are made here, and outputs seen
    example, _ = step(nest.map_structure(lambda x: x[0], inputs), states)
    arrays = [ops.TensorArray(x.dtype, size=length).unstack(x) for x in flat]
    masks = None if mask is None else ops.TensorArray("bool", size=length).unstack(mask)
    made = [ops.TensorArray(each.dtype, size=length) for each in nest.flatten(example)]
    before = nest.map_structure(ops.zeros_like, example)
    kept = masks is not None and not zero_output

    def body(time: Any, written: Any, output: Any, *old: Any) -> Any:
        now = nest.pack_sequence_as(inputs, [each.read(time) for each in arrays])
        for tensor, whole in zip(nest.flatten(now), flat, strict=True):
            tensor.set_shape(whole.shape[1:])
        result, new = step(now, nest.pack_sequence_as(states, list(old)))
        if masks is not None:
            valid = masks.read(time)
            valid.set_shape(mask.shape[1:])
            result = _chosen(valid, result, nest.pack_sequence_as(example, list(output)) if kept else before)
            new = _chosen(valid, nest.pack_sequence_as(states, nest.flatten(list(new))), states_of(old))
        written = [array.write(time, each) for array, each in zip(written, nest.flatten(result), strict=True)]
        renewed = nest.flatten(list(new))
        for each, former in zip(renewed, old, strict=True):
            each.set_shape(former.shape)
        return (time + 1, written, nest.flatten(result) if kept else [], *renewed)

    def states_of(old: Any) -> Any:
        return nest.pack_sequence_as(states, list(old))

    start = [ops.convert_to_tensor(each) for each in nest.flatten(states)]
    done = ops.while_loop(lambda time, *_: time < length, body,
                          (ops.constant(0), made, nest.flatten(before) if kept else [], *start),
                          parallel_iterations=32, swap_memory=True, return_same_structure=True)
    outputs = [array.stack() for array in done[1]]
    for each, shown in zip(outputs, nest.flatten(example), strict=True):
        each.set_shape([count, *shown.shape.as_list()])
    return nest.pack_sequence_as(example, outputs), states_of(done[3:])


def restore_phase(before: Any) -> None:
    """Set the learning phase of the default graph back to what it was: an int, or the placeholder."""
    forget_phase()
    if isinstance(before, int):
        set_learning_phase(before)


describe(globals(), KERAS)
