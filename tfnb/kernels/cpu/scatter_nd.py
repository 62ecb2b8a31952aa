"""ScatterNd kernels: zeros, with the updates added one after another.

    scatter_nd(call)    ScatterNd (indices, updates, shape); failure 4: a coordinate outside of its axis
"""
from __future__ import annotations

from dataclasses import replace

from tfnb.kernels.cpu.scatter import write
from tfnb.kernels.launch import Address, Call, Code, Launch
from tfnb.kernels.library.copying import fill
from tfnb.kernels.library.scatter import scatter
from tfnb.kernels.scalar.definition import read
from tfnb.kernels.scatter import Form


def _added(ref, update):                           # type: ignore[no-untyped-def]
    return ref + update


_SUM = Form(read(_added), (0,), 1, frozenset({2}), vectors=True)


def scatter_nd(call: Call) -> list[Launch]:
    """Return launches that fill with zeros, then run the scatter-add on the output."""
    indices, updates = call.inputs[:2]
    out = call.outputs[0]
    inner = Call((out, indices, updates), (out,), call.attrs)
    return fill(call, None, call.output(), out) + [
        replace(launch, args=tuple(_outer(word) for word in launch.args))
        for launch in scatter(write, inner, _SUM, (), out.type)]


def _outer(word: int | Address | Code) -> int | Address | Code:
    """Map an address of the inner call to the op's: the output is the variable, inputs move by one."""
    if not isinstance(word, Address) or word.kind != "input":
        return word
    return replace(word, kind="output") if word.index == 0 else replace(word, index=word.index - 1)
