"""Words of CUDA kernels that numba lacks: loads and stores of four neighbours at once.

    load4(a, i)                    the elements i to i + 3 of a flat array, as a tuple; 16 bytes an instruction at most
    store4(a, i, w, x, y, z)       the same for a store
    aligned(a)                     whether a starts where such an access may: at a multiple of its bytes, up to 16
"""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module

LANES = 4
BYTES = 16                             # of an access at most

extending = lazy_module("numba.cuda.extending")
ir = lazy_module("llvmlite.ir")
types = lazy_module("numba.cuda.types")


def simulated() -> dict[str, Any]:
    """Return the words for the simulator, over NumPy arrays."""
    return {"load4": _load4, "store4": _store4, "aligned": _aligned}


def _load4(array: np.ndarray, index: int) -> tuple[Any, ...]:
    return tuple(array[index:index + LANES])


def _store4(array: np.ndarray, index: int, *values: Any) -> None:
    if index + LANES > array.size:
        raise IndexError(f"store4 at {index} of {array.size} elements")
    array[index:index + LANES] = values


def _aligned(array: np.ndarray) -> bool:
    return array.ctypes.data % min(BYTES, LANES * array.itemsize) == 0


def compiled() -> dict[str, Any]:
    """Return the words for the compiler. Imports numba.cuda."""
    return {"load4": extending.intrinsic(load4), "store4": extending.intrinsic(store4),
            "aligned": extending.intrinsic(aligned)}


def load4(typing: Any, array: Any, index: Any) -> Any:
    """Type and generate a vector load."""
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place, _ = _vector(context, builder, signature.args[0], args)
        lanes, model = builder.load(place), context.data_model_manager[signature.args[0].dtype]
        lanes.align = _alignment(context, signature.args[0])
        found = [model.from_data(builder, builder.extract_element(lanes, _number(k))) for k in range(LANES)]
        return context.make_tuple(builder, signature.return_type, found)
    return types.UniTuple(array.dtype, LANES)(array, types.int64), generate


def store4(typing: Any, array: Any, index: Any, w: Any, x: Any, y: Any, z: Any) -> Any:
    """Type and generate a vector store."""
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place, vector = _vector(context, builder, signature.args[0], args)
        model, lanes = context.data_model_manager[signature.args[0].dtype], ir.Constant(vector, ir.Undefined)
        for k in range(LANES):
            lanes = builder.insert_element(lanes, model.as_data(builder, args[2 + k]), _number(k))
        builder.store(lanes, place).align = _alignment(context, signature.args[0])
        return context.get_dummy_value()
    return types.void(array, types.int64, *[array.dtype] * LANES), generate


def aligned(typing: Any, array: Any) -> Any:
    """Type and generate the test of an array's address."""
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = builder.ptrtoint(context.make_array(signature.args[0])(context, builder, args[0]).data, _word())
        rest = builder.and_(address, ir.Constant(_word(), _alignment(context, signature.args[0]) - 1))
        return builder.icmp_unsigned("==", rest, ir.Constant(_word(), 0))
    return types.boolean(array), generate


def _vector(context: Any, builder: Any, array: Any, args: Any) -> tuple[Any, Any]:
    """Return the pointer to four elements, and the type of these."""
    vector = ir.VectorType(context.get_data_type(array.dtype), LANES)
    place = builder.gep(context.make_array(array)(context, builder, args[0]).data, [args[1]])
    return builder.bitcast(place, vector.as_pointer()), vector


def _alignment(context: Any, array: Any) -> int:
    return min(BYTES, LANES * int(context.get_abi_sizeof(context.get_data_type(array.dtype))))


def _number(k: int) -> Any:
    return ir.Constant(ir.IntType(32), k)


def _word() -> Any:
    return ir.IntType(64)
