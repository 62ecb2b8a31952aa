"""Convolutions on a GPU as implicit matrix products: tiles in shared memory, of windows that are never stored.

    forward(call)                   Conv2D, Conv3D (input, filter); with epilogues, as cuda/gemm.py has them
    follows(call)                   whether that one takes an epilogue
    input_gradient(call)            Conv2DBackpropInput, Conv3DBackpropInputV2 (input_sizes, filter, out_backprop)
    filter_gradient(call)           Conv2DBackpropFilter, Conv3DBackpropFilterV2 (input, filter_sizes, out_backprop)

A block computes a tile of a product c = a b, as in cuda/gemm.py. An element of `a` has a pixel (of a volume; an image
has depth 1) and a tap with its channel, and lies at the sum of their positions, or is 0 where that is outside:

                    rows            depth of the product    columns
    forward         output pixels   taps x input channels   output channels
    input gradient  input pixels    taps x output channels  input channels
    filter gradient taps x input    output pixels           output channels
                    channels

The input's gradient of a strided convolution falls into phases: the pixels whose position leaves the same remainder
meet the same taps, at steps of one. So no product with 0 is computed, and a phase is a convolution like another.
Each block lists the positions of its rows once, in shared memory, and those of each next slice of the depth while it
multiplies. Where channels come by four, a thread loads them at once. The depth of a filter's gradient is divided among
blocks, whose sums are added in a fixed order: every run gives the same bits.

Few columns (LEAST) would leave most of a tile empty: those convolutions are direct loops (../direct.py, volumes.py).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import gcd, prod

from tfnb.kernels.arrays.window import Volume, Window, channels_first, volume, window
from tfnb.kernels.cuda.geometry import BLOCKS, Tiling, convolution_tiling
from tfnb.kernels.launch import Address, Call, Launch, Meta
from tfnb.kernels.library import direct
from tfnb.kernels.library.copying import fill
from tfnb.kernels.library.image import volumes
from tfnb.kernels.library.partial_sums import partial_sums

LEAST = 8                              # columns of a product that gets tiles
FAR = -(1 << 30)                       # a position that is outside together with any other
SLICE = 512                            # least depth of a part of a filter's gradient

SIZES = ("rows", "depth", "columns", "groups", "parts", "span", "d", "h", "w", "a_n", "a_z", "a_y", "a_x", "a_c",
         "a_group", "pz", "py", "px", "sz", "sy", "sx", "z0", "y0", "x0", "o_n", "o_z", "o_y", "o_x", "tz", "ty", "tx",
         "channels", "dz", "dy", "dx", "f_z", "f_y", "f_x", "f_c", "b_column", "b_group", "c_column", "c_group",
         "c_part")
SPREAD = ("images", "step_z", "step_y", "step_x", "before_z", "before_y", "before_x")       # more, for phases
PIXEL = """{i} = {index}
        ix, iy, iz = {i} % px, {i} // px % py, {i} // px // py % pz
        image = {i} // px // py // pz
        {kind}_z[{e}], {kind}_y[{e}], {kind}_x[{e}] = iz * sz + z0, iy * sy + y0, ix * sx + x0
        {kind}_a[{e}] = image * a_n + (iz * sz + z0) * a_z + (iy * sy + y0) * a_y + (ix * sx + x0) * a_x
        {kind}_o[{e}] = image * o_n + iz * o_z + iy * o_y + ix * o_x + origin_o"""
TAP = """{i} = {index}
        channel, tap = {i} % channels, {i} // channels
        kx, ky, kz = tap % tx, tap // tx % ty, tap // tx // ty
        {kind}_z[{e}], {kind}_y[{e}], {kind}_x[{e}] = kz * dz, ky * dy, kx * dx
        {kind}_a[{e}] = channel * a_c + kz * dz * a_z + ky * dy * a_y + kx * dx * a_x
        {kind}_o[{e}] = channel * f_c + kz * f_z + ky * f_y + kx * f_x + origin_f"""
LIST = """for {e} in range(thread, {count}, {threads}):
        {place}
        if {index} >= {end}:
            {kind}_z[{e}] = {far}
            {kind}_o[{e}] = -1"""
# Phase of an input gradient: the pixels p + stride * i meet the taps first + step * t, at i + start - t * dilation.
PHASES = """phase_{x} = phase{rest} % {s}
    first_{x}, missing = 0, True
    for k in range(step_{x}):
        if missing and (phase_{x} + before_{x} - k * d{x}) % {s} == 0:
            first_{x}, missing = k, False
    t{x} = 0 if missing else (t{x} - first_{x} + step_{x} - 1) // step_{x}
    {x}0 = (phase_{x} + before_{x} - first_{x} * d{x}) // {s}
    d{x} = -(step_{x} * d{x} // {s})
    p{x} = (p{x} - phase_{x} + {s} - 1) // {s}
    origin_o += phase_{x} * o_{x}
    origin_f += first_{x} * f_{x}
    o_{x} = o_{x} * {s}
    f_{x} = f_{x} * step_{x}
    """
SOURCE = """def kernel(a, b, c{bias_parameter}, {sizes}):
    left = cuda.shared.array({deep} * {wide}, {type}, 16)
    right = cuda.shared.array({deep} * {wide}, {type}, 16)
    row_a = cuda.shared.array({tile}, int64)
    row_o = cuda.shared.array({tile}, int64)
    row_z = cuda.shared.array({tile}, int32)
    row_y = cuda.shared.array({tile}, int32)
    row_x = cuda.shared.array({tile}, int32)
    deep_a = cuda.shared.array({deep}, int64)
    deep_o = cuda.shared.array({deep}, int64)
    deep_z = cuda.shared.array({deep}, int32)
    deep_y = cuda.shared.array({deep}, int32)
    deep_x = cuda.shared.array({deep}, int32)
    sums = cuda.local.array({sums}, {type})
    thread = cuda.threadIdx.x
    across, down = (columns + {tile} - 1) // {tile}, (rows + {tile} - 1) // {tile}
    column, row = cuda.blockIdx.x % across * {tile}, cuda.blockIdx.x // across % down * {tile}
    rest = cuda.blockIdx.x // across // down
    group, rest = rest % groups, rest // groups
    part, phase = rest % parts, rest // parts
    first_a, first_b, first_c = group * a_group, group * b_group, group * c_group + part * c_part
    origin_o, origin_f = 0, 0
    {phases}
    begin, end = part * span, min(depth, (part + 1) * span)
    {list_rows}
    {list_first}
    for i in range({sums}):
        sums[i] = {type}(0)
    fours_a, fours_b = {fours_a}, {fours_b}
    cuda.syncthreads()
    for start in range(begin, end, {deep}):
        for e in range(thread, {loads_a}, {threads}):
            i, p = {place_a}
            z, y, x = row_z[i] + deep_z[p], row_y[i] + deep_y[p], row_x[i] + deep_x[p]
            {load_a}
        for e in range(thread, {loads_b}, {threads}):
            j, p = {place_b}
            inside = column + j < columns and deep_o[p] >= 0
            {load_b}
        cuda.syncthreads()
        {list_next}
        for p in range({deep}):
            for s in range({quads}):
                u0, u1, u2, u3 = load4(left, p * {wide} + thread // {side} * 4 + s * {step})
                for q in range({quads}):
                    v0, v1, v2, v3 = load4(right, p * {wide} + thread % {side} * 4 + q * {step})
                    to = s * {four_rows} + q * 4
                    {products}
        cuda.syncthreads()
    for s in range({per}):
        i = thread // {side} * 4 + s // 4 * {step} + s % 4
        if row + i < rows:
            to = first_c + row_o[i]
            for q in range({per}):
                j = column + thread % {side} * 4 + q // 4 * {step} + q % 4
                if j < columns:
                    total = sums[s * {per} + q]{bias}{relu}
                    c[to + j * c_column] = total
"""
RELU = """
                    total = total if total > 0 or total != total else {}(0)"""
INSIDE = "z >= 0 and z < d and y >= 0 and y < h and x >= 0 and x < w"


@lru_cache(maxsize=256)
def source(type: str, pixels: str, spread: bool, a_fast: str, a_four: bool, b_fast: str, b_four: bool,
           tiling: Tiling, epilogue: tuple[str, ...] = ()) -> str:
    """Return the source of a product.

    pixels: what they are, "row" or "deep" (then the rows are taps); spread: it has phases; a_fast, b_fast: the side of
    a tile along which neighbours are neighbours in memory, "deep" or the other ("row", "column"); a_four, b_four: they
    come by four; epilogue: as of `matmul_source` in cuda/gemm.py.
    """
    tile, deep, per, threads = tiling.tile, tiling.depth, tiling.per, tiling.threads
    side, wide = tile // per, tile + 4                     # 4 more: fewer rows meet in a bank, still 16-byte steps
    lists = {"row": (PIXEL, TAP)[pixels != "row"], "deep": (PIXEL, TAP)[pixels == "row"]}

    def listed(kind: str, e: str, first: str, count: int, end: str, levels: int) -> str:
        index, i = f"{first} + {e}", "at"
        place = lists[kind].format(i=i, index=index, e=e, kind=kind)
        text = LIST.format(e=e, count=count, threads=threads, place=place, index=index, end=end, kind=kind, far=FAR)
        return text.replace("\n", "\n" + "    " * levels)

    def loads(name: str, fast: str, four: bool) -> tuple[int, str, str]:
        """Return how many loads a tile takes, where the e-th lies, and the lines that make it."""
        count = 4 if four else 1
        if fast == "deep":
            place = f"e // {deep // count}, e % {deep // count} * {count}"
        else:
            place = f"e % {tile // count} * {count}, e // {tile // count}"
        i, memory = ("i", "left") if name == "a" else ("j", "right")
        at = "first_a + row_a[i] + deep_a[p]" if name == "a" else "first_b + deep_o[p] + (column + j) * b_column"
        step = {"deep": wide}.get(fast, 1)
        lines = [f"inside = {INSIDE}"] if name == "a" else []
        to = f"p * {wide} + {i}"
        if not four:
            lines.append(f"{memory}[{to}] = {name}[{at}] if inside else {type}(0)")
        else:
            each = [f"{memory}[to + {k * step}] = {{}}" for k in range(4)]
            lines += [f"at, to = {at}, {to}", f"if inside and fours_{name}:",
                      f"    w0, w1, w2, w3 = load4({name}, at)", *(f"    {line.format(f'w{k}')}" for k, line in
                                                                    enumerate(each)),
                      "elif inside:", *(f"    {line.format(f'{name}[at + {k}]')}" for k, line in enumerate(each)),
                      "else:", *(f"    {line.format(f'{type}(0)')}" for line in each)]
        return tile * deep // count, place, ("\n" + " " * 12).join(lines)

    loads_a, place_a, load_a = loads("a", a_fast, a_four)
    loads_b, place_b, load_b = loads("b", b_fast, b_four)
    products = [f"sums[to + {i * per + j}] += u{i} * v{j}" for i in range(4) for j in range(4)]
    phases = "".join(PHASES.format(x=x, s=f"s{x}", rest=rest) for x, rest in
                     (("x", ""), ("y", " // sx"), ("z", " // sx // sy"))) + \
        "sz, sy, sx = 1, 1, 1\n    rows = images * pz * py * px\n    depth = span = tz * ty * tx * channels\n" \
        "    tz, ty, tx = max(1, tz), max(1, ty), max(1, tx)\n" \
        "    if row >= rows:\n        return"
    sizes = [*SIZES, *(SPREAD if spread else ())]
    return SOURCE.format(
        bias_parameter=", bias" * ("bias" in epilogue), bias=" + bias[group * c_group + j]" * ("bias" in epilogue),
        relu=RELU.format(type) if "relu" in epilogue else "", sizes=", ".join(sizes), deep=deep,
        wide=wide, tile=tile, type=type, sums=per * per, threads=threads,
        phases=phases if spread else "pass", list_rows=listed("row", "e", "row", tile, "rows", 0),
        list_first=listed("deep", "e", "begin", deep, "end", 0),
        list_next=listed("deep", "e", f"start + {deep}", deep, "end", 1), fours_a="aligned(a)" if a_four else "False",
        fours_b="aligned(b)" if b_four else "False", loads_a=loads_a, place_a=place_a, load_a=load_a, loads_b=loads_b,
        place_b=place_b, load_b=load_b, quads=per // 4, side=side, step=4 * side, per=per, four_rows=4 * per,
        products=("\n" + " " * 20).join(products))


def forward(call: Call) -> list[Launch]:
    """Return the launches of Conv2D and Conv3D."""
    x, f = call.inputs[:2]
    g = _Geometry(call, x, f)
    if g.made < LEAST:
        return _direct(call, direct.convolve, volumes.convolve)
    return _empty(call) or [g.launch(call, "forward", (call.input(0), call.input(1), call.output()))]


def follows(call: Call) -> bool:
    """Return whether `forward` adds a bias and applies a relu for this call."""
    x, f = call.inputs[:2]
    return call.outputs[0].type in ("float32", "float64") and not channels_first(call.attrs) and bool(
        x.size and f.size and call.outputs[0].size) and _Geometry(call, x, f).made >= LEAST


def input_gradient(call: Call) -> list[Launch]:
    """Return the launches of Conv2DBackpropInput and Conv3DBackpropInputV2."""
    g = _Geometry(call, call.outputs[0], call.inputs[1])
    if g.own < LEAST:
        return _direct(call, direct.input_gradient, volumes.input_gradient)
    return _empty(call) or [g.launch(call, "input gradient", (call.input(2), call.input(1), call.output()))]


def filter_gradient(call: Call) -> list[Launch]:
    """Return the launches of Conv2DBackpropFilter and Conv3DBackpropFilterV2."""
    x, f = call.inputs[0], call.outputs[0]
    g = _Geometry(call, x, f)
    if g.made < LEAST:
        return _direct(call, direct.filter_gradient, volumes.filter_gradient)
    if launches := _empty(call):
        return launches
    rows, depth = g.taps * g.own, g.pixels
    tiling = convolution_tiling(rows, g.made, g.groups)
    parts = max(1, min(-(-BLOCKS // (tiling.blocks(rows, g.made) * g.groups)), depth // SLICE))
    span = -(-depth // parts // tiling.depth) * tiling.depth
    parts, given = -(-depth // span), (call.input(0), call.input(2))
    if parts == 1:
        return [g.launch(call, "filter gradient", (*given, call.output()))]
    sums = call.scratch(parts * f.size * f.itemsize).of(x.type)
    return [g.launch(call, "filter gradient", (*given, sums), parts, span),
            partial_sums(call, sums, call.output(), x.type, parts, g.taps * g.own, g.many)]


def _direct(call: Call, images: Callable[[Call], list[Launch]],
            of_volumes: Callable[[Call], list[Launch]]) -> list[Launch]:
    return (images if len(call.outputs[0].shape) == 4 else of_volumes)(call)


def _empty(call: Call) -> list[Launch]:
    """Return the launches where a sum has no term, so that the output is 0."""
    out = call.outputs[0]
    tensors = [meta for meta in call.inputs if len(meta.shape) == len(out.shape)]
    return fill(call, None, call.output(), out) if out.size and not all(meta.size for meta in tensors) else []


class _Geometry:
    """The sizes of a convolution from images or volumes like x by a filter like f. Groups: each `own` input channels
    meet `made` of the `many` output channels."""

    def __init__(self, call: Call, x: Meta, f: Meta) -> None:
        *kernel, self.own, self.many = f.shape
        v = volume(x.shape, kernel, call.attrs) if len(kernel) == 3 else _flat(window(x.shape, kernel, call.attrs))
        s, self.type, self.first = v.slices, x.type, channels_first(call.attrs)
        self.batch, self.channels = v.batch, s.channels
        self.groups = s.channels // max(1, self.own)
        self.made = self.many // max(1, self.groups)
        self.sizes, self.outs = (v.depth, s.height, s.width), (v.out_depth, s.out_height, s.out_width)
        self.kernel = v.kernel_depth, s.kernel_height, s.kernel_width
        self.strides, self.dilations = (v.stride, s.stride_y, s.stride_x), (v.dilation, s.dilation_y, s.dilation_x)
        self.before, self.start = (v.front, s.top, s.left), (-v.front, -s.top, -s.left)
        self.taps = prod(self.kernel)
        self.pixels = v.batch * prod(self.outs)

    def launch(self, call: Call, way: str, arrays: Sequence[Address], parts: int = 1, span: int = 0) -> Launch:
        """Return the launch of one of the products. arrays: a, b, c; parts, span: of its depth."""
        spread, taps = way == "input gradient", self.taps
        x, y = self._steps(self.sizes, self.channels), self._steps(self.outs, self.many)
        _, ky, kx = self.kernel
        f = tuple(self.own * self.many * n for n in (ky * kx, kx, 1))
        if spread:
            steps, most = [s // gcd(s, d) for s, d in zip(self.strides, self.dilations, strict=True)], [
                -(-n // s) for n, s in zip(self.sizes, self.strides, strict=True)]
            rows, depth, columns, channels = self.batch * prod(most), taps * self.made, self.own, self.made
            a, limits, grid, start, o = y, self.outs, self.sizes, (0, 0, 0), x[:4]
            ends = (1, self.many, self.made, x[4], self.own * x[4])            # f_c, b and c: column, group
            more: tuple[int, ...] = (self.batch, *steps, *self.before)
        else:
            rows, depth, columns, channels = self.pixels, taps * self.own, self.made, self.own
            a, limits, grid, start, o = x, self.sizes, self.outs, self.start, y[:4]
            of_filter, of_out, more = (1, self.made), (y[4], self.made * y[4]), ()
            ends = (self.many, *of_filter, *of_out)
            if way == "filter gradient":
                rows, depth, ends = depth, rows, (self.many, *of_out, *of_filter)
        words = (rows, depth, columns, self.groups, parts, span or depth, *limits, *a, channels * a[4], *grid,
                 *self.strides, *start, *o, *self.kernel, channels, *self.dilations, *f, *ends,
                 taps * self.own * self.many, *more)
        tiling = convolution_tiling(rows, columns, self.groups)
        blocks = tiling.blocks(rows, columns) * self.groups * parts * (prod(self.strides) if spread else 1)
        size, given = Meta(self.type, ()).itemsize, []
        reaches = {"x": self.batch * prod(self.sizes) * self.channels, "y": self.pixels * self.many,
                   "f": taps * self.own * self.many}
        for name, address in zip({"forward": "xfy", "input gradient": "yfx", "filter gradient": "xyf"}[way], arrays,
                                 strict=True):
            given.append(address.reach(reaches[name] * size * (parts if name == "f" else 1)).of(self.type))
        epilogue = call.attrs.get("epilogue", ())
        if "bias" in epilogue:
            given.append(call.input(2).reach(self.many * size))
        text = source(self.type, "deep" if way == "filter gradient" else "row", spread, *self._loads(way), tiling,
                      epilogue)
        return Launch(text, (*given, *words), blocks, tiling.threads, "convolution")

    def _steps(self, sizes: Sequence[int], channels: int) -> tuple[int, int, int, int, int]:
        """Return the elements from volume, depth, row, pixel and channel to the next."""
        d, h, w = sizes
        if self.first:
            return channels * d * h * w, h * w, w, 1, d * h * w
        return d * h * w * channels, h * w * channels, w * channels, channels, 1

    def _loads(self, way: str) -> tuple[str, bool, str, bool]:
        """Return how the tiles of a and b are loaded: the side along which memory runs, and whether by four."""
        own, made = self.own % 4 == 0, self.made % 4 == 0
        if way == "forward":
            return ("row", False, "column", made) if self.first else ("deep", own, "column", made)
        if way == "input gradient":
            return ("row", False, "deep", made) if self.first else ("deep", made, "deep", made)
        return ("deep", False, "deep", False) if self.first else ("row", own, "column", made)


def _flat(w: Window) -> Volume:
    """Return windows over images as windows over volumes of depth 1."""
    return Volume(w.batch, 1, 1, 1, 1, 1, 0, w)
