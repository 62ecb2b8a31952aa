"""Checkpoints on disk: what is left when a save fails or its process dies, and what damaged files do."""
from __future__ import annotations

import os
import random
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tfnb.core.dtypes import as_dtype
from tfnb.core.errors import DataLossError, InvalidArgumentError, NotFoundError, OpError
from tfnb.proto import bundle_writer, files, slices, table
from tfnb.proto.bundle import BundleReader
from tfnb.proto.bundle_writer import BundleWriter, merge
from tfnb.proto.checkpoint import checkpoint_files, open_checkpoint
from tfnb.proto.checkpoint_v1 import write_v1


def save(prefix: Path, **tensors) -> None:
    writer = BundleWriter(str(prefix))
    for name, value in tensors.items():
        writer.add(name, np.asarray(value))
    writer.finish()


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_large_and_small_tensors_come_back(tmp_path):
    rng = np.random.RandomState(1)
    tensors = {f"t{i}": rng.randint(0, 255, n).astype(np.uint8) for i, n in enumerate(
        [0, 1, 7, (1 << 22) - 9, 1 << 22, (1 << 22) + 1, 3, 20 << 20])}
    save(tmp_path / "m", **tensors)
    found = BundleReader(str(tmp_path / "m"))
    for name, value in zip(tensors, found.read_all([(n, None) for n in tensors]), strict=True):
        assert np.array_equal(value, tensors[name]) and not value.flags.writeable
    assert names(tmp_path) == ["m.data-00000-of-00001", "m.index"]


def test_unaligned_numbers_come_back(tmp_path):
    wide = np.arange(40_000.0)
    save(tmp_path / "m", a=np.array([True]), b=wide)
    assert np.array_equal(BundleReader(str(tmp_path / "m")).read("b"), wide)


def test_a_failed_save_leaves_the_old_checkpoint(tmp_path):
    save(tmp_path / "m", a=1.0)
    writer = BundleWriter(str(tmp_path / "m"))
    writer.add("a", np.array(2.0))
    with pytest.raises(InvalidArgumentError, match="duplicate key: a"):
        writer.add("a", np.array(2.0))
    writer.discard()
    assert BundleReader(str(tmp_path / "m")).read("a") == 1 and len(names(tmp_path)) == 2


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    save(tmp_path / "m", a=np.zeros(10 << 20, np.uint8))

    def full(file, data):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(bundle_writer, "write_all", full)
    writer = BundleWriter(str(tmp_path / "m"))
    with pytest.raises(OpError, match="No space left") as info:
        writer.add("a", np.ones(20 << 20, np.uint8))
        writer.finish()
    assert type(info.value).__name__ == "ResourceExhaustedError"
    writer.discard()
    assert not BundleReader(str(tmp_path / "m")).read("a").any() and len(names(tmp_path)) == 2


class Killed(BaseException):
    """Stands for the end of the process."""


def killed_at(step: int, monkeypatch) -> None:
    """Let the process "die" at its `step`-th change of the directory from now on."""
    left, real = [step], {name: getattr(os, name) for name in ("replace", "remove", "rmdir")}

    def counted(name):
        def fn(*args):
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            return real[name](*args)
        return fn
    for name in real:
        monkeypatch.setattr(files.os, name, counted(name))


@pytest.mark.parametrize("step", range(3))
def test_dying_between_renames_leaves_a_whole_checkpoint(tmp_path, monkeypatch, step):
    save(tmp_path / "m", a=np.arange(5), b=b"old")
    with monkeypatch.context() as patched:
        killed_at(step, patched)
        try:
            save(tmp_path / "m", a=np.arange(5) + 10, c=b"new", b=b"other")
        except Killed:
            assert step < 2
    found = BundleReader(str(tmp_path / "m"))
    first = int(found.read("a")[0])
    assert first == (0 if step == 0 else 10) and found.read("b")[()] == (b"other" if first else b"old")
    save(tmp_path / "m", a=np.arange(3))                    # the next save puts all right
    assert np.array_equal(BundleReader(str(tmp_path / "m")).read("a"), [0, 1, 2])


@pytest.mark.parametrize("step", range(12))
def test_dying_in_a_merge_leaves_a_whole_checkpoint(tmp_path, monkeypatch, step):
    def shards(value: int) -> list[str]:
        (tmp_path / "temp").mkdir(exist_ok=True)
        save(tmp_path / "temp/p0", a=np.full(3, value))
        save(tmp_path / "temp/p1", b=np.full(4, value))
        return [str(tmp_path / "temp/p0"), str(tmp_path / "temp/p1")]
    merge(shards(1), str(tmp_path / "m"))
    parts = shards(2)
    with monkeypatch.context() as patched:
        killed_at(step, patched)
        patched.setattr(bundle_writer.Staging, "discard", lambda self, *_: self._close())  # the dead clear nothing up
        try:
            merge(parts, str(tmp_path / "m"))
        except Killed:
            pass
    found = BundleReader(str(tmp_path / "m"))
    assert found.read("a")[0] == found.read("b")[0] and found.read("a")[0] in (1, 2)


def leave(folder: Path, age: float, *names: str) -> None:
    """Make files that are `age` seconds old."""
    for name in names:
        (folder / name).write_bytes(b"half")
        os.utime(folder / name, (time.time() - age,) * 2)


def test_leftovers_of_dead_processes_are_removed(tmp_path):
    leave(tmp_path, 100, "m.index.tempstate1L", "m.data-00000-of-00001.tempstate1L", "checkpoint.tempstate5L")
    leave(tmp_path, 5000, "m.data-00000-of-00001.tempstate2", "other-7.index.tempstate4", "other-7.meta.tempstate6",
          "other-7.data-00000-of-00001.tempstate4")
    leave(tmp_path, 0, "m.data-00000-of-00001.tempstate3")
    leave(tmp_path, 100, "TensorFlow.index.tempstate1")      # may be alive: its own has no lock
    leave(tmp_path, 1e6, "mine.tempstate", "mine.tempstateX")
    for folder, age in (("s-1_temp", 1e6), (f"s-2_temp_{'0a' * 16}", 1e6), ("s-3_temp", 1000), ("t_temp", 1e6)):
        (tmp_path / folder).mkdir()
        leave(tmp_path / folder, age, "note" if folder == "t_temp" else "part-00000-of-00001.index")
        os.utime(tmp_path / folder, (time.time() - age,) * 2)
    save(tmp_path / "m", a=1)
    assert names(tmp_path) == ["TensorFlow.index.tempstate1", "m.data-00000-of-00001",
                               "m.data-00000-of-00001.tempstate3", "m.index", "mine.tempstate", "mine.tempstateX",
                               "s-3_temp", "t_temp"]


def test_files_that_are_being_written_are_left_alone(tmp_path):
    pytest.importorskip("fcntl")
    alive = BundleWriter(str(tmp_path / "alive-1"))
    alive.add("a", np.arange(5))
    for path in tmp_path.iterdir():
        os.utime(path, (time.time() - 1e6,) * 2)
    save(tmp_path / "m", a=1)
    alive.finish()
    assert np.array_equal(BundleReader(str(tmp_path / "alive-1")).read("a"), np.arange(5))


def test_a_sweep_completes_what_had_begun_to_be_renamed(tmp_path, monkeypatch):
    save(tmp_path / "m", a=np.arange(5), b=b"old")
    with monkeypatch.context() as patched:
        killed_at(1, patched)
        with pytest.raises(Killed):
            save(tmp_path / "m", a=np.arange(5) + 10, c=b"new", b=b"other")
    for path in tmp_path.iterdir():
        os.utime(path, (time.time() - 1000,) * 2)
    save(tmp_path / "n", a=1)                      # another checkpoint of the folder
    assert names(tmp_path) == ["m.data-00000-of-00001", "m.index", "n.data-00000-of-00001", "n.index"]
    assert BundleReader(str(tmp_path / "m")).read("a")[0] == 10


def test_errors_say_what_and_where(tmp_path):
    save(tmp_path / "m", a=np.zeros((3, 4)))
    found = BundleReader(str(tmp_path / "m"))
    with pytest.raises(NotFoundError, match="Key b not found in checkpoint"):
        found.read("b")
    with pytest.raises(InvalidArgumentError, match=r"not inside the tensor a.*\[3, 4\]"):
        found.read("a", ((2, 2), None))
    with pytest.raises(NotFoundError, match="Failed to find any matching files for .*/none"):
        open_checkpoint(str(tmp_path / "none"))
    (tmp_path / "m.data-00000-of-00001").write_bytes(b"short")
    with pytest.raises(DataLossError, match=r"a takes the bytes 0 to 96, but the file has 5"):
        BundleReader(str(tmp_path / "m")).read("a")
    (tmp_path / "m.data-00000-of-00001").unlink()
    with pytest.raises(NotFoundError, match="m.data-00000-of-00001; No such file"):
        BundleReader(str(tmp_path / "m")).read("a")
    (tmp_path / "text").write_text("x" * 100)
    with pytest.raises(DataLossError, match="is it a checkpoint.*magic number"):
        open_checkpoint(str(tmp_path / "text"))
    assert checkpoint_files(str(tmp_path / "text")) and not checkpoint_files(str(tmp_path / "none"))


def test_specs_of_slices():
    assert slices.read_spec("10 4 0,5:-") == ((10, 4), ((0, 5), None))
    for bad in ("bla", "4 0,5", "4 0,2:-", "4 -1,2", "4 1", "4 1,x", "a 0,1"):
        with pytest.raises(ValueError):
            slices.read_spec(bad)


def test_keys_sort_as_numbers_do():
    numbers = [*range(-70, 70), *(s * (1 << b) + d for b in range(6, 63) for s in (1, -1) for d in (-1, 0, 1))]
    assert all(slices._signed(n) < slices._signed(n + 1) for n in numbers)


def test_keys_of_tables():
    assert table.separator(b"abc", b"abz") == b"abd" and table.separator(b"ab", b"abc") == b"ab"
    assert table.separator(b"ab1", b"ab2") == b"ab1" and table.successor(b"\xff\x01z") == b"\xff\x02"


# ---- damaged files ---------------------------------------------------------------------------------------------------

def mutated(data: bytes, rng: random.Random) -> bytes:
    """Flip bits, cut, insert, repeat, or put a huge number somewhere."""
    out = bytearray(data)
    kind = rng.randrange(5)
    at = rng.randrange(len(out) + (kind == 2))
    if kind == 0:
        for _ in range(rng.choice((1, 1, 4))):
            out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del out[at:]
    elif kind == 2:
        out[at:at] = rng.randbytes(rng.choice((1, 8, 100)))
    elif kind == 3:
        out[at:at + rng.randrange(1, 20)] = b""
    else:
        out[at:at + 10] = b"\xff" * 9 + b"\x7f"
    return bytes(out)


def repaired(data: bytes) -> bytes:
    """A table with the checksums of its blocks put right: so that damage is met behind them too."""
    out = bytearray(data)
    try:
        at = len(out) - table.FOOTER
        handles = []
        for _ in range(2):
            offset, at = table.read_varint(bytes(out), at)
            size, at = table.read_varint(bytes(out), at)
            handles.append((offset, size))
        handles.append((0, handles[0][0] - table.TRAILER))
        for offset, size in handles:
            crc = files_crc(bytes(out[offset:offset + size + 1]))
            out[offset + size + 1:offset + size + 5] = crc.to_bytes(4, "little")
    except (IndexError, ValueError, OverflowError):
        pass
    return bytes(out[:len(data)])


def files_crc(data: bytes) -> int:
    return table.masked_crc(data)


def read_everything(prefix: str) -> dict[str, np.ndarray]:
    found = open_checkpoint(prefix)
    return {name: np.array(found.read(name)) for name in found.entries}


@pytest.mark.parametrize("version", ["index", "repaired index", "data", "v1", "repaired v1"])
def test_damaged_files_are_errors(tmp_path, version):
    values = {"a": np.arange(6.0).reshape(2, 3), "b/c": np.array(b"text", object), "b/d": np.array([True, False])}
    writer = BundleWriter(str(tmp_path / "m"))
    for name, value in values.items():
        writer.add(name, value)
    for i in range(2):
        writer.add("p", np.full(2, i), None, (4,), ((2 * i, 2),))
    writer.finish()
    write_v1(str(tmp_path / "v1"), [(n, v, as_dtype(v.dtype), (), None) for n, v in values.items()])
    path = tmp_path / {"index": "m.index", "data": "m.data-00000-of-00001", "v1": "v1"}[version.split()[-1]]
    prefix = str(tmp_path / ("v1" if "v1" in version else "m"))
    sound, whole, rng, errors = path.read_bytes(), read_everything(prefix), random.Random(version), 0
    start = time.process_time()
    for _ in range(600):
        damaged = mutated(sound, rng)
        path.write_bytes(repaired(damaged) if "repaired" in version else damaged)
        try:
            found = read_everything(prefix)
        except OpError as error:
            errors += 1
            assert error.message
        else:                                      # only what no checksum protects: padding, an equal file, other names
            assert "repaired" in version or all(np.array_equal(found[n], v) for n, v in whole.items()), damaged
    assert errors > 300
    assert time.process_time() - start < 30        # a bound, not a measure: nothing may take long


def test_a_bomb_of_shared_keys_is_refused(tmp_path):
    entries = bytearray()
    for i in range(60_000):
        entries += table.varint(i) + b"\x01\x00\x01"
    with open(tmp_path / "m.index", "wb") as file:
        block = bytes(entries) + (0).to_bytes(4, "little") + (1).to_bytes(4, "little")
        file.write(block + b"\0" + table.masked_crc(block + b"\0").to_bytes(4, "little"))
        place = table.varint(0) + table.varint(len(block))
        index = b"\x00\x01" + table.varint(len(place)) + b"z" + place + b"\0\0\0\0\1\0\0\0"
        file.write(index + b"\0" + table.masked_crc(index + b"\0").to_bytes(4, "little"))
        footer = table.varint(0) * 2 + table.varint(len(block) + 5) + table.varint(len(index))
        file.write(footer.ljust(40, b"\0") + table.MAGIC.to_bytes(8, "little"))
    with pytest.raises(DataLossError, match="too long"):
        for _ in table.Table(str(tmp_path / "m.index")).items():
            pass


@pytest.mark.parametrize("prefix", ["model.ckpt-1", "a[b]", ".hidden", "folder/model"])
def test_files_of_a_checkpoint_are_those_of_its_prefix_alone(tmp_path, monkeypatch, prefix):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    mine = [prefix + ending for ending in (".data-00000-of-00002", ".data-00001-of-00002", ".index")]
    for name in (*mine, f"{prefix}0.index", f"{prefix}0.data-00000-of-00001", f"{prefix}.data-00000-of-00002.part"):
        (tmp_path / name).touch()
    assert checkpoint_files(prefix) == mine
    assert checkpoint_files(str(tmp_path / prefix)) == [str(tmp_path / name) for name in mine]
    assert checkpoint_files("nowhere/model") == checkpoint_files(f"{prefix}.index/x") == []


def test_looking_for_checkpoints_keeps_nothing(tmp_path):
    """A pattern for each prefix stayed in Python's cache: a training that saved 10,000 times grew by 8 MB."""
    def look(start):
        for i in range(start, start + 40):
            name = tmp_path / f"model.ckpt-{i}.index"
            name.touch()
            checkpoint_files(str(name)[:-6])
            name.unlink()
    look(0)
    tracemalloc.start()
    try:
        look(1000)
        before, _ = tracemalloc.get_traced_memory()
        look(2000)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 40 * 100
