"""LSTMs over time and frequency: `tf.contrib.rnn.TimeFreqLSTMCell`, `GridLSTMCell`, `BidirectionalGridLSTMCell`."""
from __future__ import annotations

from collections import namedtuple
from typing import Any

from tfnb.core.arguments import RECURRENT, describe
from tfnb.ops.array.create import zeros
from tfnb.ops.array.joining import concat, pad
from tfnb.ops.array.reshape import shape
from tfnb.ops.array.slicing import split
from tfnb.ops.math.functions import sigmoid, tanh
from tfnb.ops.nn.activations import bias_add
from tfnb.ops.reductions.clip import clip_by_value
from tfnb.ops.reductions.matmul import matmul
from tfnb.rnn.cells import RNNCell
from tfnb.variables.initializers import zeros_initializer
from tfnb.variables.scope import get_variable, get_variable_scope, variable_scope


class _Frequencies(RNNCell):
    """A cell that goes over its inputs by windows of feature_size, frequency_skip apart."""

    def __init__(self, num_units: int, use_peepholes: bool, cell_clip: float | None, initializer: Any,
                 num_unit_shards: int, forget_bias: float, feature_size: int | None, frequency_skip: int | None,
                 reuse: Any) -> None:
        super().__init__(_reuse=reuse)
        if num_unit_shards != 1:
            raise NotImplementedError(f"{type(self).__name__}: expected num_unit_shards=1, got {num_unit_shards}")
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._forget_bias = initializer, forget_bias
        self._feature_size, self._skip = feature_size, frequency_skip

    def _windows(self, inputs: Any, begin: int, size: int | None) -> list[Any]:
        """Return the windows of columns from `begin` on, of a range of `size` columns. Raises ValueError for an
        unknown size."""
        if size is None or self._feature_size is None or not self._skip:
            raise ValueError("expected inputs of a known size, feature_size and frequency_skip, got "
                             f"{inputs.shape}, {self._feature_size} and {self._skip}")
        count = (size - self._feature_size) // self._skip + 1
        starts = [begin + k * self._skip for k in range(count)]
        return [inputs[:, start:start + self._feature_size] for start in starts]

    def _diagonal(self, name: str, dtype: Any) -> Any:
        return get_variable(name, [self._num_units], dtype) if self._use_peepholes else 0.0

    def _sums(self, x: Any, count: int, kernel: str, bias: str) -> list[Any]:
        size = count * self._num_units
        product = matmul(x, get_variable(kernel, [x.shape.as_list()[1], size], x.dtype))
        found: list[Any] = split(bias_add(product, get_variable(
            bias, [size], x.dtype, initializer=zeros_initializer())), count, 1)
        return found

    def _clipped(self, c: Any) -> Any:
        return c if self._cell_clip is None else clip_by_value(c, -self._cell_clip, self._cell_clip)


def _named(name: str, parts: list[str]) -> Any:
    return namedtuple(name, parts)


def _batch(inputs: Any) -> Any:
    return inputs.shape.as_list()[0] or shape(inputs)[0]


class TimeFreqLSTMCell(_Frequencies):
    """An LSTM whose windows of frequencies see the output of the window before (Li et al., 2015). Variables: W_0, B.

    feature_size: of a window; frequency_skip: columns between two. cell_clip: the memory is cut to +- this. The state
    has 2 * num_units for each window: pass one where there are several, since state_size counts one.
    num_unit_shards: 1.

    >>> cell = tf.contrib.rnn.TimeFreqLSTMCell(4, feature_size=2, frequency_skip=2)
    >>> output, state = cell(tf.ones([2, 6]), tf.zeros([2, 3 * 8]))
    >>> output.shape.as_list(), state.shape.as_list()
    ([2, 12], [2, 24])
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, cell_clip: float | None = None,
                 initializer: Any = None, num_unit_shards: int = 1, forget_bias: float = 1.0,
                 feature_size: int | None = None, frequency_skip: int = 1, reuse: Any = None) -> None:
        super().__init__(num_units, use_peepholes, cell_clip, initializer, num_unit_shards, forget_bias, feature_size,
                         frequency_skip, reuse)

    @property
    def state_size(self) -> int:
        """Memory and output of one window."""
        return 2 * self._num_units

    @property
    def output_size(self) -> int:
        """The number of units."""
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (outputs of the windows side by side, next state)."""
        windows = self._windows(inputs, 0, inputs.shape.with_rank(2).as_list()[1])
        before = split(state, 2 * len(windows), 1)
        made: list[Any] = []
        with variable_scope(get_variable_scope(), initializer=self._initializer) as scope:
            forget, enter, leave = (self._diagonal(f"W_{gate}_diag", inputs.dtype) for gate in "FIO")
            m = zeros([_batch(inputs), self._num_units], inputs.dtype)
            for k, x in enumerate(windows):
                c, h = before[2 * k:2 * k + 2]
                with variable_scope(scope, reuse=True if k else None):
                    i, j, f, o = self._sums(concat([x, h, m], 1), 4, "W_0", "B")
                c = self._clipped(sigmoid(f + self._forget_bias + forget * c) * c + sigmoid(i + enter * c) * tanh(j))
                m = sigmoid(o + leave * c) * tanh(c)
                made += [c, m]
        return concat(made[1::2], 1), concat(made, 1)


class GridLSTMCell(_Frequencies):
    """A grid of LSTMs over time and frequency (Kalchbrenner et al., 2016). Variables: W_f_0_0, B_f_0, W_t_0_0...

    feature_size: of a window; frequency_skip: columns between two. num_frequency_blocks: list of the numbers of
    windows of each block, which start_freqindex_list and end_freqindex_list bound (None: one block).
    share_time_frequency_weights: time has the weights of frequency. couple_input_forget_gates: forget what enters not.
    cell_clip: memories are cut to +- this. num_unit_shards: 1. Raises ValueError without num_frequency_blocks, and
    where it does not fit the inputs.

    >>> cell = tf.contrib.rnn.GridLSTMCell(4, feature_size=2, frequency_skip=2, num_frequency_blocks=[3])
    >>> output, state = cell(tf.ones([2, 6]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), len(state), state.state_f00_b00_c.shape.as_list()
    ([2, 24], 6, [2, 4])
    """

    _directions: tuple[str, ...] = ("",)

    def __init__(self, num_units: int, use_peepholes: bool = False, share_time_frequency_weights: bool = False,
                 cell_clip: float | None = None, initializer: Any = None, num_unit_shards: int = 1,
                 forget_bias: float = 1.0, feature_size: int | None = None, frequency_skip: int | None = None,
                 num_frequency_blocks: Any = None, start_freqindex_list: Any = None, end_freqindex_list: Any = None,
                 couple_input_forget_gates: bool = False, state_is_tuple: bool = True, reuse: Any = None) -> None:
        super().__init__(num_units, use_peepholes, cell_clip, initializer, num_unit_shards, forget_bias, feature_size,
                         frequency_skip, reuse)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._shares, self._couples, self._state_is_tuple = \
            share_time_frequency_weights, couple_input_forget_gates, state_is_tuple
        self._blocks = list(num_frequency_blocks)
        self._starts, self._ends = list(start_freqindex_list or ()), list(end_freqindex_list or ())
        names = [f"{direction}state_f{k:02d}_b{block:02d}_{part}" for direction in self._directions
                 for block, count in enumerate(self._blocks) for k in range(count) for part in "cm"]
        self._type: Any = _named(f"{type(self).__name__[:-4]}StateTuple", names)

    @property
    def state_tuple_type(self) -> Any:
        """The named tuple of the state: memory and output of each window."""
        return self._type if self._state_is_tuple else None

    @property
    def state_size(self) -> Any:
        """Memory and output of each window."""
        sizes = self._type(*[self._num_units] * len(self._type._fields))
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """Outputs in time and in frequency of each window."""
        return self._num_units * len(self._type._fields)

    def _by_block(self, inputs: Any, offset: int = 0) -> list[list[Any]]:
        """Return the windows of each block, `offset` columns later. Raises ValueError for another number of them."""
        size = inputs.shape.with_rank(2).as_list()[1]
        if offset:
            inputs = pad(inputs, [[0, 0], [0, offset] if offset > 0 else [-offset, 0]])
        ranges = list(zip(self._starts, self._ends, strict=False)) or [(0, size)]
        if len(ranges) != len(self._blocks) or len(self._starts) != len(self._ends):
            raise ValueError(f"expected as many starts and ends as num_frequency_blocks, {len(self._blocks)}, "
                             f"got {len(self._starts)} and {len(self._ends)}")
        found = [self._windows(inputs, start + max(offset, 0), None if end is None else end - start)
                 for start, end in ranges]
        for windows, wanted in zip(found, self._blocks, strict=True):
            if len(windows) != wanted:
                raise ValueError(f"Invalid num_frequency_blocks, requires {wanted} but gets {len(windows)}: check the "
                                 "input size and filter config")
        return found

    def _gates(self, x: Any, letter: str, block: int, cs: tuple[Any, Any]) -> Any:
        """Return (input gate, forget gate, candidate, sum of the output gate, its diagonals) of frequency or time."""
        name = {"f": "freq", "t": "time"}[letter]
        parts = self._sums(x, 3 if self._couples else 4, f"W_{letter}_{block}_0", f"B_{letter}_{block}")
        i, j, o = parts[0], parts[1], parts[-1]

        def seen(gate: str) -> Any:
            return sum(self._diagonal(f"W_{gate}_diag_{name}{part}_{block}", x.dtype) * c
                       for part, c in zip("ft", cs, strict=True))
        enter = sigmoid(i + seen("I"))
        forget = 1.0 - enter if self._couples else sigmoid(parts[2] + self._forget_bias + seen("F"))
        return enter, forget, tanh(j), o, [self._diagonal(f"W_O_diag_{name}{part}_{block}", x.dtype) for part in "ft"]

    def _block(self, windows: list[Any], block: int, before: list[Any]) -> tuple[list[Any], list[Any]]:
        """Return (outputs, states) of the windows of a block. before: memory and output of each at the last step."""
        m_freq = c_freq = zeros([_batch(windows[0]), self._num_units], windows[0].dtype)
        outputs, states = [], []
        for k, window in enumerate(windows):
            c_time, m_time = before[2 * k:2 * k + 2]
            with variable_scope(get_variable_scope(), reuse=True if k else None):
                x, cs = concat([window, m_time, m_freq], 1), (c_freq, c_time)
                freq = self._gates(x, "f", block, cs)
                time = freq if self._shares else self._gates(x, "t", block, cs)
            c_freq = self._clipped(freq[1] * c_freq + freq[0] * freq[2])
            c_time = self._clipped(time[1] * c_time + time[0] * time[2])
            m_freq, m_time = (sigmoid(each[3] + each[4][0] * c_freq + each[4][1] * c_time) * tanh(c)
                              for each, c in ((freq, c_freq), (time, c_time)))
            states += [c_time, m_time]
            outputs += [m_time, m_freq]
        return outputs, states

    def _all_blocks(self, blocks: list[list[Any]], state: list[Any]) -> tuple[list[Any], list[Any]]:
        outputs: list[Any] = []
        states: list[Any] = []
        for block, windows in enumerate(blocks):
            before = state[len(states):len(states) + 2 * len(windows)]
            made, new = self._block(windows, block, before)
            outputs += made
            states += new
        return outputs, states

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (outputs in time and frequency of all windows, next state)."""
        parts = list(state) if self._state_is_tuple else split(state, len(self._type._fields), 1)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            outputs, states = self._all_blocks(self._by_block(inputs), parts)
        return concat(outputs, 1), self._type(*states) if self._state_is_tuple else concat(states, 1)


class BidirectionalGridLSTMCell(GridLSTMCell):
    """GridLSTMCell that goes over frequencies in both directions, with weights of their own in scopes fwd and bwd.

    backward_slice_offset: columns by which the windows of the way back are moved. share_time_frequency_weights,
    cell_clip, num_unit_shards, feature_size, frequency_skip, num_frequency_blocks, start_freqindex_list,
    end_freqindex_list, couple_input_forget_gates: as of GridLSTMCell.

    >>> cell = tf.contrib.rnn.BidirectionalGridLSTMCell(4, feature_size=2, frequency_skip=2, num_frequency_blocks=[3])
    >>> output, state = cell(tf.ones([2, 6]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), len(state), state.bwd_state_f00_b00_c.shape.as_list()
    ([2, 48], 12, [2, 4])
    """

    _directions = ("fwd_", "bwd_")

    def __init__(self, num_units: int, use_peepholes: bool = False, share_time_frequency_weights: bool = False,
                 cell_clip: float | None = None, initializer: Any = None, num_unit_shards: int = 1,
                 forget_bias: float = 1.0, feature_size: int | None = None, frequency_skip: int | None = None,
                 num_frequency_blocks: Any = None, start_freqindex_list: Any = None, end_freqindex_list: Any = None,
                 couple_input_forget_gates: bool = False, backward_slice_offset: int = 0, reuse: Any = None) -> None:
        super().__init__(num_units, use_peepholes, share_time_frequency_weights, cell_clip, initializer,
                         num_unit_shards, forget_bias, feature_size, frequency_skip, num_frequency_blocks,
                         start_freqindex_list, end_freqindex_list, couple_input_forget_gates, True, reuse)
        self._offset = int(backward_slice_offset)

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (outputs of both directions, next state)."""
        half, parts = len(state) // 2, list(state)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            with variable_scope("fwd"):
                outputs, states = self._all_blocks(self._by_block(inputs), parts[:half])
            with variable_scope("bwd"):
                back, more = self._all_blocks([windows[::-1] for windows in self._by_block(inputs, self._offset)],
                                              parts[half:])
        return concat(outputs + back, 1), self._type(*states, *more)


describe(globals(), RECURRENT)
