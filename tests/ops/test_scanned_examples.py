"""Examples parsed by machine code: the arrays of the protobuf library, or its errors."""
from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest

import tfnb as tf
from tfnb.core import dtypes
from tfnb.kernels.library.text import examples as kernels
from tfnb.kernels.library.text.spans import joined
from tfnb.ops.io import parsing, scanned

TYPES = {"f": dtypes.float32, "i": dtypes.int64, "s": dtypes.string}
VALUES = {"f": lambda c: c.gauss(0, 1), "i": lambda c: c.choice([0, -1, 127, 128, 2 ** 63 - 1, -2 ** 63, 300]),
          "s": lambda c: bytes(c.choices(range(256), k=c.choice([0, 1, 200])))}
LISTS = {"f": "float_list", "i": "int64_list", "s": "bytes_list"}


def an_example(choose, usual):
    made = tf.train.Example()
    for key, size in {"f2": 2, "i0": 1, "s3": 3, "fv": choose.randint(0, 3), "iv": choose.randint(0, 3),
                      "sv": choose.randint(0, 2), "other": 2, "ip": 2 * choose.randint(0, 3)}.items():
        kind = key[0] if key[0] in TYPES else choose.choice("fis")
        if not usual and choose.random() < 0.05:
            size, kind = size + 1, choose.choice("fis")
        if choose.random() < 0.9:
            getattr(made.features.feature[key], LISTS[kind]).value.extend(VALUES[kind](choose) for _ in range(size))
    return made.SerializeToString(deterministic=True)      # else each process has its own order of keys


def parse(run, texts, defaults):
    """Return the outputs of ParseExampleV2, or the class and text of its error."""
    array = np.empty(len(texts), object)
    array[:] = texts
    dense = [b"f2", b"i0", b"s3", b"ip"]
    shapes = [(2,), (), (3, 1), (None, 2)]
    sparse, ragged = [b"fv", b"sv"], [b"iv"]
    empty = {"float32": np.zeros(0, "f"), "int64": np.zeros(0, "int64"), "string": np.zeros(0, object)}
    fill = [np.float32([5, 6]), np.int64(7), np.array([b"x", b"y", b"z"], object), np.int64(9)]
    types = [TYPES[key.decode()[0]] for key in dense]
    given = [d if defaults or i == 3 else empty[t.name] for i, (d, t) in enumerate(zip(fill, types, strict=True))]
    kinds = [[TYPES[key.decode()[0]] for key in keys] for keys in (sparse, ragged)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanned, "_read", [0 if run == "library" else scanned.AFTER])
        patch.setattr(scanned, "AFTER", 1 << 40 if run == "library" else 0)
        context = SimpleNamespace(op=None)
        try:
            found = parsing.ParseExampleV2.spec.call(
                array, np.zeros(0, object), np.array(sparse), np.array(dense), np.array(ragged), given, Tdense=types,
                sparse_types=kinds[0], ragged_value_types=kinds[1], ragged_split_types=[dtypes.int32],
                dense_shapes=shapes, ctx=context)
        except tf.errors.InvalidArgumentError as error:
            return "error", str(error)
        return [(x.dtype.name, x.shape, x.tolist()) for x in found]


@pytest.mark.parametrize("usual", [True, False])
def test_the_library_and_machine_code_agree(usual):
    choose, scans = random.Random(int(usual)), 0
    for trial in range(120):
        texts = [an_example(choose, usual) for _ in range(choose.choice([1, 2, 9]))]
        if not usual and trial % 3 == 0:                                # bytes that are changed, or left out
            broken = bytearray(texts[-1])
            for _ in range(choose.randint(1, 3)):
                broken[choose.randrange(len(broken))] = choose.choice([0, 10, 18, 26, 127, 128, 255])
            texts[-1] = bytes(broken[:choose.choice([len(broken), choose.randrange(len(broken))])])
        elif trial % 3 == 1:                                            # the last entry of two counts
            texts[0] += texts[-1]
        found = parse("machine", texts, trial % 2 == 0)
        assert found == parse("library", texts, trial % 2 == 0)
        scans += found[0] != "error"
    assert scans > 20


def test_the_kernels_are_the_functions_that_they_were_made_of():
    texts = [an_example(random.Random(3), True) for _ in range(2)] + [b"\x0a\x80", b"x", b""]
    text, begins = joined(texts)
    keys, ends = joined([b"f2", b"iv", b"sv"])
    made = []
    for run in ("run", "python"):
        found, status = np.zeros((3, 5, kernels.FIELDS), np.int64), np.zeros(5, np.uint8)
        getattr(kernels.scan_example, run)(5, text, begins, keys, ends, 3, found.ravel(), status, 5)
        targets = [np.zeros(100, np.uint8), np.zeros(100, np.int64), np.zeros(100, np.int64)]
        places = np.arange(15) % 5 * 6
        addresses = np.array([t.ctypes.data for t in targets])
        getattr(kernels.copy_feature, run)(15, text, found.ravel(), addresses, places, 5)
        made.append([found.tolist(), status.tolist(), *[t.tolist() for t in targets]])
    assert made[0] == made[1] and made[0][1] == [0, 0, 1, 1, 0]


def test_one_example_after_another_and_a_batch():
    features = {"label": tf.FixedLenFeature([], tf.int64), "name": tf.FixedLenFeature([], tf.string, b"none"),
                "x": tf.FixedLenFeature([3], tf.float32), "ids": tf.VarLenFeature(tf.int64),
                "more": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True)}
    texts, want = [], []
    for i in range(100):
        made = tf.train.Example()
        feature = made.features.feature
        feature["label"].int64_list.value.append(i)
        feature["x"].float_list.value.extend([i, 0.5, -i])
        feature["ids"].int64_list.value.extend(range(i % 4))
        feature["more"].bytes_list.value.extend([b"a"] * (i % 3))
        texts.append(made.SerializeToString())
        want.append([i, b"none", [i, 0.5, -i], list(range(i % 4)), [b"a"] * (i % 3)])
    one, several = tf.placeholder(tf.string, []), tf.placeholder(tf.string, [None])
    single, batch = tf.parse_single_example(one, features), tf.parse_example(several, features)
    with tf.Session() as session:
        for text, values in zip(texts, want, strict=True):
            found = session.run(single, {one: text})
            assert [found["label"], found["name"], found["x"].tolist(), found["ids"].values.tolist(),
                    found["more"].tolist()] == values
        for _ in range(2):
            found = session.run(batch, {several: texts})
            assert found["label"].tolist() == list(range(100)) and found["more"].shape == (100, 2)
            assert found["ids"].dense_shape.tolist() == [100, 3] and found["ids"].values.tolist() == [
                j for i in range(100) for j in range(i % 4)]
            with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example input"):
                session.run(batch, {several: [*texts, b"\xff"]})
