"""Reading pieces of open files."""
from __future__ import annotations

import os

import numpy as np
import pytest

from tfnb.proto import mapped


def test_read_at_without_pread(tmp_path, monkeypatch):
    path = tmp_path / "data"
    path.write_bytes(bytes(range(100)))
    monkeypatch.delattr(os, "pread", raising=False)
    with open(path, "rb") as file:
        assert mapped.read_at(file.fileno(), 5, 90) == bytes(range(90, 95))
        assert mapped.read_at(file.fileno(), 50, 90) == bytes(range(90, 100))
        assert mapped.read_at(file.fileno(), 3, 0) == bytes(range(3))


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of 256 bytes, so that a test's arrays count as large; `calls` has what was released."""
    calls, real = [], mapped.release
    monkeypatch.setattr(mapped, "CHUNK", 256)
    monkeypatch.setattr(mapped, "release", lambda file, part: (calls.append(part.size), real(file, part)))
    return calls


def in_a_file(path, array):
    """The same array, in a file."""
    path.write_bytes(b"\xff" * 12 + array.tobytes())
    file = os.open(path, os.O_RDONLY)
    try:
        return mapped.file_array(file, 12, array.nbytes, array.dtype, array.shape)
    finally:
        os.close(file)


@pytest.mark.parametrize("size", [0, 1, mapped.SMALL // 4 - 1, mapped.SMALL // 4, 40_000])
def test_arrays_in_files(tmp_path, size):
    want = np.arange(size, dtype=np.float32)
    found = in_a_file(tmp_path / "data", want)
    assert found.dtype == np.float32 and not found.flags.writeable and np.array_equal(found, want)
    assert (mapped.map_of(found) is None) == (want.nbytes < mapped.SMALL)
    part = found.reshape(-1, 1)[1:2]
    assert mapped.map_of(part) is mapped.map_of(found) and mapped.map_of(np.array(found)) is None


def test_an_array_beyond_a_page_is_mapped_from_its_page(tmp_path):
    want = np.arange(40_000)
    (tmp_path / "data").write_bytes(b"\xff" * 100_000 + want.tobytes())
    with open(tmp_path / "data", "rb") as file:
        found = mapped.file_array(file.fileno(), 100_000, want.nbytes, want.dtype, (200, 200))
    assert np.array_equal(found, want.reshape(200, 200))


@pytest.mark.parametrize("target, value, released", [
    (lambda x: x, lambda x: x, True), (lambda x: x.T, lambda x: x.T, False), (lambda x: x.T, lambda x: x, False),
    (lambda x: x, lambda x: x.T, False), (lambda x: x[:, ::2], lambda x: x[:, ::2], False),
    (lambda x: x[:, ::2], lambda x: x[:, :100], False), (lambda x: x, lambda x: x[:1], False),
    (lambda x: x[:100], lambda x: x[100:], True)])
def test_copies_of_arrays_in_files(tmp_path, small_chunks, target, value, released):
    """Whatever the layout, the elements come over; a file's pages are let go of where both lie as the file does."""
    source, there = np.arange(40_000.0).reshape(200, 200), np.zeros((200, 200))
    to, want = target(there), np.zeros((200, 200))
    target(want)[...] = value(source)
    mapped.copy_array(to, value(in_a_file(tmp_path / "data", source)))
    assert np.array_equal(there, want) and bool(small_chunks) is released
    assert not released or set(small_chunks) == {32} and sum(small_chunks) == to.size


@pytest.mark.parametrize("size, parts", [(31, []), (32, []), (33, [32, 1]), (64, [32, 32])])
def test_large_ones_are_copied_by_chunks(tmp_path, small_chunks, monkeypatch, size, parts):
    monkeypatch.setattr(mapped, "SMALL", 8)
    source, target = np.arange(size, dtype=np.float64), np.zeros(size)
    mapped.copy_array(target, in_a_file(tmp_path / "data", source))
    assert np.array_equal(target, source) and small_chunks == parts
    mapped.copy_array(target, -source)
    assert np.array_equal(target, -source) and small_chunks == parts
