"""Recurrent cells of one op: as in TensorFlow, interpreted and compiled, with their gradients."""
import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tests.modes import compiling

SETUP = '''
r, raw = np.random.RandomState(5), tf.raw_ops
def f(*shape, dtype=np.float32):
    return (r.normal(size=shape) * 0.6).astype(dtype)
def lstm(rows, n, units, dtype=np.float32, **change):
    state = lambda: f(rows, units, dtype=dtype)
    return {"x": f(rows, n, dtype=dtype), "cs_prev": state(), "h_prev": state(),
            "w": f(n + units, 4 * units, dtype=dtype),
            **{name: f(units, dtype=dtype) for name in ("wci", "wcf", "wco")}, "b": f(4 * units, dtype=dtype), **change}
def gru(rows, n, units, **change):
    return {"x": f(rows, n), "h_prev": f(rows, units), "w_ru": f(n + units, 2 * units), "w_c": f(n + units, units),
            "b_ru": f(2 * units), "b_c": f(units), **change}
def run(op, values, **attrs):
    fed = {name: tf.placeholder(v.dtype, [None] * v.ndim) for name, v in values.items()}
    with tf.Session() as sess:
        for _ in range(3):
            found = sess.run(getattr(raw, op)(**fed, **attrs), {fed[name]: v for name, v in values.items()})
    return list(found)
'''
LSTM = "forget_bias=0.7, cell_clip={clip}, use_peephole={peep}"
SNIPPETS = {
    **{f"lstm {sizes}, {clip}, {peep}": f"run('LSTMBlockCell', lstm{sizes}, {LSTM.format(clip=clip, peep=peep)})"
       for sizes, clip, peep in (((2, 3, 4), 3.0, False), ((1, 1, 1), 0.2, True), ((40, 30, 24), -1.0, True),
                                 ((5, 0, 3), 0.0, True))},
    **{f"lstm grad {sizes}, {peep}": f"""
v = lstm{sizes}
state = lambda: np.tanh(f(*v["cs_prev"].shape)) / 2 + 0.5
v.update({{name: state() for name in ("i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad")}})
run("LSTMBlockCellGrad", v, use_peephole={peep})""" for sizes, peep in (((2, 3, 4), True), ((33, 5, 17), False))},
    "gru small": "run('GRUBlockCell', gru(2, 3, 4))", "gru": "run('GRUBlockCell', gru(40, 30, 24))",
    "gru grad": """
v = gru(20, 6, 9)
v.update({name: np.tanh(f(20, 9)) / 2 + 0.5 for name in ("r", "u", "c", "d_h")})
run("GRUBlockCellGrad", v)""",
    **{f"sequence {op}, {sizes}, {length}": f"""
v = lstm{sizes[1:]!r}
v["x"] = f({sizes[0]}, *v["x"].shape)
attrs = dict(cell_clip=0.9, use_peephole={peep}, **({{"forget_bias": 0.7}} if {op!r} == "BlockLSTM" else {{}}))
made = run({op!r}, v, seq_len_max={length}, **attrs)
states = dict(zip(("i", "cs", "f", "o", "ci", "co", "h"), made))
states.update(cs_grad=f(*made[0].shape), h_grad=f(*made[0].shape))
grads = run({op!r}.replace("LSTM", "LSTMGrad"), {{**v, **states}}, seq_len_max={length}, use_peephole={peep})
[part[:{length}] for part in made] + [made[1], made[6]] + grads""" for op in ("BlockLSTM", "BlockLSTMV2")
       for sizes, length, peep in (((4, 2, 3, 5), 4, True), ((4, 2, 3, 5), 2, True), ((3, 40, 30, 24), 3, False),
                                   ((3, 1, 2, 1), 0, True))},
    "sequence slopes": """
v = lstm(2, 3, 4)
v["x"] = f(5, 2, 3)
fed = {name: tf.placeholder(value.dtype, value.shape) for name, value in v.items()}
made = raw.BlockLSTM(**fed, seq_len_max=4, use_peephole=True, cell_clip=-1.0)
grads = tf.gradients([made.h * f(5, 2, 4)], list(fed.values()))
with tf.Session() as sess:
    for _ in range(3):
        found = sess.run(grads, {fed[name]: value for name, value in v.items()})
found""",
    "sequence of a matrix": "run('BlockLSTM', lstm(2, 3, 4), seq_len_max=2)",
    "static": "[t.shape.as_list() for t in raw.LSTMBlockCell(**lstm(2, 3, 4))] + "
              "[t.shape.as_list() for t in raw.GRUBlockCell(**gru(2, 3, 4))]",
    "a vector": "raw.LSTMBlockCell(**lstm(2, 3, 4, x=f(3)))",
    **{f"lstm of {change}": f"run('LSTMBlockCell', lstm(2, 3, 4, {change}))" for change in (
        "x=f(3, 3)", "w=f(7, 12)", "w=f(6, 16)", "b=f(12)", "h_prev=f(2, 3)", "cs_prev=f(3, 4)", "x=f(3)")},
    **{f"gru of {change}": f"run('GRUBlockCell', gru(2, 3, 4, {change}))" for change in (
        "x=f(3, 3)", "w_ru=f(7, 12)", "w_c=f(6, 4)", "b_ru=f(4)", "b_c=f(5)", "h_prev=f(3, 4)")},
}
HALF = {"lstm": f"run('LSTMBlockCell', lstm(3, 4, 5, np.float16), {LSTM.format(clip=3.0, peep=True)})"}


def test_block_cells(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, 3e-6, modes=("never", "always"))


def test_block_cells_of_half_precision(oracle):
    assert not differences(oracle, HALF, SETUP, 2e-3, modes=("never", "always"))


def both(cell, raw, state, seed=3):
    """Return the gradients of a sum of outputs by a cell, and by the op `raw` makes of its arguments."""
    random = np.random.RandomState(seed)
    x = tf.placeholder(tf.float32, [3, 4])
    made = cell(x, state if len(state) > 1 else state[0])[1]
    targets = [x, *state, *cell.trainable_variables]
    feed = {t: random.normal(size=t.shape.as_list()).astype(np.float32) for t in targets}
    weights = [random.normal(size=(3, 5)).astype(np.float32) for _ in state]
    found = []
    for outputs in (made, raw(x)):
        outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
        total = tf.add_n([tf.reduce_sum(y * w) for y, w in zip(outputs, weights, strict=True)])
        found.append([total, *tf.gradients(total, targets)])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run([tf.assign(v, feed.pop(v)) for v in cell.trainable_variables])
        for _ in range(3):
            values = sess.run(found, feed)
    return values


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize("peephole", [False, True])
def test_lstm_slopes_are_those_of_the_cell(mode, peephole):
    state = tf.nn.rnn_cell.LSTMStateTuple(*[tf.placeholder(tf.float32, [3, 5]) for _ in range(2)])
    cell = tf.contrib.rnn.LSTMBlockCell(5, 0.7, use_peephole=peephole)

    def raw(x):
        weights = {v.op.name.split("/")[-1]: v for v in cell.trainable_variables}
        peepholes = [weights.get(f"w_{gate}_diag", tf.zeros([5])) for gate in "ifo"]
        made = tf.raw_ops.LSTMBlockCell(
            x=x, cs_prev=state.c, h_prev=state.h, w=weights["kernel"], wci=peepholes[0], wcf=peepholes[1],
            wco=peepholes[2], b=weights["bias"], forget_bias=0.7, cell_clip=-1.0, use_peephole=peephole)
        return made.cs, made.h
    with compiling(mode):
        expected, found = both(cell, raw, state)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("mode", ["never", "always"])
def test_gru_slopes_are_those_of_the_cell(mode):
    state = tf.placeholder(tf.float32, [3, 5])
    cell = tf.contrib.rnn.GRUBlockCell(5)

    def raw(x):
        weights = {v.op.name.split("/")[-1]: v for v in cell.trainable_variables}
        return tf.raw_ops.GRUBlockCell(x=x, h_prev=state, **weights).h
    with compiling(mode):
        expected, found = both(cell, raw, [state])
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("change", "message"), [
    ({"seq_len_max": np.int64(6)}, "seq_len_max must be a scalar between 0 and the steps of x, 5, got 6"),
    ({"b": np.zeros(12, np.float32)}, r"b: expected the shape \[16\], got \[12\]"),
    ({"w": np.zeros((6, 16), np.float32)}, r"w: expected the shape \[7, 16\]"),
    ({"wci": np.zeros(3, np.float32)}, r"wci: expected the shape \[4\]")])
def test_sequences_that_do_not_fit(change, message):
    shapes = {"x": (5, 2, 3), "cs_prev": (2, 4), "h_prev": (2, 4), "w": (7, 16), "wci": 4, "wcf": 4, "wco": 4, "b": 16}
    values = {"seq_len_max": np.int64(5), **{name: np.zeros(shape, np.float32) for name, shape in shapes.items()},
              **change}
    fed = {name: tf.placeholder(value.dtype, [None] * value.ndim) for name, value in values.items()}
    made = tf.raw_ops.BlockLSTM(**fed)
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                sess.run(made, {fed[name]: value for name, value in values.items()})
