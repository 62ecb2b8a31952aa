"""Recurrent cells and networks: numbers, variables and graphs beside those of TensorFlow's own cells."""
from __future__ import annotations

import copy
import difflib

import numpy as np
import pytest

import tfnb as tf
from tests.graph_rows import rows_here, rows_there

# TensorFlow 2.21 keeps the cells of 1.x for its own use.
THEIRS = """
import warnings
warnings.simplefilter("ignore")
from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl as cells
"""
OURS = "cells = tf.nn.rnn_cell\n"
START = """
import numpy
def numbers(*shape):
    return tf.constant(numpy.random.RandomState(1).normal(size=shape).astype("float32"))
x, steps = numbers(2, 3, 5), [numbers(2, 4), numbers(2, 4) * .5, -numbers(2, 4)]
tf.get_variable_scope().set_initializer(tf.random_normal_initializer(stddev=.5, seed=3))
options = dict(dtype=tf.float32)
"""
PROGRAMS = {
    "basic": "made = tf.nn.dynamic_rnn(cells.BasicRNNCell(4), x, **options)",
    "gru": "made = tf.nn.dynamic_rnn(cells.GRUCell(4), x, time_major=True, **options)",
    "basic lstm": "made = tf.nn.dynamic_rnn(cells.BasicLSTMCell(4, forget_bias=.5), x, **options)",
    "lstm": "made = tf.nn.dynamic_rnn(cells.LSTMCell(4), x, scope='mine', **options)",
    "peepholes": "made = tf.nn.dynamic_rnn(cells.LSTMCell(4, use_peepholes=True, cell_clip=.3, num_proj=3, proj_clip=.2"
                 "), x, **options)",
    "sharded": "made = tf.nn.dynamic_rnn(cells.LSTMCell(4, num_unit_shards=2, num_proj=4, num_proj_shards=2), x, "
               "**options)",
    "flat states": "made = tf.nn.dynamic_rnn(cells.MultiRNNCell([cells.BasicLSTMCell(4, state_is_tuple=False), "
                   "cells.LSTMCell(3, state_is_tuple=False)], state_is_tuple=False), x, **options)",
    "many": "made = tf.nn.dynamic_rnn(cells.MultiRNNCell([cells.GRUCell(5), cells.ResidualWrapper("
            "cells.BasicLSTMCell(5))]), x, **options)",
    "lengths": "made = tf.nn.dynamic_rnn(cells.BasicLSTMCell(4), x, sequence_length=[1, 3], **options)",
    "initial": "c = cells.GRUCell(4)\nmade = tf.nn.dynamic_rnn(c, x, initial_state=tf.ones([2, 4]))",
    "unknown sizes": "p = tf.placeholder_with_default(x, [None, None, 5])\n"
                     "made = tf.nn.dynamic_rnn(cells.BasicLSTMCell(4), p, sequence_length=[2, 2], **options)",
    "two ways": "made = tf.nn.bidirectional_dynamic_rnn(cells.GRUCell(4), cells.BasicLSTMCell(3), x, "
                "sequence_length=tf.constant([2, 3], tf.int64), **options)",
    "two ways whole": "made = tf.nn.bidirectional_dynamic_rnn(cells.GRUCell(4), cells.GRUCell(3), x, **options)",
    "static": "made = tf.nn.static_rnn(cells.BasicLSTMCell(4), steps, **options)",
    "static lengths": "made = tf.nn.static_rnn(cells.GRUCell(4), steps, sequence_length=[2, 1], **options)",
    "static two ways": "made = tf.nn.static_bidirectional_rnn(cells.GRUCell(4), cells.GRUCell(3), steps, **options)",
    "static two lengths": "made = tf.nn.static_bidirectional_rnn(cells.GRUCell(4), cells.GRUCell(3), steps, "
                          "sequence_length=[2, 1], **options)",
    "raw": """
cell = cells.BasicLSTMCell(4)
inputs = tf.TensorArray(tf.float32, 3).unstack(tf.transpose(x, [1, 0, 2]))
def loop_fn(time, output, state, loop_state):
    next_state = cell.zero_state(2, tf.float32) if output is None else state
    finished = time >= [2, 3]
    next_input = tf.cond(tf.reduce_all(finished), lambda: tf.zeros([2, 5]), lambda: inputs.read(time))
    return finished, next_input, next_state, output, None
arrays, state, _ = tf.nn.raw_rnn(cell, loop_fn)
made = arrays.stack(), state
""",
    "by hand": """
cell = cells.GRUCell(3)
with tf.variable_scope("hand"):
    state = cell.zero_state(2, tf.float32)
    for step in steps:
        out, state = cell(step, state)
made = out, state
""",
    "own cell": """
class Cell(cells.RNNCell):
    def __init__(self, n):
        super(Cell, self).__init__()
        self.n = n
    state_size = output_size = property(lambda self: self.n)
    def call(self, inputs, state):
        w = tf.get_variable("w", [inputs.shape.as_list()[1] + self.n, self.n])
        out = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), w))
        return out, out
cell = Cell(3)
made = tf.nn.dynamic_rnn(cells.MultiRNNCell([cell, Cell(2)]), x, **options)
""",
    "old cell": """
class Cell(cells.RNNCell):
    def __init__(self, n):
        self.n = n
    state_size = output_size = property(lambda self: self.n)
    def __call__(self, inputs, state, scope=None):
        with tf.variable_scope(scope or "old"):
            w = tf.get_variable("w", [inputs.shape.as_list()[1] + self.n, self.n])
            out = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), w))
        return out, out
made = tf.nn.dynamic_rnn(Cell(3), x, **options)
""",
    "variational": "made = tf.nn.dynamic_rnn(cells.DropoutWrapper(cells.BasicLSTMCell(4), .5, .6, .7, "
                   "variational_recurrent=True, input_size=5, dtype=tf.float32, seed=4), x, **options)",
}
TAIL = """
def flat(value):
    return [leaf for part in value for leaf in flat(part)] if isinstance(value, (list, tuple)) else [value]
tensors = flat(made)
slopes = tf.gradients([tf.reduce_sum(t * t) for t in tensors], [v for v in tf.trainable_variables()])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = ([(v.name, v.shape.as_list()) for v in tf.global_variables()], sess.run(tensors),
              sess.run(tensors), sess.run(slopes))
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_slopes_and_variables_are_tensorflows(name, oracle):
    program = START + PROGRAMS[name] + TAIL
    scope = {"tf": tf}
    exec(OURS + program, scope)
    theirs = oracle(THEIRS + program)
    assert scope["result"][0] == theirs[0]
    for ours, their in zip(scope["result"][1:], theirs[1:], strict=True):
        for a, b in zip(ours, their, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)




# TensorFlow 2.21 makes random numbers with two nodes less than 1.15.
@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - {"variational"}))
def test_graphs_are_tensorflows(name, oracle):
    program = START + PROGRAMS[name]

    def plain(rows):
        return [str((n, kind, inputs, control)) for n, kind, inputs, control, _ in rows]
    ours, theirs = plain(rows_here(OURS + program, tf)), plain(rows_there(THEIRS + program, oracle))
    assert not "\n".join(list(difflib.unified_diff(theirs, ours, "theirs", "ours", lineterm="", n=0))[:12])


def test_dropout_wrappers_drop():
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.LSTMCell(50), input_keep_prob=tf.constant(.5),
                                         state_keep_prob=.5, output_keep_prob=.25, seed=1)
    out, state = cell(tf.ones([20, 7]), cell.zero_state(20, tf.float32))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out, state = sess.run([out, state])
    assert .15 < (out != 0).mean() < .35 and .4 < (state.h != 0).mean() < .6 and (state.c != 0).all()
    assert [v.name for v in cell.trainable_variables] == ["lstm_cell/kernel:0", "lstm_cell/bias:0"]


def test_a_filter_says_which_states_are_dropped():
    inner = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(30), tf.nn.rnn_cell.GRUCell(30)])
    cell = tf.nn.rnn_cell.DropoutWrapper(inner, state_keep_prob=.5, dropout_state_filter_visitor=lambda s: not
                                         isinstance(s, tf.nn.rnn_cell.LSTMStateTuple))
    _, (lstm, gru) = cell(tf.ones([20, 7]), cell.zero_state(20, tf.float32))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        lstm, gru = sess.run([lstm, gru])
    assert (lstm.h != 0).all() and (lstm.c != 0).all() and .4 < (gru != 0).mean() < .6


def test_cells_share_and_copy():
    cell = tf.nn.rnn_cell.GRUCell(3)
    x = tf.ones([2, 4])
    cell(x, cell.zero_state(2, tf.float32))
    cell(x, cell.zero_state(2, tf.float32))
    assert len(tf.global_variables()) == 4
    fresh = copy.deepcopy(tf.nn.rnn_cell.GRUCell(3))
    fresh(x, fresh.zero_state(2, tf.float32))
    assert len(tf.global_variables()) == 8 and fresh.weights[0].name == "gru_cell_1/gates/kernel:0"
    tf.nn.rnn_cell.GRUCell(3, name="gru_cell", reuse=True)(x, tf.ones([2, 3]))
    assert len(tf.global_variables()) == 8


def test_a_copied_cell_in_a_stack_has_variables_of_its_own():
    cells = [tf.nn.rnn_cell.BasicRNNCell(4) for _ in range(2)]
    stacked = tf.nn.rnn_cell.MultiRNNCell(cells)
    tf.nn.dynamic_rnn(stacked, tf.ones([2, 3, 4]), dtype=tf.float32)
    assert [v.op.name for v in stacked.trainable_variables] == [
        f"rnn/multi_rnn_cell/cell_{i}/basic_rnn_cell/{n}" for i in (0, 1) for n in ("kernel", "bias")]


def test_a_network_learns_to_add():
    tf.set_random_seed(1)
    data = np.random.default_rng(0).normal(size=(64, 6, 1)).astype(np.float32)
    out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(16), tf.constant(data), dtype=tf.float32)
    loss = tf.losses.mean_squared_error(data.sum(1), tf.layers.dense(out[:, -1], 1))
    step = tf.train.AdamOptimizer(.02).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(loss)
        for _ in range(60):
            sess.run(step)
        assert sess.run(loss) < before / 10


class Saver:
    """A keeper of states, as batches of long sequences have."""

    def __init__(self):
        self.saved = []

    def state(self, name):
        return tf.ones([2, 3]) * len(name)

    def save_state(self, name, value):
        self.saved.append((name, value))
        return tf.no_op()


def test_states_are_saved():
    saver = Saver()
    outputs, state = tf.nn.static_state_saving_rnn(tf.nn.rnn_cell.BasicLSTMCell(3), [tf.ones([2, 4])] * 2, saver,
                                                   ("c", "hh"))
    assert [name for name, _ in saver.saved] == ["c", "hh"] and len(outputs) == 2
    assert outputs[-1].op.type == "Identity" and state[0].op.control_inputs


@pytest.mark.parametrize("make, words", [
    (lambda: tf.nn.dynamic_rnn(tf.ones, tf.ones([2, 3, 4]), dtype=tf.float32), "is not an RNNCell"),
    (lambda: tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.ones([2, 3, 4])), "`dtype` must be specified"),
    (lambda: tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.placeholder(tf.float32, [2, 3, None]), dtype=tf.float32),
     "depth of inputs"),
    (lambda: tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.ones([2, 3, 4]), [[1]], dtype=tf.float32), "a vector"),
    (lambda: tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(2), tf.ones([2, 3]), dtype=tf.float32), "must be a sequence"),
    (lambda: tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(2), [], dtype=tf.float32), "must not be empty"),
    (lambda: tf.nn.rnn_cell.MultiRNNCell([]), "at least one cell"),
    (lambda: tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(2), 1.5), "between 0 and 1"),
    (lambda: tf.nn.rnn_cell.GRUCell(2)(tf.ones([2, 3], tf.int32), tf.ones([2, 2])), "floating point inputs"),
    (lambda: tf.nn.rnn_cell.GRUCell(2)(tf.ones([2, 3, 4]), tf.ones([2, 2])), "expected ndim=2"),
])
def test_errors(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_sequence_lengths_are_checked_when_the_graph_runs():
    lengths = tf.placeholder(tf.int32, [None])
    out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.ones([2, 3, 4]), lengths, dtype=tf.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert (sess.run(out, {lengths: [0, 2]})[0] == 0).all()
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape for Tensor rnn/sequence_length:0"):
            sess.run(out, {lengths: [1, 2, 3]})
