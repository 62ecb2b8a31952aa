"""Emitted CUDA kernels compile for sm_90 on a machine with no GPU; float32 kernels hold no float64 instruction."""
from __future__ import annotations

import os
import re

import numpy as np
import pytest

import tfnb as tf
from tests.gpu_programs import PROGRAMS
from tfnb.compile.build import build_stage
from tfnb.compile.lower import Ref
from tfnb.compile.planning.placement import has_gpu_kernel
from tfnb.compile.planning.structure import build
from tfnb.compile.target import CUDA
from tfnb.compile.trace import Meta
from tfnb.core.options import options
from tfnb.kernels.cuda import device, gemm
from tfnb.kernels.cuda.driver import LIBRARY
from tfnb.kernels.cuda.emit import argument_types, emit
from tfnb.kernels.cuda.geometry import THREADS, WARP, Tiling
from tfnb.kernels.library.image import convolution
from tfnb.kernels.spec import MapKernel, Operand, RowKernel

# ruff: noqa: F821
pytestmark = [
    pytest.mark.cuda_compile,
    pytest.mark.skipif("NUMBA_ENABLE_CUDASIM" in os.environ or not device.can_compile(),
                       reason="numba-cuda and NVIDIA's compiler wheels are not installed (the extra tfnb[cuda])"),
    pytest.mark.filterwarnings("ignore"),
]
COUNT = 43
SINGLE = {"float32", "float16", "bfloat16"}                 # computed in float32
COMPILED: set[object] = set()          # programs share kernels


def ptx_of(kernel, text=None):
    source = emit(kernel)
    return device.ptx(text or source.code, argument_types(kernel, source))


def doubles(ptx):
    """The float64 instructions of a PTX text, but for those of libdevice's sinf, cosf and tanf.

    For |x| > 105615 these reduce x with one product in float64, pi / 2**65 times an integer.
    """
    reduction = r"cvt\.rn\.f64\.s64.*\n.*mul\.f64.*0d3BF921FB54442D19;\n.*cvt\.rn\.f32\.f64.*\n"
    return re.findall(r"^\s*(?:@\S+\s+)?[a-z][\w.]*\.f64\b.*$", re.sub(reduction, "", ptx), re.MULTILINE)


@pytest.mark.parametrize("number", range(COUNT))
def test_compiles_for_sm_90(cases, number):
    assert len(cases) == COUNT
    kernel = cases[number].kernel
    ptx = ptx_of(kernel)
    assert ".target sm_90" in ptx and ".entry" in ptx
    types = {operand.type for operand in (*kernel.loads, *kernel.stores)}
    if "float64" not in types and "float32" in types:
        assert not doubles(ptx), doubles(ptx)[:5]


@pytest.mark.parametrize("capability", [(8, 0), (9, 0), (10, 0)])
@pytest.mark.parametrize("name", ["softmax", "moments-(3, 10)-1", "exponentials-float32", "chunks", "columns-float32",
                                  "choosing-float64"])
def test_links_without_local_memory(cases, name, capability):
    kernel = next(case.kernel for case in cases if case.name == name)
    source = emit(kernel)
    found = device.resources(source.code, argument_types(kernel, source), capability)
    assert found.spilled == 0 and 0 < found.registers <= 128
    wanted = {"softmax": 2, "moments-(3, 10)-1": 3, "chunks": 1}.get(name, 0) * 4 * THREADS // WARP
    assert found.shared == wanted


VECTORS = {"exponentials-float32": "v4.f32", "circular-float64": "v2.f64", "division-int32": "v4.u32",
           "choosing-int64": "v2.u64", "map-3-24": "v4.f32", "softmax": "v4.f32", "moments-(3, 10)-1": "v4.f32",
           "chunks": "v4.f32"}


@pytest.mark.parametrize("name", VECTORS)
def test_neighbours_are_loaded_and_stored_sixteen_bytes_at_once(cases, name):
    kernel = next(case.kernel for case in cases if case.name == name)
    ptx = ptx_of(kernel)
    assert f"ld.global.{VECTORS[name]}" in ptx
    assert name == "chunks" or f"st.global.{VECTORS[name]}" in ptx
    assert ("shfl.sync.bfly" in ptx) == isinstance(kernel, RowKernel)


def test_a_short_row_needs_one_warp_and_no_barrier(cases):
    kernel = next(case.kernel for case in cases if case.name == "softmax")
    source = emit(kernel, threads=WARP)
    ptx = device.ptx(source.code, argument_types(kernel, source))
    assert "bar.sync" not in ptx and ".shared" not in ptx and "bar.sync" in ptx_of(kernel)


def test_machine_code_is_compiled_once(cases, monkeypatch, tmp_path):
    monkeypatch.setattr(options, "cache_dir", tmp_path)
    kernel = next(case.kernel for case in cases if case.name == "softmax")
    source = emit(kernel)
    types = argument_types(kernel, source)
    code = device.cubin(source.code, types)
    assert code[:4] == b"\x7fELF"
    monkeypatch.setattr(device, "_linked", None)
    assert device.cubin(source.code, types) == code
    with pytest.raises(TypeError):                         # another chip, another code
        device.cubin(source.code, types, (8, 0))


def test_control_a_bare_literal_is_noticed(emitted):
    body = emitted.stmt(lambda x: x * 0.3, "float32", "x", "y")
    kernel = MapKernel(1, (Operand("x", "float32", ("1",)),), (body,), (Operand("y", "float32", ("1",)),))
    text = emit(kernel).code
    assert "float32(0.3)" in text
    assert not doubles(ptx_of(kernel)) and doubles(ptx_of(kernel, text.replace("float32(0.3)", "0.3")))


@pytest.mark.parametrize("type, conversion, capability", [
    ("float16", "cvt.f32.f16", (8, 0)), ("bfloat16", "cvt.rn.bf16.f32", (8, 0)), ("float16", "cvt.f32.f16", (10, 0)),
    ("bfloat16", "cvt.rn.bf16.f32", (9, 0)), ("bfloat16", "cvt.rn.bf16.f32", (10, 0))])
def test_16_bit_floats_are_loaded_by_fours_and_computed_in_float32(emitted, type, conversion, capability):
    x, body = Operand("x", type, ("s", "1")), emitted.stmt(lambda x: exp(x) * 0.3, type, "x", "y")
    kernel = MapKernel(2, (x,), (body,), (Operand("y", type, ("s", "1")),))
    source = emit(kernel)
    ptx = device.ptx(source.code, argument_types(kernel, source), capability)
    assert all(re.search(rf"{way}\.global\.(v4\.[bu]16|v2\.b32)", ptx) for way in ("ld", "st"))
    assert conversion in ptx and not doubles(ptx)
    assert device.resources(source.code, argument_types(kernel, source), capability).spilled == 0


@pytest.mark.parametrize("type, epilogue", [("float32", ()), ("float64", ()), ("int32", ()), ("float16", ()),
                                            ("bfloat16", ("bias", "relu")), ("float32", ("bias", "relu"))])
def test_matmul_compiles_and_links(type, epilogue):
    text, types = gemm.matmul_source(type, epilogue=epilogue), gemm.argument_types(type, epilogue)
    ptx = device.ptx(text, types)
    assert type == "float64" or not doubles(ptx)
    found = device.resources(text, types)
    assert found.spilled == 0 and found.registers <= 128
    assert found.shared == 2 * 64 * 16 * (8 if type == "float64" else 4)


WAYS = {"forward": ("row", False, "deep", True, "column", True),
        "input gradient": ("row", True, "deep", True, "deep", True),
        "filter gradient": ("deep", False, "row", True, "column", True),
        "channels first": ("row", False, "row", False, "column", True)}


@pytest.mark.parametrize("way, tiling, capability", [
    *((way, Tiling(), capability) for way in WAYS for capability in ((8, 0), (9, 0), (10, 0))),
    *((way, Tiling(128, 8, 8), (9, 0)) for way in WAYS)])
def test_convolutions_share_tiles_and_spill_nothing(way, tiling, capability):
    text = convolution.source("float32", *WAYS[way], tiling, ("relu",) * (way != "filter gradient"))
    names = [*convolution.SIZES, *(convolution.SPREAD if way == "input gradient" else ())]
    types = [("float32", True)] * 3 + [("int64", False)] * len(names)
    ptx, found = device.ptx(text, types, capability), device.resources(text, types, capability)
    assert not doubles(ptx) and ".local" not in ptx and "bar.sync" in ptx
    assert "ld.shared.v4" in ptx and re.search(r"ld\.global\.(v4\.[bf]32|v2\.b64)", ptx)
    lists = tiling.tile * (2 * 8 + 3 * 4) + tiling.depth * (2 * 8 + 3 * 4)
    tiles = 2 * 4 * tiling.depth * (tiling.tile + 4)
    assert found.spilled == 0 and found.registers * tiling.threads <= 65536 and 0 <= found.shared - lists - tiles < 16


def launches(program):
    """(text, its argument types) of all that the GPU stages of a program launch."""
    read = [t for t in program.fetches if isinstance(t, tf.Tensor)]
    feeds = list(program.feeds)
    initial = tf.global_variables_initializer()
    plans = [build(read, [getattr(t, "op", t) for t in program.targets], feeds, has_gpu_kernel),
             build([], [initial], [], has_gpu_kernel)]
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True, device_count={"GPU": 0})) as sess:
        sess.run(initial)
        for stage in (stage for plan in plans for stage in plan.stages if stage.gpu):
            inputs = sess.run(list(stage.inputs), program.feeds) if stage.inputs else []
            metas = [Meta(np.asarray(v).dtype.name, np.shape(v), np.asarray(v) if t in stage.by_value else None)
                     for t, v in zip(stage.inputs, inputs, strict=True)]
            shapes = {op: sess.run(op.outputs[0]).shape for op in stage.variables}
            for step in build_stage(stage, metas, shapes, CUDA).steps:
                if step.source.startswith(LIBRARY):
                    continue
                yield step.source, tuple((arg.type or arg.buffer.type, True) if isinstance(arg, Ref) else
                                         ("int64", False) for arg in step.args)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_programs_launch_compiles(name):
    """All of it; a kernel over float32 alone holds no float64 instruction, but where random numbers ask for one."""
    for text, types in set(launches(PROGRAMS[name]())) - COMPILED:
        COMPILED.add((text, types))
        ptx = device.ptx(text, types)
        assert ".target sm_90" in ptx and ".entry" in ptx
        if "float64" not in {type for type, _ in types} and not SINGLE.isdisjoint(type for type, _ in types) \
                and "float64(" not in text:
            assert not doubles(ptx), (text, doubles(ptx)[:5])
