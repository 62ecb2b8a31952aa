"""Random kernels against their NumPy forms, and both against TensorFlow."""
from __future__ import annotations

import numpy as np
import pytest

from tfnb.core import dtypes
from tfnb.kernels.arrays import philox
from tfnb.kernels.functions.language import KernelFailure
from tfnb.kernels.launch import Call, Meta
from tfnb.kernels.library.random import draws as random

SHAPES = [(0,), (), (1,), (5,), (1000,), (3, 7, 11)]
FILLS = {"uniform": (random.random_uniform, philox.uniform),
         "normal": (random.random_standard_normal, philox.normal),
         "truncated_normal": (random.truncated_normal, philox.truncated_normal)}
RUNS = """
op = {op}
with tf.Session() as sess:
    result = [sess.run(op) for _ in range(3)]
"""


@pytest.mark.parametrize("type_", ["float32", "float64"])
@pytest.mark.parametrize("name", FILLS)
@pytest.mark.parametrize("shape", SHAPES)
def test_kernel_and_numpy_form_agree(shape, name, type_, run):
    lower, form = FILLS[name]
    one, two = philox.new_state(7, -2), philox.new_state(7, -2)
    for _ in range(2):
        got, = run(lower, [np.array(shape, np.int32)], [(shape, type_)], state=one)
        want = form(two, shape, type_)
        np.testing.assert_array_equal(got, want)
        assert one.tolist() == two.tolist()


@pytest.mark.parametrize("type_", ["float32", "float64"])
def test_kernels_run_as_plain_python(type_):
    """Of the words of Philox, bit by bit; the logarithm, sine and cosine are NumPy's."""
    state, size = np.array([7, 0, 2**64 - 1, 5], np.uint64), random.SIZES[type_]
    for name, form in ((random.BITS, philox.uniform), ("normal", philox.normal)):
        got = np.zeros(7, type_)
        random.draw.python(1, state, got, 7, None, None, 256, T=type_, size=size, form=name)
        want = form(state.copy(), (7,), type_)
        np.testing.assert_allclose(got, want, rtol=1e-5 if name == "normal" else 0)


@pytest.mark.parametrize(("type_", "wide"), [("float16", 10), ("bfloat16", 7)])
def test_draws_of_16_bits_have_their_own_bits(run, type_, wide):
    state = philox.new_state(5, 7)
    attrs = {"dtype": dtypes.as_dtype(type_)}
    want = philox.uniform(state.copy(), (50,), dtypes.as_dtype(type_).as_numpy_dtype)
    got, = run(random.random_uniform, [np.array([50])], [((50,), "float32")], attrs, state=state)
    np.testing.assert_array_equal(got, want.astype(np.float32))
    assert (got * 2**wide % 1 == 0).all()


def test_counter_carries():
    """The block counter is one 128-bit number."""
    state = np.array([3, 0, 2**64 - 2, 5], np.uint64)
    words = philox.blocks(state, np.arange(4, dtype=np.uint64))
    moved = state.copy()
    philox.advance(moved, 2)
    assert moved.tolist() == [3, 0, 0, 6]
    np.testing.assert_array_equal(philox.blocks(moved, np.arange(2, dtype=np.uint64)), words[2:])


def test_counter_carries_in_kernels(run):
    one, two = (np.array([3, 0, 2**64 - 2, 5], np.uint64) for _ in range(2))
    for _ in range(2):
        got, = run(random.random_uniform, [np.array([50])], [((50,), "float32")], state=one)
        np.testing.assert_array_equal(got, philox.uniform(two, (50,), "float32"))
    assert one.tolist() == two.tolist() == [3, 0, 100 * 256 - 2, 6]


def test_known_words():
    """Test vectors of the paper on Philox (Salmon et al. 2011): all zeros, all ones."""
    zero = philox.blocks(np.zeros(4, np.uint64), np.zeros(1, np.uint64))
    assert zero.tolist() == [[0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]]
    ones = philox.blocks(np.full(4, 2**64 - 1, np.uint64), np.zeros(1, np.uint64))
    assert ones.tolist() == [[0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]]


@pytest.mark.parametrize("type_, low, high", [("int32", -7, 1000), ("int32", -2**31, 2**31 - 1), ("int64", -5, 2**62),
                                              ("int64", -2**63, 2**63 - 1)])
@pytest.mark.parametrize("shape", SHAPES)
def test_integers(shape, type_, low, high, run):
    one, two = philox.new_state(1, 9), philox.new_state(1, 9)
    limits = [np.array(low, type_), np.array(high, type_)]
    got, = run(random.random_uniform_int, [np.array(shape, np.int32), *limits], [(shape, type_)], state=one)
    np.testing.assert_array_equal(got, philox.uniform_int(two, shape, low, high, type_))
    assert one.tolist() == two.tolist()
    assert got.size == 0 or (got.min() >= low and got.max() < high)


def test_empty_range_of_integers(run):
    with pytest.raises(ValueError, match="Need minval < maxval, got 3 >= 3"):
        philox.uniform_int(philox.new_state(1, 1), (2,), 3, 3, "int32")
    three = np.array(3, np.int32)
    with pytest.raises(KernelFailure, match="Need minval < maxval, got 3 >= 3"):
        run(random.random_uniform_int, [np.array([2]), three, three], [((2,), "int32")], state=philox.new_state(1, 1))


@pytest.mark.parametrize("shape", [(0,), (1,), (2,), (5,), (1001,), (7, 3), (1, 4), (3, 0), (40, 2, 2)])
def test_shuffle(shape, run):
    value = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    one, two = philox.new_state(3, 4), philox.new_state(3, 4)
    got, = run(random.random_shuffle, [value], [(shape, "float32")], state=one)
    np.testing.assert_array_equal(got, philox.random_shuffle(two, value))
    assert one.tolist() == two.tolist()
    assert sorted(got.ravel()) == sorted(value.ravel())


@pytest.mark.parametrize("type_, output", [("float32", "int64"), ("float64", "int32")])
@pytest.mark.parametrize("rows, classes, samples", [(1, 1, 1), (3, 5, 7), (40, 10, 3), (2, 3, 0), (0, 3, 2)])
def test_multinomial(rows, classes, samples, type_, output, run):
    logits = np.random.default_rng(0).standard_normal((rows, classes)).astype(type_)
    if classes > 1 and rows:
        logits[0, 0], logits[-1, 1] = -np.inf, np.nan
    one, two = philox.new_state(3, 4), philox.new_state(3, 4)
    got, = run(random.multinomial, [logits, np.array(samples)], [((rows, samples), output)], state=one)
    np.testing.assert_array_equal(got, philox.multinomial(two, logits, samples, output))
    assert one.tolist() == two.tolist()
    assert not (classes > 1 and rows) or not (got[0] == 0).any()


@pytest.mark.parametrize("form", [philox.normal, philox.truncated_normal])
@pytest.mark.parametrize("type_", ["float32", "float64", "float16"])
def test_large_arrays_use_kernels_with_the_same_bits(form, type_, monkeypatch):
    small = form(philox.new_state(1, 2), (999,), type_)
    monkeypatch.setattr(philox, "LARGE", 0)
    np.testing.assert_array_equal(form(philox.new_state(1, 2), (999,), type_), small)


def test_unseeded_states_differ():
    assert philox.new_state(0, 0).tolist() != philox.new_state(0, 0).tolist()


def test_large_fills_are_split():
    call = Call((Meta("int32", (1,)),), (Meta("float32", (100_000,)),))
    first, last = random.random_uniform(call)
    assert first.items > first.grain > 0 and last.items == 1


@pytest.mark.parametrize("name, op, type_", [
    ("uniform", "tf.random.uniform", "float16"), ("uniform", "tf.random.uniform", "bfloat16"),
    ("uniform", "tf.random.uniform", "float32"), ("uniform", "tf.random.uniform", "float64"),
    ("normal", "tf.random.normal", "float32"), ("normal", "tf.random.normal", "float64"),
    ("normal", "tf.random.normal", "float16"),
    ("truncated_normal", "tf.random.truncated_normal", "float32"),
    ("truncated_normal", "tf.random.truncated_normal", "float64")])
def test_fills_are_tensorflows(name, op, type_, oracle):
    want = oracle(RUNS.format(op=f"tf.cast({op}([1003], dtype='{type_}', seed=12), 'float64')"))
    state = philox.new_state(87654321, 12)
    for values in want:
        np.testing.assert_array_equal(FILLS[name][1](state, (1003,), type_).astype(np.float64), values)


def test_integers_are_tensorflows(oracle):
    for type_, low, high in [("int32", -7, 1000), ("int64", -5, 2**62)]:
        want = oracle(RUNS.format(op=f"tf.random.uniform([33], {low}, {high}, dtype='{type_}', seed=5)"))
        state = philox.new_state(87654321, 5)
        for values in want:
            np.testing.assert_array_equal(philox.uniform_int(state, (33,), low, high, type_), values)


def test_shuffle_is_tensorflows(oracle):
    want = oracle(RUNS.format(op="tf.random_shuffle(np.arange(50).reshape(25, 2), seed=5)"))
    state = philox.new_state(87654321, 5)
    for values in want:
        np.testing.assert_array_equal(philox.random_shuffle(state, np.arange(50).reshape(25, 2)), values)


def test_multinomial_is_tensorflows(oracle):
    logits = np.random.default_rng(0).standard_normal((3, 10)).astype(np.float32)
    want = oracle(RUNS.format(op="tf.multinomial(logits, 9, seed=5)"), logits=logits)
    state = philox.new_state(87654321, 5)
    for values in want:
        np.testing.assert_array_equal(philox.multinomial(state, logits, 9), values)
