"""Ranks of inputs: stated in the declaration of an op, checked when it is added to a graph and when it runs."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from tfnb.core.shape import Static, shape_str
from tfnb.opdef.signature import Arg


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A lower bound of a rank."""

    rank: int


@dataclass(frozen=True, slots=True)
class Single:
    """A scalar where the op is added to a graph; when it runs also a vector of one element, as in older kernels.

    rank: the highest that it may have then.
    """

    rank: int = 1


Ranks = Mapping[str, int | AtLeast | Single]


def count_of(arg: Arg, attrs: Mapping[str, Any]) -> int:
    """Return how many tensors an argument stands for."""
    return len(attrs[arg.type_list]) if arg.type_list else attrs[arg.number] if arg.number else 1


def input_names(op: Any) -> list[str]:
    """Return the argument name of each input tensor (a list argument's name once for each of its tensors)."""
    names: list[str] = []
    for arg in op.spec.inputs:
        names += [arg.name] * count_of(arg, op.attrs)
    return names


def check_ranks(inputs: Sequence[Arg], ranks: Ranks, ctx: Any) -> None:
    """Raise ValueError if an input has another rank than stated (static shapes: if that is known)."""
    i = 0
    for arg in inputs:
        count = count_of(arg, ctx.attrs) if arg.is_list else 1
        rank = ranks.get(arg.name)
        if rank is not None:
            for at in range(i, i + count):
                _check_rank(arg.name, ctx.shape(at), rank, ctx)
        i += count


def _check_rank(name: str, shape: Static, rank: int | AtLeast | Single, ctx: Any) -> None:
    if shape is None:
        return
    if isinstance(rank, Single):
        if ctx.concrete:
            if len(shape) > rank.rank or prod(shape) != 1:  # type: ignore[arg-type]
                raise ValueError(f"Expected one element in input {name!r}, but got shape {shape_str(shape)}")
            return
        rank = 0
    if isinstance(rank, AtLeast):
        if len(shape) < rank.rank:
            raise ValueError(f"Shape must be at least rank {rank.rank} but is rank {len(shape)}: input {name!r} has "
                             f"shape {shape_str(shape)}")
    elif len(shape) != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {len(shape)}: input {name!r} has shape "
                         f"{shape_str(shape)}")


def with_ranks(inputs: Sequence[Arg], ranks: Ranks,
               shape: Callable[[Any], list[Static]]) -> Callable[[Any], list[Static]]:
    """Return a shape function that checks ranks before it calls `shape`."""
    def checked(ctx: Any) -> list[Static]:
        """Return the static shape of each output. Raises ValueError for ranks and shapes that the op does not take."""
        check_ranks(inputs, ranks, ctx)
        return shape(ctx)
    return checked
