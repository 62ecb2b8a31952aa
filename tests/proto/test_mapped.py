"""Reading pieces of open files."""
from __future__ import annotations

import os

from tfnb.proto import mapped


def test_read_at_without_pread(tmp_path, monkeypatch):
    path = tmp_path / "data"
    path.write_bytes(bytes(range(100)))
    monkeypatch.delattr(os, "pread", raising=False)
    with open(path, "rb") as file:
        assert mapped.read_at(file.fileno(), 5, 90) == bytes(range(90, 95))
        assert mapped.read_at(file.fileno(), 50, 90) == bytes(range(90, 100))
        assert mapped.read_at(file.fileno(), 3, 0) == bytes(range(3))
