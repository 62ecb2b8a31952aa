"""Lookup tables: values, names and errors as in TensorFlow, checkpoints and SavedModels both ways."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

SETUP = """
import os, tempfile
os.chdir(tempfile.mkdtemp())
for name, text in {"v": "a\\nb\\nc\\r\\n", "kv": "a\\t1\\nb\\t2\\n", "twice": "a\\nb\\na\\n", "bad": "a\\tx\\n",
                   "short": "a\\n", "none": ""}.items():
    with open(name, "w", newline="") as file:
        n = file.write(text)
lookup, File, INT = tf.lookup, tf.lookup.TextFileInitializer, tf.int64
WHOLE, NUMBER = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
Dense, raw = tf.lookup.experimental.DenseHashTable, tf.raw_ops
if hasattr(tf, "contrib"):
    import tfnb.lookup.vocabulary as v
    Mutable = tf.contrib.lookup.MutableHashTable
else:
    import tensorflow.python.ops.lookup_ops as v
    Mutable = tf.lookup.experimental.MutableHashTable
def static(keys=("a", "b"), values=(1, 2), default=-1):
    pairs = lookup.KeyValueTensorInitializer(tf.constant(keys), tf.constant(values, INT))
    return lookup.StaticHashTable(pairs, default)
def ints(values):
    return tf.constant(values, INT)
def results(*steps):
    found = []
    with tf.Session() as sess:
        for step in [*steps] * 2:
            try:
                found.append(sess.run(step))
            except tf.errors.OpError as error:
                found.append(type(error).__name__)
    return found
def names():
    kinds = {"AddV2": "Add", "SelectV2": "Select"}
    return [(op.name.replace("SelectV2", "Select"), kinds.get(op.type, op.type), [t.name for t in op.inputs])
            for op in tf.get_default_graph().get_operations()]
"""
SNIPPETS = {
    "static": """
table = static()
x = table.lookup(tf.constant([["a", "z"]]))
sparse = table.lookup(tf.SparseTensor([[0, 3]], ["b"], [1, 4]))
found = results(table.size(), x, table.initializer, x, table.size(), sparse, table.export())
for i in (6, 13):                       # in TensorFlow exported entries have another order in each table
    order = np.argsort(found[i][0])
    found[i] = [part[order] for part in found[i]]
found, names(), x.shape.as_list()""",
    "initialized twice": """
tables = [raw.HashTableV2(key_dtype=tf.string, value_dtype=INT, shared_name="x") for _ in range(2)]
def fill(keys, values):
    return raw.InitializeTableV2(table_handle=tables[0], keys=tf.constant(keys), values=ints(values))
def find(keys):
    return raw.LookupTableFindV2(table_handle=tables[1], keys=tf.constant(keys), default_value=ints(0))
file = raw.InitializeTableFromTextFileV2(table_handle=tables[0], filename="v", key_index=-2, value_index=-1)
results(fill(["a", "a"], [1, 2]), find(["a"]), fill(["a", "b"], [1, 2]), fill(["a", "c"], [1, 3]), fill(["a"], [1]),
        file, find(["a", "b", "c"]), find([1]),
        raw.LookupTableInsertV2(table_handle=tables[0], keys=["q"], values=ints([1])),
        raw.LookupTableRemoveV2(table_handle=tables[0], keys=["a"]))""",
    "shared": """
types = [("HashTableV2", tf.string, INT), ("HashTableV2", tf.string, tf.int32), ("HashTableV2", tf.string, INT),
         ("HashTableV2", INT, INT)]
results(*[raw.LookupTableSizeV2(table_handle=getattr(raw, kind)(key_dtype=k, value_dtype=v, shared_name="x"))
          for kind, k, v in types])""",
    "refused": """
[outcome(f) for f in (
    lambda: static(["a", "b"], [1]), lambda: static([["a", "b"]], [[1, 2]]), lambda: static(default="x"),
    lambda: static(default=[1, 2]), lambda: static().lookup(tf.constant([1])),
    lambda: lookup.KeyValueTensorInitializer(["a"], ["x"], value_dtype=INT),
    lambda: File("", tf.string, WHOLE, INT, NUMBER), lambda: File("v", tf.string, NUMBER, INT, NUMBER),
    lambda: File("v", tf.string, -3, INT, NUMBER), lambda: File("v", tf.string, WHOLE, tf.int32, NUMBER),
    lambda: File("v", tf.float32, WHOLE, INT, NUMBER), lambda: File("v", tf.string, WHOLE, INT, NUMBER, vocab_size=0),
    lambda: lookup.StaticVocabularyTable(None, 0), lambda: v.index_table_from_tensor(["a"], num_oov_buckets=-1),
    lambda: v.index_table_from_tensor([1, 2]), lambda: v.index_table_from_tensor(None),
    lambda: v.index_table_from_tensor([1.5], dtype=tf.float32), lambda: v.index_table_from_file(""),
    lambda: v.index_table_from_file("v", vocab_size=0), lambda: v.index_to_string_table_from_tensor(None),
    lambda: v.index_table_from_tensor(["a"], 1, hasher_spec=3), lambda: v.StrongHashSpec([1]),
    lambda: v.StrongHashSpec([1, "x"]), lambda: v.IdTableWithHashBuckets(None, 0),
    lambda: v.IdTableWithHashBuckets(None, 2, key_dtype=tf.float32),
    lambda: v.IdTableWithHashBuckets(static(), 2, key_dtype=INT))]
""",
    "files": """
cases = [("v",), ("v", tf.string, WHOLE, INT, NUMBER, 2), ("v", tf.string, WHOLE, INT, NUMBER, 5), ("absent",),
         ("twice",), ("kv", tf.string, 0, INT, 1), ("bad", tf.string, 0, INT, 1), ("short", tf.string, 0, INT, 1),
         ("none",), ("kv", tf.string, 0, INT, 1, None, "ab"), ("v", INT, WHOLE), ("kv", tf.string, 1, INT, NUMBER)]
found = []
for name, *case in cases:
    args = [*case, *[tf.string, WHOLE, INT, NUMBER][len(case):]]
    table = lookup.StaticHashTable(File(name, *args), -1)
    keys = tf.constant(["a", "c", "2"]) if args[0] == tf.string else ints([0, 2])
    found.append(results(table.initializer, table.size(), table.lookup(keys)))
found, [t.name for t in tf.get_collection("asset_filepaths")], names()[:5]""",
    "vocabularies": """
words = lookup.KeyValueTensorInitializer(["a", "b"], [0, 1], value_dtype=INT)
numbers = lookup.KeyValueTensorInitializer(ints([5, 6]), ints([0, 1]))
one, two = lookup.StaticVocabularyTable(words, 3), lookup.StaticVocabularyTable(numbers, 3, lookup_key_dtype=tf.int32)
none = lookup.StaticVocabularyTable(None, 3)
x, y = tf.constant(["a", "q", "zz"]), tf.constant([5, 100, -4])
results(tf.tables_initializer(), one.lookup(x), one.size(), two.lookup(y), none.lookup(x), none.size(),
        none.initializer), names()""",
    "indices": """
tables = [v.index_table_from_tensor(["a", "b"], 1), v.index_table_from_tensor(["a", "b"], name="W", default_value=7),
          v.index_table_from_tensor(["a"], 5, hasher_spec=v.StrongHashSpec([1, 2])), v.index_table_from_file("v", 2),
          v.index_table_from_file("v", vocab_size=2), v.index_table_from_file("v", vocab_size=2)]
found = [f(t) for t in tables for f in (lambda t: t.lookup(tf.constant(["b", "q"])), lambda t: t.size())]
ids = v.index_table_from_tensor([10, 20], 2, dtype=tf.int32)
back = [v.index_to_string_table_from_tensor(["a", "b"]), v.index_to_string_table_from_file("v", default_value="?")]
found += [ids.lookup(tf.constant([10, 7]))] + [t.lookup(ints([1, 7])) for t in back]
found.append(tables[0].lookup(tf.SparseTensor([[0, 0]], ["b"], [1, 1])))
results(tf.tables_initializer(), found), names()""",
    "mutable": """
table, vectors = Mutable(tf.string, INT, -1), Mutable(tf.string, tf.float32, [0.0, 1.0], name="M")
find = table.lookup(tf.constant(["a", "z"]))
steps = [table.size(), find, table.insert(["a", "b"], [10, 20]), find, table.remove(tf.constant(["a", "z"])),
         table.export(), table.insert(["a"], [1, 2]), table.insert([["c", "c"]], [[1, 2]]),
         table.lookup(tf.constant("c")), table.size(),
         table.remove(tf.constant(["a", "c"]))]
more = [vectors.insert(["b"], [[1.0, 2.0]]), vectors.lookup(tf.constant([["a", "b"]])), vectors.export(),
        vectors.insert(["b"], [1.0])]
names()[:8], results(*steps), results(*more), vectors.lookup(tf.constant([["a"]])).shape.as_list(), [
    outcome(lambda: table.insert([1], [1])), outcome(lambda: table.insert(["a"], ["x"])),
    outcome(lambda: table.remove(ints([1])))]""",
    "dense": """
table = Dense(INT, tf.float32, [-1.0, 2.0], empty_key=0, deleted_key=-1, initial_num_buckets=4)
find = table.lookup(ints([3, 8, 9]))
steps = [table.insert(ints([3, 4]), [[10.0, 20.0], [1.0, 2.0]]), find, table.export(),
         table.insert(ints([5, 6, 7, 8]), tf.ones([4, 2])), find, table.remove(ints([3, 99])), table.export(),
         table.size(), table.insert(ints([0]), tf.ones([1, 2])),
         table.insert(ints([-1]), tf.ones([1, 2])), table.lookup(ints([0])), table.remove(ints([-1])),
         table.lookup(ints([[1, 2]])),
         table.insert(ints([1]), tf.ones([1, 3])), table.insert(ints([11, 11]), [[1.0, 1.0], [2.0, 2.0]]),
         table.lookup(ints([11]))]
words = Dense(tf.string, INT, 0, empty_key="", deleted_key="$", initial_num_buckets=8, name="W")
pairs = Dense(INT, INT, -1, empty_key=[0, 0], deleted_key=[-1, -1], initial_num_buckets=8, name="P")
more = [words.insert(tf.constant(["a", "b", "c", "some longer word"]), ints([1, 2, 3, 4])), words.export(),
        words.lookup(tf.constant(["c", "x"])),
        pairs.insert(ints([[1, 2], [3, 4]]), ints([10, 20])), pairs.lookup(ints([[1, 2], [9, 9]])), pairs.export(),
        pairs.lookup(tf.zeros([0, 2], INT)), pairs.insert(tf.zeros([0, 2], INT), ints([])),
        pairs.remove(ints([[1, 2]])), pairs.export(), pairs.lookup(ints([1]))]
names()[:5], results(*steps), results(*more), find.shape.as_list(), results(*[
    Dense(INT, INT, 0, empty_key=a, deleted_key=b, initial_num_buckets=n).size()
    for a, b, n in [(0, 0, 4), (0, 1, 3), (0, 1, 2), ([0], [1, 2], 4)]])""",
    "behind references": """
table = raw.HashTable(key_dtype=tf.string, value_dtype=INT, shared_name="t")
mutable = raw.MutableHashTable(key_dtype=tf.string, value_dtype=INT, shared_name="m")
vectors = raw.MutableHashTableOfTensors(key_dtype=tf.string, value_dtype=INT, value_shape=[2], shared_name="v")
a, key = ints([1]), tf.constant(["a"])
results(raw.LookupTableSize(table_handle=table), raw.InitializeTable(table_handle=table, keys=key, values=a),
        raw.LookupTableFind(table_handle=table, keys=key, default_value=ints(0)),
        raw.LookupTableInsert(table_handle=mutable, keys=key, values=a),
        raw.LookupTableExport(table_handle=mutable, Tkeys=tf.string, Tvalues=INT),
        raw.LookupTableImport(table_handle=mutable, keys=key, values=ints([7])),
        raw.LookupTableSize(table_handle=mutable),
        raw.LookupTableInsert(table_handle=vectors, keys=key, values=ints([[1, 2]])),
        raw.LookupTableFind(table_handle=vectors, keys=["a", "b"], default_value=ints([5, 6])),
        raw.LookupTableFind(table_handle=vectors, keys=["a", "b"], default_value=ints(0)))""",
}


def test_as_in_tensorflow(oracle):
    assert differences(oracle, SNIPPETS, SETUP) == {}


SAVED = """
import numpy as np
words = MUTABLE(tf.string, tf.int64, -1)
rows = tf.lookup.experimental.DenseHashTable(tf.string, tf.float32, [0.0, 0.0], empty_key="", deleted_key="$",
                                             name="rows", initial_num_buckets=8)
saver = tf.train.Saver()
with tf.Session() as sess:
    if restores:
        saver.restore(sess, path)
    else:
        sess.run([words.insert(["a", "b"], [1, 2]),
                  rows.insert(tf.constant(["x", "y", "z"]), [[1., 2.], [3., 4.], [5., 6.]])])
        saver.save(sess, path)
    result = sess.run([words.lookup(tf.constant(["a", "b", "c"])), rows.lookup(tf.constant(["z", "q", "x"])),
                       words.size(), rows.size()])
"""
STORED = [[1, 2, -1], [[5, 6], [0, 0], [1, 2]], 2, 3]


@pytest.mark.parametrize("ours_first", [True, False])
def test_checkpoints_cross_both_ways(oracle, tmp_path, ours_first):
    path = str(tmp_path / "model")

    def here(restores: bool) -> list:
        scope = {"tf": tf, "path": path, "restores": restores}
        exec(SAVED.replace("MUTABLE", "tf.contrib.lookup.MutableHashTable"), scope)
        return scope["result"]

    def there(restores: bool) -> list:
        return oracle(SAVED.replace("MUTABLE", "tf.lookup.experimental.MutableHashTable"), path=path, restores=restores)
    for found in (here(False), there(True)) if ours_first else (there(False), here(True)):
        for value, expected in zip(found, STORED, strict=True):
            np.testing.assert_array_equal(value, expected)


def _vocabulary(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"emerson\nlake\npalmer\n")
    return path


def test_a_saved_model_keeps_the_vocabulary_file(oracle, tmp_path):
    words = _vocabulary(tmp_path)
    x = tf.placeholder(tf.string, [None], name="x")
    ids = tf.contrib.lookup.index_table_from_file(str(words), num_oov_buckets=1).lookup(x)
    folder = str(tmp_path / "model")
    with tf.Session() as sess:
        tf.saved_model.simple_save(sess, folder, {"x": x}, {"ids": ids})
    words.unlink()
    load = """
with tf.Graph().as_default(), tf.Session() as sess:
    signature = tf.saved_model.loader.load(sess, ["serve"], folder).signature_def["serving_default"]
    result = sess.run(signature.outputs["ids"].name, {signature.inputs["x"].name: ["lake", "and", "palmer"]}).tolist()
"""
    scope = {"tf": tf, "folder": folder}
    exec(load, scope)
    assert scope["result"] == oracle(load, folder=folder) == [1, 3, 2]


def test_monitored_sessions_initialize_and_restore_tables(tmp_path):
    step = tf.train.get_or_create_global_step()
    fixed = tf.contrib.lookup.index_table_from_file(str(_vocabulary(tmp_path)))
    seen = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, 0)
    insert, more = seen.insert(["a"], [5]), step.assign_add(1)
    found = [fixed.lookup(tf.constant(["lake"])), seen.lookup(tf.constant(["a"]))]
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)) as sess:
        assert [v.tolist() for v in sess.run(found)] == [[1], [0]]
        sess.run(insert)
        sess.run(more)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)) as sess:
        assert [v.tolist() for v in sess.run(found)] == [[1], [5]]


def test_a_table_in_the_function_of_a_dataset(tmp_path):
    table = tf.contrib.lookup.index_table_from_file(str(_vocabulary(tmp_path)), num_oov_buckets=1)
    dataset = tf.data.Dataset.from_tensor_slices(["lake", "sea", "emerson"]).map(table.lookup).batch(2)
    iterator = dataset.make_initializable_iterator()
    rows = iterator.get_next()
    with tf.Session() as sess:
        sess.run([iterator.initializer, tf.tables_initializer()])
        assert [sess.run(rows).tolist() for _ in range(2)] == [[1, 3], [0]]


def test_imported_graphs_find_their_tables(tmp_path):
    words = _vocabulary(tmp_path)
    table = tf.contrib.lookup.index_table_from_file(str(words))
    tf.identity(table.lookup(tf.constant(["palmer", "x"])), name="ids")
    pairs = tf.lookup.KeyValueTensorInitializer(["a"], [3])
    tf.identity(tf.lookup.StaticHashTable(pairs, -1).lookup(tf.constant(["a"])), name="three")
    tf.train.export_meta_graph(str(tmp_path / "g.meta"))
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.import_meta_graph(str(tmp_path / "g.meta"), import_scope="in")
        sess.run(tf.tables_initializer())
        assert sess.run("in/ids:0").tolist() == [2, -1] and sess.run("in/three:0").tolist() == [3]


def test_sessions_hold_tables_of_their_own():
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, 0)
    insert, size = table.insert(["a"], [1]), table.size()
    with tf.Session() as one, tf.Session() as two:
        one.run(insert)
        assert (one.run(size), two.run(size)) == (1, 0)


@pytest.mark.parametrize("times", [1, 2, 3])
def test_errors_name_the_op_and_leave_the_session_usable(times):
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
    ids = table.lookup(tf.constant(["b"]))
    with tf.Session() as sess:
        for _ in range(times):
            with pytest.raises(tf.errors.FailedPreconditionError, match="(?s)tables_initializer.*hash_table_Lookup"):
                sess.run(ids)
        sess.run(tf.tables_initializer())
        assert sess.run(ids).tolist() == [1]


def test_old_names():
    lookup = tf.contrib.lookup
    ids, words = lookup.string_to_index(tf.constant(["b", "x"]), ["a", "b"]), lookup.index_to_string(
        tf.constant([0, 9], tf.int64), ["a", "b"])
    shared = [lookup.HashTable(lookup.KeyValueTensorInitializer(["a"], [1]), -1, shared_name="s") for _ in range(2)]
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        assert sess.run(ids).tolist() == [1, -1] and sess.run(words).tolist() == [b"a", b"UNK"]
        assert sess.run(shared[1].lookup(["a"])).tolist() == [1]
    assert {t.resource_handle.op.get_attr("shared_name") for t in shared} == {b"s"}
