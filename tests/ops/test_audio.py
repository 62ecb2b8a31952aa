"""Sounds: WAV files, spectrograms and coefficients as in TensorFlow."""
import tfnb as tf
from tests.differential import differences
from tfnb.contrib import audio_ops

SETUP = '''
r = np.random.RandomState(0)
sound = r.uniform(-1, 1, (3000, 2)).astype(np.float32)
def run(*fetches, feed=None):
    return tf.Session().run(fetches, feed)
wav = tf.audio.encode_wav
def spectrogram(x, size, stride, magnitude_squared=False):
    return tf.raw_ops.AudioSpectrogram(input=x, window_size=size, stride=stride, magnitude_squared=magnitude_squared)
def mfcc(x, rate, high=4000.0, low=20.0, filters=40, count=13):
    return tf.raw_ops.Mfcc(spectrogram=x, sample_rate=rate, upper_frequency_limit=high, lower_frequency_limit=low,
                           filterbank_channel_count=filters, dct_coefficient_count=count)
p = tf.placeholder(tf.float32)
s = tf.placeholder(tf.string)
'''
SNIPPETS = {
    "encode": "run(wav(sound, 16000), wav([[0.5], [2.0], [-3.0], [1 / 65536.0], [-1 / 65536.0]], 8000))",
    "encode none": "run(wav(np.zeros((0, 1), np.float32), 8000))",
    "encode a vector": "wav([1.0], 8000)",
    "encode without rate": "run(wav(sound, 0))",
    "decode": "run(*tf.audio.decode_wav(wav(sound, 16000)))",
    **{f"decode {c} {n}": f"run(*tf.audio.decode_wav(wav(sound, 16000), desired_channels={c}, desired_samples={n}))"
       for c in (-1, 1, 2, 3) for n in (-1, 100, 4000)},
    "decode static": "[t.shape.as_list() for t in tf.audio.decode_wav(s, 1, 5)] + "
                     "[t.shape.as_list() for t in tf.audio.decode_wav(s)]",
    "decode text": "run(*tf.audio.decode_wav('no sound'))",
    "decode a piece": "b = run(wav(sound, 16000))[0]\nrun(*tf.audio.decode_wav(b[:100]))",
    "decode 8 bits": "b = run(wav(sound, 16000))[0]\nrun(*tf.audio.decode_wav(b[:34] + b'\\x08\\0' + b[36:]))",
    "decode with another chunk": "b = run(wav(sound, 16000))[0]\n"
                                 "run(*tf.audio.decode_wav(b[:36] + b'LIST\\4\\0\\0\\0abcd' + b[36:]))",
    **{f"spectrogram {w} {n}": f"run(spectrogram(sound, {w}, {n}), "
       f"spectrogram(sound, {w}, {n}, magnitude_squared=True))" for w, n in ((480, 160), (64, 64), (100, 7))},
    "spectrogram of a short sound": "run(spectrogram(sound[:10], 100, 10))",
    "spectrogram of a vector": "spectrogram(sound[:, 0], 100, 10)",
    "spectrogram of a small window": "run(spectrogram(sound, 1, 10))",
    "spectrogram static": "spectrogram(sound, 480, 160).shape.as_list(), "
                          "spectrogram(p, 480, 160).shape.as_list()[2]",
    "mfcc": "q = spectrogram(sound, 480, 160, magnitude_squared=True)\n"
            "run(mfcc(q, 16000), mfcc(q, 16000, count=40), "
            "mfcc(q, 8000, 3000.0, 300.0, 20, 10))",
    "mfcc of silence": "run(mfcc(np.zeros((1, 2, 257), np.float32), 16000))",
    "mfcc of wrong limits": "run(mfcc(np.ones((1, 2, 257), np.float32), 16000, 10.0, 20.0))",
}


def test_sounds(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, tolerance=2e-5)


def test_the_module_that_programs_import():
    found = tf.contrib.framework.python.ops.audio_ops
    assert all(getattr(found, name) is getattr(audio_ops, name)
               for name in ("decode_wav", "encode_wav", "audio_spectrogram", "mfcc"))
