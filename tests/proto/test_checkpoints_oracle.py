"""Checkpoints against TensorFlow's: the same bytes for the same tensors, and each reads the other's."""
from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from tfnb.core.dtypes import as_dtype
from tfnb.proto import slices
from tfnb.proto.bundle import BundleReader
from tfnb.proto.bundle_writer import BundleWriter, merge
from tfnb.proto.checkpoint import open_checkpoint
from tfnb.proto.checkpoint_v1 import write_v1

_spec = importlib.util.spec_from_file_location("checkpoint_samples", Path(__file__).with_name("checkpoint_samples.py"))
samples_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(samples_module)
SAVE, samples = samples_module.SAVE, samples_module.samples

ROWS = np.arange(12, dtype="f").reshape(6, 2)
PARTS = [("p", ROWS[:2], "6 2 0,2:0,2"), ("q", np.array(1, "f"), ""), ("p", ROWS[2:4], "6 2 2,2:-"),
         ("p", ROWS[4:], "6 2 4,2:0,2"), ("whole", ROWS[:2], "2 2 0,2:0,2")]


def write(prefix: str, tensors) -> None:
    writer = BundleWriter(prefix)
    for name, value, *spec in tensors:
        full, part = slices.read_spec(spec[0]) if spec and spec[0] else ((), None)
        writer.add(name, value, None, full, part)
    writer.finish()


def assert_same_files(a: str, b: str) -> None:
    for suffix in (".index", ".data-00000-of-00001"):
        assert Path(a + suffix).read_bytes() == Path(b + suffix).read_bytes(), suffix


def same(a, b) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)


def test_all_dtypes(oracle, tmp_path):
    tensors = {**samples(), **samples_module.V2_ONLY}
    theirs, ours = str(tmp_path / "theirs"), str(tmp_path / "ours")
    oracle(SAVE + """
save(path, tensors)
with tf.Session() as s:
    s.run(gen_io_ops.save_v2(path + '_bf', ['bf'], [''], [tf.constant([1.5, -2.5], tf.bfloat16)]))
result = None""", path=theirs, tensors=list(tensors.items()))
    write(ours, tensors.items())
    assert_same_files(theirs, ours)
    write(ours + "_bf", [("bf", samples_module.BFLOAT16)])
    assert_same_files(theirs + "_bf", ours + "_bf")
    found = BundleReader(theirs)
    assert found.entries.keys() == tensors.keys()
    assert all(same(found.read(name), value) for name, value in tensors.items())
    read = oracle("r = tf.train.NewCheckpointReader(path)\nresult = {n: r.get_tensor(n) for n in names}", path=ours,
                  names=list(tensors))
    assert all(np.array_equal(read[name], value) for name, value in tensors.items())


def test_long_names_fill_several_blocks(oracle, tmp_path):
    theirs, ours = str(tmp_path / "theirs"), str(tmp_path / "ours")
    names = [hashlib.sha256(bytes([i, j])).hexdigest() * 20 for i in range(2) for j in range(256)]
    oracle(SAVE + "save(path, [(n, np.float32(i)) for i, n in enumerate(names)])\nresult = None", path=theirs,
           names=names)
    write(ours, [(name, np.array(i, "f")) for i, name in enumerate(names)])
    assert_same_files(theirs, ours)
    assert Path(ours + ".index").stat().st_size > 600_000
    found = BundleReader(theirs)
    assert [int(v) for v in found.read_all([(name, None) for name in names])] == list(range(512))


def test_parts(oracle, tmp_path):
    theirs, ours = str(tmp_path / "theirs"), str(tmp_path / "ours")
    oracle(SAVE + "save(path, tensors, specs)\nresult = None", path=theirs, tensors=[p[:2] for p in PARTS],
           specs=[p[2] for p in PARTS])
    write(ours, PARTS)
    assert_same_files(theirs, ours)
    found = BundleReader(theirs)
    for part, want in ((None, ROWS), (((1, 4), None), ROWS[1:5]), (((2, 2), (0, 2)), ROWS[2:4]),
                       (((3, 3), (1, 1)), ROWS[3:, 1:]), (((6, 0), None), ROWS[6:])):
        assert same(found.read("p", part), want), part


def test_merged_shards(oracle, tmp_path):
    code = SAVE + """
save(path + '_temp/part-0', [('a', np.float32(1)), ('b', np.arange(3))])
save(path + '_temp/part-1', [('c', np.ones([2, 2]))])
if join:
    with tf.Session() as s:
        s.run(gen_io_ops.merge_v2_checkpoints([path + '_temp/part-0', path + '_temp/part-1'], path))
result = None"""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder in (theirs, ours):
        folder.mkdir()
    oracle(code, path=str(theirs / "m"), join=True)
    oracle(code, path=str(ours / "m"), join=False)
    merge([str(ours / "m_temp/part-0"), str(ours / "m_temp/part-1")], str(ours / "m"))
    names = sorted(p.name for p in theirs.iterdir())
    assert names == sorted(p.name for p in ours.iterdir()) and len(names) == 3
    assert all((theirs / name).read_bytes() == (ours / name).read_bytes() for name in names)
    assert same(BundleReader(str(ours / "m")).read("c"), np.ones((2, 2)))


def test_version_1(oracle, tmp_path):
    tensors, names = samples(), list(samples())
    oracle(SAVE + """
with tf.Session() as s:
    for i, (name, value) in enumerate(tensors):
        s.run(gen_io_ops.save_slices('%s%d' % (path, i), [name], [''], [constant(value)]))
    s.run(gen_io_ops.save_slices(path, [n for n, _ in tensors], [''] * len(tensors), [constant(v) for _, v in tensors]))
    s.run(gen_io_ops.save_slices(path + 'p', ['p'] * 3, specs, parts))
result = None""", path=str(tmp_path / "v"), tensors=list(tensors.items()),
           parts=[p[1] for p in PARTS if p[0] == "p"], specs=[p[2] for p in PARTS if p[0] == "p"])
    found = open_checkpoint(str(tmp_path / "v"))
    assert all(same(found.read(name), value) for name, value in tensors.items())
    assert same(open_checkpoint(str(tmp_path / "vp")).read("p", ((1, 4), None)), ROWS[1:5])
    for i, name in enumerate(names):
        value = tensors[name]
        write_v1(str(tmp_path / "ours"), [(name, value, as_dtype(value.dtype), (), None)])
        assert (tmp_path / "ours").read_bytes() == (tmp_path / f"v{i}").read_bytes(), name
    shards = [open_checkpoint(str(tmp_path / "v?")), open_checkpoint(str(tmp_path / "v1?"))]
    assert sum(len(shard.entries) for shard in shards) == len(names) + 1


@pytest.mark.parametrize("name", ["f32", "str", "p"])
def test_a_flipped_byte_is_found_by_both(oracle, tmp_path, name):
    write(str(tmp_path / "m"), [*samples().items(), *PARTS])
    data = tmp_path / "m.data-00000-of-00001"
    found = BundleReader(str(tmp_path / "m"))
    entry = found._parts[slices.key("p", ((2, 2), None))] if name == "p" else found.find(name)
    damaged = bytearray(data.read_bytes())
    damaged[entry.offset + entry.size - 1] ^= 1
    data.write_bytes(damaged)
    with pytest.raises(Exception, match="checksum"):
        BundleReader(str(tmp_path / "m")).read(name)
    assert oracle("""
try:
    result = str(tf.train.NewCheckpointReader(path).get_tensor(name))
except Exception as e:
    result = 'error' if 'hecksum' in str(e) else str(e)""", path=str(tmp_path / "m"), name=name) == "error"
