"""Cross products of vectors of three elements: the kernel of the op Cross.

    cross(call)         (a, b): [..., 3]
"""
from __future__ import annotations

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Type
from tfnb.kernels.launch import Call, Launch

VECTORS = 1 << 13                                  # that a thread of the CPU takes at a time


@kernel_function(independent=True, fastmath=())
def cross_vectors(a: Array, b: Array, out: Array, T: Type, item: int) -> None:
    """Compute the cross product of two vectors."""
    x, y, z, u, v, w = a[3 * item], a[3 * item + 1], a[3 * item + 2], b[3 * item], b[3 * item + 1], b[3 * item + 2]
    out[3 * item], out[3 * item + 1], out[3 * item + 2] = T(y * w - z * v), T(z * u - x * w), T(x * v - y * u)


def cross(call: Call) -> list[Launch]:
    """Return the launch of Cross."""
    out = call.outputs[0]
    whole = out.size * out.itemsize
    return [cross_vectors.launch(call, out.size // 3, call.input(0).reach(whole), call.input(1).reach(whole),
                                 call.output().reach(whole), out.type, grain=VECTORS, label="cross")]
