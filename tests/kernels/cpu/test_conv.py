"""Convolution and pool kernels, and their NumPy forms, against loops written from the definition."""
from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from tfnb.kernels.arrays import windows as arrays
from tfnb.kernels.arrays.window import channels_first, window
from tfnb.kernels.cpu.conv import conv, depthwise, phases
from tfnb.kernels.launch import Call, Meta
from tfnb.kernels.library import direct, pools

RNG = np.random.default_rng(3)

# (batch, height, width, in), (height, width, out), strides, padding, dilations
CASES = [
    ((2, 5, 6, 3), (3, 3, 4), (1, 1), "SAME", (1, 1)),
    ((2, 5, 6, 3), (3, 3, 4), (1, 1), "VALID", (1, 1)),
    ((1, 7, 8, 2), (3, 2, 5), (2, 3), "SAME", (1, 1)),
    ((3, 8, 7, 1), (5, 5, 2), (2, 2), "VALID", (1, 1)),
    ((2, 9, 9, 4), (3, 3, 3), (1, 1), "SAME", (2, 3)),
    ((2, 9, 9, 4), (3, 3, 3), (1, 1), "VALID", (2, 3)),
    ((2, 6, 5, 3), (2, 4, 2), (1, 2), ((1, 2), (3, 0)), (1, 1)),
    ((1, 4, 4, 3), (2, 2, 2), (1, 1), ((4, 5), (6, 3)), (2, 1)),
    ((2, 5, 5, 3), (1, 1, 4), (1, 1), "VALID", (1, 1)),
    ((2, 5, 5, 3), (1, 1, 4), (2, 2), "SAME", (1, 1)),
    ((2, 2, 3, 3), (5, 5, 4), (1, 1), "SAME", (1, 1)),
    ((2, 5, 5, 3), (2, 2, 4), (4, 3), "SAME", (1, 1)),
    ((1, 3, 20, 40), (1, 3, 2), (1, 1), "SAME", (1, 1)),
    ((20, 6, 6, 8), (3, 3, 16), (1, 1), "SAME", (1, 1)),
    ((1, 6, 6, 64), (3, 3, 8), (2, 2), "SAME", (1, 1)),
    ((9, 4, 5, 32), (3, 3, 40), (1, 1), "SAME", (1, 1)),
    ((16, 5, 5, 3), (4, 3, 5), (2, 1), "SAME", (1, 1)),
    ((31, 3, 6, 1), (5, 5, 33), (1, 2), "SAME", (1, 1)),
    ((8, 8, 8, 16), (3, 1, 8), (1, 1), "SAME", (2, 3)),
    ((7, 6, 5, 32), (3, 3, 9), (2, 2), ((3, 4), (1, 3)), (1, 2)),
    ((7, 4, 4, 32), (2, 2, 8), (1, 1), ((2, 3), (0, 2)), (1, 1)),
    ((9, 7, 6, 2), (3, 6, 9), (1, 1), "VALID", (1, 1)),         # whole lines
    ((2, 9, 5, 1), (2, 5, 3), (2, 3), "VALID", (3, 1)),
    ((3, 6, 1, 4), (3, 1, 5), (2, 1), "SAME", (1, 2)),
    ((2, 4, 3, 2), (4, 3, 5), (1, 1), "VALID", (1, 1)),
    ((2, 5, 4, 2), (3, 4, 3), (1, 1), ((2, 1), (0, 0)), (2, 1)),
    ((0, 5, 6, 3), (3, 3, 4), (1, 1), "SAME", (1, 1)),
    ((2, 0, 6, 3), (3, 3, 4), (1, 1), "SAME", (1, 1)),
    ((2, 5, 6, 3), (3, 3, 0), (1, 1), "SAME", (1, 1)),
]
IDS = [f"{i}" for i in range(len(CASES))]


def attrs_of(strides, padding, dilations, data_format="NHWC", **more):
    explicit = [] if isinstance(padding, str) else [0, 0, *padding[0], *padding[1], 0, 0]
    found = {"strides": [1, *strides, 1], "padding": (padding if isinstance(padding, str) else "EXPLICIT").encode(),
             "explicit_paddings": explicit, "dilations": [1, *dilations, 1], "data_format": data_format.encode(),
             **more}
    if data_format == "NCHW":
        for name in ("strides", "dilations", "ksize"):
            if name in found:
                n, h, w, c = found[name]
                found[name] = [n, c, h, w]
        if explicit:
            found["explicit_paddings"] = [*explicit[:2], *explicit[6:], *explicit[2:6]]
    return found


def places(case):
    """(image, oy, ox, ky, kx, y, x) of all taps that meet the image, from the definition of TensorFlow's paddings."""
    (n, h, w, _), (kh, kw, _), strides, padding, dilations = case
    axes = []
    for size, kernel, stride, dilation, axis in zip((h, w), (kh, kw), strides, dilations, (0, 1), strict=True):
        span = (kernel - 1) * dilation + 1
        if padding == "SAME":
            out = -(-size // stride)
            before = max(0, (out - 1) * stride + span - size) // 2
        else:
            before, after = (0, 0) if padding == "VALID" else padding[axis]
            out = (size + before + after - span) // stride + 1
        axes.append((out, [(o, k, o * stride - before + k * dilation) for o in range(out) for k in range(kernel)
                           if 0 <= o * stride - before + k * dilation < size]))
    (oh, rows), (ow, columns) = axes
    return oh, ow, [(i, oy, ox, ky, kx, y, x) for i in range(n)
                    for (oy, ky, y), (ox, kx, x) in itertools.product(rows, columns)]


def by_loops(case, x, f, dy):
    """The convolution, its gradient for the input and its gradient for the filter."""
    oh, ow, taps = places(case)
    y = np.zeros((x.shape[0], oh, ow, f.shape[3]))
    dx, df = np.zeros(x.shape), np.zeros(f.shape)
    for i, oy, ox, ky, kx, iy, ix in taps:
        y[i, oy, ox] += x[i, iy, ix] @ f[ky, kx]
        if dy is not None:
            dx[i, iy, ix] += f[ky, kx] @ dy[i, oy, ox]
            df[ky, kx] += np.outer(x[i, iy, ix], dy[i, oy, ox])
    return y, dx, df


def sample(shape, type_="float32"):
    return RNG.integers(-4, 5, shape).astype(type_)            # whole numbers: sums are exact in any order


def turned(x, data_format):
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if data_format == "NCHW" else x


@pytest.mark.parametrize("type_, data_format", [("float32", "NHWC"), ("float64", "NHWC"), ("float32", "NCHW"),
                                                ("int32", "NHWC"), ("int32", "NCHW")])
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_convolutions(case, type_, data_format, run):
    shape, (kh, kw, out), strides, padding, dilations = case
    attrs = attrs_of(strides, padding, dilations, data_format)
    x, f = sample(shape, type_), sample((kh, kw, shape[3], out), type_)
    oh, ow, _ = places(case)
    dy = sample((shape[0], oh, ow, out), type_)
    want = by_loops(case, x, f, dy)
    w = window(turned(x, data_format).shape, (kh, kw), attrs)
    assert (w.out_height, w.out_width) == (oh, ow) and channels_first(attrs) == (data_format == "NCHW")
    forms = (arrays.convolve(x, f, w), arrays.convolve_input_gradient(f, dy, w),
             arrays.convolve_filter_gradient(x, dy, w))
    for form, expected in zip(forms, want, strict=True):
        np.testing.assert_array_equal(form, expected)
    image = turned(x, data_format)
    got, = run(conv.convolve, [image, f], [(turned(dy, data_format).shape, type_)], attrs)
    np.testing.assert_array_equal(got, turned(want[0], data_format))
    sizes = np.array(image.shape, np.int32)
    got, = run(conv.input_gradient, [sizes, f, turned(dy, data_format)], [(image.shape, type_)], attrs)
    np.testing.assert_array_equal(got, turned(want[1], data_format))
    if type_ != "int32":
        sizes = np.array(f.shape, np.int32)
        got, = run(conv.filter_gradient, [image, sizes, turned(dy, data_format)], [(f.shape, type_)], attrs)
        np.testing.assert_array_equal(got, want[2])


@pytest.mark.parametrize("case", [case for case in CASES if max(case[2]) > 1 and case[4] == (1, 1)])
def test_strided_input_gradients_for_any_number_of_channels(case, run, monkeypatch):
    """By phases and by products; what pays depends on the channels."""
    shape, (kh, kw, out), strides, padding, dilations = case
    attrs, (oh, ow, _) = attrs_of(strides, padding, dilations), places(case)
    f, dy = sample((kh, kw, shape[3], out)), sample((shape[0], oh, ow, out))
    want = by_loops(case, np.zeros(shape), f, dy)[1]
    for by_phases in (True, False):
        monkeypatch.setattr(phases, "pays", lambda w, type_, answer=by_phases: answer)
        got, = run(conv.input_gradient, [np.array(shape, np.int32), f, dy], [(shape, "float32")], attrs)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("type_, data_format", [("float32", "NHWC"), ("float64", "NCHW"), ("int32", "NHWC")])
@pytest.mark.parametrize("groups, case", [
    (2, ((2, 5, 6, 4), (3, 3, 6), (1, 1), "SAME", (1, 1))),
    (3, ((9, 4, 5, 96), (3, 2, 24), (2, 1), "SAME", (1, 1))),
    (4, ((1, 6, 6, 4), (3, 3, 4), (1, 2), "VALID", (2, 1))),
], ids=range(3))
def test_grouped_convolutions(groups, case, type_, data_format, run):
    shape, (kh, kw, out), strides, padding, dilations = case
    attrs, depth, n = attrs_of(strides, padding, dilations, data_format), shape[3] // groups, out // groups
    x, f = sample(shape, type_), sample((kh, kw, depth, out), type_)
    oh, ow, _ = places(case)
    dy = sample((shape[0], oh, ow, out), type_)
    full = np.zeros((kh, kw, shape[3], out))                            # whose entries between groups are zero
    blocks = [np.s_[:, :, i * depth:(i + 1) * depth, i * n:(i + 1) * n] for i in range(groups)]
    for i, block in enumerate(blocks):
        full[block] = f[..., i * n:(i + 1) * n]
    y, dx, df = by_loops(case, x, full, dy)
    df = np.concatenate([df[block] for block in blocks], 3)
    w = window(turned(x, data_format).shape, (kh, kw), attrs)
    forms = (arrays.grouped_convolve(x, f, w), arrays.grouped_input_gradient(f, dy, w),
             arrays.grouped_filter_gradient(x, dy, w, f.shape))
    for form, expected in zip(forms, (y, dx, df), strict=True):
        np.testing.assert_array_equal(form, expected)
    image, turned_dy = turned(x, data_format), turned(dy, data_format)
    got, = run(conv.convolve, [image, f], [(turned_dy.shape, type_)], attrs)
    np.testing.assert_array_equal(got, turned(y, data_format))
    got, = run(conv.input_gradient, [np.array(image.shape, np.int32), f, turned_dy], [(image.shape, type_)], attrs)
    np.testing.assert_array_equal(got, turned(dx, data_format))
    if type_ != "int32":
        got, = run(conv.filter_gradient, [image, np.array(f.shape, np.int32), turned_dy], [(f.shape, type_)], attrs)
        np.testing.assert_array_equal(got, df)


@pytest.mark.parametrize("number, multiplier, data_format", [
    *((i, 1, "NHWC") for i in range(0, len(CASES) - 1, 2)), *((i, 3, "NHWC") for i in (0, 2, 7, 20)),
    *((i, 2, "NCHW") for i in (1, 6, 8))])
def test_depthwise_convolutions(number, multiplier, data_format, run, plain):
    case = CASES[number]
    shape, (kh, kw, _), strides, padding, dilations = case
    attrs, c = attrs_of(strides, padding, dilations, data_format), shape[3]
    x, f = sample(shape), sample((kh, kw, c, multiplier))
    oh, ow, _ = places(case)
    dy = sample((shape[0], oh, ow, c * multiplier))
    full = np.zeros((kh, kw, c, c * multiplier))                       # a full filter whose other entries are zero
    for i in range(c):
        full[:, :, i, i * multiplier:(i + 1) * multiplier] = f[:, :, i]
    y, dx, df = by_loops(case, x, full, dy)
    df = np.stack([df[:, :, i, i * multiplier:(i + 1) * multiplier] for i in range(c)], 2)
    w = window(turned(x, data_format).shape, (kh, kw), attrs)
    forms = (arrays.depthwise(x, f, w), arrays.depthwise_input_gradient(f, dy, w),
             arrays.depthwise_filter_gradient(x, dy, w, f.shape))
    for form, expected in zip(forms, (y, dx, df), strict=True):
        np.testing.assert_array_equal(form, expected)
    image, turned_dy = turned(x, data_format), turned(dy, data_format)
    sizes, typed = (np.array(image.shape, np.int32), np.array(f.shape, np.int32)), "float32"
    small = x.size * multiplier < 200
    loops = direct.depthwise, direct.depthwise_input_gradient, direct.depthwise_filter_gradient
    bands = depthwise.forward, depthwise.input_gradient, depthwise.filter_gradient
    more: tuple = ((plain, bands, {}), (plain, loops, {}), (plain, loops, {"device": "cuda"})) if small else ()
    for form, (forward, for_input, for_filter), device in ((run, bands, {}), *more):
        got, = form(forward, [image, f], [(turned_dy.shape, "float32")], attrs, **device)
        np.testing.assert_array_equal(got, turned(y, data_format))
        got, = form(for_input, [sizes[0], f, turned_dy], [(image.shape, typed)], attrs, **device)
        np.testing.assert_array_equal(got, turned(dx, data_format))
        got, = form(for_filter, [image, sizes[1], turned_dy], [(f.shape, typed)], attrs, **device)
        np.testing.assert_array_equal(got, df)


@pytest.mark.parametrize("shape, side, type, apart", [
    ((1, 70, 40, 24), 3, "float32", 1), ((2, 6, 9, 16), 5, "float64", 1), ((1, 12, 13, 3), 11, "float32", 1),
    ((1, 5, 4, 3), 3, "float32", 4), ((1, 5, 4, 3), 3, "float32", 5), ((1, 5, 4, 3), 3, "float32", 1 << 40)])
def test_depthwise_bands_blocks_of_channels_and_large_filters(shape, side, type, apart, run):
    """More rows than a band has, channels that don't fill a block, a filter that is not written out, far taps."""
    image, f = sample(shape).astype(type), sample((side, side, shape[3], 1)).astype(type)
    dy, attrs = sample(shape).astype(type), attrs_of((1, 1), "SAME", (apart, apart))
    w = window(shape, (side, side), attrs)
    sizes = np.array(shape, np.int32), np.array(f.shape, np.int32)
    for form, given, expected in (
            (depthwise.forward, [image, f], arrays.depthwise(image, f, w)),
            (depthwise.input_gradient, [sizes[0], f, dy], arrays.depthwise_input_gradient(f, dy, w)),
            (depthwise.filter_gradient, [image, sizes[1], dy],
             arrays.depthwise_filter_gradient(image, dy, w, f.shape))):
        got, = run(form, given, [(expected.shape, type)], attrs)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_groups_of_channels_on_a_gpu(data_format, run, plain):
    """Conv2D and its gradients by the functions that a GPU runs, in plain Python, beside the kernels of the CPU."""
    attrs = attrs_of((2, 1), "SAME", (1, 1), data_format)
    x, f, dy = sample((2, 5, 4, 4)), sample((3, 2, 2, 6)), sample((2, 3, 4, 6))
    image, grad = turned(x, data_format), turned(dy, data_format)
    sizes = np.array(image.shape, np.int32), np.array(f.shape, np.int32)
    cases = {"convolve": ([image, f], grad.shape), "input_gradient": ([sizes[0], f, grad], image.shape),
             "filter_gradient": ([image, sizes[1], grad], f.shape)}
    for name, (inputs, shape) in cases.items():
        want, = run(getattr(conv, name), inputs, [(shape, "float32")], attrs)
        got, = plain(getattr(direct, name), inputs, [(shape, "float32")], attrs, device="cuda")
        np.testing.assert_array_equal(got, want)


def pools_by_loops(case, x, dy, kind):
    """Maxima with the gradient of the first, and means with theirs."""
    oh, ow, taps = places(case)
    inside = {}
    for i, oy, ox, _, _, y, z in taps:
        inside.setdefault((i, oy, ox), []).append((y, z))
    shape = (x.shape[0], oh, ow, x.shape[3])
    out, dx = np.zeros(shape), np.zeros(x.shape)
    for (i, oy, ox), cells in inside.items():
        for c in range(x.shape[3]):
            values = np.array([x[i, y, z, c] for y, z in cells])
            if kind == "max":
                values = np.where(np.isnan(values), -np.inf, values)
                best = int(np.argmax(values))
                out[i, oy, ox, c] = values[best]
                dx[i, cells[best][0], cells[best][1], c] += dy[i, oy, ox, c]
            else:
                out[i, oy, ox, c] = values.sum() / len(cells)
                for y, z in cells:
                    dx[i, y, z, c] += dy[i, oy, ox, c] / len(cells)
    return out, dx


POOLS = [
    ((2, 6, 6, 3), (2, 2, 3), (2, 2), "SAME", (1, 1)),
    ((2, 7, 5, 3), (2, 2, 3), (2, 2), "VALID", (1, 1)),
    ((2, 7, 5, 3), (2, 2, 3), (2, 2), "SAME", (1, 1)),
    ((1, 8, 9, 32), (3, 3, 32), (2, 2), "SAME", (1, 1)),
    ((2, 5, 6, 17), (3, 2, 17), (1, 1), "VALID", (1, 1)),
    ((1, 5, 6, 2), (2, 2, 2), (3, 4), "SAME", (1, 1)),
    ((1, 3, 3, 4), (2, 2, 4), (2, 2), ((0, 0), (1, 1)), (1, 1)),
    ((1, 4, 5, 3), (4, 3, 3), (2, 1), "SAME", (1, 1)),          # more taps than are written out
    ((2, 7, 4, 1), (3, 2, 1), (3, 2), "VALID", (1, 1)),
    ((0, 6, 6, 3), (2, 2, 3), (2, 2), "SAME", (1, 1)),
    ((2, 12, 1, 3), (12, 1, 3), (1, 1), "VALID", (1, 1)),       # one column: the pool over time of a text CNN
    ((2, 5, 1, 17), (2, 1, 17), (1, 1), "SAME", (1, 1)),
]


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("kind, type_", [("max", "float32"), ("max", "float64"), ("max", "int8"), ("avg", "float32")])
@pytest.mark.parametrize("case", POOLS, ids=range(len(POOLS)))
def test_pools(case, kind, type_, data_format, run, plain):
    shape, (kh, kw, _), strides, padding, dilations = case
    if kind == "avg" and not isinstance(padding, str):
        pytest.skip("AvgPool has no explicit padding")
    attrs = attrs_of(strides, padding, dilations, data_format, ksize=[1, kh, kw, 1])
    del attrs["dilations"]
    x = sample(shape, type_)                                            # has many equal numbers
    if type_.startswith("float") and kind == "max":
        x[RNG.random(shape) < 0.2] = np.nan
        x[RNG.random(shape) < 0.2] = -np.inf
    oh, ow, _ = places(case)
    dy = sample((shape[0], oh, ow, shape[3]), type_)
    want, want_dx = pools_by_loops(case, x, dy, kind)
    w = window(turned(x, data_format).shape, (kh, kw), attrs)
    forms = ((arrays.max_pool(x, w), arrays.max_pool_gradient(x, dy, w)) if kind == "max" else
             (arrays.avg_pool(x, w), arrays.avg_pool_gradient(dy, w)))
    image, pooled = turned(x, data_format), turned(dy, data_format)
    lower, inputs = (pools.max_pool_gradient, [image, pooled, pooled]) if kind == "max" else (
        pools.avg_pool_gradient, [np.array(image.shape, np.int32), pooled])
    for found, expected in ((forms[0], want), (forms[1], want_dx)):
        np.testing.assert_allclose(found, expected.astype(type_), rtol=1e-6, atol=1e-6)
    for form, more in ((run, {}), (plain, {}), (plain, {"device": "cuda"})):
        if form is plain and x.size > 1000:
            continue
        got, = form(getattr(pools, f"{kind}_pool"), [image], [(pooled.shape, type_)], attrs, **more)
        got_dx, = form(lower, inputs, [(image.shape, type_)], attrs, **more)
        np.testing.assert_allclose(got, turned(want, data_format).astype(type_), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(got_dx, turned(want_dx, data_format).astype(type_), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shape, kernel, strides, padding, dilations", [
    ((2, 20, 21, 128), (3, 3, 70), (1, 1), "SAME", (1, 1)),     # bands of one image; a filter summed in parts
    ((1, 60, 70, 48), (3, 3, 33), (1, 1), "SAME", (1, 1)),
    ((1, 61, 70, 48), (5, 3, 16), (2, 2), "VALID", (1, 1)),     # bands without a copy
    ((1, 50, 64, 40), (3, 3, 16), (1, 2), "SAME", (3, 2)),
    ((40, 4, 4, 16), (3, 3, 64), (1, 1), "VALID", (1, 1)),      # several images a unit
    ((33, 1, 1, 64), (1, 1, 40), (1, 1), "SAME", (1, 1)),
    ((2, 3, 2, 600), (3, 3, 40), (1, 1), "SAME", (1, 1)),       # fewer pixels than a tile has: unfolded
    ((20, 12, 12, 64), (5, 5, 48), (2, 1), "SAME", (1, 1)),     # tiles over images, in bands
], ids=range(8))
def test_larger_convolutions(shape, kernel, strides, padding, dilations, run):
    """In several units, items and partial sums; also unfolded, as where no tiles suit."""
    x, f = sample(shape), sample((*kernel[:2], shape[3], kernel[2]))
    attrs = attrs_of(strides, padding, dilations)
    w = window(x.shape, kernel[:2], attrs)
    dy = sample((shape[0], w.out_height, w.out_width, kernel[2]))
    sizes = np.array(x.shape, np.int32), np.array(f.shape, np.int32)
    want = (arrays.convolve(x, f, w), arrays.convolve_input_gradient(f, dy, w),
            arrays.convolve_filter_gradient(x, dy, w))
    for _ in range(2):
        got = [run(conv.convolve, [x, f], [(dy.shape, "float32")], attrs),
               run(conv.input_gradient, [sizes[0], f, dy], [(x.shape, "float32")], attrs),
               run(conv.filter_gradient, [x, sizes[1], dy], [(f.shape, "float32")], attrs)]
        for found, expected in zip(got, want, strict=True):
            np.testing.assert_array_equal(found[0], expected)


def test_windows_over_whole_lines_are_over_one_line():
    """Their input's gradient has the numbers of a line as channels, and is no product by one channel."""
    text = window((64, 56, 128, 1), (3, 128), attrs_of((1, 1), "VALID", (1, 1))).over_lines
    assert (text.height, text.width, text.channels, text.out_width, text.kernel_width) == (1, 56, 128, 54, 3)
    part = window((64, 56, 128, 1), (3, 127), attrs_of((1, 1), "VALID", (1, 1)))
    assert part.over_lines is part


@pytest.mark.parametrize("case", [((2, 20, 21, 128), (3, 3, 70)), ((4, 9, 8, 12), (3, 3, 20)),
                                  ((3, 9, 9, 12), (1, 1, 8))], ids=range(3))
def test_unfolded_convolutions(case, run, monkeypatch):
    """What runs where there are fewer pixels than a tile has, also for more pixels."""
    monkeypatch.setattr(conv.conv_tiles, "suits", lambda w, type_: False)
    monkeypatch.setattr(conv.conv_inside, "suits", lambda w, type_: False)
    monkeypatch.setattr(conv.conv_inside, "suits_filter", lambda w, n, type_: False)
    test_larger_convolutions(*case, (1, 1), "SAME", (1, 1), run)


def test_a_window_that_does_not_fit_is_an_error():
    with pytest.raises(ValueError, match="Negative dimension size caused by subtracting 5 from 4"):
        window((1, 4, 4, 1), (5, 5), attrs_of((1, 1), "VALID", (1, 1)))


@pytest.mark.parametrize("channels, most", [(65, 16 << 20), (257, 4 << 20)])
def test_partial_sums_of_a_large_filter_take_bounded_memory(channels, most):
    """Threads add up copies of a small filter's gradient each; rows so wide that no window of them fits in a cache."""
    image, filter_ = Meta("float32", (1, 16, 100_000, channels)), Meta("float32", (3, 3, channels, channels))
    call = Call((image, Meta("int32", (4,)), image), (filter_,), attrs_of((1, 1), "SAME", (1, 1)))
    launches = conv.filter_gradient(call)
    assert launches and sum(call.scratch_sizes) <= most


@pytest.mark.parametrize("height, width, channels, size, rows", [
    (6, 1, 256, 4, 3), (5, 1, 256, 4, 1), (4, 1, 256, 4, 4), (4, 1, 256, 8, 2), (6, 2, 64, 4, 6), (6, 2, 256, 4, 2),
    (3, 3, 1024, 4, 1)])
def test_rows_of_a_window_that_are_unfolded_at_a_time(height, width, channels, size, rows):
    """The largest divisor of the window's height whose rows fit a tile: 512 KB for 128 pixels."""
    window = SimpleNamespace(kernel_height=height, kernel_width=width, channels=channels)
    assert conv._rows(window, size) == rows
