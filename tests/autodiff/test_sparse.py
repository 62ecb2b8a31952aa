"""IndexedSlices through tf.gradients: where gradients stay sparse, their rows, and the nodes around them."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.graph_rows import outside, rows_here, rows_there

# Neg, Cast, Identity and sums keep slices; all other gradients make them tensors.
PROGRAMS = {
    "two lookups": "g = tf.gradients(tf.reduce_sum(tf.gather(w, [0, 1]))+tf.reduce_sum(tf.gather(w, [2])), w)[0]",
    "lookup and dense": "g = tf.gradients(tf.reduce_sum(tf.gather(w, [0, 1]))+tf.reduce_sum(w*2.), w)[0]",
    "neg": "g = tf.gradients(tf.reduce_sum(tf.gather(-w, [0, 1])), w)[0]",
    "mul": "g = tf.gradients(tf.reduce_sum(tf.gather(w*3., [0, 1])), w)[0]",
    "add": "g = tf.gradients(tf.reduce_sum(tf.gather(w+1., [0, 1])), w)[0]",
    "addb": "g = tf.gradients(tf.reduce_sum(tf.gather(w+b, [0, 1])), [w, b])[1]",
    "reshape": "g = tf.gradients(tf.reduce_sum(tf.gather(tf.reshape(w, [6, 2]), [0, 5])), w)[0]",
    "gather of gather": "g = tf.gradients(tf.reduce_sum(tf.gather(tf.gather(w, [0, 1, 1]), [0, 2])), w)[0]",
    "matmul": "g = tf.gradients(tf.reduce_sum(tf.gather(tf.matmul(w, tf.ones([3, 2])), [0, 1])), w)[0]",
    "transpose": "g = tf.gradients(tf.reduce_sum(tf.gather(tf.transpose(w), [0, 1])), w)[0]",
    "stack": "g = tf.gradients(tf.reduce_sum(tf.gather(tf.stack([w, w]), [0, 1])), w)[0]",
    "cast": "g = tf.gradients(tf.reduce_sum(tf.gather(tf.cast(w, tf.float64), [0, 1])), w)[0]",
    "expand": "g = tf.gradients(tf.reduce_sum(tf.gather(tf.expand_dims(w, 1), [0, 1])), w)[0]",
    "slice": "g = tf.gradients(tf.reduce_sum(tf.gather(w[1:], [0, 1])), w)[0]",
    "relu": "g = tf.gradients(tf.reduce_sum(tf.gather(tf.nn.relu(w), [0, 1])), w)[0]",
    "where": "g = tf.gradients(tf.reduce_sum(tf.gather(tf.where(w>1., w, -w), [0, 1])), w)[0]",
    "bias": "g = tf.gradients(tf.reduce_sum(tf.gather(tf.nn.bias_add(w, b), [0, 1])), [w, b])[1]",
    "gate": "g = tf.gradients(tf.reduce_sum(tf.gather(w, [0, 1])), [w], gate_gradients=True)[0]",
    "grad_ys": (
        "s = tf.IndexedSlices(tf.ones([1, 3]), tf.constant([2]), tf.constant([4, 3])); "
        "g = tf.gradients(w, [w], grad_ys=[s])[0]"),
    "axis1": "g = tf.gradients(tf.reduce_sum(tf.gather(w, [0, 2, 2], axis=1)*2.), [w])[0]",
    "indices 2d": "g = tf.gradients(tf.reduce_sum(tf.gather(w, [[0, 2], [2, 1]])*2.), [w])[0]",
    "second": (
        "first = tf.gradients(tf.reduce_sum(tf.gather(w * w, [0, 2])), w)[0]; "
        "g = tf.gradients(tf.reduce_sum(tf.square(tf.convert_to_tensor(first))), w)[0]"),
    "clip": "g = tf.clip_by_global_norm([tf.gradients(tf.reduce_sum(tf.gather(w, [0, 1])), w)[0], None], 0.5)[0][0]",
    "clip norm": "g = tf.clip_by_norm(tf.gradients(tf.reduce_sum(tf.gather(w, [0, 1])), w)[0], 0.5)",
    "clip value": "g = tf.clip_by_value(tf.gradients(tf.reduce_sum(tf.gather(w, [0, 1])), w)[0], -0.5, 0.5)",
    "unknown shape": (
        "p = tf.placeholder_with_default(w.value(), [None, 3]); "
        "g = tf.gradients(tf.reduce_sum(tf.gather(p, [0, 1])), [p])[0]"),
    "batch": "g = tf.gradients(tf.reduce_sum(tf.gather(w, [[0], [2], [1], [1]], batch_dims=1)*2.), [w])[0]",
    "indices of two dtypes": (
        "g = tf.gradients(tf.reduce_sum(tf.gather(w, [0, 1])) + "
        "tf.reduce_sum(tf.gather(w, tf.constant([2], tf.int64))), w)[0]"),
    **{f"a branch that {'' if taken else 'does not '}gather": (
        f"g = tf.gradients(tf.cond(tf.constant({taken}), lambda: tf.reduce_sum(tf.gather(w, [0, 1, 1])), "
        "lambda: tf.constant(1.)), w)[0]") for taken in (True, False)},
    "branches that gather": (
        "g = tf.gradients(tf.cond(w[0, 0] > 1., lambda: tf.reduce_sum(tf.gather(w, [0, 1])), "
        "lambda: tf.reduce_sum(tf.gather(w, tf.constant([2, 2], tf.int64))*2.)), w)[0]"),
    "a tree of sums": (
        "g = tf.gradients(tf.reduce_sum(tf.gather(w, [0, 1])) + tf.reduce_sum(tf.gather(w, [2])), w, "
        "aggregation_method=1)[0]"),
}
START = """
w = tf.Variable([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0]], name="w")
b = tf.Variable([1.0, 1.0, 1.0], name="b")
"""
RUN = """
sparse = isinstance(g, tf.IndexedSlices)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sparse, sess.run([g.values, g.indices] if sparse else [g]), sess.run(tf.convert_to_tensor(g))
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_like_tensorflow(name, oracle):
    program = START + PROGRAMS[name]
    scope = {"tf": tf}
    exec(program + RUN, scope)
    sparse, parts, dense = scope["result"]
    want = oracle(program + RUN)
    assert sparse == want[0]
    for got, expected in zip([*parts, dense], [*want[1], want[2]], strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6)
    tf.reset_default_graph()
    ours, theirs = rows_here(program + RUN, tf), rows_there(program + RUN, oracle)
    if name in ("axis1", "batch", "gather of gather", "transpose"):       # the bodies of these gradients differ
        ours, theirs = outside(ours), outside(theirs)
    assert ours == theirs


def test_through_concat_the_numbers_are_right(oracle):
    for axis, rows in ((0, [0, 5, 5]), (1, [0, 3])):
        program = START + f"g = tf.gradients(tf.reduce_sum(tf.gather(tf.concat([w, w], {axis}), {rows})), w)[0]" + RUN
        scope = {"tf": tf}
        exec(program, scope)
        np.testing.assert_allclose(scope["result"][2], oracle(program)[2])


def test_functions_of_the_user_get_slices():
    seen = []

    @tf.RegisterGradient("KeepsSlices")
    def gradient(op, grad):
        seen.append(grad)
        return grad

    w = tf.Variable([[1.0], [2.0]])
    with tf.get_default_graph().gradient_override_map({"Tanh": "KeepsSlices"}):
        y = tf.tanh(w)
    made = tf.gradients(tf.gather(y, [0]), w)[0]
    assert isinstance(seen[0], tf.IndexedSlices) and made is seen[0]


def test_batches_of_several_axes(oracle):
    random = np.random.default_rng(1)
    params, ids = random.normal(size=(2, 3, 5, 4)), random.integers(0, 4, (2, 3, 6))
    for axis, batch in ((3, 1), (3, 2), (2, 2), (2, 1), (1, 1)):
        picks = ids % params.shape[axis]
        code = """
x = tf.constant(params)
y = tf.gather(x, picks, axis=axis, batch_dims=batch)
g = tf.gradients(tf.reduce_sum(tf.sin(y * 3.0)), x)[0]
result = tf.Session().run([y, g])
"""
        given = {"params": params, "picks": picks, "axis": axis, "batch": batch}
        scope = {"tf": tf, **given}
        exec(code, scope)
        for got, want in zip(scope["result"], oracle(code, **given), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)
