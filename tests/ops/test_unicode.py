"""Unicode in strings, texts of tensors, n-grams and fingerprints: as in TensorFlow."""
import random
import sys

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tfnb.ops.strings import unicode

SETUP = '''
def run(fetch, feed=None):
    found = tf.Session().run(fetch, feed)
    return list(found) if isinstance(found, (list, tuple)) else found
def decoded(text, encoding="UTF-8", **attrs):
    return run(list(tf.raw_ops.UnicodeDecodeWithOffsets(input=text, input_encoding=encoding, **attrs)))
def encoded(values, splits, encoding="UTF-8", **attrs):
    return run(tf.raw_ops.UnicodeEncode(input_values=values, input_splits=np.int64(splits), output_encoding=encoding,
                                        **attrs))
def grams(widths, pad, short, data=("a", "b", "c", "d", "e"), splits=(0, 1, 1, 5)):
    return run(list(tf.raw_ops.StringNGrams(
        data=np.array(data, object), data_splits=np.int64(splits), separator="|", ngram_widths=widths, left_pad="L",
        right_pad="R", pad_width=pad, preserve_short_sequences=short)))
def text(x, **attrs):
    return run(tf.strings.format("<{}>", tf.constant(x), **attrs))
def tried(action):
    try:
        return action()
    except tf.errors.OpError as error:
        return type(error).__name__
MODES = ("replace", "ignore", "strict")
TEXTS = [b'a\\xc3\\xa9\\xf0\\x9f\\x98\\x80', b'a\\xff\\xfeb', b'\\xe2\\x82', b'\\xe2\\x82a', b'\\xed\\xa0\\x80x',
         b'\\xf4\\x90\\x80\\x80', b'\\xc0\\x80', b'\\x00\\x1f\\x20\\x7f', b'\\xf0\\x9f\\x98', b'\\xef\\xbb\\xbfa', b'']
OTHERS = [('UTF-16-BE', b'\\x00a\\xd8\\x3d\\xde\\x00'),
          ('UTF-16-BE', b'\\x00a\\xd8'), ('UTF-16-BE', b'\\xd8\\x3d\\x00a'),
          ('UTF-32-BE', b'\\0\\0\\0a\\0\\1\\xf6\\0\\0\\0'), ('ISO-8859-1', b'\\xe9a'), ('US-ASCII', b'\\xe9a'),
          ('Shift_JIS', b'\\x82\\xa0a'), ('windows-1252', b'\\x80'), ('utf8', b'\\xc3\\xa9')]
'''
VALUES = ("1.5", "np.float32(1 / 3)", "np.float64(1) / 3", "np.arange(10)", "np.arange(10.) / 3", "'x'", "True",
          "np.arange(12).reshape(3, 4)", "np.arange(100).reshape(10, 10)", "['a', 'b\"c\\\\n']", "[True, False]",
          "np.zeros((0, 3))", "np.zeros((3, 0))", "np.arange(24).reshape(2, 3, 4)", "np.float16(1.1)", "np.int8(-3)",
          "1e10", "1e-10", "np.float32(16777216)", "123456789.0", "np.inf", "np.nan", "np.float64(123456789.123)",
          "np.arange(7)", "np.arange(6)", "np.uint8([200, 3])")
SNIPPETS = {
    "decode": "[tried(lambda: decoded([t], errors=e, replace_control_characters=c)) for t in TEXTS for e in MODES "
              "for c in (False, True)]",
    "decode others": "[decoded([t], e) for e, t in OTHERS]",
    "decode many": "decoded(['ab', '', 'c', 'de'])",
    "decode plain": "run(list(tf.raw_ops.UnicodeDecode(input=['ab', 'c'], input_encoding='UTF-8')))",
    "unknown encoding": "decoded(['a'], 'bogus')",
    "encode": "[tried(lambda: encoded([97, 0x1F600, 0xD800, 0x110000, -1, 0xFFFE], [0, 2, 5, 6], k, errors=e)) "
              "for e in MODES for k in ('UTF-8', 'UTF-16-BE', 'UTF-32-BE')]",
    "encode replacement": "encoded([97, -1], [0, 2], replacement_char=63)",
    **{f"encode by {splits}": f"encoded([97, 98], {splits})" for splits in ([0, 1], [1, 2], [0, 3], [0, 2, 1])},
    "transcode": "[run(tf.strings.unicode_transcode(['a\\xe9', 'b\\x01'], 'UTF-8', k, errors=e, "
                 "replace_control_characters=True)) for k in ('UTF-16-BE', 'UTF-32-BE') for e in MODES[:2]]",
    "transcode malformed": "run(tf.strings.unicode_transcode([b'a\\xff'], 'UTF-8', 'UTF-8', replacement_char=63))",
    "transcode strictly": "run(tf.strings.unicode_transcode([b'a\\xff'], 'UTF-8', 'UTF-8', errors='strict'))",
    "transcode controls strictly": "[tried(lambda: run(tf.strings.unicode_transcode([b'a\\x01'] * n, k, 'UTF-8', "
                                   "errors='strict', replace_control_characters=True))) for n in (1, 40) for k in ("
                                   "'UTF-8', 'UTF-16-BE')]",
    "bad replacement": "run(tf.strings.unicode_transcode([b'a'], 'UTF-8', 'UTF-8', replacement_char=0x110000))",
    "scripts": "run(tf.strings.unicode_script([[-1, 0x110000, 0xD800], [97, 0x3b1, 0x4e2d], [0x416, 0x20, 0xE01F0], "
               "[0x5d0, 0x627, 0x3042]]))",
    **{f"grams {w} {pad} {short}": f"grams({w}, {pad}, {short})"
       for w in ([2], [1, 3], [5]) for pad in (-1, 0, 1, 4) for short in (False, True)},
    "grams of the widest": "grams([2 ** 31 - 1, 2], 0, False)",
    "grams beyond": "grams([2], 0, False, ('a', 'b'), (0, 3))", "grams of none": "grams([2], 0, False, (), (0, 0))",
    "grams from 1": "grams([2], 0, False, ('a', 'b'), (1, 2))", "grams of 0": "grams([0], 0, False)",
    **{f"text of {x}": f"text({x})" for x in VALUES},
    **{f"text by {n}": f"[text(x, summarize={n}) for x in (np.arange(20).reshape(5, 4), np.arange(4), 7)]"
       for n in (-1, 0, 1, 2)},
    "texts": "run(tf.strings.format('a {} b {}', [tf.constant(1), tf.constant('x')]))",
    "other placeholder": "run(tf.strings.format('a %s b {}', [tf.constant(1)], placeholder='%s'))",
    "too many": "tf.strings.format('a {} b', [tf.constant(1), tf.constant('x')])",
    "none": "run(tf.strings.format('a', []))",
    **{f"fingerprint {i}": f"run(tf.fingerprint({data}))" for i, data in enumerate((
        "['a', 'bc']", "[['a', 'b'], ['c', 'd']]", "[1, 2]", "[[1, 2], [3, 4]]", "[1.5]", "[[[True]], [[False]]]"))},
    "fingerprint of a scalar": "tf.fingerprint('x')", "other method": "tf.fingerprint([1], 'md5')",
}


def test_as_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP)


ARGUMENTS = {
    "string": ("tf.constant('abc')",), "vector": ("tf.constant(['abc'])",),
    "several": ("'x', tf.constant([1, 2]), 3, None",),
    "nested": ("{'b': tf.constant(1), 'a': [tf.constant([1.5]), 's']}, (1, tf.constant(2))",),
    "braces": ("'{}', tf.constant(1)",), "sep": ("tf.constant(1), 'b', sep='|', end='!'",), "text": ("'only text'",),
    "nothing": ("",), "array": ("np.arange(3), tf.constant('q')",),
    "sparse": ("tf.SparseTensor([[0, 1]], [3], [1, 2])",), "long": ("tf.range(100), summarize=2",),
}


def test_print_writes_what_tensorflow_writes(oracle, tmp_path):
    place, code = (tmp_path / "printed").as_posix(), """
written = []
for text in arguments:
    with open(place, "w"): pass
    call = "tf.print(" + text + (", " if text else "") + "output_stream='file://' + place)"
    with tf.Session() as sess:
        sess.run(eval(call))
    with open(place) as file:
        written.append(file.read())
result = written
"""
    given = [text for text, in ARGUMENTS.values()]
    scope = {"tf": tf, "np": np, "arguments": given, "place": place}
    exec(code, scope)
    theirs = oracle(code, arguments=given, place=place)
    assert dict(zip(ARGUMENTS, scope["result"], strict=True)) == dict(zip(ARGUMENTS, theirs, strict=True))


def test_streams(capsys):
    with tf.Session() as sess:
        sess.run([tf.print("out", output_stream=sys.stdout), tf.print("err")])
    seen = capsys.readouterr()
    assert seen.out == "out\n" and seen.err == "err\n"
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print("x", output_stream=3)
    with pytest.raises(ValueError, match="Unknown output stream: nowhere"):
        tf.print("x", output_stream="nowhere")


def test_print_in_a_loop_comes_in_order(capsys):
    def body(i):
        with tf.control_dependencies([tf.print("step", i, output_stream=sys.stdout)]):
            return i + 1
    with tf.Session() as sess:
        assert sess.run(tf.while_loop(lambda i: i < 3, body, [0])) == 3
    assert capsys.readouterr().out == "step 0\nstep 1\nstep 2\n"


LEADS = b"A\x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xdf\xe0\xe1\xed\xef\xf0\xf4\xf5\xff"
LETTERS = "A\t\x7f\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"


def test_many_texts_are_decoded_and_encoded_as_one_by_one(monkeypatch):
    choose = random.Random(3)
    texts = [bytes(choose.choices(LEADS, k=choose.randrange(7))) if choose.random() < 0.5 else
             "".join(choose.choices(LETTERS, k=choose.randrange(5))).encode() for _ in range(2000)]
    ops = []
    for errors in ("replace", "ignore"):
        for controls in (False, True):
            attrs = {"input_encoding": "UTF-8", "replace_control_characters": controls, "errors": errors}
            ops += [tf.raw_ops.UnicodeDecodeWithOffsets(input=tf.constant(texts), **attrs)]
            ops += [[tf.raw_ops.UnicodeTranscode(input=tf.constant(texts), output_encoding=encoding, **attrs)]
                    for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE")]
    with tf.Session() as sess:
        found = sess.run(ops)
        monkeypatch.setattr(unicode, "LEAST", 1 << 30)
        for many, one_by_one in zip(found, sess.run(ops), strict=True):
            for a, b in zip(many, one_by_one, strict=True):
                assert a.dtype == b.dtype and a.tolist() == b.tolist()
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid formatting"):
            monkeypatch.undo()
            sess.run(tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="strict"))


def test_many_rows_of_codes_are_encoded_as_one_by_one(monkeypatch):
    codes = [ord(letter) for letter in LETTERS * 10]
    rows = tf.raw_ops.UnicodeEncode(input_values=codes, input_splits=[0, *range(0, 100, 4), len(codes)],
                                    output_encoding="UTF-16-BE")
    with tf.Session() as sess:
        found = sess.run(rows)
        monkeypatch.setattr(unicode, "LEAST", 1 << 30)
        assert found.tolist() == sess.run(rows).tolist()
    assert b"".join(found.tolist()).decode("utf-16-be") == LETTERS * 10
