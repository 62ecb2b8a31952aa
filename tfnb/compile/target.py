"""Compilation targets: the CPU, or a GPU by numba.cuda. All that trace, fuse and lower ask of either is here."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from tfnb.kernels.checks import Check
from tfnb.kernels.cpu.emit import emit as emit_cpu
from tfnb.kernels.cpu.scatter import scatter as scatter_cpu
from tfnb.kernels.cuda import emit as cuda
from tfnb.kernels.cuda.checks import check as check_cuda
from tfnb.kernels.cuda.geometry import block_size, blocks_of
from tfnb.kernels.cuda.scatter import scatter as scatter_cuda
from tfnb.kernels.launch import Call, Launch
from tfnb.kernels.spec import ColumnKernel, Kernel, MapKernel, Source
from tfnb.opdef import tables

Grid = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """emit: the text of a kernel record; calls: op name -> its hand-written launches; scatter, check: the launches of
    a scatter op (call, its form, attrs and type) and of a check of values; grid: (kernel, sizes of its loops, items,
    grain) -> items and grain of a launch, on a GPU the blocks and the threads of each; extent: these in words.

    blocked: matmuls are computed in blocks, with what follows in the same launch, and want their second
    operand straight; matrices are transposed tile by tile; large results go past the caches. walks_back: strides may
    be negative. least_columns: of a reduction over leading axes, for which a kernel walks down the columns.
    """

    emit: Callable[[Kernel], Source]
    calls: Mapping[str, Callable[[Call], Sequence[Launch]]]
    scatter: Callable[..., Sequence[Launch]]
    check: Callable[[Check, Call], Sequence[Launch]]
    grid: Callable[[Kernel, Sequence[int], int, int], Grid]
    extent: Callable[[int, int], str]
    blocked: bool
    walks_back: bool = True
    least_columns: int = 0


def _items(items: int, grain: int) -> str:
    return f"{items} items{f', grain {grain}' if items > grain > 0 else ''}"


def _blocks(blocks: int, threads: int) -> str:
    return f"{blocks} {'block' if blocks == 1 else 'blocks'} of {threads} threads"


def _threads_over(kernel: Kernel, sizes: Sequence[int], items: int, grain: int) -> Grid:
    """A block for each row (or chunk of a vector); a thread for each element of a map, for each column."""
    if isinstance(kernel, MapKernel):
        return blocks_of(prod(sizes)), block_size()
    if isinstance(kernel, ColumnKernel):
        return blocks_of(sizes[1]), block_size()
    return items, block_size()


def _emit_cuda(kernel: Kernel) -> Source:
    return cuda.emit(kernel, block_size())


# Layers of a network share kernels; writing one takes 1 ms.
CPU = Target(lru_cache(maxsize=4096)(emit_cpu), tables.CPU, scatter_cpu, Check.launches,
             lambda kernel, sizes, items, grain: (items, grain), _items, blocked=True)
CUDA = Target(lru_cache(maxsize=4096)(_emit_cuda), tables.CUDA, scatter_cuda, check_cuda, _threads_over, _blocks,
              blocked=False, walks_back=False, least_columns=2048)
