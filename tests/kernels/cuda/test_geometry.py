"""Threads and blocks of kernels: enough for all items, no more than there may be; no GPU is needed."""
from __future__ import annotations

import pytest

from tfnb.kernels.cuda import geometry


@pytest.mark.parametrize("simulated", [True, False])
def test_blocks_cover_all_items(simulated, monkeypatch):
    monkeypatch.setattr(geometry, "is_simulator", lambda: simulated)
    size, most = geometry.block_size(), geometry.SMALL if simulated else geometry.MOST_BLOCKS
    assert size & (size - 1) == 0 and size == (2 if simulated else 128)
    assert [geometry.blocks_of(n) for n in (0, 1, size - 1, size, size + 1)] == [0, 1, 1, 1, 2]
    assert geometry.blocks_of(most * size) == geometry.blocks_of(most * size + 1) == most
    tiling = geometry.tiling()
    assert tiling.threads * tiling.per ** 2 == tiling.tile ** 2 and tiling.tile % tiling.per == 0
    tile = tiling.tile
    assert [tiling.blocks(m, n) for m, n in ((1, 1), (tile, tile), (tile + 1, tile), (0, 5))] == [1, 1, 2, 0]
