"""Parts of strings, as in TensorFlow."""
from __future__ import annotations

import pytest

import tfnb as tf
from tests.differential import differences

TEXTS = {
    "one": "sess.run(tf.substr(b'hello', 1, 3))", "each": "sess.run(tf.substr([b'hello', b'wor'], [1, 0], [2, 2]))",
    "long": "sess.run(tf.substr([b'hello', b'wor'], 1, 20))", "from the end": "sess.run(tf.substr(b'hello', -3, 2))",
    "the end": "sess.run(tf.substr(b'hello', 5, 2))", "beyond": "sess.run(tf.substr(b'hello', 6, 2))",
    "beyond one": "sess.run(tf.substr([b'hello', b'wor'], 4, 1))", "before": "sess.run(tf.substr(b'hello', -6, 2))",
    "rows": "sess.run(tf.substr([[b'ab', b'cd'], [b'ef', b'gh']], [0, 1], [1, 1]))",
    "places": "sess.run(tf.substr(b'hello', [1, 2], [2, 2]))",
    "letters": "sess.run(tf.substr('h\\u00e9llo'.encode(), 1, 2, unit='UTF8_CHAR'))",
    "letters that are none": "[[sess.run(tf.substr(text, pos, 2, unit='UTF8_CHAR')) for pos in (0, 1, -2)] for text in "
                             "(b'\\xc0\\xa0\\xef\\x7f\\x80', b'\\xbf\\xed\\x90\\x7f', b'\\xff\\xfe\\xf4\\xbb\\xc2')]",
    "shapes": "tf.substr(b'hello', 1, [2, 2])",
    "static": "tf.substr(tf.placeholder(tf.string, [None]), [0, 1], [1, 1]).shape.as_list()",
    "jpeg": "sess.run(tf.image.is_jpeg([b'\\xff\\xd8\\xff\\xe0', b'GIF8']))",
}


def test_parts_are_tensorflows(oracle):
    assert differences(oracle, TEXTS) == {}


def test_parts():
    with tf.Session() as sess:
        assert sess.run(tf.substr([b"hello", b"wor"], 1, 2)).tolist() == [b"el", b"or"]
        with pytest.raises(tf.errors.InvalidArgumentError, match="pos 4 out of range for string b'wor' at index 1"):
            sess.run(tf.substr([b"hello", b"wor"], 4, 1))
