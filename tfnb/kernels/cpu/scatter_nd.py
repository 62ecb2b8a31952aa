"""ScatterNd kernels of CPU and GPU: zeros, with the updates added one after another.

    scatter_nd(call)            ScatterNd (indices, updates, shape); failure 4: a coordinate outside of its axis
    tensor_scatter(form)(call)  TensorScatterAdd and others (tensor, indices, updates): a copy, and what `form` says
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tfnb.kernels.cpu.scatter import write
from tfnb.kernels.cuda import scatter as cuda
from tfnb.kernels.launch import Address, Call, Code, Launch
from tfnb.kernels.library.copying import copy_box, fill
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
    inner = Call((out, indices, updates), (out,), call.attrs, device=call.device)
    return fill(call, None, call.output(), out) + [
        replace(launch, args=tuple(_outer(word) for word in launch.args))
        for launch in scatter(_writer(call), inner, _SUM, (), out.type)]


def tensor_scatter(form: Form) -> Callable[[Call], list[Launch]]:
    """Return the function that copies the first input and applies a scatter op with one variable to the copy."""
    def launch(call: Call) -> list[Launch]:
        """Return launches of the copy and of the scatter op."""
        tensor, indices, updates = call.inputs
        whole = tensor.size * tensor.itemsize
        if not whole:
            return []
        inner = Call((call.outputs[0], indices, updates), call.outputs, call.attrs, device=call.device)
        axes = [(tensor.size, 1, 1)]
        copied = copy_box(call, call.input(0), call.output().reach(whole), tensor.type, axes)
        return copied + [replace(launch, args=tuple(_written(word) for word in launch.args))
                         for launch in scatter(_writer(call), inner, form, (), tensor.type)]
    return launch


def _writer(call: Call) -> Callable[..., Launch]:
    """Return the function that writes the rows on the call's device."""
    return write if call.device == "cpu" else cuda.write


def _written(word: int | Address | Code) -> int | Address | Code:
    """Map the address of the variable to the op's output."""
    return replace(word, kind="output") if isinstance(word, Address) and word.kind == "input" and not word.index \
        else word


def _outer(word: int | Address | Code) -> int | Address | Code:
    """Map an address of the inner call to the op's: the output is the variable, inputs move by one."""
    if not isinstance(word, Address) or word.kind != "input":
        return word
    return replace(word, kind="output") if word.index == 0 else replace(word, index=word.index - 1)
