"""Fourier and cosine transforms: values, gradients, static shapes and errors as in TensorFlow."""
import numpy as np
import pytest

import tfnb as tf
from tests.differential import ARRAYS, differences

SETUP = ARRAYS + '''
def slopes(fn, x):
    x = tf.constant(x)
    y = fn(x)
    w = (r.normal(size=y.shape.as_list()) + (1j * r.normal(size=y.shape.as_list()) if y.dtype.is_complex else 0))
    return run(tf.gradients(y * tf.constant(w.astype(y.dtype.as_numpy_dtype)), x))
p = tf.placeholder(tf.float32)
'''
LENGTHS = {1: ([5], [8], [6]), 2: ([3, 5], [6, 8]), 3: ([2, 3, 5], [3, 5, 8])}
INDEX = {1: "", 2: "2d", 3: "3d"}
SNIPPETS = {
    **{f"{i}fft{INDEX[n]}": f"run(tf.signal.{i}fft{INDEX[n]}(complexes(2, 4, 3, 5)), "
                            f"tf.{i}fft{INDEX[n]}(complexes(3, 4, 6).astype(np.complex128)))"
       for n in (1, 2, 3) for i in ("", "i")},
    **{f"{i}fft{INDEX[n]} gradient": f"slopes(tf.signal.{i}fft{INDEX[n]}, complexes(2, 3, 4))"
       for n in (1, 2, 3) for i in ("", "i")},
    **{f"rfft{INDEX[n]} {k}": f"run(tf.signal.rfft{INDEX[n]}(real(2, 3, 4, 6), {k}))" for n in (1, 2, 3)
       for k in (None, *LENGTHS[n])},
    **{f"irfft{INDEX[n]} {k}": f"run(tf.signal.irfft{INDEX[n]}(complexes(2, 3, 4, 4), {k}))" for n in (1, 2, 3)
       for k in (None, *LENGTHS[n])},
    "double": "run(tf.signal.rfft(real(6).astype(float)), tf.signal.irfft(complexes(4).astype(np.complex128)))",
    **{f"rfft{INDEX[n]} gradient {k}": f"slopes(lambda x: tf.signal.rfft{INDEX[n]}(x, {k}), real(2, 3, 4, 6))"
       for n in (1, 2) for k in (None, *LENGTHS[n])},
    **{f"irfft{INDEX[n]} gradient {k}": f"slopes(lambda x: tf.signal.irfft{INDEX[n]}(x, {k}), complexes(2, 3, 4, 4))"
       for n in (1, 2) for k in (None, *LENGTHS[n]) if not k or k[-1] % 2 == 0},          # TensorFlow has none of odd
    "fed": "run(tf.signal.rfft(p, [8]), tf.spectral.rfft(p), feed={p: real(2, 6)})",
    "static": "[f.shape.as_list() for f in (tf.signal.rfft(real(2, 6)), tf.signal.rfft(real(2, 6), [9]), "
              "tf.signal.irfft(complexes(2, 4)), tf.signal.irfft2d(complexes(3, 4), [2, 5]), tf.fft(complexes(3)))]",
    "of a scalar": "tf.signal.fft(np.complex64(1))",
    "of a vector": "tf.signal.rfft2d(real(4))",
    "of floats": "run(tf.signal.fft(real(4)))",
    "of integers": "run(tf.signal.rfft([1, 2]))",
    "of nothing": "run(tf.signal.rfft(np.zeros((0, 4), 'f')), tf.signal.fft(np.zeros((0, 4), np.complex64)))",
    "shorter than its length": "run(tf.raw_ops.RFFT(input=real(4), fft_length=[6]))",
    "two lengths": "run(tf.raw_ops.RFFT(input=real(4), fft_length=[2, 2]))",
    "shifts": "run(*(f(real(4, 5), a) for f in (tf.signal.fftshift, tf.signal.ifftshift) for a in (None, 0, [1])))",
    **{f"dct {t} {n}": f"run(tf.signal.dct(real(3, 7), {t}, norm={n!r}), tf.spectral.dct(real(4), {t}, norm={n!r}))"
       for t in (1, 2, 3, 4) for n in (None, "ortho")},
    **{f"idct {t} {n}": f"run(tf.signal.idct(real(3, 7), {t}, norm={n!r}))" for t in (1, 2, 3, 4)
       for n in (None, "ortho")},
    "dct cut": "run(tf.signal.dct(real(3, 7), n=4), tf.signal.dct(real(3, 7), n=9))",
    "dct of another type": "tf.signal.dct(real(4), 5)",
    "dct of another axis": "tf.signal.dct(real(4, 4), axis=0)",
    "dct of another norm": "tf.signal.dct(real(4), norm='forward')",
    "dct gradient": "slopes(lambda x: tf.signal.dct(x, norm='ortho'), real(2, 5))",
}


def test_transforms(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, tolerance=2e-5)


@pytest.mark.parametrize(("back", "length"), [
    (False, [2, 3, 4]), (False, [2, 4, 7]), (True, [2, 3, 5]), (True, [1, 3, 4])])
def test_gradients_over_three_axes(back, length):
    """TensorFlow has none: the transform is linear, so that a difference quotient is exact."""
    random = np.random.default_rng(0)
    x = tf.placeholder(tf.float64, [2, 3, 4])
    y = tf.signal.irfft3d(tf.complex(x, x * x), length) if back else tf.signal.rfft3d(x, length)
    weights = random.normal(size=(2, *y.shape.as_list()))
    loss = tf.reduce_sum(y * weights[0]) if back else tf.reduce_sum(tf.real(y) * weights[0] + tf.imag(y) * weights[1])
    value, step = random.normal(size=(2, 3, 4)), 1e-5
    with tf.Session() as sess:
        slope = sess.run(tf.gradients(loss, x)[0], {x: value})
        for place in np.ndindex(2, 3, 4):
            off = np.zeros((2, 3, 4))
            off[place] = step
            up, down = (sess.run(loss, {x: value + sign * off}) for sign in (1, -1))
            assert slope[place] == pytest.approx((up - down) / (2 * step), abs=1e-6)
