"""Convolutions and pools over volumes, as kernels and on NumPy arrays, against loops written from the definition."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from tfnb.kernels.arrays import volumes as arrays
from tfnb.kernels.arrays.window import pool_volume, volume
from tfnb.kernels.cpu.conv import volumes
from tfnb.kernels.library import pools

RNG = np.random.default_rng(4)

# (batch, depth, height, width, in), (depth, height, width, out), strides, padding, dilations
CASES = [
    ((2, 4, 5, 6, 3), (2, 3, 3, 4), (1, 1, 1), "SAME", (1, 1, 1)),
    ((1, 5, 4, 6, 2), (3, 2, 1, 5), (2, 1, 3), "SAME", (1, 1, 1)),
    ((2, 6, 4, 5, 1), (2, 3, 2, 2), (2, 1, 1), "VALID", (2, 1, 3)),
    ((8, 2, 4, 4, 32), (3, 3, 3, 8), (1, 1, 1), "SAME", (1, 1, 1)),
    ((2, 3, 4, 4, 3), (1, 2, 2, 3), (1, 2, 2), "SAME", (1, 1, 1)),
    ((0, 3, 4, 4, 3), (1, 2, 2, 3), (1, 2, 2), "SAME", (1, 1, 1)),
    ((2, 0, 4, 4, 3), (2, 2, 2, 3), (1, 1, 1), "SAME", (1, 1, 1)),
]


def attrs_of(strides, padding, dilations, data_format, **more):
    found = {"strides": [1, *strides, 1], "padding": padding.encode(), "dilations": [1, *dilations, 1],
             "data_format": data_format.encode(), **more}
    if data_format == "NCDHW":
        for name in ("strides", "dilations", "ksize"):
            if name in found:
                found[name] = [found[name][0], 1, *found[name][1:4]]
    return found


def meetings(case):
    """The sizes of the output, and (place, tap, input place) of all taps that meet the volume; each of three axes."""
    (_, *sizes, _), (*kernel, _), strides, padding, dilations = case
    outs, axes = [], []
    for size, taps, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        span = (taps - 1) * dilation + 1
        out = -(-size // stride) if padding == "SAME" else (size - span) // stride + 1
        before = max(0, (out - 1) * stride + span - size) // 2 if padding == "SAME" else 0
        axes.append([(o, k, o * stride - before + k * dilation) for o in range(out) for k in range(taps)
                     if 0 <= o * stride - before + k * dilation < size])
        outs.append(out)
    return outs, [tuple(zip(*met, strict=True)) for met in itertools.product(*axes)]


def turned(x, data_format):
    return np.ascontiguousarray(x.transpose(0, 4, 1, 2, 3)) if data_format == "NCDHW" else x


@pytest.mark.parametrize("type_, data_format", [("float32", "NDHWC"), ("float64", "NCDHW")])
@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_convolutions(case, type_, data_format, run):
    shape, (*kernel, n), strides, padding, dilations = case
    x, f = (RNG.integers(-4, 5, s).astype(type_) for s in (shape, (*kernel, shape[4], n)))
    outs, met = meetings(case)
    dy = RNG.integers(-4, 5, (shape[0], *outs, n)).astype(type_)
    y, dx, df = np.zeros_like(dy), np.zeros_like(x), np.zeros_like(f)
    for (oz, oy, ox), (kz, ky, kx), (z, row, column) in met:
        y[:, oz, oy, ox] += x[:, z, row, column] @ f[kz, ky, kx]
        dx[:, z, row, column] += dy[:, oz, oy, ox] @ f[kz, ky, kx].T
        df[kz, ky, kx] += x[:, z, row, column].T @ dy[:, oz, oy, ox]
    attrs = attrs_of(strides, padding, dilations, data_format)
    image, turned_dy = turned(x, data_format), turned(dy, data_format)
    v = volume(image.shape, kernel, attrs)
    for form, want in ((arrays.convolve(x, f, v), y), (arrays.convolve_input_gradient(f, dy, v), dx),
                       (arrays.convolve_filter_gradient(x, dy, v), df)):
        np.testing.assert_array_equal(form, want)
    got, = run(volumes.convolve, [image, f], [(turned_dy.shape, type_)], attrs)
    np.testing.assert_array_equal(got, turned(y, data_format))
    got, = run(volumes.input_gradient, [np.array(image.shape, np.int32), f, turned_dy], [(image.shape, type_)], attrs)
    np.testing.assert_array_equal(got, turned(dx, data_format))
    got, = run(volumes.filter_gradient, [image, np.array(f.shape, np.int32), turned_dy], [(f.shape, type_)], attrs)
    np.testing.assert_array_equal(got, df)


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize("data_format", ["NDHWC", "NCDHW"])
@pytest.mark.parametrize("case", [case for case in CASES if case[4] == (1, 1, 1)], ids=range(6))
def test_pools(case, kind, data_format, run):
    shape, (*kernel, _), strides, padding, _ = case
    x = RNG.integers(-3, 4, shape).astype("f")                          # with ties
    outs, met = meetings(case)
    dy = RNG.integers(-4, 5, (shape[0], *outs, shape[4])).astype("f")
    windows: dict = {}
    for out, _, place in met:
        windows.setdefault(out, []).append(place)
    y, dx = np.zeros_like(dy), np.zeros_like(x)
    for (oz, oy, ox), places in windows.items():
        cells = np.stack([x[:, z, row, column] for z, row, column in places])
        if kind == "avg":
            y[:, oz, oy, ox] = cells.mean(0)
            for z, row, column in places:
                dx[:, z, row, column] += dy[:, oz, oy, ox] / len(places)
        else:
            y[:, oz, oy, ox] = cells.max(0)
            for i, (z, row, column) in enumerate(places):
                dx[:, z, row, column] += np.where(cells.argmax(0) == i, dy[:, oz, oy, ox], 0)
    attrs = attrs_of(strides, padding, (1, 1, 1), data_format, ksize=[1, *kernel, 1])
    image, turned_dy = turned(x, data_format), turned(dy, data_format)
    v = pool_volume(image.shape, attrs)
    pool, gradient = getattr(arrays, f"{kind}_pool"), getattr(arrays, f"{kind}_pool_gradient")
    np.testing.assert_allclose(pool(x, v), y, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(gradient(x, dy, v) if kind == "max" else gradient(dy, v), dx, rtol=1e-6, atol=1e-6)
    got, = run(getattr(pools, f"{kind}_pool"), [image], [(turned_dy.shape, "float32")], attrs)
    np.testing.assert_allclose(got, turned(y, data_format), rtol=1e-6, atol=1e-6)
    inputs = [image, turned_dy, turned_dy] if kind == "max" else [np.array(image.shape, np.int32), turned_dy]
    got, = run(getattr(pools, f"{kind}_pool_gradient"), inputs, [(image.shape, "float32")], attrs)
    np.testing.assert_allclose(got, turned(dx, data_format), rtol=1e-6, atol=1e-6)
