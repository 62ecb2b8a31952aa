"""Kernels for images: compiled and in plain Python; they need no numba, whose compiler takes ten times as long."""
from __future__ import annotations

import numpy as np
import pytest

from tfnb.kernels.launch import Call, Meta
from tfnb.kernels.library.image import colors, crops, resize
from tfnb.kernels.llvm.lowering import module_source

IMAGE, SMALL, PIXELS = Meta("float32", (2, 5, 6, 3)), Meta("float32", (2, 3, 4, 3)), Meta("float32", (4, 3))
WIDE, CROPS, FACTOR = Meta("float32", (7, 5, 6, 5)), Meta("float32", (7, 3, 4, 5)), Meta("float32", ())
BOXES, OWNER = Meta("float32", (7, 4)), Meta("int32", (7,))
CALLS = {
    **{name: (getattr(resize, name), (IMAGE, Meta("int32", (2,))), SMALL)
       for name in ("bilinear", "nearest", "cubic", "area")},
    **{name: (getattr(resize, name), (SMALL, IMAGE), IMAGE)
       for name in ("bilinear_gradient", "nearest_gradient", "cubic_gradient")},
    "cubic_of_many_channels": (resize.cubic, (WIDE, Meta("int32", (2,))), CROPS),
    "cubic_gradient_of_many_channels": (resize.cubic_gradient, (CROPS, WIDE), WIDE),
    "crop": (crops.crop, (WIDE, BOXES, OWNER, Meta("int32", (2,))), CROPS),
    "image_gradient": (crops.image_gradient, (CROPS, BOXES, OWNER, Meta("int32", (4,))), WIDE),
    "boxes_gradient": (crops.boxes_gradient, (CROPS, WIDE, BOXES, OWNER), BOXES),
    **{name: (getattr(colors, name), (PIXELS,), PIXELS) for name in ("to_hsv", "to_rgb")},
    **{name: (getattr(colors, name), (IMAGE, FACTOR), IMAGE) for name in ("turned", "saturated", "contrasted")},
    "contrasted_channels": (colors.contrasted, (CROPS, FACTOR), CROPS),
}

ATTRS = {"extrapolation_value": 0.25, "method": b"bilinear"}


def sample(meta, random):
    """Values for an input: sizes, indices of images, boxes of which one lies outside, pixels."""
    if meta.type == "int32":
        return np.asarray(CROPS.shape[1:3] if meta.shape == (2,) else random.randint(0, 2, meta.shape), "i")
    if meta == BOXES:
        return np.concatenate([random.uniform(-.1, .5, (7, 2)), random.uniform(.4, 1.2, (7, 2))], 1).astype("f")
    return np.round(random.rand(*meta.shape) * 8).astype("f") / np.float32(8)


@pytest.mark.parametrize("attrs", [{}, {"method": b"nearest", "half_pixel_centers": True}, {"align_corners": True}],
                         ids=["plain", "nearest", "align"])
@pytest.mark.parametrize("name", CALLS)
def test_python_and_compiled_agree(name, attrs, run, plain):
    fn, metas, output = CALLS[name]
    random = np.random.RandomState(3)
    inputs, outputs = [sample(meta, random) for meta in metas], [(output.shape, output.type)]
    want, = run(fn, inputs, outputs, ATTRS | attrs)
    assert np.unique(want).size > 3
    for device in ("cpu", "cuda"):
        got, = plain(fn, inputs, outputs, ATTRS | attrs, device=device)
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", CALLS)
def test_needs_no_numba(name):
    fn, inputs, output = CALLS[name]
    launches = fn(Call(inputs, (output,), ATTRS))
    assert launches and all(launch.items > 0 for launch in launches)
    for launch in launches:
        assert "define void @" in module_source(launch.source, "kernel", "", "")[0].replace('"', "")


def test_no_launch_for_nothing():
    empty = Meta("float32", (0, 5, 6, 3))
    assert resize.bilinear(Call((empty, OWNER), (Meta("float32", (0, 3, 4, 3)),))) == []
    assert colors.to_hsv(Call((Meta("float32", (0, 3)),), (Meta("float32", (0, 3)),))) == []
