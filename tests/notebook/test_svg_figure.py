"""Our drawings as figures of matplotlib."""
import io

import numpy as np
import pytest

from tests.notebook.sample_rows import digits
from tfnb.notebook.drawing.svg import element
from tfnb.notebook.graph.view import graph_view
from tfnb.notebook.plots.svg_figure import save_drawing, svg_figure

images = pytest.importorskip("matplotlib.image")


def pixels(*children):
    svg = element("svg", element("g", *children, transform="translate(10 20)"), height=60, width=80,
                  xmlns="http://www.w3.org/2000/svg")
    file = io.BytesIO()
    svg_figure(svg).savefig(file, format="png", dpi=96)
    file.seek(0)
    return np.round(images.imread(file)[:, :, :3] * 255).astype(int)


def test_shapes_lie_where_they_are_in_the_drawing():
    found = pixels(element("rect", fill="#0072b2", height=20, width=30, x=5, y=5),
                   element("path", d="M50 5h10v20h-10Z", fill="#d55e00"),
                   element("ellipse", cx=20, cy=34, fill="#009e73", rx=10, ry=4))
    assert found.shape == (60, 80, 3)
    assert found[35, 30].tolist() == [0, 114, 178] and found[22, 30].tolist() == [255, 255, 255]
    assert found[35, 65].tolist() == [213, 94, 0] and found[54, 30].tolist() == [0, 158, 115]


def test_pale_groups_and_curves():
    found = pixels(element("g", element("rect", fill="#000000", height=30, width=60, x=0, y=0), opacity="0.25"))
    assert abs(int(found[30, 30, 0]) - 191) <= 2
    found = pixels(element("path", d="M0 10C20 10 40 10 60 10", fill="none", stroke="#ff0000", stroke_width=4))
    assert found[30, 40].tolist() == [255, 0, 0] and found[36, 40].tolist() == [255, 255, 255]


def test_a_graph_with_dollars_in_its_names_is_written(tmp_path):
    view = graph_view([*digits(), ("$x^{", "Neg")], expand="layer1", engine="builtin").select("layer1")
    for ending, begin in ((".pdf", b"%PDF"), (".png", b"\x89PNG")):
        path = tmp_path / f"g{ending}"
        save_drawing(view.svg(), path)
        assert path.read_bytes().startswith(begin)
