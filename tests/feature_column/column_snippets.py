"""Programs with feature columns that run here and in TensorFlow."""
# ruff: noqa: E501
from __future__ import annotations

import ast

SETUP = """
import os, tempfile
os.chdir(tempfile.mkdtemp())
with open("words", "w") as file:
    n = file.write("a\\nb\\nc\\n")
F, P = tf.feature_column, tf.placeholder
VALUES = {"n": [[1.0], [20.0], [-3.0]], "v": [4.0, 5.0, 6.0], "m": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "k": [[1], [9], [3]],
          "s": [["a"], ["z"], [""]], "t": [["b", "c"], ["a", ""], ["q", "a"]], "i": [[1], [3], [-1]], "j": [[0, 2], [3, 3], [1, -1]],
          "c": [[2.0, 3.0], [0.5, 0.0], [1.0, 1.0]]}
KINDS = {"k": tf.int32, "s": tf.string, "t": tf.string, "i": tf.int64, "j": tf.int32}
def feed():
    made = {name: P(KINDS.get(name, tf.float32), np.shape(value)) for name, value in VALUES.items()}
    given = {made[name]: value for name, value in VALUES.items()}
    indices, shape = [[0, 0], [0, 1], [2, 0]], [3, 2]
    for name, kind, values in (("ss", tf.string, ["a", "b", "q"]), ("si", tf.int64, [3, 1, 0]), ("sw", tf.float32, [0.5, 2.0, -3.0])):
        made[name] = tf.sparse_placeholder(kind, shape)
        given[made[name]] = (indices, values, shape)
    return made, given
def run(tensors, given, times=3):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for number, v in enumerate(sorted(tf.global_variables(), key=lambda v: v.name)):
            size = int(np.prod(v.shape.as_list()))
            v.load((np.arange(size).reshape(v.shape.as_list()) * 0.7 - number).astype("float32"), sess)
        return [sess.run(tensors, given) for _ in range(times)]
def variables():
    return [(v.op.name, v.shape.as_list(), v in tf.trainable_variables(), v in tf.get_collection("model_variables"))
            for v in tf.global_variables()]
def layer(*columns, **options):
    made, given = feed()
    tensor = F.input_layer(made, list(columns), **options)
    return run(tensor, given), tensor.name, tensor.shape.as_list(), variables()
def linear(*columns, **options):
    made, given = feed()
    tensor = F.linear_model(made, list(columns), **options)
    return run(tensor, given), tensor.name, tensor.shape.as_list(), variables()
number = F.numeric_column
def listed(key, words=("a", "b"), **options):
    return F.categorical_column_with_vocabulary_list(key, words, **options)
def file(key, **options):
    return F.categorical_column_with_vocabulary_file(key, "words", **options)
hashed, ids = F.categorical_column_with_hash_bucket, F.categorical_column_with_identity
one, embed, weigh, cross = F.indicator_column, F.embedding_column, F.weighted_categorical_column, F.crossed_column
buckets = F.bucketized_column
"""
SNIPPETS = {
    "numbers": 'layer(number("n"), number("m", shape=2), number("v"), number("k", dtype=tf.int32, normalizer_fn=lambda x: x * 2))',
    "buckets": 'layer(buckets(number("n"), [0.0, 1.0, 5.5]), buckets(number("m", shape=(2,)), [2, 4]))',
    "lists": 'layer(one(listed("s")), one(listed("t", ["a", "b", "c"], num_oov_buckets=2)), one(listed("j", [3, 0])))',
    "a default": 'layer(one(listed("t", default_value=1)), one(listed("ss", default_value=0)))',
    "files": 'layer(one(file("s")), one(file("t", num_oov_buckets=2)), one(file("ss", vocabulary_size=2, default_value=1)))',
    "hashes": 'layer(one(hashed("s", 5)), one(hashed("t", 4)), one(hashed("j", 3, dtype=tf.int64)), one(hashed("ss", 6)))',
    "identity": 'layer(one(ids("i", 4)), one(ids("j", 3, default_value=2)), one(ids("si", 4)))',
    "weights": 'layer(one(weigh(listed("t", ["a", "b", "c"]), "c")), embed(weigh(hashed("ss", 5), "sw"), 2))[0]',
    "embeddings": '''layer(embed(hashed("s", 5), 3), embed(hashed("t", 5), 2, combiner="sum"), embed(ids("si", 4), 2, combiner="sqrtn"),
                     embed(ids("j", 4), 2, max_norm=0.5, trainable=False), embed(listed("ss"), 1))''',
    "embeddings of crosses": 'layer(embed(cross(["s", buckets(number("n"), [0, 5])], 7), 2), one(cross(["t", "j"], 9, hash_key=5)))',
    "shared": '''
shared = F.shared_embedding_columns([ids("i", 4), ids("j", 4)], 2)
layer(*shared, *F.shared_embedding_columns([hashed("s", 3), hashed("t", 3)], 2, shared_embedding_collection_name="words"))''',
    "what layers tell": '''
made, given = feed()
outputs, held = {}, {}
columns = [embed(hashed("s", 5), 3), number("n")]
tensor = F.input_layer(made, columns, cols_to_vars=held, cols_to_output_tensors=outputs, weight_collections=["mine"], trainable=False)
again = F.input_layer(made, columns[0])
([(c.name, [v.op.name for v in held[c]], outputs[c].shape.as_list()) for c in columns], variables(), again.name,
 [v.op.name for v in tf.get_collection("mine")])''',
    "linear": '''linear(number("n"), number("m", shape=(2,)), buckets(number("v"), [4.5]), listed("s"), hashed("t", 5), ids("si", 4),
                 cross(["s", "t"], 6), weigh(hashed("ss", 5), "sw"), one(ids("i", 4)), embed(ids("j", 4), 2))''',
    "linear of two units": 'linear(number("n"), hashed("t", 5), units=2, sparse_combiner="mean")',
    "crosses of crosses": 'linear(cross(["s", cross(["t", ids("j", 4)], 5)], 50), cross([buckets(number("m", shape=2), [3]), "k"], 100, 3))',
    "linear models": '''
made, given = feed()
held = {}
with tf.variable_scope("outer"):
    a = F.linear_model(made, [number("n"), hashed("s", 3)], units=2, cols_to_vars=held)
    b = F.linear_model(made, [number("n")], trainable=False, weight_collections=["mine"])
(a.name, b.name, variables(), sorted((getattr(k, "name", k), [v.op.name for v in vs]) for k, vs in held.items()),
 [v.op.name for v in tf.get_collection("mine")])''',
    "partitioned": '''
with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
    found = linear(hashed("t", 5), number("n")), [v.op.name for v in tf.global_variables()]
found[0][0], sorted(found[1])''',
    "protos": '''
columns = [number("n"), number("m", shape=(2,), default_value=3.0), number("q", shape=(2, 1), dtype=tf.int32, default_value=[[1], [2]]),
           embed(hashed("s", 5), 2), one(listed("t")), weigh(hashed("ss", 5), "sw"), cross(["x", buckets(number("y"), [1])], 5),
           ids("i", 4), hashed("h", 3, dtype=tf.int32), one(F.sequence_categorical_column_with_identity("e", 3))]
spec = F.make_parse_example_spec(columns)
[(k, type(v).__name__, v.dtype.name, getattr(v, "shape", None), getattr(v, "default_value", None)) for k, v in sorted(spec.items())]''',
    "names": '''
a, c = hashed("s", 5), ids("i", 4)
[x.name for x in (number("n"), buckets(number("n"), [1]), a, c, one(a), embed(a, 2), weigh(a, "w"), cross(["z", "b"], 3),
 cross(["y", cross(["x", c], 3)], 3), *F.shared_embedding_columns([c, ids("b", 4)], 2))] + [
 c.num_buckets, buckets(number("m", shape=2), [1, 2]).num_buckets, number("n") == number("n"), len({a, hashed("s", 5)}), a.key,
 number("n", shape=3).shape, buckets(number("n"), [1]).boundaries]''',
}

REFUSED = """
number(3), number("n", shape=0), number("n", shape=1.5), number("n", shape=[]), number("n", dtype=tf.string)
number("n", default_value="x"), number("n", default_value=1.5, dtype=tf.int32), number("n", default_value=[1.0, 2.0])
number("n", normalizer_fn=3), buckets("n", [1]), buckets(number("n"), []), buckets(number("n"), [2, 1])
buckets(number("n"), [1, 1]), buckets(number("n", shape=(1, 2)), [1]), buckets(number("n"), {1}), hashed("s", None)
hashed("s", 0), hashed("s", 5, dtype=tf.float32), hashed(5, 5), listed("s", []), listed("s", None), listed("s", ["a", "a"])
listed("s", default_value=1, num_oov_buckets=1), listed("s", num_oov_buckets=-1), listed("s", dtype=tf.int32)
listed("s", [1.5]), listed("s", dtype=tf.float32), file(""), F.categorical_column_with_vocabulary_file("s", "")
F.categorical_column_with_vocabulary_file("s", "absent"), file("s", vocabulary_size=0), file("s", num_oov_buckets=-1)
file("s", num_oov_buckets=1, default_value=1), file("s", dtype=tf.float32), ids("i", 0), ids("i", 3, default_value=3)
ids("i", 3, default_value=-1), ids(1, 3), weigh(ids("i", 3), "w", dtype=tf.string), cross(["a"], 5), cross(["a", "b"], 0)
cross(["a", hashed("b", 5)], 5), cross(["a", number("n")], 5), cross(["a", 3], 5), one("x"), one(number("n"))
embed(ids("i", 3), 0), embed(ids("i", 3), None), embed(ids("i", 3), 2, initializer=3)
embed(ids("i", 3), 2, ckpt_to_load_from="x"), F.shared_embedding_columns([ids("i", 3), ids("j", 4)], 2)
F.shared_embedding_columns([ids("i", 3), hashed("s", 3)], 2)
F.input_layer({}, []), F.input_layer({}, {}), F.input_layer({}, [3]), F.input_layer({}, [ids("i", 3)])
F.input_layer({}, [number("n")]), F.input_layer(feed()[0], [number("n"), number("n", normalizer_fn=abs)])
F.input_layer(feed()[0], [number("ss")]), F.input_layer({"n": tf.constant(1.0)}, [number("n")])
F.input_layer({"n": tf.constant([1.0]), "m": tf.constant([1.0, 2.0])}, [number("n"), number("m")])
F.input_layer(feed()[0], [one(ids("n", 3))]), F.input_layer(feed()[0], [one(ids("s", 3))])
F.input_layer(feed()[0], [one(hashed("n", 3))]), F.input_layer(feed()[0], [one(hashed("i", 3))])
F.input_layer(feed()[0], [one(listed("i"))]), F.input_layer(feed()[0], [one(weigh(ids("si", 4), "si"))])
F.input_layer(feed()[0], [one(cross([weigh(ids("si", 4), "sw"), "s"], 4))]), F.linear_model({}, [])
F.input_layer(feed()[0], [embed(F.sequence_categorical_column_with_identity("i", 4), 2)])
F.linear_model({}, [F.sequence_numeric_column("n")]), F.linear_model({}, [number("n")]), F.make_parse_example_spec([3])
F.make_parse_example_spec([number("n"), number("n", shape=2)]), F.make_parse_example_spec([weigh(ids("i", 3), "i")])
""".strip()


def _calls() -> list[str]:
    """The calls of REFUSED, one by one."""
    found = []
    for row in REFUSED.splitlines():
        node = ast.parse(row, mode="eval").body
        found += [ast.unparse(part) for part in (node.elts if isinstance(node, ast.Tuple) else [node])]
    return found


SNIPPETS["sequences"] = """
made, given = feed()
wide = tf.sparse_placeholder(tf.float32, [3, 4])
given[wide] = ([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1]], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 4])
deep = tf.sparse_placeholder(tf.string, [2, 3, 2])
given[deep] = ([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 1]], ["a", "b", "c", "a"], [2, 3, 2])
made.update(wide=wide, deep=deep)
def sequence(column):
    if hasattr(tf, "contrib"):
        return tf.contrib.feature_column.sequence_input_layer(made, [column])
    from tensorflow.python.feature_column import feature_column as old, feature_column_v2 as new
    if type(column).__name__ == "SequenceNumericColumn":
        with tf.variable_scope(None, "sequence_input_layer"):
            pass
        return column.get_sequence_dense_tensor(new.FeatureTransformationCache(made), None)
    with tf.variable_scope(None, "sequence_input_layer"), tf.variable_scope(column._var_scope_name):
        return column._get_sequence_dense_tensor(old._LazyBuilder(made))
words, numbers = F.sequence_categorical_column_with_hash_bucket, F.sequence_numeric_column
pets, steps = F.sequence_categorical_column_with_vocabulary_list, F.sequence_categorical_column_with_identity
columns = [embed(words("t", 5), 2), one(pets("ss", ["a", "b"])), one(steps("si", 4)), embed(steps("j", 4), 3), numbers("wide"),
           numbers("wide", shape=(2,), default_value=-1.0), one(pets("deep", ["a", "b", "c"])), embed(words("deep", 4), 2),
           one(F.sequence_categorical_column_with_vocabulary_file("t", "words"))]
tensors = [sequence(column) for column in columns]
[[np.asarray(x).tolist() for x in pair] for pair in run(tensors, given, 1)[0]], [v.op.name for v in tf.global_variables()]"""
SNIPPETS["refused"] = "[" + ",\n ".join(f"outcome(lambda: {call} and None)" for call in _calls()) + "]"
