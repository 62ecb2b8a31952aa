"""Cells around other cells: dropout, residual connections, devices, projections."""
from __future__ import annotations

import hashlib
import numbers
from collections.abc import Callable
from typing import Any

from tfnb.core import nest
from tfnb.core.arguments import RECURRENT, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.stack import device as _device
from tfnb.graph.stack import name_scope
from tfnb.ops.array.joining import concat
from tfnb.ops.math.arithmetic import floor
from tfnb.ops.math.division import divide
from tfnb.ops.nn.activations import dropout
from tfnb.ops.random.random_ops import random_uniform
from tfnb.rnn.cells import LSTMStateTuple, RNNCell, assert_like_rnncell


class CellWrapper(RNNCell):
    """A cell with the sizes of the one inside."""

    def __init__(self, cell: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell

    @property
    def wrapped_cell(self) -> Any:
        """The cell inside."""
        return self.cell

    @property
    def state_size(self) -> Any:
        """That of the cell inside."""
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        """That of the cell inside."""
        return self.cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """That of the cell inside."""
        with name_scope(f"{type(self).__name__}ZeroState"):
            return self.cell.zero_state(batch_size, dtype)


class _Wrapper(CellWrapper):
    """A cell with the variables of the one inside, which has no variable scope of its own."""

    @property
    def trainable_weights(self) -> list[Any]:
        """Those of the cell inside."""
        return self.cell.trainable_weights          # type: ignore[no-any-return]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """Those of the cell inside."""
        return self.cell.non_trainable_weights      # type: ignore[no-any-return]

    trainable_variables, non_trainable_variables = trainable_weights, non_trainable_weights


def _only_outputs(state: Any) -> Any:
    """Return which parts of a state get dropout by default: not the memory of an LSTM."""
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return True


class DropoutWrapper(_Wrapper):
    """Sets elements of the inputs, the state and the output of a cell to 0, with the probabilities 1 - *_keep_prob, and
    scales the rest by 1 / *_keep_prob.

    variational_recurrent: the same elements at each step (Gal and Ghahramani, 2015): then dtype must be given, and
    input_size if inputs are dropped. dropout_state_filter_visitor: function of a part of the state -> whether to drop
    it; by default all but the memory of LSTMs. Raises ValueError for probabilities outside [0, 1].

    >>> cell = tf.contrib.rnn.DropoutWrapper(tf.contrib.rnn.GRUCell(4), output_keep_prob=0.5)
    >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 7, 3]), dtype=tf.float32)
    >>> outputs.shape.as_list()
    [2, 7, 4]
    """

    def __init__(self, cell: Any, input_keep_prob: Any = 1.0, output_keep_prob: Any = 1.0, state_keep_prob: Any = 1.0,
                 variational_recurrent: bool = False, input_size: Any = None, dtype: Any = None,
                 seed: int | None = None, dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
                 **kwargs: Any) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._filter = dropout_state_filter_visitor or _only_outputs
        self._seed, self._variational = seed, variational_recurrent
        with name_scope("DropoutWrapperInit"):
            self._keep = {what: _probability(f"{what}_keep_prob", given) for what, given in (
                ("input", input_keep_prob), ("state", state_keep_prob), ("output", output_keep_prob))}
        self._noise: dict[str, Any] = dict.fromkeys(self._keep)
        if variational_recurrent:
            self._draw(input_size, dtype)

    def _draw(self, input_size: Any, dtype: Any) -> None:
        """The noise of all steps."""
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        sizes = {"state": self.cell.state_size, "output": self.cell.output_size}
        if _drops(self._keep["input"]):
            if input_size is None:
                raise ValueError("When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size "
                                 "must be provided")
            sizes = {"input": input_size, **sizes}

        for what, size in sizes.items():
            drawn = [random_uniform(concat(([1], TensorShape(s).as_list()), 0), seed=self._seed_of(what, number),
                                    dtype=dtype) for number, s in enumerate(nest.flatten(size))]
            self._noise[what] = nest.pack_sequence_as(size, drawn)

    def _seed_of(self, what: str, number: int) -> int | None:
        """A seed for each place that numbers are drawn at, from the one that was given; TensorFlow's rule."""
        if self._seed is None:
            return None
        text = f"{self._seed}{what}_{number}"
        return int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _dropped(self, what: str, values: Any, wanted: Any) -> Any:
        """The leaves of `values` with numbers dropped where `wanted` says so."""
        keep, noise = self._keep[what], self._noise[what]
        made = []
        noises = nest.flatten(noise) if self._variational else [None] * len(nest.flatten(values))
        for number, (value, drop, own) in enumerate(zip(nest.flatten(values), wanted, noises, strict=True)):
            if isinstance(drop, bool) and not drop:
                made.append(value)
            elif self._variational:
                made.append(_scaled(value, keep, own))
            else:
                made.append(dropout(value, rate=1.0 - keep, seed=self._seed_of(what, number)))
        return nest.pack_sequence_as(values, made)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """(output, next state) of the cell inside, with numbers dropped."""
        if _drops(self._keep["input"]):
            inputs = self._dropped("input", inputs, [True] * len(nest.flatten(inputs)))
        output, state = self.cell(inputs, state, scope=scope)
        if _drops(self._keep["state"]):
            state = self._dropped("state", state, _wanted(self._filter, state))
        if _drops(self._keep["output"]):
            output = self._dropped("output", output, [True] * len(nest.flatten(output)))
        return output, state


def _probability(name: str, given: Any) -> Any:
    tensor = convert_to_tensor(given)
    value = constant_value(tensor)
    if value is None:
        return tensor
    if not 0 <= value <= 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {value}")
    return float(value)


def _drops(keep: Any) -> bool:
    return not isinstance(keep, numbers.Real) or keep < 1


def _scaled(value: Any, keep: Any, noise: Any) -> Any:
    """`value` / keep where keep + noise is at least 1, else 0."""
    kept = floor(keep + noise)
    made = divide(value, keep) * kept
    made.set_shape(value.shape)
    return made


def _wanted(visitor: Callable[[Any], Any], state: Any) -> list[Any]:
    """For each leaf of the state, what the visitor says of it or of a part that holds it."""
    said = visitor(state)
    if nest.is_nested(said):
        return [verdict for part, of in zip(nest.flatten(said), _children(state), strict=True)
                for verdict in [part] * len(nest.flatten(of))]
    if nest.is_nested(state) and said:
        return [verdict for part in _children(state) for verdict in _wanted(visitor, part)]
    return [said] * len(nest.flatten(state))


def _children(state: Any) -> list[Any]:
    return [state[key] for key in sorted(state)] if isinstance(state, dict) else list(state)


class ResidualWrapper(_Wrapper):
    """Adds the inputs to the output of a cell, or calls residual_fn(inputs, outputs) instead.

    >>> cell = tf.contrib.rnn.ResidualWrapper(tf.contrib.rnn.GRUCell(3))
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 3]
    """

    def __init__(self, cell: Any, residual_fn: Callable[[Any, Any], Any] | None = None, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn or _sum

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """(output, next state). Raises ValueError if inputs and output have different shapes."""
        outputs, state = self.cell(inputs, state, scope=scope)
        return self._residual_fn(inputs, outputs), state


def _sum(inputs: Any, outputs: Any) -> Any:
    for a, b in zip(nest.flatten(inputs), nest.flatten(outputs), strict=True):
        a.shape.assert_is_compatible_with(b.shape)
    return nest.map_structure(lambda a, b: a + b, inputs, outputs)


class DeviceWrapper(_Wrapper):
    """Puts a cell on a device.

    >>> cell = tf.contrib.rnn.DeviceWrapper(tf.contrib.rnn.GRUCell(4), "/cpu:0")
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.device
    '/device:CPU:0'
    """

    def __init__(self, cell: Any, device: Any, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """That of the cell inside, on the device."""
        with name_scope(f"{type(self).__name__}ZeroState"), _device(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """(output, next state) of the cell inside."""
        with _device(self._device):
            return self.cell(inputs, state, scope=scope)


describe(globals(), RECURRENT)
