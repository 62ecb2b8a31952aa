"""Words of CUDA kernels that numba lacks: loads and stores of four neighbours at once, 16-bit floats.

    load4(a, i)                    the elements i to i + 3 of a flat array, as a tuple; 16 bytes an instruction at most
    store4(a, i, w, x, y, z)       the same for a store
    aligned(a)                     whether a starts where such an access may: at a multiple of its bytes, up to 16
    from_float16(bits)             the float32 that a 16-bit float is; its bits are a uint16. So from_bfloat16
    to_float16(x)                  the bits of a float32 rounded to nearest even. So to_bfloat16
"""
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.kernels.scalar.number_types import HALVES, dtype_of

LANES = 4
BYTES = 16                             # of an access at most

extending = lazy_module("numba.cuda.extending")
ir = lazy_module("llvmlite.ir")
types = lazy_module("numba.cuda.types")


def simulated() -> dict[str, Any]:
    """Return the words for the simulator, over NumPy arrays."""
    return {"load4": _load4, "store4": _store4, "aligned": _aligned,
            **{f"from_{type}": partial(_from_bits, dtype_of(type)) for type in HALVES},
            **{f"to_{type}": partial(_to_bits, dtype_of(type)) for type in HALVES}}


def _from_bits(type: np.dtype[Any], bits: Any) -> Any:
    return np.uint16(bits).view(type).astype(np.float32)


def _to_bits(type: np.dtype[Any], x: Any) -> Any:
    return np.float32(x).astype(type).view(np.uint16)


def _load4(array: np.ndarray, index: int) -> tuple[Any, ...]:
    if not 0 <= index <= array.size - LANES:
        raise IndexError(f"load4 at {index} of {array.size} elements")
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
            "aligned": extending.intrinsic(aligned),
            **{function.__name__: extending.intrinsic(function)
               for function in (from_float16, from_bfloat16, to_float16, to_bfloat16)}}


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


def from_float16(typing: Any, bits: Any) -> Any:
    """Type and generate the conversion of a float16. (By `fpext` the compiler would load four of them as two pairs.)"""
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        conversion = ir.FunctionType(ir.FloatType(), [ir.IntType(16)])
        return builder.asm(conversion, "cvt.f32.f16 $0, $1;", "=f,h", args, False)
    return types.float32(types.uint16), generate


def from_bfloat16(typing: Any, bits: Any) -> Any:
    """Type and generate the conversion of a bfloat16, the upper half of a float32."""
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(builder.shl(builder.zext(args[0], ir.IntType(32)), _number(16)), ir.FloatType())
    return types.float32(types.uint16), generate


def to_float16(typing: Any, x: Any) -> Any:
    """Type and generate the conversion to a float16."""
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(builder.fptrunc(args[0], ir.HalfType()), ir.IntType(16))
    return types.uint16(types.float32), generate


def to_bfloat16(typing: Any, x: Any) -> Any:
    """Type and generate the conversion to a bfloat16: one instruction, from sm_80 on."""
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        conversion = ir.FunctionType(ir.IntType(16), [ir.FloatType()])
        return builder.asm(conversion, "cvt.rn.bf16.f32 $0, $1;", "=h,f", args, False)
    return types.uint16(types.float32), generate


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
