"""Regular expressions: the language of RE2, in linear time."""
import numpy as np
import pytest

import tfnb as tf
from tfnb.ops.declaration.raw import raw

PATTERNS = [
    rb"a.c", rb"(?s)a.c", rb"\pN+", rb"\z", rb"a\z", rb"\Qa.c\E", rb"\C\C", rb"a\C", rb"(a+)+$", rb"[[:alpha:]]+",
    rb"\p{Greek}+", rb"(?P<x>a)b", rb"\d+", rb"\w+", "é".encode(), rb".", rb"\xff", rb"(?i)ABC", rb"a|", b"a\0b",
    rb"^abc$", rb"(?m)^abc$", b"", rb"\s+", rb"[^a]", rb"\bab\b"]
BROKEN = [
    rb"(", rb"*a", rb"a{1001}", rb"(a)\1", rb"(?=a)a", rb"((a{100}){100}){100}", rb"x{2,1}", rb"\Z", rb"\h", rb"a++"]
TEXTS = [b"abc", b"a\nc", b"a.c", "٣".encode(), b"a", b"", b"ab", b"aa", "αβ".encode(), "é".encode(), b"\xff", b"ABC",
         b"a\0b", b"abc\n", b"b", b"  ", b"\xc3", b"a\xff"]


@pytest.mark.oracle
def test_as_tensorflow(oracle):
    expected = oracle(f"""
def answers(pattern):
    with tf.Graph().as_default(), tf.Session() as sess:
        try:
            return sess.run(tf.raw_ops.StaticRegexFullMatch(input={TEXTS!r}, pattern=pattern)).tolist()
        except tf.errors.InvalidArgumentError:
            return "invalid"
result = repr([answers(pattern) for pattern in {PATTERNS + BROKEN!r}])
""")
    found = []
    with tf.Session() as sess:
        for pattern in PATTERNS + BROKEN:
            try:
                found.append(sess.run(raw.StaticRegexFullMatch(TEXTS, pattern=pattern)).tolist())
            except tf.errors.InvalidArgumentError:
                found.append("invalid")
    assert repr(found) == str(expected)


def test_time_is_linear():
    text = tf.placeholder(tf.string, [None])
    match = raw.StaticRegexFullMatch(text, pattern=b"(a+)+b")
    with tf.Session() as sess:                          # Python's own takes 2 ** n steps: 22 s for n = 25
        for _ in range(2):
            assert sess.run(match, {text: [b"a" * 20_000, b"a" * 20_000 + b"b"]}).tolist() == [False, True]


@pytest.mark.parametrize("pattern", BROKEN)
def test_a_broken_pattern(pattern, capfd):
    with tf.Session() as sess:
        match = raw.StaticRegexFullMatch(np.zeros([0], object), pattern=pattern, name="match")
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern.*'match'"):
                sess.run(match)
        assert sess.run(raw.StaticRegexFullMatch([b"ab"], pattern=b"a.")).tolist() == [True]
    assert capfd.readouterr().err == ""
