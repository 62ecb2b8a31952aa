"""Tiles of another processor in this process; their kernels are compiled, named and kept apart from this one's."""
from __future__ import annotations

import pytest

from tfnb.kernels.llvm import jit, microkernel, objects, prelude


def use(machine: microkernel.Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have matmuls made of another processor's tiles; skips where this one's vectors are shorter."""
    here = microkernel.machine()
    if here is None or here.bytes < machine.bytes:
        pytest.skip("this processor has shorter vectors")
    monkeypatch.setattr(microkernel, "machine", lambda: machine)
    words = {**prelude.primitives(), **microkernel.primitives()}
    monkeypatch.setattr(prelude, "primitives", lambda: words)
    # Sources are the same for some sizes: their objects must be no one else's, in this process and in the cache.
    environment = f"{objects.environment()}{machine}\n"
    monkeypatch.setattr(objects, "environment", lambda: environment)
    monkeypatch.setattr(jit, "_known", {})
