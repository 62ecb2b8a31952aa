"""Initializers: their values, parameters and errors."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.runtime.session import Session
from tfnb.variables import initializers as init


def value(initializer, shape, **options):
    with Session() as sess:
        return sess.run(initializer(shape, **options))


def test_constants():
    assert value(init.zeros_initializer(), [2, 2]).tolist() == [[0, 0], [0, 0]]
    assert value(init.ones_initializer("int32"), [2]).dtype == np.int32
    assert value(init.constant_initializer([1, 2]), [2, 2]).tolist() == [[1, 2], [2, 2]]
    assert value(init.constant_initializer(np.arange(4.0)), [2, 2], dtype="float64").tolist() == [[0, 1], [2, 3]]
    assert value(init.identity_initializer(2.0), [2, 3]).tolist() == [[2, 0, 0], [0, 2, 0]]


def test_zeros_and_ones_as_functions_of_a_shape():
    with Session() as sess:
        assert sess.run(init.zeros_initializer([2])).tolist() == [0, 0]
        assert sess.run(init.ones_initializer(shape=[2], dtype="int32")).tolist() == [1, 1]


@pytest.mark.parametrize("make", [
    lambda: init.random_uniform_initializer(-2.0, 3.0, seed=1), lambda: init.random_normal_initializer(seed=1),
    lambda: init.truncated_normal_initializer(seed=1), lambda: init.uniform_unit_scaling_initializer(seed=1),
    lambda: init.variance_scaling_initializer(seed=1), lambda: init.glorot_uniform_initializer(seed=1),
    lambda: init.glorot_normal_initializer(seed=1)])
def test_parameters_make_the_same_initializer(make):
    initializer = make()
    again = type(initializer).from_config(initializer.get_config())
    np.testing.assert_array_equal(value(initializer, [3, 4]), value(again, [3, 4]))


@pytest.mark.parametrize("make, deviation", [
    (init.he_normal, (2 / 300) ** 0.5), (init.he_uniform, (2 / 300) ** 0.5), (init.lecun_normal, (1 / 300) ** 0.5),
    (init.lecun_uniform, (1 / 300) ** 0.5), (init.glorot_normal_initializer, (2 / 400) ** 0.5),
    (init.glorot_uniform_initializer, (2 / 400) ** 0.5),
    (lambda seed: init.variance_scaling_initializer(2.0, "fan_out", "untruncated_normal", seed), (2 / 100) ** 0.5),
    (lambda seed: init.uniform_unit_scaling_initializer(2.0, seed), 2 * (1 / 300) ** 0.5)])
def test_deviations(make, deviation):
    assert value(make(seed=3), [300, 100]).std() == pytest.approx(deviation, rel=0.02)


def test_fans_of_a_convolution():
    assert init.fans([3, 3, 4, 8]) == (36, 72) and init.fans([5]) == (5, 5) and init.fans([]) == (1, 1)


@pytest.mark.parametrize("make, error", [
    (lambda: init.random_normal_initializer(dtype="int32"), ValueError),
    (lambda: init.variance_scaling_initializer(mode="x"), ValueError),
    (lambda: init.variance_scaling_initializer(distribution="x"), ValueError),
    (lambda: init.variance_scaling_initializer(0.0), ValueError),
    (lambda: init.constant_initializer(object()), TypeError),
    (lambda: init.constant_initializer([1, 2, 3], verify_shape=True)([2]), TypeError),
    (lambda: init.identity_initializer()([3]), ValueError)])
def test_errors(make, error):
    with pytest.raises(error):
        make()


MAKERS = {
    "uniform": "tf.random_uniform_initializer(-1.0, 2.0, seed=7)",
    "normal": "tf.random_normal_initializer(1.0, 2.0, seed=7)",
    "truncated": "tf.truncated_normal_initializer(1.0, 2.0, seed=7)",
    "unit": "tf.uniform_unit_scaling_initializer(seed=7)",
    "unit, scaled": "tf.uniform_unit_scaling_initializer(1.43, seed=7)",
    "glorot_uniform": "tf.glorot_uniform_initializer(seed=7)",
    "glorot_normal": "tf.glorot_normal_initializer(seed=7)",
    **{f"{kind} {way}": f"tf.variance_scaling_initializer(2.0, {kind!r}, {way!r}, seed=7)"
       for kind in ("fan_in", "fan_out", "fan_avg")
       for way in ("uniform", "truncated_normal", "untruncated_normal", "normal")},
    **{f"{who}_{way}": f"tf.initializers.{who}_{way}(seed=7)"
       for who in ("he", "lecun") for way in ("normal", "uniform")},
}
RUN = """
with tf.Session() as sess:
    made = {name: eval(text) for name, text in makers.items()}
    result = sess.run({(name, shape): maker(shape) for name, maker in made.items() for shape in shapes})
"""


def test_same_numbers_as_tensorflow(oracle):
    given = {"makers": MAKERS, "shapes": [(4, 5), (3,), (2, 2, 3, 4)]}
    scope = {"tf": tf, **given}
    exec(RUN, scope)
    for name, want in oracle(RUN, **given).items():
        np.testing.assert_array_max_ulp(scope["result"][name], want, 2)


@pytest.mark.parametrize("make", [
    tf.glorot_uniform_initializer, tf.uniform_unit_scaling_initializer, tf.orthogonal_initializer,
    tf.contrib.layers.xavier_initializer])
def test_a_shape_must_be_fully_defined(make):
    with pytest.raises(TypeError, match=r"expected a fully defined shape, got \(\?, 3\)"):
        make()([None, 3])


def test_orthogonal(oracle):
    given = {"makers": {"one": "tf.orthogonal_initializer(seed=3)", "two": "tf.initializers.orthogonal(2.0, seed=4)",
                        "wide": "tf.orthogonal_initializer(seed=3, dtype=tf.float64)"},
             "shapes": [(4, 3), (3, 4), (2, 3, 5), (5, 5)]}
    scope = {"tf": tf, **given}
    exec(RUN, scope)
    for (name, shape), want in oracle(RUN, **given).items():
        got = scope["result"][name, shape]
        np.testing.assert_allclose(got, want, atol=2e-6)
        flat = got.reshape(-1, shape[-1]) / (2 if name == "two" else 1)
        flat = flat if flat.shape[0] >= flat.shape[1] else flat.T
        np.testing.assert_allclose(flat.T @ flat, np.eye(flat.shape[1]), atol=1e-6)
    with pytest.raises(ValueError, match="two-dimensional"):
        tf.orthogonal_initializer()([4])


def test_qr():
    matrix = np.random.RandomState(0).randn(2, 4, 3)
    for full in (False, True):
        q, r = tf.qr(matrix, full_matrices=full)
        with tf.Session() as sess:
            got_q, got_r = sess.run([q, r])
        assert q.shape == got_q.shape and r.shape == got_r.shape
        np.testing.assert_allclose(got_q @ got_r, matrix, atol=1e-12)
    with pytest.raises(ValueError, match="at least rank 2"):
        tf.qr([1.0])


def test_config():
    made = tf.orthogonal_initializer(2.0, 3)
    assert made.get_config() == {"gain": 2.0, "seed": 3, "dtype": "float32"}
    assert tf.orthogonal_initializer.from_config(made.get_config()).gain == 2.0
