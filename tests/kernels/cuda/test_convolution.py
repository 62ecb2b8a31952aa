"""Tiled convolutions on the simulator, beside NumPy's."""
from __future__ import annotations

from math import prod

import numpy as np
import pytest

import tfnb as tf
from tests.kernels.cuda.stand_in import Recorder
from tfnb.kernels.arrays import volumes, windows
from tfnb.kernels.arrays.window import channels_first, volume, window
from tfnb.kernels.cuda import device
from tfnb.kernels.launch import Address, Call, Meta
from tfnb.kernels.library.image import convolution

pytestmark = [pytest.mark.cudasim, pytest.mark.usefixtures("simulated")]
WAYS = {"forward": (convolution.forward, "xf", "y"), "input gradient": (convolution.input_gradient, "xfy", "x"),
        "filter gradient": (convolution.filter_gradient, "xfy", "f")}

# (input, filter, attrs), channels last
CASES = {
    "plain": ((2, 5, 4, 8), (2, 3, 8, 8), {}),
    "strided": ((1, 6, 5, 8), (3, 2, 8, 12), {"strides": (2, 3)}),
    "a stride beyond the taps": ((1, 5, 7, 8), (1, 2, 8, 8), {"strides": (2, 3), "padding": b"VALID"}),
    "dilated": ((1, 6, 7, 9), (2, 3, 9, 10), {"dilations": (2, 2)}),
    "strided and dilated": ((1, 7, 6, 8), (3, 2, 8, 9), {"strides": (2, 2), "dilations": (2, 3)}),
    "explicit": ((1, 4, 4, 8), (2, 2, 8, 8), {"padding": b"EXPLICIT", "explicit_paddings": (1, 0, 0, 2)}),
    "groups": ((1, 3, 4, 16), (2, 2, 8, 18), {"strides": (2, 1)}),
    "volumes": ((1, 3, 4, 3, 8), (2, 2, 3, 8, 9), {"strides": (2, 1, 2)}),
}


def attrs_of(rank, first, strides=(), dilations=(), padding=b"SAME", explicit_paddings=()):
    def full(sizes, one=1):
        sizes = list(sizes) or [one] * rank
        return [1, 1, *sizes] if first else [1, *sizes, 1]
    pads = list(explicit_paddings) or [0] * (2 * rank)
    layout = {2: b"NHWC", 3: b"NDHWC"}[rank]
    return {"strides": full(strides), "dilations": full(dilations), "padding": padding,
            "explicit_paddings": [0] * 4 + pads if first else [0, 0, *pads, 0, 0],
            "data_format": b"NC" + layout[1:-1] if first else layout}


def by_numpy(way, x, f, y, attrs):
    if x.ndim == 5:
        v = volume(x.shape, f.shape[:3], attrs)
        return {"forward": lambda: volumes.convolve(x, f, v),
                "input gradient": lambda: volumes.convolve_input_gradient(f, y, v),
                "filter gradient": lambda: volumes.convolve_filter_gradient(x, y, v)}[way]()
    w = window(x.shape, f.shape[:2], attrs)
    return {"forward": lambda: windows.grouped_convolve(x, f, w),
            "input gradient": lambda: windows.grouped_input_gradient(f, y, w),
            "filter gradient": lambda: windows.grouped_filter_gradient(x, y, w, f.shape)}[way]()


def run(launches, inputs, out, scratch):
    arrays = {"input": inputs, "output": [out], "scratch": scratch}

    def word(arg):
        if not isinstance(arg, Address):
            return arg
        return arrays[arg.kind][arg.index].reshape(-1).view(arg.type or "f")[arg.offset_bytes // 4:]
    for launch in launches:
        device.launch(launch.source, launch.items, launch.grain, *map(word, launch.args))


def check(way, case, first, change=lambda text: text):
    x_shape, f_shape, options = CASES[case]
    random, rank = np.random.RandomState(1), len(x_shape) - 2
    last = attrs_of(rank, False, **options)
    x, f = (random.randint(-4, 5, shape).astype("f") for shape in (x_shape, f_shape))
    forward = by_numpy("forward", x, f, None, last)
    y = random.randint(-4, 5, forward.shape).astype("f")
    want = by_numpy(way, x, f, y, last)

    def turned(a):
        return np.ascontiguousarray(np.moveaxis(a, -1, 1)) if first else a
    given = {"x": turned(x), "f": f, "y": turned(y)}
    kernel, inputs, output = WAYS[way]
    want = want if output == "f" else turned(want)
    out = np.full(want.shape, 99, "f")
    attrs = attrs_of(rank, first, **options)
    assert channels_first(attrs) == first
    call = Call(tuple(Meta("float32", given[name].shape) for name in inputs), (Meta("float32", out.shape),), attrs,
                device="cuda")
    launches = kernel(call)
    assert launches[0].label == "convolution"
    for launch in launches:
        object.__setattr__(launch, "source", change(launch.source))
    run(launches, [given[name] for name in inputs], out, [np.full(n, 77, np.uint8) for n in call.scratch_sizes])
    np.testing.assert_array_equal(out, want)
    return launches


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES)
def test_a_case_gives_the_numbers_of_numpy(way, case):
    check(way, case, False)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", ["strided and dilated", "groups", "volumes"])
def test_channels_first(way, case):
    check(way, case, True)


def test_the_depth_of_a_filters_gradient_is_divided_and_its_sums_added_in_order(monkeypatch):
    monkeypatch.setattr(convolution, "SLICE", 7)
    first, second = check("filter gradient", "plain", False)
    assert first.args[3 + convolution.SIZES.index("parts")] == 5 and second.label == "partial sums"
    assert first.items == 5 * 6                            # parts of 8 of 40 pixels, tiles of 8 of 48 rows


@pytest.mark.parametrize("good, bad, way", [
    ("u2 * v1", "u1 * v1", "forward"), ("step_y * dy // sy", "step_y * dy", "input gradient"),
    ("image * o_n", "image", "filter gradient"), ("row_y[i] + deep_y[p]", "row_y[i]", "forward")])
def test_control_a_fault_is_noticed(good, bad, way):
    def change(text):
        assert good in text
        return text.replace(good, bad)
    with pytest.raises((AssertionError, IndexError)):
        check(way, "plain" if way == "filter gradient" else "strided and dilated", False, change)


def test_few_columns_are_no_product_of_tiles():
    x, f, y = Meta("float32", (1, 4, 4, 3)), Meta("float32", (2, 2, 3, 4)), Meta("float32", (1, 4, 4, 4))
    launches = convolution.forward(Call((x, f), (y,), attrs_of(2, False), device="cuda"))
    assert [launch.label for launch in launches] == ["convolution by rows"] and prod(y.shape) > 0


@pytest.mark.parametrize("wide", [1, 2], ids=["relu(conv + b)", "groups"])
def test_bias_and_relu_are_computed_with_the_convolution(monkeypatch, wide):
    random = np.random.RandomState(2)
    a, k, c = (random.randint(-4, 5, shape).astype("f") for shape in
               ((1, 3, 4, 8 * wide), (2, 2, 8, 9 * wide), 9 * wide))
    with tf.device("/gpu:0"):
        x, f, b = (tf.placeholder(tf.float32, array.shape) for array in (a, k, c))
        y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME"), b))
    recorded = Recorder(device.driver())
    monkeypatch.setattr(device, "driver", lambda: recorded)
    with tf.Session() as sess:
        found = [sess.run(y, {x: a, f: k, b: c}) for _ in range(2)][-1]
    w = window(a.shape, k.shape[:2], attrs_of(2, False))
    np.testing.assert_array_equal(found, np.maximum(windows.grouped_convolve(a, k, w) + c, 0))
    assert recorded.take().count("launch") == 2            # one a run: captured in the second


def test_a_bias_of_channels_first_or_of_16_bits_stays_beside_the_convolution():
    x, f, y = Meta("float32", (1, 8, 3, 3)), Meta("float32", (2, 2, 8, 9)), Meta("float32", (1, 9, 3, 3))
    assert not convolution.follows(Call((x, f), (y,), attrs_of(2, True), device="cuda"))
    halves = [Meta("float16", shape) for shape in ((1, 3, 3, 8), (2, 2, 8, 9), (1, 3, 3, 9))]
    assert not convolution.follows(Call(tuple(halves[:2]), (halves[2],), attrs_of(2, False), device="cuda"))
