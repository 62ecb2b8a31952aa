"""Kernels for images: their texts need no numba, whose compiler takes ten times as long."""
from __future__ import annotations

import pytest

from tfnb.kernels.cpu.image import colors, crops, resize
from tfnb.kernels.launch import Call, Meta
from tfnb.kernels.llvm.lowering import module_text

IMAGE, SMALL, PIXELS = Meta("float32", (2, 5, 6, 3)), Meta("float32", (2, 3, 4, 3)), Meta("float32", (4, 3))
BOXES, OWNER, FACTOR = Meta("float32", (7, 4)), Meta("int32", (7,)), Meta("float32", ())
CROPS = Meta("float32", (7, 3, 4, 3))
CALLS = {
    **{fn.__name__: (fn, (IMAGE, Meta("int32", (2,))), SMALL)
       for fn in (resize.bilinear, resize.nearest, resize.cubic, resize.area)},
    **{fn.__name__: (fn, (SMALL, IMAGE), IMAGE)
       for fn in (resize.bilinear_gradient, resize.nearest_gradient, resize.cubic_gradient)},
    "crop": (crops.crop, (IMAGE, BOXES, OWNER, Meta("int32", (2,))), CROPS),
    "image_gradient": (crops.image_gradient, (CROPS, BOXES, OWNER, Meta("int32", (4,))), IMAGE),
    "boxes_gradient": (crops.boxes_gradient, (CROPS, IMAGE, BOXES, OWNER), BOXES),
    **{fn.__name__: (fn, (PIXELS,), PIXELS) for fn in (colors.to_hsv, colors.to_rgb)},
    **{fn.__name__: (fn, (IMAGE, FACTOR), IMAGE) for fn in (colors.turned, colors.saturated, colors.contrasted)},
}


@pytest.mark.parametrize("name", CALLS)
def test_needs_no_numba(name):
    fn, inputs, output = CALLS[name]
    launches = fn(Call(inputs, (output,)))
    assert launches and all(launch.items > 0 for launch in launches)
    for launch in launches:
        assert "define void @" in module_text(launch.text, "kernel", "", "")[0].replace('"', "")


def test_no_launch_for_nothing():
    empty = Meta("float32", (0, 5, 6, 3))
    assert resize.bilinear(Call((empty, OWNER), (Meta("float32", (0, 3, 4, 3)),))) == []
    assert colors.to_hsv(Call((Meta("float32", (0, 3)),), (Meta("float32", (0, 3)),))) == []
