"""Functions of strings: values, static shapes and errors as in TensorFlow."""
from tests.differential import differences

SETUP = r'''
texts = np.array([["Hello World", "  a b\t\n", ""], ["\u00c4\u00d6\u00df \u0130", "x1y22", "A" * 70]], object)
def run(*fetches, feed=None):
    return tf.Session().run(fetches, feed)
x = tf.placeholder(tf.string)
'''
SNIPPETS = {
    "case": "run(tf.strings.lower(texts), tf.strings.upper(texts))",
    "case of Unicode": "run(tf.strings.lower(['\\u00c4\\u0416'], encoding='utf-8'), "
                       "tf.strings.upper(['\\u00e4\\u0436'], 'utf-8'))",
    "case of another encoding": "run(tf.strings.lower(texts, encoding='latin1'))",
    "strip": "run(tf.strings.strip(texts), tf.string_strip([' \\x0b\\x0c a \\r']))",
    "length": "run(tf.strings.length(texts), tf.strings.length(texts, unit='UTF8_CHAR'))",
    "length of another unit": "tf.strings.length(texts, unit='WORD')",
    "numbers": "tf.strings.lower([1])",
    **{f"replace {i}": f"run(tf.strings.regex_replace(texts, {p!r}, {r!r}), "
       f"tf.regex_replace(texts, {p!r}, {r!r}, False))"
       for i, (p, r) in enumerate([("l", "L"), ("(o)", r"<\1>"), ("", "-"), (r"\d*", "#"),
                                   ("(a)|(b)", r"\2"), (r"\s+", ""), ("^", ">"), ("$", "<"),
                                   ("(.)(.)", r"\2\1\\"), ("A+", r"\0"), ("a", r"x\z"), ("a", r"\1")])},
    "replace by a bad rewrite": "run(tf.strings.regex_replace(texts, 'a', '\\\\x'))",
    "replace by a missing group": "run(tf.strings.regex_replace(texts, 'a', '\\\\1'))",
    "replace a bad pattern": "run(tf.strings.regex_replace(texts, '(', ''))",
    "replace by tensors": "run(tf.strings.regex_replace(texts, tf.constant('l+'), tf.constant('1')))",
    "replace by a vector": "run(tf.strings.regex_replace(texts, tf.constant(['l+']), tf.constant('1')))",
    "match": "run(tf.strings.regex_full_match(texts, '.*World'), tf.strings.regex_full_match(texts, tf.constant('')))",
    "match a bad pattern": "run(tf.strings.regex_full_match(texts, tf.constant('(')))",
    **{f"reduce_join {axis} {keep}": "run(tf.strings.reduce_join([[['a', 'b'], ['c', 'd']], [['e', 'f'], ['g', 'h']]], "
       f"{axis}, keepdims={keep}, separator='-'))" for axis in (None, 0, 1, -1, [0, 2], [2, 0], [])
       for keep in (False, True)},
    "reduce_join beyond": "run(tf.reduce_join(['a'], 1))",
    "reduce_join twice": "run(tf.reduce_join([['a']], [0, -2]))",
    "reduce_join of none": "run(*(tf.reduce_join(np.zeros((2, 0), object), a) for a in (0, 1)))",
    "reduce_join static": "[tf.reduce_join(texts, a).shape.as_list() for a in (0, [0, 1], None)]",
    "reduce_join fed": "run(tf.reduce_join(x, 1, separator=' '), feed={x: texts})",
    "reduce_join fed beyond": "run(tf.reduce_join(x, 5), feed={x: texts})",
    "segments": "run(tf.strings.unsorted_segment_join(['a', 'b', 'c', 'd'], [2, 0, 2, 3], 5, separator=','))",
    "segments below 0": "run(tf.strings.unsorted_segment_join(['a'], [-1], 2))",
    "segments of rows": "run(tf.strings.unsorted_segment_join([['a', 'b'], ['c', 'd'], ['e', 'f']], [1, 0, 1], 2))",
    "segments beyond": "run(tf.strings.unsorted_segment_join(['a'], [2], 2))",
    "segments of other sizes": "run(tf.strings.unsorted_segment_join(['a'], [0, 1], 2))",
    "split": "run(tf.strings.split(['a b  c', '', ' d ']), tf.strings.split(['a,b,,c', ',d', ''], ','))",
    "split at words": "run(tf.strings.split(['a<>b<>', '<><>c'], sep='<>'))",
    **{f"split at most {n}": f"run(tf.strings.split(['a b  c d ', ' e f', 'x', ''], maxsplit={n}), "
       f"tf.strings.split(['a,b,c', ',d'], ',', maxsplit={n}))" for n in (-1, 0, 1, 2)},
    "split none": "run(tf.strings.split(np.zeros(0, object)))",
    "to_hash_bucket": "run(tf.strings.to_hash_bucket(texts, 1000), tf.strings.to_hash_bucket_fast(texts, 7), "
                      "tf.strings.to_hash_bucket_strong(texts, 9, [1, 2]))",
    "to_hash_bucket of lengths": "t = [bytes((i * 37 + j * 11) % 256 for j in range(i)) for i in range(260)]\n"
                                 "run(tf.string_to_hash_bucket(t, 1 << 62), tf.string_to_hash_bucket_fast(t, 1 << 62), "
                                 "tf.string_to_hash_bucket_strong(t, 1 << 62, [1 << 60, -2]))",
    "to_hash_bucket of none": "run(tf.string_to_hash_bucket_fast(texts, 0))",
    "to_hash_bucket of a short key": "run(tf.string_to_hash_bucket_strong(texts, 5, [1]))",
}


def test_functions_of_strings(oracle):
    assert not differences(oracle, SNIPPETS, SETUP)
