"""Recurrent layers of Keras: a cell iterated over the steps of sequences."""
from __future__ import annotations

import inspect
from typing import Any, ClassVar

import numpy as np

from tfnb.core import nest
from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.keras.backend import control, ops
from tfnb.keras.backend.values import batch_set_value
from tfnb.keras.backend.variables import zeros
from tfnb.keras.engine.layer import Layer
from tfnb.keras.engine.serialization import deserialize
from tfnb.keras.functions import regularizers
from tfnb.keras.layers.cells import (
    Cell,
    GRUCell,
    LSTMCell,
    SimpleRNNCell,
    StackedRNNCells,
    forget_bias,
    initial_states,
    output_size,
    step_of,
)
from tfnb.keras.layers.described import shape_list


class RNN(Layer):
    """A cell iterated over the steps of sequences (batch, steps, ...).

    cell: an object with `call(inputs, states)` and `state_size`, or a list of such, which are stacked. stateful: the
    batch size must be known, reset_states() begins anew. Arguments of a call: mask (batch, steps), training,
    initial_state (a list), constants. Returns the last output, or with return_sequences all of them, followed by the
    last states with return_state.

    >>> layer = tf.keras.layers.RNN(tf.keras.layers.LSTMCell(4), return_sequences=True, return_state=True)
    >>> [y.shape.as_list() for y in layer(tf.ones([2, 3, 5]))]
    [[2, 3, 4], [2, 4], [2, 4]]
    """

    supports_masking = True
    _settings: ClassVar[tuple[str, ...]] = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll",
                                            "time_major")

    def __init__(self, cell: Any, return_sequences: bool = False, return_state: bool = False,
                 go_backwards: bool = False, stateful: bool = False, unroll: bool = False, time_major: bool = False,
                 **kwargs: Any) -> None:
        cell = StackedRNNCells(cell) if isinstance(cell, (list, tuple)) else cell
        if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
            raise ValueError(f"`cell` should have a `call` method and a `state_size`. The RNN was passed: {cell!r}")
        super().__init__(**kwargs)
        self.cell, self.return_sequences, self.return_state = cell, return_sequences, return_state
        self.go_backwards, self.stateful, self.unroll = go_backwards, stateful, unroll
        self.time_major = time_major
        self.states: Any = None
        self._num_constants = 0
        self._rank = 3

    @property
    def _state_sizes(self) -> list[Any]:
        found = self.cell.state_size
        if isinstance(found, (list, tuple)):
            return [each for part in found for each in (part if isinstance(part, (list, tuple)) else [part])]
        return [found]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the outputs; with return_state followed by those of the states."""
        sizes = shape_list(input_shape[0] if isinstance(input_shape, list) and not isinstance(
            input_shape[0], (int, type(None))) else input_shape)
        batch, steps = (sizes[1], sizes[0]) if self.time_major else (sizes[0], sizes[1])
        last = output_size(self.cell)
        inner = [last] if isinstance(last, int) else shape_list(last)
        both = ([steps, batch] if self.time_major else [batch, steps]) if self.return_sequences else [batch]
        made = TensorShape([*both, *inner])
        if not self.return_state:
            return made
        return [made, *(TensorShape([batch, *([size] if isinstance(size, int) else shape_list(size))])
                        for size in self._state_sizes)]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the steps with return_sequences, else None; None for the states."""
        mask = mask[0] if isinstance(mask, list) else mask
        kept = mask if self.return_sequences else None
        return [kept, *[None] * len(self._state_sizes)] if self.return_state else kept

    def build(self, input_shape: Any) -> None:
        """Make the variables of the cell, and the states if they are kept."""
        shapes = input_shape if isinstance(input_shape, (list, tuple)) else [input_shape]
        sizes = shape_list(shapes[0])
        self._batch = sizes[1] if self.time_major else sizes[0]
        step = [self._batch, *sizes[2:]]
        constants = [shape_list(each) for each in shapes[len(shapes) - self._num_constants:]] \
            if self._num_constants else []
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell._dtype = self.cell._dtype or self.dtype
            self.cell.build([step, *constants] if constants else TensorShape(step))
            self.cell.built = True
        if self.stateful:
            self.reset_states()
        self.built = True

    def get_initial_state(self, inputs: Any) -> list[Any]:
        """Return the states before the first step of a batch."""
        first = inputs[0] if self.time_major else inputs[:, 0]
        return nest.flatten(initial_states(self.cell, first, None, first.dtype))

    def __call__(self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any) -> Any:
        """Return the outputs; initial states and constants may stand behind the inputs in a list, too."""
        inputs, initial_state, constants = self._parted(inputs, initial_state, constants)
        self._num_constants = len(constants or []) or self._num_constants
        more = [*(initial_state or []), *(constants or [])]
        if not more:
            return super().__call__(inputs, **kwargs)
        specs, self.input_spec = self.input_spec, None
        try:
            return super().__call__([inputs, *more], **kwargs)
        finally:
            self.input_spec = specs

    def _parted(self, inputs: Any, initial_state: Any, constants: Any) -> tuple[Any, Any, Any]:
        """Return (inputs, initial states, constants) where they may be one list."""
        if isinstance(inputs, (list, tuple)):
            listed = list(inputs)
            if self._num_constants and len(listed) > self._num_constants and constants is None:
                constants, listed = listed[-self._num_constants:], listed[:-self._num_constants]
            if len(listed) > 1:
                initial_state = listed[1:]
            inputs = listed[0]
        return inputs, _listed(initial_state), _listed(constants)

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        """mask: bools (batch, steps). training: for dropout in the cell; None: the learning phase."""
        inputs, states, constants = self._parted(inputs, None, None)
        mask = mask[0] if isinstance(mask, (list, tuple)) else mask
        if states is None:
            states = list(self.states) if self.stateful else self.get_initial_state(inputs)
        if len(states) != len(self._state_sizes):
            raise ValueError(f"Layer {self.name!r} has {len(self._state_sizes)} states but was passed {len(states)} "
                             "initial states.")
        states = [ops.convert_to_tensor(each) for each in states]
        self._forget_masks()
        sizes = inputs.shape.as_list()
        steps = sizes[0 if self.time_major else 1]
        if self.unroll and steps is None:
            raise ValueError("Cannot unroll a RNN if the time dimension is undefined: pass batch_input_shape or "
                             f"input_shape with a number of steps. Got shape {inputs.shape}")
        extra = len(constants or [])

        def step(x: Any, old: Any) -> Any:
            known = {"constants": list(old[-extra:])} if extra else {}
            return self._step(x, list(old[:-extra] if extra else old), training, known)
        last, outputs, after = control.rnn(step, inputs, states, go_backwards=self.go_backwards, mask=mask,
                                           constants=constants, unroll=self.unroll, input_length=steps,
                                           time_major=self.time_major)
        if self.stateful:
            self.add_update([ops.assign(kept, new) for kept, new in zip(self.states, after, strict=True)])
        return self._shown(outputs if self.return_sequences else last, after, inputs)

    def _step(self, x: Any, states: list[Any], training: Any, known: dict[str, Any]) -> Any:
        if known:
            takes = {"training": training} if "training" in inspect.signature(self.cell.call).parameters else {}
            output, new = self.cell.call(x, states, **known, **takes)
            return output, nest.flatten(new)
        output, new = step_of(self.cell, x, states, training)
        return output, nest.flatten(new)

    def _shown(self, made: Any, states: list[Any], inputs: Any) -> Any:
        shapes = self.compute_output_shape(inputs.shape)
        shapes = shapes if isinstance(shapes, list) else [shapes]
        results = [made, *(states if self.return_state else [])]
        for each, shape in zip(results, shapes, strict=True):
            if isinstance(each, (list, tuple)):                 # a cell with a nest of outputs
                continue
            each.set_shape(shape)
        return results if self.return_state else made

    def _forget_masks(self) -> None:
        if isinstance(self.cell, (Cell, StackedRNNCells)):
            self.cell.reset_dropout_mask()
            self.cell.reset_recurrent_dropout_mask()

    def reset_states(self, states: Any = None) -> None:
        """Set the states that are kept to 0, or to arrays. Raises AttributeError if the layer is not stateful."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        if getattr(self, "_batch", None) is None:
            raise ValueError("If a RNN is stateful, it needs to know its batch size. Specify it by "
                             "`batch_input_shape` of the first layer, or by `batch_shape` of Input.")
        wanted = [[self._batch, *([size] if isinstance(size, int) else shape_list(size))]
                  for size in self._state_sizes]
        if self.states is None:
            self.states = [zeros(sizes, self.dtype, "states") for sizes in wanted]
        given = [np.zeros(sizes) for sizes in wanted] if states is None else [np.asarray(each) for each in
                                                                              _listed(states) or []]
        if [list(each.shape) for each in given] != wanted:
            raise ValueError(f"Layer {self.name} expects states of shapes {wanted}, got "
                             f"{[list(each.shape) for each in given]}")
        if states is not None or self.built:
            batch_set_value(list(zip(self.states, given, strict=True)))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        config = {**super().get_config(), **{name: getattr(self, name) for name in self._settings}}
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if type(self) is RNN:
            config["cell"] = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Return the layer with these arguments."""
        config = dict(config)
        constants = config.pop("num_constants", 0)
        if "cell" in config:
            config["cell"] = _cell(config["cell"], custom_objects)
        made = cls(**config)
        made._num_constants = constants
        return made


def _cell(given: dict[str, Any], custom_objects: Any) -> Any:
    if given["class_name"] == "StackedRNNCells":
        config = dict(given["config"])
        config["cells"] = [_cell(each, custom_objects) for each in config["cells"]]
        return StackedRNNCells(**config)
    return deserialize(given, custom_objects)


def _listed(value: Any) -> list[Any] | None:
    return list(value) if isinstance(value, (list, tuple)) else None if value is None else [value]


class Named(RNN):
    """A recurrent layer with a cell of its own, whose arguments it takes."""

    _cell_class: ClassVar[type[Cell]]
    _settings = tuple(name for name in RNN._settings if name != "time_major")

    def _begin(self, given: dict[str, Any]) -> None:
        """Make the cell of the constructor's `locals()`."""
        kwargs = dict(given["kwargs"])
        names = [name for name in self._cell_class._arguments if name in given]
        options = {name: kwargs[name] for name in ("dtype", "trainable") if name in kwargs}
        cell = self._cell_class(**{name: given[name] for name in names}, **options)
        super().__init__(cell, **{name: given[name] for name in self._settings if name in given},
                         activity_regularizer=regularizers.get(given["activity_regularizer"]), **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in type(self)._cell_class._arguments and "cell" in self.__dict__:
            return getattr(self.cell, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        cell = self.cell.get_config()
        taken = inspect.signature(type(self).__init__).parameters
        return {**{name: value for name, value in cell.items() if name in taken and name != "name"},
                **super().get_config(), "activity_regularizer": regularizers.serialize(self.activity_regularizer)}


class SimpleRNN(Named):
    """A fully connected recurrent layer: activation(x * kernel + h * recurrent_kernel + bias).

    >>> tf.keras.layers.SimpleRNN(4)(tf.ones([2, 3, 5])).shape.as_list()
    [2, 4]
    """

    _cell_class = SimpleRNNCell

    def __init__(self, units: int, activation: Any = "tanh", use_bias: bool = True,
                 kernel_initializer: Any = "glorot_uniform", recurrent_initializer: Any = "orthogonal",
                 bias_initializer: Any = "zeros", kernel_regularizer: Any = None, recurrent_regularizer: Any = None,
                 bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                 recurrent_constraint: Any = None, bias_constraint: Any = None, dropout: float = 0.0,
                 recurrent_dropout: float = 0.0, return_sequences: bool = False, return_state: bool = False,
                 go_backwards: bool = False, stateful: bool = False, unroll: bool = False, **kwargs: Any) -> None:
        self._begin(locals())


class GRU(Named):
    """Gated recurrent units (Cho et al., 2014); with reset_after as those of cuDNN.

    >>> tf.keras.layers.GRU(4)(tf.ones([2, 3, 5])).shape.as_list()
    [2, 4]
    """

    _cell_class = GRUCell

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "hard_sigmoid",
                 use_bias: bool = True, kernel_initializer: Any = "glorot_uniform",
                 recurrent_initializer: Any = "orthogonal", bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, recurrent_regularizer: Any = None, bias_regularizer: Any = None,
                 activity_regularizer: Any = None, kernel_constraint: Any = None, recurrent_constraint: Any = None,
                 bias_constraint: Any = None, dropout: float = 0.0, recurrent_dropout: float = 0.0,
                 implementation: int = 1, return_sequences: bool = False, return_state: bool = False,
                 go_backwards: bool = False, stateful: bool = False, unroll: bool = False,
                 reset_after: bool = False, **kwargs: Any) -> None:
        self._begin(locals())


class LSTM(Named):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997).

    >>> outputs, h, c = tf.keras.layers.LSTM(4, return_sequences=True, return_state=True)(tf.ones([2, 3, 5]))
    >>> outputs.shape.as_list(), h.shape.as_list()
    ([2, 3, 4], [2, 4])
    """

    _cell_class = LSTMCell

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "hard_sigmoid",
                 use_bias: bool = True, kernel_initializer: Any = "glorot_uniform",
                 recurrent_initializer: Any = "orthogonal", bias_initializer: Any = "zeros",
                 unit_forget_bias: bool = True, kernel_regularizer: Any = None, recurrent_regularizer: Any = None,
                 bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                 recurrent_constraint: Any = None, bias_constraint: Any = None, dropout: float = 0.0,
                 recurrent_dropout: float = 0.0, implementation: int = 1, return_sequences: bool = False,
                 return_state: bool = False, go_backwards: bool = False, stateful: bool = False,
                 unroll: bool = False, **kwargs: Any) -> None:
        self._begin(locals())


class CuDNNLSTMCell(LSTMCell):
    """The cell of `CuDNNLSTM`: sigmoid gates, two biases."""

    def _bias_shape(self) -> list[int]:
        return [8 * self.units]

    def _bias_start(self) -> Any:
        return forget_bias(self.units, self.bias_initializer, 5) if self.unit_forget_bias else self.bias_initializer

    def _bias(self) -> Any:
        bias = ops.convert_to_tensor(self.bias)
        return bias[:4 * self.units] + bias[4 * self.units:]


class CuDNNGRUCell(GRUCell):
    """The cell of `CuDNNGRU`: sigmoid gates, two biases, the reset gate behind the product of the states."""

    def _bias_shape(self) -> list[int]:
        return [6 * self.units]

    def _biases(self) -> tuple[Any, Any]:
        bias = ops.convert_to_tensor(self.bias)
        return bias[:3 * self.units], bias[3 * self.units:]


class _CuDNN(Named):
    """Recurrent layers with cuDNN's computation. They take no mask."""

    _settings = ("return_sequences", "return_state", "go_backwards", "stateful")

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        """Return the outputs. Raises ValueError for a mask."""
        if mask is not None and any(each is not None for each in nest.flatten(mask)):
            raise ValueError("Masking is not supported for CuDNN RNNs.")
        return super().call(inputs, None, training)


class CuDNNLSTM(_CuDNN):
    """Long short-term memory with the weights of cuDNN: sigmoid gates and biases (8 units). Runs on the CPU, too.

    >>> layer = tf.keras.layers.CuDNNLSTM(4)
    >>> layer(tf.ones([2, 3, 5])).shape.as_list(), [w.shape.as_list() for w in layer.weights]
    ([2, 4], [[5, 16], [4, 16], [32]])
    """

    _cell_class = CuDNNLSTMCell

    def __init__(self, units: int, kernel_initializer: Any = "glorot_uniform",
                 recurrent_initializer: Any = "orthogonal", bias_initializer: Any = "zeros",
                 unit_forget_bias: bool = True, kernel_regularizer: Any = None, recurrent_regularizer: Any = None,
                 bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                 recurrent_constraint: Any = None, bias_constraint: Any = None, return_sequences: bool = False,
                 return_state: bool = False, go_backwards: bool = False, stateful: bool = False,
                 **kwargs: Any) -> None:
        self._begin({**locals(), "recurrent_activation": "sigmoid"})


class CuDNNGRU(_CuDNN):
    """Gated recurrent units with the weights of cuDNN: sigmoid gates and biases (6 units). Runs on the CPU, too.

    >>> layer = tf.keras.layers.CuDNNGRU(4)
    >>> layer(tf.ones([2, 3, 5])).shape.as_list(), [w.shape.as_list() for w in layer.weights]
    ([2, 4], [[5, 12], [4, 12], [24]])
    """

    _cell_class = CuDNNGRUCell

    def __init__(self, units: int, kernel_initializer: Any = "glorot_uniform",
                 recurrent_initializer: Any = "orthogonal", bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, recurrent_regularizer: Any = None, bias_regularizer: Any = None,
                 activity_regularizer: Any = None, kernel_constraint: Any = None, recurrent_constraint: Any = None,
                 bias_constraint: Any = None, return_sequences: bool = False, return_state: bool = False,
                 go_backwards: bool = False, stateful: bool = False, **kwargs: Any) -> None:
        self._begin({**locals(), "recurrent_activation": "sigmoid", "reset_after": True})


describe(globals(), KERAS)
