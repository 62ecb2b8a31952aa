"""Tensors, sparse tensors and Examples in strings, compressed and padded bytes: bytes and errors as in TensorFlow."""
import numpy as np

import tfnb as tf
from tests.differential import differences

SETUP = '''
import zlib, gzip
def run(*fetches, feed=None):
    sess = tf.Session()
    for _ in range(2):
        found = sess.run(fetches, feed)
    return [list(each) if isinstance(each, tuple) else each for each in found]
def sparse(dtype=np.float32, places=((0, 1), (0, 3), (2, 2))):
    return tf.SparseTensor(np.array(places), np.array([2, 3, 1], dtype), [3, 4])
def shapes(x):
    return [str(t.shape) for t in (x.indices, x.values, x.dense_shape)]
'''
KINDS = ("float32", "float64", "float16", "int8", "uint16", "int64", "complex64", "bool")
SNIPPETS = {
    "tensors": f"run(*[tf.serialize_tensor(np.ones((2, 3), k)) for k in {KINDS}])",
    "scalars": "run(tf.io.serialize_tensor(1.5), tf.serialize_tensor('ab'), tf.serialize_tensor(['a', 'bc']), "
               "tf.serialize_tensor(np.zeros((0, 2))))",
    "there and back": f"run(*[tf.parse_tensor(tf.serialize_tensor(np.arange(3).astype(k)), k) for k in {KINDS}])",
    "other dtype": "run(tf.parse_tensor(tf.serialize_tensor(1.5), tf.int32))",
    "no proto": "run(tf.io.parse_tensor(b'nothing', tf.int32))",
    "a vector": "run(tf.parse_tensor(['a'], tf.int32))",
    "json": "a = {'a': tf.VarLenFeature(tf.float32)}\n"
            """text = '{"features": {"feature": {"a": {"floatList": {"value": [1.5]}}}}}'\n"""
            "run(tf.parse_example(tf.decode_json_example([text, '{}']), a)['a'])",
    "no json": "run(tf.io.decode_json_example('{'))", "other json": "run(tf.decode_json_example('{\"a\": 1}'))",
    "zlib": "run(tf.decode_compressed([zlib.compress(b'abc'), zlib.compress(b'')], 'ZLIB'))",
    "gzip": "run(tf.io.decode_compressed(gzip.compress(b'abc'), 'GZIP'), tf.decode_compressed('abc'))",
    "other compression": "run(tf.decode_compressed('abc', 'LZ4'))",
    "padded raw": "run(*[tf.raw_ops.DecodePaddedRaw(input_bytes=[b'abcdef', b'xy'], fixed_length=4, out_type=k, "
                  "little_endian=little) for k in ('int8', 'uint16', 'int32') for little in (True, False)])",
    "padded to half a number": "run(tf.raw_ops.DecodePaddedRaw(input_bytes=['ab'], fixed_length=3, out_type='int16'))",
    "padded to nothing": "run(tf.raw_ops.DecodePaddedRaw(input_bytes=['ab'], fixed_length=0, out_type='int16'))",
    "sparse": "run(tf.serialize_sparse(sparse()), tf.io.serialize_many_sparse(sparse(np.int32)))",
    "rows": "run(tf.deserialize_many_sparse(tf.serialize_many_sparse(sparse()), tf.float32, rank=1), "
            "tf.io.deserialize_many_sparse(tf.serialize_many_sparse(sparse())[::2], tf.float32))",
    "strings": "s = tf.SparseTensor([[0, 0], [1, 1]], ['a', 'bc'], [2, 2])\n"
               "run(tf.deserialize_many_sparse(tf.serialize_many_sparse(s), tf.string))",
    "one": "run(tuple(tf.raw_ops.DeserializeSparse(serialized_sparse=tf.serialize_sparse(sparse()), "
           "dtype=tf.float32)))",
    "matrix of": "rows = tf.reshape(tf.stack([tf.serialize_sparse(sparse())] * 4), [2, 2, 3])\n"
                 "run(tuple(tf.raw_ops.DeserializeSparse(serialized_sparse=rows, dtype=tf.float32)))",
    "shapes": "shapes(tf.deserialize_many_sparse(tf.placeholder(tf.string, [None, 3]), tf.int32, rank=2)), "
              "str(tf.serialize_sparse(sparse()).shape), str(tf.serialize_many_sparse(sparse()).shape)",
    "other dtype of values": "run(tf.deserialize_many_sparse(tf.serialize_many_sparse(sparse()), tf.int32))",
    "two columns": "run(tf.deserialize_many_sparse([['a', 'b']], tf.int32))",
    "no protos": "run(tf.deserialize_many_sparse([['a', 'b', 'c']], tf.int32))",
    "rows out of order": "run(tf.serialize_many_sparse(sparse(places=((2, 1), (0, 3), (1, 2)))))",
    "rows of a vector": "run(tf.serialize_many_sparse(tf.SparseTensor([[1]], [2], [3])))",
}


def test_as_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP)


def test_damaged_data_is_named():
    with tf.Session() as sess:
        for kind in ("ZLIB", "GZIP"):
            try:
                sess.run(tf.decode_compressed("no data", kind))
            except tf.errors.DataLossError as error:
                assert kind in str(error)
            else:
                raise AssertionError("damaged data was taken")


def test_matrices_between_programs():
    """A parsed tensor goes on to kernels, interpreted and compiled."""
    text = tf.placeholder(tf.string, [])
    doubled = tf.parse_tensor(text, tf.float32) * 2
    with tf.Session() as sess:
        data = sess.run(tf.serialize_tensor(np.arange(6, dtype="f").reshape(2, 3)))
        for _ in range(3):
            assert sess.run(doubled, {text: data}).tolist() == [[0, 2, 4], [6, 8, 10]]
