"""Recurrent cells of Keras: one step over time, with dropout masks that all steps of a call share."""
from __future__ import annotations

import inspect
from typing import Any, ClassVar

from tfnb.core import nest
from tfnb.core.arguments import KERAS, describe
from tfnb.keras.backend import ops
from tfnb.keras.backend.control import in_train_phase
from tfnb.keras.engine.layer import Layer
from tfnb.keras.layers.described import Described, shape_list


class AbstractRNNCell(Layer):
    """Base of the recurrent cells of programs: `call(inputs, states)` returns (output, new states).

    Subclasses define `call`, the property `state_size` (an integer, a shape, or a list of them) and output_size.

    >>> class Sum(tf.keras.layers.AbstractRNNCell):
    ...     state_size = output_size = 2
    ...     def call(self, inputs, states):
    ...         total = inputs + states[0]
    ...         return total, [total]
    >>> sess.run(tf.keras.layers.RNN(Sum())(tf.ones([1, 3, 2])))
    array([[3., 3.]], dtype=float32)
    """

    state_size: Any
    output_size: Any

    def call(self, inputs: Any, states: Any) -> Any:
        """Return (output, new states) of one step."""
        raise NotImplementedError(f"{type(self).__name__} must define call(inputs, states)")

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Return zeros of the sizes of the states."""
        return zero_states(self, inputs, batch_size, dtype)


def zero_states(cell: Any, inputs: Any, batch_size: Any, dtype: Any) -> Any:
    """Return zeros for each state of a cell; batch and dtype are those of `inputs`, if they are given."""
    if inputs is not None:
        sizes: Any = ops.shape(inputs)
        batch_size, dtype = sizes[0], inputs.dtype
    if batch_size is None or dtype is None:
        raise ValueError(f"batch_size and dtype cannot be None while constructing initial state: "
                         f"batch_size={batch_size}, dtype={dtype}")

    def zeros(size: Any) -> Any:
        inner = [size] if isinstance(size, int) else shape_list(size)
        made = ops.zeros(ops.stack([batch_size, *inner]), dtype)
        return made
    sizes_ = cell.state_size
    if isinstance(sizes_, (list, tuple)):
        return [zeros(size) for size in sizes_]
    return zeros(sizes_)


class Cell(Described, AbstractRNNCell):
    """Cells with a kernel for the inputs, one for the states, and biases, for a number of gates."""

    gates: int
    _arguments: ClassVar[tuple[str, ...]] = (
        "units", "activation", "use_bias", "kernel_initializer", "recurrent_initializer", "bias_initializer",
        "kernel_regularizer", "recurrent_regularizer", "bias_regularizer", "kernel_constraint", "recurrent_constraint",
        "bias_constraint", "dropout", "recurrent_dropout")
    units: int
    use_bias: bool
    activation: Any
    recurrent_activation: Any
    bias: Any

    def _settle(self, given: dict[str, Any]) -> None:
        """Keep the arguments of the constructor, its `locals()`."""
        self._keep(**{name: given[name] for name in self._arguments})
        for name in ("dropout", "recurrent_dropout"):
            setattr(self, name, min(1.0, max(0.0, given[name])))
        self.state_size = self.output_size = self.units
        self.reset_dropout_mask()
        self.reset_recurrent_dropout_mask()

    def build(self, input_shape: Any) -> None:
        """Make the kernels and the bias."""
        self.kernel = self.add_weight("kernel", [shape_list(input_shape)[-1], self.units * self.gates], None,
                                      self.kernel_initializer, self.kernel_regularizer, True, self.kernel_constraint)
        self.recurrent_kernel = self.add_weight(
            "recurrent_kernel", [self.units, self.units * self.gates], None, self.recurrent_initializer,
            self.recurrent_regularizer, True, self.recurrent_constraint)
        self.bias = self.add_weight("bias", self._bias_shape(), None, self._bias_start(), self.bias_regularizer, True,
                                    self.bias_constraint) if self.use_bias else None
        self.built = True

    def _bias_shape(self) -> list[int]:
        return [self.units * self.gates]

    def _bias_start(self) -> Any:
        return self.bias_initializer

    def reset_dropout_mask(self) -> None:
        """Forget the dropout masks of the inputs: the next call makes new ones."""
        self._masks: Any = None

    def reset_recurrent_dropout_mask(self) -> None:
        """Forget the dropout masks of the states: the next call makes new ones."""
        self._recurrent_masks: Any = None

    def _masks_of(self, x: Any, rate: float, training: Any, count: int) -> list[Any]:
        ones = ops.ones_like(x)
        return [in_train_phase(lambda: ops.dropout(ones, rate=rate), ones, training) for _ in range(count)]

    def get_dropout_mask_for_cell(self, inputs: Any, training: Any, count: int = 1) -> Any:
        """Return the masks of the inputs, the same until they are reset; None without dropout."""
        if self.dropout and self._masks is None:
            self._masks = self._masks_of(inputs, self.dropout, training, count)
        return self._masks

    def get_recurrent_dropout_mask_for_cell(self, inputs: Any, training: Any, count: int = 1) -> Any:
        """Return the masks of the states, the same until they are reset; None without dropout."""
        if self.recurrent_dropout and self._recurrent_masks is None:
            self._recurrent_masks = self._masks_of(inputs, self.recurrent_dropout, training, count)
        return self._recurrent_masks

    dropout: float
    recurrent_dropout: float
    implementation = 1

    def _products(self, x: Any, kernel: Any, masks: Any, bias: Any = None) -> list[Any]:
        """Return the product of `x` and the kernel of each gate, plus the bias."""
        if masks is None or self.implementation != 1:
            x = x if masks is None else x * masks[0]
            made = ops.matmul(x, kernel)
            made = made if bias is None else ops.bias_add(made, bias)
            return list(ops.split(made, self.gates, axis=1)) if self.gates > 1 else [made]
        parts = ops.split(kernel, self.gates, axis=1) if self.gates > 1 else [kernel]
        products = [ops.matmul(x * mask, part) for mask, part in zip(masks, parts, strict=True)]
        if bias is None:
            return products
        biases = ops.split(bias, self.gates) if self.gates > 1 else [bias]
        return [ops.bias_add(made, part) for made, part in zip(products, biases, strict=True)]


class SimpleRNNCell(Cell):
    """A fully connected cell: activation(x * kernel + h * recurrent_kernel + bias).

    >>> cell = tf.keras.layers.SimpleRNNCell(4)
    >>> tf.keras.layers.RNN(cell)(tf.ones([2, 3, 5])).shape.as_list()
    [2, 4]
    """

    gates = 1

    def __init__(self, units: int, activation: Any = "tanh", use_bias: bool = True,
                 kernel_initializer: Any = "glorot_uniform", recurrent_initializer: Any = "orthogonal",
                 bias_initializer: Any = "zeros", kernel_regularizer: Any = None, recurrent_regularizer: Any = None,
                 bias_regularizer: Any = None, kernel_constraint: Any = None, recurrent_constraint: Any = None,
                 bias_constraint: Any = None, dropout: float = 0.0, recurrent_dropout: float = 0.0,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._settle(locals())

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        """Return (output, [output]) of one step."""
        before = states[0]
        masks = self.get_dropout_mask_for_cell(inputs, training)
        recurrent = self.get_recurrent_dropout_mask_for_cell(before, training)
        made = self._products(inputs, self.kernel, masks, self.bias)[0]
        output = self.activation(made + self._products(before, self.recurrent_kernel, recurrent)[0])
        return output, [output]


class GRUCell(Cell):
    """Gated recurrent unit (Cho et al., 2014): gates z, r and candidate h; z * h_before + (1 - z) * h.

    Variables: kernel (inputs, 3 units), recurrent_kernel (units, 3 units), bias (3 units); with reset_after bias is
    (2, 3 units), and the reset gate is applied to the product of the states.

    >>> cell = tf.keras.layers.GRUCell(4)
    >>> tf.keras.layers.RNN(cell)(tf.ones([2, 3, 5])).shape.as_list()
    [2, 4]
    """

    gates = 3
    _arguments: ClassVar[tuple[str, ...]] = (*Cell._arguments, "recurrent_activation", "implementation", "reset_after")

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "hard_sigmoid",
                 use_bias: bool = True, kernel_initializer: Any = "glorot_uniform",
                 recurrent_initializer: Any = "orthogonal", bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, recurrent_regularizer: Any = None, bias_regularizer: Any = None,
                 kernel_constraint: Any = None, recurrent_constraint: Any = None, bias_constraint: Any = None,
                 dropout: float = 0.0, recurrent_dropout: float = 0.0, implementation: int = 1,
                 reset_after: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._settle(locals())

    reset_after: bool

    def _bias_shape(self) -> list[int]:
        return [2, 3 * self.units] if self.reset_after else [3 * self.units]

    def _biases(self) -> tuple[Any, Any]:
        """Return the bias of the inputs and that of the states."""
        if not self.use_bias or not self.reset_after:
            return self.bias, None
        first, second = ops.unstack(self.bias)
        return first, second

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        """Return (output, [output]) of one step."""
        before = states[0]
        masks = self.get_dropout_mask_for_cell(inputs, training, 3)
        recurrent = self.get_recurrent_dropout_mask_for_cell(before, training, 3)
        bias, recurrent_bias = self._biases()
        xz, xr, xh = self._products(inputs, self.kernel, masks, bias)
        if self.reset_after:
            hz, hr, hh = self._products(before, self.recurrent_kernel, recurrent, recurrent_bias)
            z, r = self.recurrent_activation(xz + hz), self.recurrent_activation(xr + hr)
            candidate = self.activation(xh + r * hh)
        else:
            z, r, candidate = self._reset_before(before, recurrent, xz, xr, xh)
        output = z * before + (1 - z) * candidate
        return output, [output]

    def _reset_before(self, before: Any, masks: Any, xz: Any, xr: Any, xh: Any) -> tuple[Any, Any, Any]:
        kz, kr, kh = ops.split(self.recurrent_kernel, 3, axis=1)
        masks = masks if masks is None or self.implementation == 1 else [masks[0]] * 3
        hz, hr, hh = [before] * 3 if masks is None else [before * mask for mask in masks]
        z = self.recurrent_activation(xz + ops.matmul(hz, kz))
        r = self.recurrent_activation(xr + ops.matmul(hr, kr))
        return z, r, self.activation(xh + ops.matmul(r * hh, kh))


class LSTMCell(Cell):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997): states [h, c].

    Variables: kernel (inputs, 4 units), recurrent_kernel (units, 4 units), bias (4 units), of the gates input,
    forget, candidate, output.

    >>> cell = tf.keras.layers.LSTMCell(4)
    >>> tf.keras.layers.RNN(cell)(tf.ones([2, 3, 5])).shape.as_list()
    [2, 4]
    """

    gates = 4
    _arguments: ClassVar[tuple[str, ...]] = (
        *Cell._arguments, "recurrent_activation", "unit_forget_bias", "implementation")

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "hard_sigmoid",
                 use_bias: bool = True, kernel_initializer: Any = "glorot_uniform",
                 recurrent_initializer: Any = "orthogonal", bias_initializer: Any = "zeros",
                 unit_forget_bias: bool = True, kernel_regularizer: Any = None, recurrent_regularizer: Any = None,
                 bias_regularizer: Any = None, kernel_constraint: Any = None, recurrent_constraint: Any = None,
                 bias_constraint: Any = None, dropout: float = 0.0, recurrent_dropout: float = 0.0,
                 implementation: int = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._settle(locals())
        self.state_size = [self.units, self.units]

    unit_forget_bias: bool
    bias_initializer: Any

    def _bias_start(self) -> Any:
        return forget_bias(self.units, self.bias_initializer, 1) if self.unit_forget_bias else self.bias_initializer

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        """Return (output, [h, c]) of one step."""
        h, c = states
        masks = self.get_dropout_mask_for_cell(inputs, training, 4)
        recurrent = self.get_recurrent_dropout_mask_for_cell(h, training, 4)
        xs = self._products(inputs, self.kernel, masks, self._bias())
        hs = self._products(h, self.recurrent_kernel, recurrent)
        return self._step([a + b for a, b in zip(xs, hs, strict=True)], c)

    def _step(self, gates: list[Any], c: Any) -> Any:
        return lstm_step(gates, c, self.activation, self.recurrent_activation)

    def _bias(self) -> Any:
        return self.bias


class PeepholeLSTMCell(LSTMCell):
    """LSTMCell whose gates see the memory, too, through diagonal matrices (Gers et al., 2002).

    Further variables: input_gate_peephole_weights, forget_gate_peephole_weights, output_gate_peephole_weights, (units,)
    each. Arguments as of LSTMCell.

    >>> cell = tf.keras.experimental.PeepholeLSTMCell(4)
    >>> tf.keras.layers.RNN(cell)(tf.ones([2, 3, 5])).shape.as_list(), len(cell.weights)
    ([2, 4], 6)
    """

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        super().build(input_shape)
        self.peepholes = [
            self.add_weight(f"{gate}_gate_peephole_weights", (self.units,), initializer=self.kernel_initializer)
            for gate in ("input", "forget", "output")]

    def _step(self, gates: list[Any], c: Any) -> Any:
        i, f, candidate, o = gates
        of_input, of_forget, of_output = self.peepholes
        new = self.recurrent_activation(f + of_forget * c) * c + self.recurrent_activation(
            i + of_input * c) * self.activation(candidate)
        h = self.recurrent_activation(o + of_output * new) * self.activation(new)
        return h, [h, new]


def forget_bias(units: int, initializer: Any, before: int) -> Any:
    """Return an initializer of biases: ones for the forget gate, behind `before` gates, by another one for the rest."""
    def start(shape: Any, dtype: Any = None, **unused: Any) -> Any:
        rest = (shape_list(shape)[0] or 0) - (before + 1) * units
        return ops.concat([initializer([before * units], dtype=dtype), ops.ones([units], dtype),
                           initializer([rest], dtype=dtype)], 0)
    return start


def lstm_step(gates: list[Any], c: Any, activation: Any, recurrent_activation: Any) -> tuple[Any, list[Any]]:
    """Return (output, [h, c]) of the sums of the gates input, forget, candidate, output."""
    i, f, candidate, o = gates
    c = recurrent_activation(f) * c + recurrent_activation(i) * activation(candidate)
    h = recurrent_activation(o) * activation(c)
    return h, [h, c]


class StackedRNNCells(Layer):
    """Cells of which each gets the output of the one before. cells: a list of them.

    >>> cells = tf.keras.layers.StackedRNNCells([tf.keras.layers.LSTMCell(4), tf.keras.layers.GRUCell(6)])
    >>> tf.keras.layers.RNN(cells)(tf.ones([2, 3, 5])).shape.as_list()
    [2, 6]
    """

    def __init__(self, cells: Any, **kwargs: Any) -> None:
        for cell in cells:
            if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
                raise ValueError(f"All cells must have a `call` method and a `state_size`, got {cell!r}")
        super().__init__(**kwargs)
        self.cells = list(cells)

    @property
    def state_size(self) -> Any:
        """The sizes of the states of each cell."""
        return tuple(cell.state_size for cell in self.cells)

    @property
    def output_size(self) -> Any:
        """The size of the output of the last cell."""
        return output_size(self.cells[-1])

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Return the initial states of each cell."""
        return tuple(initial_states(cell, inputs, batch_size, dtype) for cell in self.cells)

    def build(self, input_shape: Any) -> None:
        """Make the variables of the cells."""
        sizes = shape_list(input_shape)
        for cell in self.cells:
            if not cell.built:
                cell.build(sizes)
                cell.built = True
            size = output_size(cell)
            sizes = [sizes[0], *([size] if isinstance(size, int) else shape_list(size))]
        self.built = True

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        """Return (output, states of each cell) of one step."""
        states = nest.pack_sequence_as(self.state_size, nest.flatten(states))
        new = []
        for cell, each in zip(self.cells, states, strict=True):
            listed = each if isinstance(each, (list, tuple)) else [each]
            inputs, after = step_of(cell, inputs, listed, training)
            new.append(list(after) if isinstance(each, (list, tuple)) else after[0])
        return inputs, nest.pack_sequence_as(self.state_size, nest.flatten(new))

    def reset_dropout_mask(self) -> None:
        """Forget the dropout masks of the inputs of the cells."""
        for cell in self.cells:
            if isinstance(cell, Cell):
                cell.reset_dropout_mask()

    def reset_recurrent_dropout_mask(self) -> None:
        """Forget the dropout masks of the states of the cells."""
        for cell in self.cells:
            if isinstance(cell, Cell):
                cell.reset_recurrent_dropout_mask()

    def get_config(self) -> dict[str, Any]:
        """Return the cells as dicts."""
        cells = [{"class_name": type(cell).__name__, "config": cell.get_config()} for cell in self.cells]
        return {**super().get_config(), "cells": cells}


def output_size(cell: Any) -> Any:
    """Return the output size of a cell: by default the size of its first state."""
    found = getattr(cell, "output_size", None)
    if found is not None:
        return found
    return cell.state_size[0] if isinstance(cell.state_size, (list, tuple)) else cell.state_size


def initial_states(cell: Any, inputs: Any, batch_size: Any = None, dtype: Any = None) -> Any:
    """Return the initial states of a cell: its own, or zeros."""
    own = getattr(cell, "get_initial_state", None)
    return zero_states(cell, inputs, batch_size, dtype) if own is None else own(
        inputs=inputs, batch_size=batch_size, dtype=dtype)


def step_of(cell: Any, inputs: Any, states: Any, training: Any) -> tuple[Any, list[Any]]:
    """Return (output, new states as a list) of a cell's step; it gets `training` where it takes that."""
    known = {"training": training} if "training" in inspect.signature(cell.call).parameters else {}
    output, new = cell.call(inputs, states, **known)
    return output, list(new) if isinstance(new, (list, tuple)) else [new]


describe(globals(), KERAS)
