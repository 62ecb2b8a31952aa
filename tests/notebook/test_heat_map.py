"""Tensors laid out as pictures."""
import base64
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from tfnb.notebook.drawing.heat_map import GAP, MOST_SIDE, panel_json, picture, reduced, zoomed
from tfnb.notebook.drawing.heat_map_svg import NOT_FINITE, ONE_SIDED, STOPS, colours, heat_svg


def test_blocks_show_the_largest_or_the_mean():
    matrix = np.array([[1, -5, 2], [3, 4, 0], [7, 0, -8]], np.float32)
    assert reduced(matrix, (2, 2), "max").tolist() == [[-5, 2], [7, -8]]
    assert reduced(matrix, (2, 2), "mean").tolist() == [[0.75, 1], [3.5, -8]]
    matrix[0, 0] = np.nan
    assert np.isnan(reduced(matrix, (2, 2), "max")[0, 0]) and np.isnan(reduced(matrix, (2, 2), "mean")[0, 0])


def test_large_matrices_are_reduced_and_can_be_looked_into():
    matrix = np.zeros((1000, 50), np.float32)
    matrix[500, 20] = -3
    whole = picture(matrix)
    assert whole.values.shape[0] <= MOST_SIDE and whole.block == (11, 1) and whole.limit == 3
    assert whole.values[500 // 11, 20] == -3 and "11×1" in whole.note
    window = zoomed(whole, 500 // 11, 20)
    closer = picture(matrix, window=window)
    assert closer.block == (1, 1) and closer.values[500 - closer.start[0], 20 - closer.start[1]] == -3
    assert zoomed(closer, 0, 0) is None and zoomed(picture(np.ones(5)), 0, 0) is None
    assert zoomed(whole, 0, 0)[:2] == (0, 96) and zoomed(whole, 90, 0)[:2] == (904, 1000)


def test_vectors_are_strips_and_filters_tiles():
    strip = picture(np.arange(100, dtype=np.float32))
    assert strip.form == "strip" and strip.values.shape == (2, 96)
    assert strip.values.reshape(-1)[99] == 99 and (strip.values.reshape(-1)[100:] == GAP).all()
    assert picture(np.float32(2.0)).values.tolist() == [[2.0]]
    filters = np.arange(3 * 2 * 4 * 5, dtype=np.float32).reshape(3, 2, 4, 5)
    tiles = picture(filters)
    assert tiles.form == "tiles" and tiles.values.shape == (4 * 4 - 1, 5 * 3 - 1)
    assert tiles.values[2 * 4 + 1, 3 * 3 + 1] == filters[1, 1, 2, 3] and tiles.values[3, 0] == GAP
    assert "the first 16 of 64 inputs" in picture(np.ones((3, 3, 64, 8))).note
    assert picture(np.ones((100, 4, 5))).form == "matrix"
    assert picture(np.zeros((0, 3), np.float32)).limit == 0.0


def test_strings_are_no_picture():
    with pytest.raises(ValueError, match="can't be drawn"):
        picture(np.array([b"a"], object))


def test_colours_diverge_around_zero():
    values = np.array([[-2, 0, 2, np.nan, np.inf, GAP]], np.float32)
    found = colours(values, 2.0)[0]
    assert [tuple(c[:3]) for c in found[:3]] == [STOPS[0], STOPS[2], STOPS[4]]
    assert [tuple(c[:3]) for c in found[3:5]] == [NOT_FINITE] * 2 and found[5, 3] == 0
    assert picture(np.array([1, np.nan, np.inf], np.float32)).limit == 1.0


@pytest.mark.parametrize("array, side", [([0, 1, 2], 1), ([-3, 0], -1), ([-1, 1], 0), ([0, 0], 0), ([], 0),
                                         ([np.nan, 2, np.inf], 1), ([-np.inf, 1], 1)])
def test_one_sided_data_has_the_whole_scale(array, side):
    drawn = picture(np.array(array, np.float32))
    assert drawn.side == side == panel_json("v", drawn)["side"]
    zero, end = colours(np.array([[0, side or 1]], np.float32), 1.0, side)[0, :, :3].tolist()
    assert tuple(zero) == STOPS[2] and tuple(end) == (ONE_SIDED[side][-1] if side else STOPS[4])
    scale = heat_svg([("v", replace(drawn, limit=7.0))])
    assert (">-7<" in scale, ">7<" in scale) == (side < 1, side > -1)


def test_panels_carry_their_numbers():
    panel = panel_json("w", picture(np.array([[1, 2], [3, np.nan]], np.float32)))
    values = np.frombuffer(base64.b64decode(panel["data"]), "<f4")
    assert values[:3].tolist() == [1, 2, 3] and np.isnan(values[3]) and (panel["rows"], panel["cols"]) == (2, 2)


def test_the_svg_is_escaped_and_always_the_same():
    drawn = [('<script>"m"', picture(np.ones((3, 4)))), ("v", picture(np.zeros((0, 3))))]
    text = heat_svg(drawn, "a & b")
    root = ET.fromstring(text)
    assert root.get("aria-label") == 'a & b: <script>"m", v' and "<script>" not in text
    assert len(root.findall(".//{http://www.w3.org/2000/svg}image")) == 4
    assert text == heat_svg(drawn, "a & b")
