"""Recurrent cells: `tf.nn.rnn_cell`. A cell is a layer (inputs, state) -> (output, next state)."""
from __future__ import annotations

from collections import namedtuple
from typing import Any

from tfnb.core import dtypes, nest
from tfnb.core.arguments import RECURRENT, describe
from tfnb.core.dtypes import as_dtype
from tfnb.core.program import log
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import name_scope
from tfnb.layers.base import Layer
from tfnb.layers.choices import activation_of, initializer_of
from tfnb.layers.input_spec import InputSpec
from tfnb.layers.weighted import channel_size
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import shape
from tfnb.ops.array.slicing import slice_, split
from tfnb.ops.control.source import constant
from tfnb.ops.math.arithmetic import add, multiply
from tfnb.ops.math.functions import sigmoid, tanh
from tfnb.ops.nn.activations import bias_add
from tfnb.ops.reductions.clip import clip_by_value
from tfnb.ops.reductions.matmul import matmul
from tfnb.rnn.cell_shapes import zero_states
from tfnb.variables.initializers import constant_initializer, zeros_initializer
from tfnb.variables.partitioners import fixed_size_partitioner
from tfnb.variables.scope import get_variable_scope, variable_scope


def assert_like_rnncell(name: str, cell: Any) -> None:
    """Raises TypeError, naming the argument, if this is not a cell."""
    def has(attribute: str) -> bool:
        """Return whether the attribute is there. One that raises NotImplementedError is."""
        try:
            getattr(cell, attribute)
        except AttributeError:
            return False
        except NotImplementedError:
            pass
        return True
    missing = [text for text, found in (
        ("'output_size' property is missing", has("output_size")),
        ("'state_size' property is missing", has("state_size")),
        ("either 'zero_state' or 'get_initial_state' method is required", has("zero_state") or
         has("get_initial_state")),
        ("is not callable", callable(cell))) if not found]
    if missing:
        raise TypeError(f"The argument {name!r} ({cell}) is not an RNNCell: {', '.join(missing)}.")


class RNNCell(Layer):
    """A recurrent cell to subclass: `state_size`, `output_size` and `call(inputs, state)` -> (output, next state).

    Sizes are integers, TensorShapes, or tuples of these. `call` may make variables by `tf.get_variable`: later calls
    share them.

    >>> class Sum(tf.contrib.rnn.RNNCell):
    ...     state_size = output_size = 3
    ...     def call(self, inputs, state):
    ...         return state + inputs, state + inputs
    >>> outputs, state = tf.nn.dynamic_rnn(Sum(), tf.ones([1, 4, 3]), dtype=tf.float32)
    >>> sess.run(state)
    array([[4., 4., 4.]], dtype=float32)
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """(output, next state) for inputs (batch, size) and a state in the structure of `state_size`."""
        if scope is not None:
            with variable_scope(scope, custom_getter=self._rnn_get_variable) as opened:
                return super().__call__(inputs, state, scope=opened)
        around = vars(self).get("_around")
        if around is None:
            around = self._around = variable_scope(get_variable_scope(), custom_getter=self._rnn_get_variable)
        with around:
            return super().__call__(inputs, state)

    def _rnn_get_variable(self, getter: Any, *args: Any, **kwargs: Any) -> Any:
        variable = getter(*args, **kwargs)
        self._track(variable)
        return variable

    def build(self, input_shape: Any) -> None:
        """Nothing: `call` makes the variables."""

    @property
    def state_size(self) -> Any:
        """The size of the state, or the sizes of its parts."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """The state to begin with, by default zeros, for inputs, or for a batch size and a dtype.

        Raises ValueError if neither is given.
        """
        if inputs is not None:
            inputs = convert_to_tensor(inputs, name="inputs")
            sizes: Any = inputs.shape.as_list()
            dynamic: Any = None if sizes[0] else shape(inputs)
            batch_size, dtype = sizes[0] or dynamic[0], inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError("batch_size and dtype cannot be None while constructing initial state: batch_size="
                             f"{batch_size}, dtype={dtype}")
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros (batch_size, size) in the structure of `state_size`."""
        with name_scope(f"{type(self).__name__}ZeroState"):
            return zero_states(self.state_size, batch_size, dtype)


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, as other layers do.

    >>> issubclass(tf.nn.rnn_cell.GRUCell, tf.contrib.rnn.LayerRNNCell)
    True
    """

    def __init__(self, num_units: int, activation: Any = None, reuse: Any = None, name: Any = None, dtype: Any = None,
                 **kwargs: Any) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        _check_dtype(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation: Any = (activation_of(activation) or _same) if activation else tanh

    def __call__(self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kwargs: Any) -> Any:
        """(output, next state) for inputs (batch, size) and a state in the structure of `state_size`."""
        for tensor in nest.flatten([inputs, state]):
            _check_dtype(getattr(tensor, "dtype", None))
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)

    def _depth(self, input_shape: Any) -> int:
        _check_dtype(self.dtype)
        return channel_size(TensorShape(input_shape), -1, "last dimension")

    @property
    def state_size(self) -> Any:
        """The number of units."""
        return self._num_units

    @property
    def output_size(self) -> Any:
        """The number of units."""
        return self._num_units


def _same(x: Any) -> Any:
    return x


def _check_dtype(dtype: Any) -> None:
    found = None if dtype is None else as_dtype(dtype)
    if found is not None and not (found.is_floating or found.is_complex):
        raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {found.name}")


def _affine(parts: list[Any], kernel: Any, bias: Any) -> Any:
    return bias_add(matmul(concat(parts, 1), kernel), bias)


class BasicRNNCell(LayerRNNCell):
    """output = next state = activation((inputs, state) * kernel + bias). Variables: kernel, bias.

    >>> cell = tf.nn.rnn_cell.BasicRNNCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), cell.state_size
    ([2, 4], 4)
    """

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        depth = self._depth(input_shape)
        self._kernel = self.add_variable("kernel", [depth + self._num_units, self._num_units])
        self._bias = self.add_variable("bias", [self._num_units], initializer=zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """The output, twice."""
        output = self._activation(_affine([inputs, state], self._kernel, self._bias))
        return output, output


class GRUCell(LayerRNNCell):
    """A gated recurrent unit (Cho et al., 2014). Variables: gates/kernel, gates/bias, candidate/kernel, candidate/bias.

    bias_initializer: by default 1 for the gates, so that they begin open, and 0 for the candidate.

    >>> cell = tf.nn.rnn_cell.GRUCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), [v.name for v in tf.trainable_variables()]
    ([2, 4],
     ['gru_cell/gates/kernel:0',
      'gru_cell/gates/bias:0',
      'gru_cell/candidate/kernel:0',
      'gru_cell/candidate/bias:0'])
    """

    def __init__(self, num_units: int, activation: Any = None, reuse: Any = None, kernel_initializer: Any = None,
                 bias_initializer: Any = None, name: Any = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._kernel_initializer = initializer_of(kernel_initializer)
        self._bias_initializer = initializer_of(bias_initializer)

    def build(self, input_shape: Any) -> None:
        """Make kernels and biases."""
        units, dtype = self._num_units, self.dtype
        rows = self._depth(input_shape) + units
        given = self._bias_initializer
        self._gate_kernel = self.add_variable("gates/kernel", [rows, 2 * units], initializer=self._kernel_initializer)
        self._gate_bias = self.add_variable(
            "gates/bias", [2 * units],
            initializer=constant_initializer(1.0, dtype=dtype) if given is None else given)
        self._candidate_kernel = self.add_variable("candidate/kernel", [rows, units],
                                                   initializer=self._kernel_initializer)
        self._candidate_bias = self.add_variable(
            "candidate/bias", [units], initializer=zeros_initializer(dtype=dtype) if given is None else given)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """The next state, twice."""
        gates = sigmoid(_affine([inputs, state], self._gate_kernel, self._gate_bias))
        reset, keep = split(value=gates, num_or_size_splits=2, axis=1)
        candidate = _affine([inputs, reset * state], self._candidate_kernel, self._candidate_bias)
        made = self._activation(candidate)
        output = keep * state + (1 - keep) * made
        return output, output


class LSTMStateTuple(namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM: the memory `c`, and the output `h`.

    >>> state = tf.contrib.rnn.LSTMStateTuple(c=tf.zeros([2, 4]), h=tf.zeros([2, 4]))
    >>> output, following = tf.contrib.rnn.BasicLSTMCell(4)(tf.ones([2, 3]), state)
    >>> following.h.shape.as_list()
    [2, 4]
    """

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The dtype of both. Raises TypeError if they differ."""
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


class BasicLSTMCell(LayerRNNCell):
    """A long short-term memory (Hochreiter and Schmidhuber, 1997) without peepholes. Variables: kernel, bias.

    forget_bias: added to the forget gates, so that they begin open. state_is_tuple: the state is an LSTMStateTuple;
    else c and h side by side in one tensor. The gates stand in the order input, new value, forget, output.

    >>> cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), state.c.shape.as_list(), state.h.shape.as_list()
    ([2, 4], [2, 4], [2, 4])
    """

    def __init__(self, num_units: int, forget_bias: Any = 1.0, state_is_tuple: bool = True, activation: Any = None,
                 reuse: Any = None, name: Any = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        _warn_of_single_states(self, state_is_tuple)
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple

    @property
    def state_size(self) -> Any:
        """An LSTMStateTuple of sizes, or the sum of both."""
        return LSTMStateTuple(self._num_units, self._num_units) if self._state_is_tuple else 2 * self._num_units

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        depth = self._depth(input_shape)
        self._kernel = self.add_variable("kernel", [depth + self._num_units, 4 * self._num_units])
        self._bias = self.add_variable("bias", [4 * self._num_units], initializer=zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """(h, the next state)."""
        one = constant(1, dtype=dtypes.int32)
        c, h = state if self._state_is_tuple else split(value=state, num_or_size_splits=2, axis=one)
        gates = _affine([inputs, h], self._kernel, self._bias)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=one)
        bias = constant(self._forget_bias, dtype=f.dtype)
        kept = multiply(c, sigmoid(add(f, bias)))
        new_c = add(kept, multiply(sigmoid(i), self._activation(j)))
        new_h = multiply(self._activation(new_c), sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h) if self._state_is_tuple else concat([new_c, new_h], 1)


def _warn_of_single_states(cell: Any, state_is_tuple: bool) -> None:
    if not state_is_tuple:
        log.warning("%s: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.",
                    cell)


class LSTMCell(LayerRNNCell):
    """A long short-term memory with what came later (Sak et al., 2014).

    use_peepholes: gates see the memory, through the variables w_f_diag, w_i_diag and w_o_diag. cell_clip: the memory
    is cut to [-cell_clip, cell_clip]. num_proj: the output is projected to this size by projection/kernel, and cut by
    proj_clip. initializer: of all variables but the bias. num_unit_shards, num_proj_shards: in how many parts the
    kernels are. Other arguments as of BasicLSTMCell.

    >>> cell = tf.contrib.rnn.LSTMCell(4, num_proj=2)
    >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 7, 3]), dtype=tf.float32)
    >>> outputs.shape.as_list(), state.c.shape.as_list(), state.h.shape.as_list()
    ([2, 7, 2], [2, 4], [2, 2])
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, cell_clip: Any = None, initializer: Any = None,
                 num_proj: int | None = None, proj_clip: Any = None, num_unit_shards: int | None = None,
                 num_proj_shards: int | None = None, forget_bias: Any = 1.0, state_is_tuple: bool = True,
                 activation: Any = None, reuse: Any = None, name: Any = None, dtype: Any = None,
                 **kwargs: Any) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        _warn_of_single_states(self, state_is_tuple)
        self._use_peepholes, self._cell_clip = use_peepholes, cell_clip
        self._initializer = initializer_of(initializer)
        self._num_proj, self._proj_clip = num_proj or None, proj_clip
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple

    @property
    def state_size(self) -> Any:
        """An LSTMStateTuple of sizes, or the sum of both."""
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """The size of the projection, if there is one, else the number of units."""
        return self._num_proj or self._num_units

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        depth, units, start = self._depth(input_shape), self._num_units, self._initializer
        self._kernel = self.add_variable("kernel", [depth + self.output_size, 4 * units], initializer=start,
                                         partitioner=_parts(self._num_unit_shards))
        self._bias = self.add_variable("bias", [4 * units], initializer=zeros_initializer(dtype=self.dtype))
        if self._use_peepholes:
            self._w_f_diag = self.add_variable("w_f_diag", [units], initializer=start)
            self._w_i_diag = self.add_variable("w_i_diag", [units], initializer=start)
            self._w_o_diag = self.add_variable("w_o_diag", [units], initializer=start)
        if self._num_proj is not None:
            self._proj_kernel = self.add_variable("projection/kernel", [units, self._num_proj], initializer=start,
                                                  partitioner=_parts(self._num_proj_shards))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """(h, the next state)."""
        if self._state_is_tuple:
            before, h = state
        else:
            before = slice_(state, [0, 0], [-1, self._num_units])
            h = slice_(state, [0, self._num_units], [-1, self.output_size])
        i, j, f, o = split(value=_affine([inputs, h], self._kernel, self._bias), num_or_size_splits=4, axis=1)
        if self._use_peepholes:
            c = (sigmoid(f + self._forget_bias + self._w_f_diag * before) * before +
                 sigmoid(i + self._w_i_diag * before) * self._activation(j))
        else:
            c = sigmoid(f + self._forget_bias) * before + sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = clip_by_value(c, -self._cell_clip, self._cell_clip)
        m = self._projected(sigmoid(o + self._w_o_diag * c if self._use_peepholes else o) * self._activation(c))
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else concat([c, m], 1)

    def _projected(self, m: Any) -> Any:
        if self._num_proj is None:
            return m
        m = matmul(m, self._proj_kernel)
        return m if self._proj_clip is None else clip_by_value(m, -self._proj_clip, self._proj_clip)


def _parts(shards: int | None) -> Any:
    return None if shards is None else fixed_size_partitioner(shards)


describe(globals(), RECURRENT)
