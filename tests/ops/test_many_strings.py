"""Many strings at once: machine code, and Python's own functions of bytes, find what they find one by one."""
from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tfnb.core import dtypes
from tfnb.kernels.library.text import automata, objects
from tfnb.kernels.library.text.numbers import HARD, POWERS, decimal, fixed, parse_floats, parse_integers
from tfnb.kernels.library.text.records import split_record
from tfnb.kernels.library.text.spans import joined, split_often
from tfnb.ops.strings import numbers, patterns, string_ops, transforms

ODD = ("inf -inf nan 1e400 -0 +3 .5 5. -.5 0x1p3 1E5 1e+5 00012 0.000000001 9007199254740993 1e22 1e23 "
       "123456789012345678901234567890 0e99").split()
WRONG = ["", "1_0", "x", "1e", "1e+", ".", "-", "1 2", "0x", "1.5.2", "--1", "e5", "+-1"]


def word(choose):
    kind = choose.randrange(4)
    if kind == 0:
        return repr(choose.uniform(-1, 1) * 10 ** choose.randint(-30, 30))
    if kind == 1:
        return f"{choose.uniform(-1000, 1000):.{choose.randint(0, 20)}{choose.choice('fe')}}"
    return choose.choice(["{}", " {} ", "{}\t"]).format(choose.choice([*ODD, "7", "-12.5"]))


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64])
def test_floats_are_python_s(dtype):
    choose = random.Random(5)
    texts = [word(choose).encode() for _ in range(4000)]
    text, begins = joined(texts)
    values, missing = numbers.parsed(text, begins[:-1], begins[1:], dtype)
    with np.errstate(over="ignore"):
        want = np.array([float.fromhex(t.decode()) if b"x" in t else float(t) for t in texts]).astype(dtype.np_dtype)
    assert values.tobytes() == want.tobytes() and not missing.any()


@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64])
def test_integers_of_all_sizes(dtype):
    choose = random.Random(6)
    want = [dtype.min, dtype.max, *(choose.randint(dtype.min, dtype.max) >> choose.randint(0, 60) for _ in range(300))]
    text, begins = joined([b" %d" % x for x in want])
    assert numbers.parsed(text, begins[:-1], begins[1:], dtype)[0].tolist() == want
    for beyond in (dtype.min - 1, dtype.max + 1):
        text, begins = joined([b"%d" % beyond])
        assert numbers.parsed(text, begins[:-1], begins[1:], dtype) is None


def test_the_kernels_are_the_functions_that_they_were_made_of():
    text, begins = joined([word(random.Random(7)).encode(), *(w.encode() for w in [*ODD, *WRONG])])
    for kernel, dtype, more in ((parse_floats, float, [POWERS]), (parse_integers, int, [])):
        found = []
        for run in (kernel.run, kernel.python):
            values, states = np.zeros(len(begins) - 1, dtype), np.full(len(begins) - 1, HARD, np.uint8)
            limits = [] if more else [-1000, 1000]
            run(len(values), text, begins[:-1], begins[1:], text[:1], 0, *more, *limits, values, states)
            found.append((values.tobytes(), states.tolist()))
        assert found[0] == found[1]


def test_records_with_quotes_defaults_and_wrong_ones():
    choose = random.Random(8)
    fields = ["1.5", '"2"', "", "NA", '"a ""b"""', "x,y", '"x,y"', "3", '"', "4 "]
    defaults = [np.float32([9]), np.array([b"none"], object), np.int64([])]
    types = [dtypes.float32, dtypes.string, dtypes.int64]
    for trial in range(150):
        own = fields[:4] if trial % 3 else fields
        lines = [",".join(choose.choice(own) for _ in range(3)).encode() for _ in range(choose.choice([1, 3, 50]))]
        lines += [b"1,a,2"] * 50
        selected = choose.choice([[], [0, 1, 2]])
        records = numbers.Records(SimpleNamespace(op=None), lines, types, defaults, b",", choose.random() < 0.8, b"NA",
                                  selected)
        fast = records.by_machine()
        try:
            want = records.one_by_one()
        except tf.errors.InvalidArgumentError:
            assert fast is None
        else:
            assert fast is not None and [x.tolist() for x in fast] == [x.tolist() for x in want]


def test_the_kernel_of_records():
    text, begins = joined([b'1,"a,b",', b"", b'"', b'"x"y,1', b"a,,c", b'"p""q",1'])
    found = []
    for run in (split_record.run, split_record.python):
        starts, stops, counts = np.zeros((2, 6), np.int64), np.zeros((2, 6), np.int64), np.zeros(6, np.int64)
        run(6, text, begins, np.array([0, -1, 1]), 3, starts.ravel(), stops.ravel(), counts, 6, 44, 1)
        found.append([counts.tolist(), starts[:, counts > 0].tolist(), stops[:, counts > 0].tolist()])
    assert found[0] == found[1] and found[0][0] == [3, 1, -1, -1, 3, -1]


ATOMS = ["a", "b", ".", " ", "-", r"\.", r"\d", r"\w", "[ab]", "[^a]", "[a-c]", "[^ .!]", r"\?", r"[\d_]", "'",
         "[!.,?]", r"\\"]


def test_simple_patterns_match_as_re2_does():
    choose, simple = random.Random(9), 0
    for _ in range(300):
        atoms = [choose.choice(ATOMS) for _ in range(choose.randint(1, 3))]
        atoms[0] += choose.choice(["", "", "+", "*"])
        pattern = "".join(atoms).encode()
        texts = ["".join(choose.choice("ab .-1_?'!\\é\n") for _ in range(10)).encode() for _ in range(3)]
        texts.append(b"aab ab.a")
        array = numbers.strings(texts[choose.choice([0, 3]):])
        simple += string_ops.simple_pattern(pattern, array.tolist()) is not None
        found = string_ops.re2_pattern(pattern)
        assert string_ops.full_matches(pattern, array).tolist() == [found.fullmatch(t) is not None for t in array]
        for rewrite in (b"", b"_", b"xy", rb"\\", rb"<\0>"):
            parts = transforms._rewriting(rewrite)[0]
            for everywhere in (True, False):
                want = [transforms._rewritten(found, parts, t, everywhere) for t in array]
                assert transforms._replaced(pattern, rewrite, everywhere, array).tolist() == want
    assert simple > 100


def test_beside_tensorflow(oracle):
    setup = """
import random
choose = random.Random(10)
lines = [",".join(choose.choice(["1.5", "-2", "", "3e2", '"4"']) for _ in range(4)).encode() for _ in range(200)]
words = [choose.choice(["a b", "", " a", "c,d ,e", "\\u00e9 x"]).encode() for _ in range(200)]
floats = [b"%.*f" % (choose.randint(0, 9), choose.gauss(0, 100)) for _ in range(200)]
fed = lambda value: tf.constant(np.array(value, object), tf.string)
"""
    snippets = [
        "tf.decode_csv(fed(lines), [[7.0], [0.5], [1.0], [2.0]])",
        "tf.string_to_number(fed(floats))", "tf.string_to_number(fed([b'%d' % i for i in range(200)]), tf.int64)",
        "tf.string_to_number(fed(floats + [b'1x']))",
        "tf.decode_csv(fed(lines + [b'1,2']), [[7.0], [0.5], [1.0], [2.0]])",
        "tf.raw_ops.StringSplit(input=fed(words), delimiter=' ,')",
        "tf.raw_ops.StringSplit(input=fed(words), delimiter=' ,', skip_empty=False)",
        "tf.raw_ops.StringSplit(input=fed(words), delimiter=' ', skip_empty=False)",
        "tf.raw_ops.StringSplit(input=fed(['', '']), delimiter=' ', skip_empty=False)",
        "tf.raw_ops.StringSplitV2(input=fed(words), sep=' ')", "tf.raw_ops.StringSplitV2(input=fed(words), sep='')",
        "tf.strings.length(fed(words), unit='UTF8_CHAR')", "tf.strings.substr(fed(floats), 1, 2)",
        "tf.strings.substr(fed(floats), -2, 5)", "tf.strings.substr(fed(words), 1, 2)",
        "tf.string_join([fed(words), 'x', fed(floats)], '-')", "tf.as_string(tf.range(200))",
        "tf.as_string(tf.constant([1.5, -0.0, 1e20, float('inf'), float('nan')], tf.float64), shortest=True)",
        "tf.as_string(['a', 'b'], width=4)",
        "tf.raw_ops.StringNGrams(data=fed(words), data_splits=np.int64([0, 3, 3, 4, 200]), separator='+', "
        "ngram_widths=[1, 3], left_pad='<', right_pad='>', pad_width=-1, preserve_short_sequences=False)"]
    assert not differences(oracle, {text: f"\n---\nsess.run({text})" for text in snippets}, setup)


def _texts(alphabet):
    choose = random.Random(8)
    sizes = choose.choices([0, 1, 3, 9, 30, 200], k=600)
    return np.array([bytes(choose.choices(alphabet, k=size)) for size in sizes], object)


PLAIN, ANY = _texts(b" \t\nab<>1"), _texts(range(256))
OPS = {
    "strip": tf.strings.strip, "length": tf.strings.length, "encode": tf.encode_base64, "part": lambda x: tf.substr(
        tf.strings.join([x, "12345"]), -4, 3),
    "padded": lambda x: tf.encode_base64(x, pad=True), "decode": lambda x: tf.decode_base64(tf.encode_base64(x)),
    "raw": lambda x: tf.raw_ops.DecodePaddedRaw(input_bytes=x, fixed_length=6, out_type=tf.int16),
    "join": lambda x: tf.strings.join([x, "+", x], separator="-"),
    "reduce": lambda x: tf.reduce_join(tf.stack([x, x, x], 1), 1, separator=","),
    "hash": lambda x: tf.strings.to_hash_bucket_fast(x, 1000), "print": tf.fingerprint,
    "prints": lambda x: tf.fingerprint(tf.stack([x, x], 1)),
    "split": lambda x: tf.sparse_tensor_to_dense(tf.strings.split(x, "<>"), default_value=b"."),
}


@pytest.mark.parametrize("texts", [PLAIN, ANY], ids=["plain", "any"])
@pytest.mark.parametrize("name", OPS)
def test_many_strings_as_few(name, texts):
    fed = tf.placeholder(tf.string, [None])
    y = OPS[name](fed)
    with tf.Session() as sess:
        many = sess.run(y, {fed: texts})
        few = [sess.run(y, {fed: texts[at:at + 12]}) for at in range(0, len(texts), 12)]
    width = max(part.shape[-1] for part in few) if name == "split" else 0
    few = [np.pad(part, [(0, 0), (0, width - part.shape[1])], constant_values=b".") for part in few] if width else few
    np.testing.assert_array_equal(many, np.concatenate(few))


@pytest.mark.parametrize("number", [np.int32, np.int64])
def test_parts_of_many_strings_to_the_ends_of_integers(number):
    least, most = np.iinfo(number).min, np.iinfo(number).max
    pos, length = (tf.placeholder(number, []) for _ in range(2))
    part = tf.substr(tf.constant([b"hello"] * 500), pos, length)
    with tf.Session() as sess:
        for at, size, want in ((1, most, b"ello"), (2, least, b"llo"), (-5, most, b"hello"), (5, most, b"")):
            assert set(sess.run(part, {pos: at, length: size})) == {want}
        for at in (least, most, -6):
            with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
                sess.run(part, {pos: at, length: most})


def test_feeds_of_many_objects_that_are_no_bytes():
    fed = tf.placeholder(tf.string, [None])
    with tf.Session() as sess:
        made = sess.run(tf.strings.length(fed), {fed: np.array(["ab"] * 500 + [b"c"] * 500, object)})
        assert made.tolist() == [2] * 500 + [1] * 500
        with pytest.raises(tf.errors.InternalError, match="Unsupported object type"):
            sess.run(fed, {fed: np.array([b"ab"] * 500 + [object()], object)})


@pytest.mark.parametrize("wrong", [b"a", b"aa=", b"a*bc", b"a===", b"abcd=abc"])
def test_wrong_base64_among_many(wrong):
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="expected base64"):
        sess.run(tf.decode_base64(np.array([b"YWJj"] * 500 + [wrong], object)))


def test_formatted_numbers_of_several_blocks():
    values = np.random.default_rng(1).normal(size=numbers.BLOCK + 5) * 1000
    with tf.Session() as sess:
        assert sess.run(tf.as_string(values, precision=3)).tolist() == [b"%.3f" % x for x in values]


def test_floats_are_written_as_python_does():
    """Ties, carries, the last digit of small ones, and all sizes below 2**63."""
    choose = np.random.default_rng(2)
    values = np.concatenate([choose.uniform(-1, 1, 4000) * 10.0 ** choose.integers(-20, 19, 4000),
                             np.arange(-500, 500) / 128, (np.arange(2000) + 0.5) * 1e-6, (np.arange(2000) + 0.5) * 1e-9,
                             [0.0, -0.0, 9.9999995, 0.9999999999, 5e-324, 2.0**62, 2.0**63 - 1024, -2.0**52 + 0.5]])
    for precision in range(10):
        assert fixed(values, precision) == [b"%.*f" % (precision, x) for x in values.tolist()]
    for wrong in (np.nan, -np.inf, 2.0**63):
        assert fixed(np.array([1.0, wrong]), 2) is None


def test_integers_are_written_as_python_does():
    for dtype in (np.int8, np.int64, np.uint64):
        info = np.iinfo(dtype)
        values = np.array([0, 1, 9, 10, info.max // 2, info.min, info.max, info.max - 1, 100], dtype)
        for given in (values, values[values != info.min], values[(values <= np.iinfo(np.int64).max)]):
            assert decimal(given) in (None, [b"%d" % x for x in given.tolist()])
            assert (decimal(given) is None) == any(not -(2**63) < x < 2**63 for x in given.tolist())


def test_pieces_between_marks():
    choose = random.Random(6)
    texts = ["".join(choose.choice("<>ab") for _ in range(choose.randint(0, 12))).encode() for _ in range(500)]
    for mark in (b"<", b"<>", b"aab"):
        for most in (-1, 0, 1, 2):
            parts, counts = split_often(np.array(texts, object), mark, most)
            assert parts == [part for text in texts for part in text.split(mark, most)]
            assert counts.tolist() == [len(text.split(mark, most)) for text in texts]


def expression(choose, depth=0):
    kind = choose.randrange(9 if depth < 3 else 4)
    if kind < 3 or depth > 4:
        return choose.choice(["a", "b", "-", r"\d", r"\w", ".", "[ab]", "[^a]", "[a-c1]", r"\.", r"\s", r"\W", "[-b]"])
    inner, other = expression(choose, depth + 1), expression(choose, depth + 1)
    if kind == 3:
        return inner + other
    if kind == 4:
        return f"({inner})"
    if kind < 7:
        return f"(?:{inner}|{other})" if kind == 5 else f"({inner}|{other})" + choose.choice(["", "*", "+"])
    return f"(?:{inner})" + choose.choice(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{1,}"])


def test_automata_find_what_re2_finds():
    choose, whole, grouped = random.Random(5), 0, 0
    for _ in range(120):
        pattern = expression(choose).encode()
        texts = ["".join(choose.choices("aabbc1.- \n", k=choose.randrange(9))).encode() for _ in range(objects.LEAST)]
        array, found = numbers.strings(texts), string_ops.re2_pattern(pattern)
        table = string_ops.table_for(pattern, array, whole=True)
        if table is not None:
            whole += 1
            assert automata.whole_matches(*table).tolist() == [found.fullmatch(t) is not None for t in texts]
        for parts in ([b"<", 0, b">"], [b""], [b"<", 1, b">", 1]):
            table = string_ops.table_for(pattern, array, False, 1 in parts) if found.groups or 1 not in parts else None
            if table is not None:
                grouped += 1 in parts
                for everywhere in (True, False):
                    assert automata.replaced(*table, parts, everywhere) == [
                        transforms._rewritten(found, parts, t, everywhere) for t in texts]
    assert whole > 100 and grouped > 10


def test_a_search_that_takes_long_is_left_to_re2():
    pattern, texts = b"a*b", numbers.strings([b"a" * 100_000, *[b"a"] * objects.LEAST])
    assert automata.replaced(*string_ops.table_for(pattern, texts, False), [b"x"], True) is None
    found = numbers.strings([b"a" * 300, b"aab"] * objects.LEAST)
    assert transforms._replaced(pattern, b"x", True, found).tolist() == [b"a" * 300, b"x"] * objects.LEAST


@pytest.mark.parametrize("pattern", [rb"^a", rb"a$", rb"(?i)a", rb"[[:alpha:]]", rb"\pN", rb"\ba", "\u00e9".encode(),
                                     rb"(?P<x>a)", rb"(a*)*", rb"a{200}", b"(a|b)*a(a|b){12}"])
def test_patterns_without_a_table(pattern):
    assert patterns.automaton(pattern, True) is None


def test_wide_classes_are_for_ascii():
    texts = numbers.strings(["\u00e9".encode()] * objects.LEAST)
    assert string_ops.table_for(b".", texts, True) is None and string_ops.table_for(b"a", texts, True) is not None
    assert string_ops.full_matches(b".", texts).all() and not string_ops.full_matches(b"a", texts).any()
