"""Windows, frames, short-time transforms, mel filters: values, gradients, static shapes and errors as in TensorFlow."""
import numpy as np
import pytest

import tfnb as tf
from tests.differential import ARRAYS, differences

SETUP = ARRAYS + '''
def slopes(fn, x):
    x = tf.constant(x)
    y = fn(x)
    y = tf.math.real(y) + 2 * tf.math.imag(y) if y.dtype.is_complex else y
    return run(tf.gradients(tf.sin(y), x))
p = tf.placeholder(tf.float32)
k = tf.placeholder(tf.int32, [])
s = tf.signal
'''
WINDOWS = ("hann_window", "hamming_window", "kaiser_window", "kaiser_bessel_derived_window", "vorbis_window")
SNIPPETS = {
    **{f"{w} {n}": f"run(s.{w}({n}), s.{w}({n}, dtype=tf.float64))" for w in WINDOWS for n in (2, 6, 8)},
    **{f"{w} {n} {periodic}": f"run(s.{w}({n}, periodic={periodic}), s.{w}(k, {periodic}), feed={{k: {n}}})"
       for w in WINDOWS[:2] for n in (1, 5, 6) for periodic in (True, False)},
    "window of integers": "s.hann_window(4, dtype=tf.int32)",
    "window of a vector": "s.vorbis_window([4])",
    "kaiser beta": "run(s.kaiser_window(7, 3.0), s.kaiser_bessel_derived_window(6, 2.0))",
    **{f"frame {a} {pad} {axis}": f"run(s.frame(real(2, 13, 3), *{a}, pad_end={pad}, pad_value=2.0, axis={axis}))"
       for a in ((4, 2), (3, 5), (20, 1)) for pad in (False, True) for axis in (1, -2, -1)},
    "frame fed": "run(s.frame(p, k, 2), s.frame(p, k, 2, pad_end=True), feed={p: real(2, 9), k: 4})",
    "frame static": "[s.frame(np.zeros((2, 9), 'f'), 4, 2).shape.as_list(), s.frame(p, 4, 2).shape.ndims, "
                    "s.frame(tf.placeholder(tf.float32, [3, None]), 4, 2).shape.as_list()]",
    "frame gradient": "slopes(lambda x: s.frame(x, 4, 2), real(2, 9))",
    **{f"overlap {n} {step}": f"run(s.overlap_and_add(real(2, 5, {n}), {step}), "
                              f"s.overlap_and_add(real(4, {n}).astype(float), {step}))"
       for n in (4, 5) for step in (1, 2, 4, 5, 7)},
    "overlap fed": "run(s.overlap_and_add(p, k), feed={p: real(2, 3, 6), k: 4})",
    "overlap integers": "run(s.overlap_and_add(np.arange(12).reshape(3, 4), 3))",
    "overlap of a vector": "s.overlap_and_add(real(4), 1)",
    "overlap by a float": "s.overlap_and_add(real(4, 4), 1.5)",
    "overlap gradient": "slopes(lambda x: s.overlap_and_add(x, 3), real(2, 4, 5))",
    **{f"stft {a}": f"run(s.stft(real(2, 40), {a}))"
       for a in ("8, 4", "10, 3", "8, 4, 16", "8, 8, window_fn=None", "12, 5, 9, pad_end=True",
                 "8, 4, window_fn=s.hamming_window")},
    "stft fed": "run(s.stft(p, k, 4), feed={p: real(2, 40), k: 9})",
    "stft gradient": "slopes(lambda x: s.stft(x, 8, 4), real(2, 20))",
    **{f"inverse {a}": f"run(s.inverse_stft(s.stft(real(2, 40), {a}), {a}))"
       for a in ("8, 4", "10, 3", "8, 4, 16", "8, 8, window_fn=None", "12, 5, 9")},
    "inverse window": "run(*(s.inverse_stft_window_fn(n)(8, tf.float32) for n in (2, 3, 4)), "
                      "s.inverse_stft_window_fn(2, s.hamming_window)(6, tf.float64))",
    "inverse gradient": "slopes(lambda x: s.inverse_stft(s.stft(x, 8, 4), 8, 4), real(2, 20))",
    **{f"mdct {a}": f"run(s.mdct(real(2, 40), {a}))"
       for a in ("8", "8, norm='ortho'", "12, window_fn=None", "8, pad_end=True", "8, s.kaiser_bessel_derived_window")},
    **{f"inverse mdct {a}": f"run(s.inverse_mdct(real(2, 5, 8){a}))"
       for a in ("", ", norm='ortho'", ", window_fn=None", ", s.kaiser_bessel_derived_window")},
    "mdct of 6": "s.mdct(real(12), 6)",
    "mel": "run(s.linear_to_mel_weight_matrix(), "
           "s.linear_to_mel_weight_matrix(5, 65, 16000, 20.0, 8000.0, tf.float64))",
    "mel fed": "run(s.linear_to_mel_weight_matrix(5, 65, k), feed={k: 16000})",
    **{f"mel {a}": f"s.linear_to_mel_weight_matrix({a})"
       for a in ("0", "lower_edge_hertz=-1.0", "lower_edge_hertz=5000.0", "sample_rate=-1", "upper_edge_hertz=5000.0",
                 "dtype=tf.int32")},
    "mfcc": "run(s.mfccs_from_log_mel_spectrograms(real(2, 5, 8)), s.mfccs_from_log_mel_spectrograms(p), "
            "feed={p: real(3, 7)})",
    "mfcc of nothing": "s.mfccs_from_log_mel_spectrograms(np.zeros((3, 0), 'f'))",
}


def test_values_and_errors_are_tensorflows(oracle):
    assert differences(oracle, SNIPPETS, SETUP, 2e-5, modes=("never", "always")) == {}


def test_an_axis_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="axis 2 is out of range for a signal of rank 1"):
        tf.signal.frame([1.0, 2.0], 2, 1, axis=2)


@pytest.mark.parametrize("step", [3, 4, 6])
def test_a_signal_comes_back_from_its_transform(step: int) -> None:
    """The window of inverse_stft_window_fn undoes any that covers each sample."""
    samples = np.random.RandomState(0).normal(size=60).astype(np.float32)
    window = tf.signal.inverse_stft_window_fn(step, tf.signal.hamming_window)
    spectrum = tf.signal.stft(samples, 12, step, window_fn=tf.signal.hamming_window)
    back = tf.Session().run(tf.signal.inverse_stft(spectrum, 12, step, window_fn=window))
    np.testing.assert_allclose(back[12:-12], samples[12:len(back) - 12], atol=1e-5)


def test_log_mel_cepstra_of_a_tone_follow_its_loudness() -> None:
    tone = np.sin(2 * np.pi * 440 * np.arange(4096) / 16000).astype(np.float32)
    loudness = tf.placeholder(tf.float32, [])
    energies = tf.square(tf.abs(tf.signal.stft(tone * loudness, 512, 256)))
    mel = tf.matmul(energies, tf.signal.linear_to_mel_weight_matrix(40, 257, 16000, 80.0, 7600.0))
    cepstra = tf.signal.mfccs_from_log_mel_spectrograms(tf.log(mel + 1e-6))[:, :13]
    with tf.Session() as sess:
        quiet, loud = sess.run(cepstra, {loudness: 0.5}), sess.run(cepstra, {loudness: 2.0})
    assert quiet.shape == (15, 13) and np.all(loud[:, 0] > quiet[:, 0])
