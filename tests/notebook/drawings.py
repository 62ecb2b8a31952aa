"""Drawings to compare with the ones in tests/data/drawings: each shape, label and layout occurs in one of them.

    python -m tests.notebook.drawings           writes them anew: look at each that `git diff` names
"""
from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tfnb as tf
from tests.notebook.sample_rows import digits
from tfnb.notebook import graph_view, step, watch
from tfnb.notebook.drawing.heat_map import picture
from tfnb.notebook.drawing.heat_map_svg import heat_svg
from tfnb.notebook.graph.model import Model
from tfnb.notebook.graph.svg import graph_svg
from tfnb.notebook.layout.engines import lay_out
from tfnb.notebook.plots.chart_svg import line_chart_svg
from tfnb.notebook.plots.media import Picture, Ridge
from tfnb.notebook.plots.media_svg import picture_svg, ridge_svg

FOLDER = Path(__file__).parents[1] / "data" / "drawings"


def graph(*expanded: str, rows: object = None) -> str:
    scene = Model(digits() if rows is None else rows).scene(expanded)
    return graph_svg(scene, lay_out(scene, "builtin"))


def apart() -> str:
    """Pieces that no edge joins, a chain that skips ranks, and an edge against the flow."""
    rows = [*(("a/" + "abcdefgh"[i], "Neg", ("a/" + "abcdefgh"[i - 1],) if i else ()) for i in range(8)),
            ("long", "Add", ("a/h", "x")), ("x", "Placeholder"), ("lone/y", "Const"), ("lone/z", "Neg", ("lone/y",)),
            ("waits", "NoOp", (), ("x", "long")), *((f"single_{i}", "Placeholder") for i in range(9)),
            ("loop/Merge", "Merge", ("x", "loop/NextIteration")), ("loop/Add", "Add", ("loop/Merge", "x")),
            ("loop/NextIteration", "NextIteration", ("loop/Add",))]
    return graph("a/", "lone/", "loop/", rows=rows)


def run() -> dict[str, object]:
    """Build a small network in the default graph; return what to feed."""
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    h = tf.nn.relu(tf.matmul(x, tf.constant(np.eye(3, 4), tf.float32, name="w"), name="product"), name="relu")
    tf.reduce_sum(tf.log(h, name="log"), name="loss")
    return {"x": [[1.0, 0.0, -2.0], [np.nan, 4.0, 3.0]]}


def stepping() -> str:
    """A run that is stopped: what has run, and the next op."""
    with tf.Graph().as_default(), tf.Session():
        view = step("loss", feed=run(), breaks="loss")
        assert view.graph is not None
        view.graph.engine = "builtin"
        view.graph.follow()
        return view.graph.svg()


def watching() -> str:
    """Values of a run on its edges, good ones and bad ones."""
    with tf.Graph().as_default(), tf.Session():
        return watch("loss", feed=run(), pattern="product|relu", engine="builtin").svg()


def chart() -> str:
    steps = np.arange(0, 400, 10)
    series = [("loss", steps, np.exp(-steps / 90)), ("a name that is too long for the line", steps, np.cos(steps / 60)),
              ("accuracy", steps[5:], np.where(steps[5:] == 200, np.nan, 1 - 2 / (5 + steps[5:])))]
    return line_chart_svg(series, "three curves of a run", smoothing=0.6, unit="steps", width=360, height=240)


def ridges() -> str:
    table = np.stack([np.exp(-(np.arange(20) - middle) ** 2 / 12) for middle in (4, 8, 15)])
    return ridge_svg("weights", Ridge((0, 10, 200), -1.5, 2.5, table), 1, 300, 220)


DRAWINGS: dict[str, Callable[[], str]] = {
    "graph_closed": graph,
    "graph_layer": lambda: graph("layer1/", "loss/"),
    "graph_gradients": lambda: graph("gradients/", "gradients/layer1/", "Adam/", "layer2/", "layer2/weights/"),
    "graph_apart": apart,
    "graph_painted": lambda: graph_view(digits(), engine="builtin", expand="loss").color_by("structure").select(
        "loss/").svg(),
    "graph_stepping": stepping,
    "graph_values": watching,
    "chart": chart,
    "chart_of_zeros": lambda: line_chart_svg([("zero", [0, 1], [0.0, 0.0])]),
    "chart_of_equals": lambda: line_chart_svg([("rate", [5, 9], [0.5, 0.5])]),
    "ridges": ridges,
    "picture": lambda: picture_svg("digit", 30, Picture(b"pixels", 28, 14), 200, 150),
    "heat": lambda: heat_svg([("w", picture(np.linspace(-1, 1, 12).reshape(3, 4))), ("b", picture(np.ones(5))),
                              ("filters", picture(np.arange(72.0).reshape(3, 2, 3, 4)))], "parameters"),
}


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    for name, draw in DRAWINGS.items():
        (FOLDER / f"{name}.svg").write_text(draw() + "\n", encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
