"""The line chart: canonical, complete, safe with any numbers and names."""
from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tfnb.notebook.plots.chart_svg import line_chart_svg, nice_ticks, tick_label

NS = "{http://www.w3.org/2000/svg}"


def lines(svg: str) -> list[str]:
    """Path data of the curves."""
    return [item.get("d", "") for item in ET.fromstring(svg).iter(f"{NS}path")
            if (item.get("class") or "").startswith("s")]


def points(line: str) -> list[tuple[float, float]]:
    numbers = [float(word) for word in line.replace("M", " ").replace("L", " ").split()]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def test_the_same_numbers_give_the_same_bytes() -> None:
    series = [("loss", range(100), np.exp(-np.arange(100) / 9))]
    assert line_chart_svg(series, "run") == line_chart_svg(series, "run")


def test_curves_stay_within_the_picture_and_rise_where_values_do() -> None:
    found = points(lines(line_chart_svg([("a", range(5), [1, 2, 3, 4, 5])], width=300, height=200))[0])
    assert len(found) == 5 and all(0 < x < 300 and 0 < y < 200 for x, y in found)
    assert [y for _, y in found] == sorted((y for _, y in found), reverse=True)


def test_gaps_break_the_line_and_lone_points_are_seen() -> None:
    svg = line_chart_svg([("a", range(6), [1, 2, math.nan, 3, math.inf, 5])])
    assert lines(svg)[0].count("M") == 3


def test_many_points_are_reduced_and_no_peak_is_lost() -> None:
    ys = np.sin(np.arange(100_000) / 500)
    ys[54_321] = 9
    line = lines(line_chart_svg([("a", np.arange(100_000), ys)], height=200))[0]
    assert len(line) < 30_000
    assert min(y for _, y in points(line)) < 60


@pytest.mark.parametrize("ys", [[], [3.0], [2.0, 2.0], [math.nan], [1e308, -1e308], [1e-320, 2e-320], [1e9, 1e9 + 1e-7],
                                [-5, -5], [math.inf, 1.0], [0, 0]])
def test_any_numbers_are_drawn(ys: list[float]) -> None:
    svg = line_chart_svg([("a", range(len(ys)), ys)], "t")
    for item in ET.fromstring(svg).iter():
        numbers = " ".join(item.get(key, "") for key in ("d", "x", "y", "width", "height"))
        assert "nan" not in numbers and "inf" not in numbers


def test_no_series_is_an_empty_chart() -> None:
    assert "no data yet" in line_chart_svg([])


def test_hostile_names_are_text() -> None:
    svg = line_chart_svg([("<script>alert(1)</script>", [0, 1], [0, 1])], '"><svg onload=1>\u0000')
    assert not list(ET.fromstring(svg).iter(f"{NS}script"))


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="'a' has 2 x values and 1 y values"):
        line_chart_svg([("a", [0, 1], [0])])


@pytest.mark.parametrize("value, step", [(0.1, 0), (5.0, 1.7e18), (-1e-3, -1e17)])
def test_equal_values_have_a_range_around_them(value: float, step: float) -> None:
    svg = line_chart_svg([("rate", [step] * 40, [value, value * (1 + 2e-16)] * 20)], smoothing=0.6)
    heights = [y for line in lines(svg) for _, y in points(line)]
    assert "nan" not in svg and max(heights) - min(heights) < 1 and svg.count("text-anchor") < 20


def test_ticks_are_round_and_inside() -> None:
    assert nice_ticks(0.1, 8.2, 5) == [2, 4, 6, 8]
    assert nice_ticks(-1, 1, 5) == [-1, -0.5, 0, 0.5, 1]
    assert nice_ticks(3, 3) == [3]
    pairs = ((0.05, 0.05), (1200, 200), (20_000, 5000), (3e-7, 1e-7), (0, 1), (2.0, 0.5))
    assert [tick_label(*pair) for pair in pairs] == ["0.05", "1200", "20k", "3e-7", "0", "2.0"]
