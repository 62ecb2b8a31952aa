"""Compilation targets (CPU, or GPU by numba.cuda): all that the passes need to know of either."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import prod
from typing import Literal

from tfnb.kernels.cpu.fused.emit import emit as emit_cpu
from tfnb.kernels.cpu.scatter import write as write_cpu
from tfnb.kernels.cuda import emit as cuda
from tfnb.kernels.cuda.geometry import WARP, block_size, blocks_of
from tfnb.kernels.cuda.scatter import write as write_cuda
from tfnb.kernels.launch import Launch
from tfnb.kernels.library.scatter import scatter
from tfnb.kernels.spec import ColumnKernel, Kernel, MapKernel, RowKernel, Source
from tfnb.opdef.op import Op

Grid = tuple[int, int]
SHORT = 256              # elements of a row that one warp reduces: no shared memory, no barrier


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A code generator, its hand-written kernels, and the launch geometry.

    emit: generates the source of a kernel record for sizes of its loops; launches: op -> its hand-written launches or
    None; scatter: the launches of a scatter op (call, its form, attrs and type); grid: (kernel, sizes of its loops,
    items, grain) -> items and grain of a launch, on a GPU blocks and threads a block; extent: these as text.

    device: the kind of device, as launch functions ask for it. blocked: matmuls are blocked, can have epilogues, and
    want their second operand row-major; transposes are tiled; large results use streaming stores. walks_back: strides
    may be negative. least_columns: the least number of columns for which a reduction over leading axes becomes a column
    reduction.
    """

    emit: Callable[[Kernel, Sequence[int]], Source]
    launches: Callable[[Op], Callable[..., Sequence[Launch]] | None]
    scatter: Callable[..., Sequence[Launch]]
    grid: Callable[[Kernel, Sequence[int], int, int], Grid]
    extent: Callable[[int, int], str]
    blocked: bool
    device: Literal["cpu", "cuda"] = "cpu"
    walks_back: bool = True
    least_columns: int = 0


def _items(items: int, grain: int) -> str:
    return f"{items} items{f', grain {grain}' if items > grain > 0 else ''}"


def _blocks(blocks: int, threads: int) -> str:
    return f"{blocks} {'block' if blocks == 1 else 'blocks'} of {threads} threads"


def _row_threads(kernel: Kernel, sizes: Sequence[int]) -> int:
    """Return the threads that share a row: one warp where the row is short."""
    short = isinstance(kernel, RowKernel) and not kernel.chunk and prod(sizes[kernel.outer:]) <= SHORT
    return min(WARP, block_size()) if short else block_size()


def _threads_over(kernel: Kernel, sizes: Sequence[int], items: int, grain: int) -> Grid:
    """Return (blocks, threads): a block for each row or chunk of a reduction, a thread for each element or column."""
    if isinstance(kernel, MapKernel):
        return blocks_of(-(-prod(sizes) // (cuda.LANES if cuda.in_fours(kernel) else 1))), block_size()
    if isinstance(kernel, ColumnKernel):
        return blocks_of(sizes[1]), block_size()
    return items, _row_threads(kernel, sizes)


def _emit_cpu(kernel: Kernel, sizes: Sequence[int]) -> Source:
    return _emitted_cpu(kernel)


def _emit_cuda(kernel: Kernel, sizes: Sequence[int]) -> Source:
    return _emitted_cuda(kernel, _row_threads(kernel, sizes))


# Layers of a network share kernels; writing one takes 1 ms.
_emitted_cpu, _emitted_cuda = lru_cache(maxsize=4096)(emit_cpu), lru_cache(maxsize=4096)(cuda.emit)


CPU = Target(_emit_cpu, lambda op: op.cpu, partial(scatter, write_cpu),
             lambda kernel, sizes, items, grain: (items, grain), _items, blocked=True)
CUDA = Target(_emit_cuda, lambda op: op.cuda, partial(scatter, write_cuda), _threads_over,
              _blocks, blocked=False, device="cuda", walks_back=False, least_columns=2048)
