"""Compile-time bounds checks: the arguments of hand-written kernels as addresses, checked against their buffers.

A kernel trusts the sizes in its argument block and checks no bounds. So each launch states how many bytes it accesses
from each address on (`Address.reach`), and a program whose buffers are smaller is not built.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfnb.compile.values import Buffer, Call
from tfnb.core import errors
from tfnb.kernels.launch import Address, Code, Launch
from tfnb.kernels.launch import Call as KernelCall

STATUS = Buffer("status", "int64", 8)
_SIZED = ("status", "state", "epilogue")     # of one size for all launches, or laid out by the lowering itself


@dataclass(frozen=True, slots=True)
class Ref:
    """The address of a buffer plus an offset in bytes; on a GPU an array from there on, of `type` (or the buffer's)."""

    buffer: Buffer
    offset: int = 0
    type: str = ""


class Places:
    """Resolves the symbolic addresses of a call to buffers. follow: the argument words of its epilogue; target: the
    buffer that replaces its output; stated: each launch must state its reach."""

    def __init__(self, node: Call, call: KernelCall, follow: Sequence[int | Ref | Code], target: Buffer | None,
                 stated: bool) -> None:
        self.node, self.follow, self.target, self.stated = node, follow, target, stated
        self.scratch = [Buffer("temp", "uint8", nbytes) for nbytes in call.scratch_sizes]

    def words(self, launch: Launch) -> tuple[int | Ref | Code, ...]:
        """Return the argument words of a launch as those of a step.

        Raises InternalError, which names the op, for an argument whose reach is not stated or larger than its buffer.
        """
        return tuple(self._checked(launch, arg, self._word(arg)) if isinstance(arg, Address) else arg
                     for arg in launch.args)

    def _word(self, arg: Address) -> int | Ref | Code:
        if arg.kind == "epilogue":
            found = self.follow[arg.index]
            return self._moved(found) if isinstance(found, Ref) else found
        if arg.kind in ("input", "output"):
            value = (self.node.ins if arg.kind == "input" else self.node.outs)[arg.index]
            ref = Ref(value.buffer, value.view.offset * np.dtype(value.type).itemsize + arg.offset_bytes, arg.type)
            return self._moved(ref)
        if arg.kind == "state":
            assert self.node.state is not None
            return Ref(self.node.state, arg.offset_bytes)
        return Ref(self.scratch[arg.index] if arg.kind == "scratch" else STATUS, arg.offset_bytes, arg.type)

    def _moved(self, ref: Ref) -> Ref:
        own = self.target is not None and ref.buffer is self.node.outs[0].buffer
        return Ref(self.target, ref.offset, ref.type) if own and self.target is not None else ref

    def _checked(self, launch: Launch, arg: Address, word: int | Ref | Code) -> int | Ref | Code:
        op = self.node.op
        if arg.nbytes is None:
            if self.stated and arg.kind not in _SIZED:
                raise errors.InternalError(None, op, f"{op.name}: kernel {launch.label!r} of {op.type} does not state "
                                                     f"how far it reaches in {arg.kind} {arg.index}")
        elif arg.nbytes and isinstance(word, Ref) and not 0 <= word.offset <= word.buffer.nbytes - arg.nbytes:
            raise errors.InternalError(None, op, f"{op.name}: kernel {launch.label!r} of {op.type} reaches bytes "
                                                 f"{word.offset} to {word.offset + arg.nbytes} of {arg.kind} "
                                                 f"{arg.index}, expected at most {word.buffer.nbytes}")
        return word
