"""The timeline of a profiled run: what ran when, in words and as a drawing."""
import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import tfnb as tf
from tfnb.notebook.debug.timeline_bars import HOST, PRODUCT, micros
from tfnb.notebook.debug.timeline_view import timeline


@pytest.fixture
def view():
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, 32], name="x")
    w = tf.Variable(tf.ones([32, 16]), name="w")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    summary = tf.summary.scalar("loss <img>", loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = timeline([train, summary], {x: np.ones((8, 32), "f")}, session, runs=2)
        assert (session.run(w) == 1).all(), "variables keep their values"
    return found


def test_bars_are_kernels_and_host_calls_with_their_times_by_themselves(view):
    kernels = [bar for bar in view.bars if bar.record.kernel]
    assert len(kernels) == len(view.profile.launches) and all(bar.alone is not None for bar in kernels)
    assert [bar.types for bar in view.bars if bar.color == HOST] == ["ScalarSummary"]
    assert any(bar.color == PRODUCT and "MatMul" in bar.types for bar in kernels)
    ends = [bar.start + bar.seconds for bar in view.bars]
    assert view.bars[0].start == 0 and all(b.start >= a - 1e-9 for a, b in zip(ends, view.bars[1:], strict=False))


def test_a_bar_tells_its_op_line_and_bytes(view):
    bar = next(bar for bar in view.bars if bar.color == PRODUCT)
    words = "\n".join(bar.words())
    assert "MatMul" in words and "test_timeline_view.py:" in words and "kB of buffers" in words and "a kernel" in words


def test_the_drawing_is_well_formed_and_has_a_bar_each(view):
    svg = view.svg()
    ET.fromstring(svg)
    assert svg.count("data-bar=") == len(view.bars) == len(view.widget_state()["bars"]) and "<img" not in svg
    assert set(view.forms()) == {"text/plain", "image/svg+xml"} and "of memory" in repr(view)


def test_times_in_words():
    assert [micros(t) for t in (8.4e-7, 3.4e-5, 1.234e-3)] == ["0.8 µs", "34 µs", "1,234 µs"]


def test_time_is_grouped_by_op_scope_and_cell(view):
    assert view.shares() == {} and view.state == {"by": "kernel"}
    types, scopes = view.shares("op"), view.shares("scope")
    assert {"MatMul", "ScalarSummary"} <= types.keys() and "gradients/" in scopes
    assert all(0.2 < sum(shares.values()) <= 1.001 for shares in (types, scopes, view.shares("cell")))
    assert list(types.values()) == sorted(types.values(), reverse=True)
    assert view.shares("cell").keys() == {"test_timeline_view.py"}
    view.state = {"by": "op"}
    assert "MatMul" in view.svg() and repr(view).splitlines()[0].endswith(next(iter(types)))
    view.hear({"type": "by", "name": "scope"})
    assert view.widget_state()["by"] == "scope" and ">gradients/<" in view.svg()
    view.hear({"type": "by", "name": "<b>"})
    with pytest.raises(ValueError, match="got 'scop'; did you mean 'scope'"):
        view.state = {"by": "scop"}


def test_the_memory_in_use_is_drawn(view):
    live = [bar.record.live for bar in view.bars if bar.record.kernel]
    assert max(live) >= 8 * 16 * 4 and ">memory<" in view.svg()


def test_it_is_saved_for_browsers_and_papers(view, tmp_path):
    events = json.loads(view.save(tmp_path / "run.json").read_text())["traceEvents"]
    assert any("MatMul" in event["name"] for event in events if event["ph"] == "X")
    assert view.save(tmp_path / "run.svg").read_text(encoding="utf-8") == view.svg()
    with pytest.raises(ValueError, match="saved as .json"):
        view.save(tmp_path / "run.txt")
