"""Launch geometry: threads per block and blocks per kernel; few on the simulator, where a thread is Python."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfnb.kernels.cuda.simulator import is_asked_for as is_simulator
from tfnb.kernels.launch import Launch, Word

THREADS, WARP, MOST_BLOCKS = 128, 32, 1 << 16
SMALL = 2
BLOCKS = 264                           # that keep a large card busy: two for each of 132 multiprocessors


@dataclass(frozen=True, slots=True)
class Tiling:
    """Matmul tiling: a block computes `tile` x `tile` elements, `per` x `per` a thread, `depth` of k at a time."""

    tile: int = 64
    depth: int = 16
    per: int = 4

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return (self.tile // self.per) ** 2

    def blocks(self, m: int, n: int) -> int:
        """Return the blocks that cover a product of m x n."""
        return -(-m // self.tile) * -(-n // self.tile)


def block_size() -> int:
    """Return the threads of a block: a power of 2."""
    return SMALL if is_simulator() else THREADS


def blocks_of(items: int) -> int:
    """Return the blocks of a kernel that has a thread for each item, as long as there are enough; 0 for no item."""
    most = SMALL if is_simulator() else MOST_BLOCKS
    return min(-(-items // block_size()), most)


def tiling() -> Tiling:
    """Return the tiling of matmuls."""
    return Tiling(4, 2, 2) if is_simulator() else Tiling()


def convolution_tiling(rows: int, columns: int, groups: int) -> Tiling:
    """Return the tiling of a convolution's product: large tiles, which load less, where they fill a card."""
    if is_simulator():
        return Tiling(8, 4, 4)
    large = Tiling(128, 8, 8)
    return large if columns > 64 and large.blocks(rows, columns) * groups >= BLOCKS else Tiling()


def over(text: str, args: Sequence[Word], items: int, label: str = "") -> Launch:
    """Return a launch with a thread for each item; the kernel gets their number as its last argument."""
    return Launch(text, (*args, items), blocks_of(items), block_size(), label)
