"""The timeline of a profiled run: what ran when, in words and as a drawing."""
import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import tfnb as tf
from tfnb.notebook.debug.timeline_bars import COLUMN, HOST, PRODUCT, levels, main_group
from tfnb.notebook.debug.timeline_view import LEGEND, timeline


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


def drawn_bars(svg):
    return sum(int(count) for count in re.findall(r'data-bars="(\d+)"', svg))


def test_the_drawing_is_well_formed_and_counts_every_bar(view):
    svg = view.svg()
    ET.fromstring(svg)
    state = view.widget_state()["timeline"]
    assert drawn_bars(svg) == len(view.bars) == len(state["bars"]) and "<img" not in svg
    assert {lines[0] for lines in state["kinds"]} == {bar.types for bar in view.bars}
    assert set(view.forms()) == {"text/plain", "image/svg+xml"} and "of memory" in repr(view)


def test_a_loop_of_thousands_of_bars_is_drawn_to_its_end():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [8, 8], name="x")
        _, y = tf.while_loop(lambda i, v: i < 600, lambda i, v: (i + 1, tf.matmul(v, x) + tf.cast(i, tf.float32)),
                             [0, x])
        view = timeline(y, {x: np.eye(8)}, session, runs=1)
    assert len(view.bars) > 700
    svg, state = view.svg(), view.widget_state()["timeline"]
    assert drawn_bars(svg) == len(view.bars) and "are too narrow" in svg and len(svg) < 200_000
    places = [float(x) for x in re.findall(r'width="3" x="([\d.]+)"', svg)]
    assert max(places) > 800 and len(state["kinds"]) < 40        # what loops repeat is said once
    assert all(bar.color == PRODUCT for bar in view.bars if "MatMul" in bar.types)      # in loops, too


def test_narrow_bars_share_columns(view):
    colors = [bar.color for bar in view.bars]
    alone, columns = levels(view.bars, colors, 1e9)
    assert len(alone) == len(view.bars) and not columns
    alone, columns = levels(view.bars, colors, 1.0)
    assert not alone and {kernel for kernel, _ in columns} == {True, False} and len(columns) == 2
    kernels = columns[True, 0]
    assert sum(kernels.seconds.values()) == pytest.approx(sum(b.seconds for b in view.bars if b.record.kernel))
    half = COLUMN / sorted(bar.seconds for bar in view.bars)[len(view.bars) // 2]
    alone, columns = levels(view.bars, colors, half)
    assert len(alone) + sum(len(column.bars) for column in columns.values()) == len(view.bars)


def test_time_is_grouped_by_op_scope_and_cell(view):
    assert view.state == {"by": "kernel", "sort": {"time": [3, True]}, "picked": {}}
    assert view.table("time").note == LEGEND and len(view.shares()) == len(view.table("time").rows)
    types, scopes = view.shares("op"), view.shares("scope")
    assert {"MatMul", "ScalarSummary"} <= types.keys() and "gradients/" in scopes
    assert all(0.2 < sum(shares.values()) <= 1.001 for shares in (types, scopes, view.shares("cell")))
    assert list(types.values()) == sorted(types.values(), reverse=True)
    assert view.shares("cell").keys() == {"test_timeline_view.py"}
    view.state = {"by": "op"}
    assert "MatMul" in view.svg() and repr(view).splitlines()[2].startswith(next(iter(types)))
    view.hear({"type": "act", "act": "by scope"})
    assert view.widget_state()["timeline"]["by"] == "scope" and ">gradients/<" in view.svg()
    view.hear({"type": "act", "act": "by <b>"})
    view.hear({"type": "pick", "table": "time", "row": "gradients/"})
    shown = view.widget_state()["timeline"]
    lit = [bar for bar, told in zip(view.bars, shown["bars"], strict=True) if told[5] == shown["lit"]]
    assert lit and all(main_group(bar, "scope") == "gradients/" for bar in lit) and len(lit) < len(view.bars)
    assert view.state["picked"] == {"time": "gradients/"}
    view.state = {"by": "op"}
    assert view.state["picked"] == {} and view.widget_state()["timeline"]["lit"] == -1
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
