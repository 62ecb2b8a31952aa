"""Histograms over time and pictures: read from summaries, thinned, sent, drawn."""
import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import tfnb as tf
from tfnb.core import taps
from tfnb.notebook.plots.board import LiveBoard
from tfnb.notebook.plots.media import PICTURES, ROWS, Histogram, Picture, Sparse, histogram_of, read_rich, ridge
from tfnb.notebook.plots.panels import Curve, by_panel, svg
from tfnb.notebook.plots.recorder import Recorder


@pytest.fixture
def recorder(monkeypatch):
    recorder = Recorder()
    monkeypatch.setattr(taps, "on_summary", recorder.summary)
    return recorder


def summaries():
    tf.reset_default_graph()
    values = tf.placeholder(tf.float32, [None], name="values")
    pixels = tf.placeholder(tf.float32, [1, 4, 6, 1], name="pixels")
    merged = tf.summary.merge([tf.summary.histogram("weights", values), tf.summary.image("digit", pixels, 1),
                               tf.summary.scalar("average", tf.reduce_mean(values))])
    return merged, lambda step: {values: np.linspace(-1, 1, 500) + step, pixels: np.full((1, 4, 6, 1), step / 100)}


def run_steps(recorder, steps):
    merged, feed = summaries()
    with tf.Session() as session:
        for step in range(steps):
            session.run(merged, feed(step))
    recorder.file(everything=True)


def test_what_summary_ops_make_appears_with_no_more_code(recorder):
    run_steps(recorder, 5)
    assert set(recorder.series) == {("", "average")}
    assert recorder.series["", "average"].steps.tolist() == [0, 1, 2, 3, 4]
    board = LiveBoard(recorder=recorder)
    [(name, found)] = board.histograms()
    assert name == "weights" and found.steps == (0, 1, 2, 3, 4)
    middles = np.linspace(found.low, found.high, found.table.shape[1])
    means = (found.table * middles).sum(axis=1) / found.table.sum(axis=1)
    assert np.allclose(np.diff(means), 1, atol=0.05) and np.allclose(means[0], 0, atol=0.05)
    [(name, step, picture)] = board.pictures()
    assert (name, step, picture.width, picture.height) == ("digit/image", 4, 6, 4)


def test_an_event_writer_gives_the_run_and_the_step(recorder, tmp_path):
    merged, feed = summaries()
    with tf.Session() as session, tf.summary.FileWriter(str(tmp_path / "slow")) as writer:
        for step in (10, 20):
            writer.add_summary(session.run(merged, feed(step)), step)
    recorder.file(everything=True)
    assert [key[1] for key in recorder.histograms] == ["weights"]
    assert [step for step, _ in next(iter(recorder.histograms.values())).items(9)] == [10, 20]


def test_the_whole_run_stays_visible_however_long_it_is():
    kept = Sparse("w", "", ROWS)
    for step in range(10_000):
        kept.add(step, step)
    steps = [step for step, _ in kept.items(24)]
    assert len(kept._items) < 2 * ROWS and steps[0] == 0 and steps[-1] == 9999 and len(steps) == 24
    assert max(np.diff(steps)) < 3 * 10_000 / 24
    kept.add(5, "again")
    assert [step for step, _ in kept.items(99)] == [0, 5]


def test_rebinning_keeps_all_values():
    kept = Sparse("w", "", ROWS)
    rng = np.random.default_rng(0)
    for step in range(4):
        kept.add(step, histogram_of(rng.normal(step, 1, 1000)))
    found = ridge(kept, bins=40)
    sums = found.table.sum(axis=1)
    assert np.allclose(sums, sums[0], rtol=1e-3) and found.table.max() == 1
    one = Sparse("w", "", ROWS)
    one.add(0, histogram_of(np.full(10, 3.0)))
    same = ridge(one)
    assert same.low < 3 < same.high and np.isfinite(same.table).all() and same.table.max() == 1
    assert histogram_of(np.array([np.nan, np.inf])) is None


@pytest.mark.parametrize("values", [[1e17] * 3, [1.7e308, -1.7e308], [1, 1 + 2 ** -52], [-1.7e308], [5e-324, 0]])
def test_values_that_no_number_is_between_have_histograms(values):
    kept = Sparse("w", "", ROWS)
    for step in (None, np.nan, 7, np.inf):
        kept.add(step, histogram_of(np.array(values, np.float64)))
    found = ridge(kept)
    assert found.steps == (0, 1, 7, 8) and np.isfinite(found.table).all() and found.table.max() == 1
    assert np.isfinite(found.high - found.low) and found.low < found.high


def test_damaged_summaries_and_what_is_no_png_are_passed_over():
    from tfnb.proto.summary_pb2 import Summary
    bad = Summary()
    bad.value.add(tag="a").image.encoded_image_string = b"GIF89a" + b"x" * 50
    bad.value.add(tag="b").histo.bucket_limit.extend([1.0, 2.0])
    assert list(read_rich(bad.SerializeToString())) == [] and list(read_rich(b"\xff\xff")) == []


def test_arrays_that_are_recorded_are_histograms():
    recorder = Recorder()
    board = LiveBoard("grad*", recorder=recorder)
    board.record(gradient=np.arange(100.0), loss=1.0, step=7)
    recorder.file(everything=True)
    assert [name for name, _ in board.histograms()] == ["gradient"] and board.series() == []
    assert "gradient" in repr(board) and "histogram, 0 to 99, step 7" in repr(board)


def png():
    from matplotlib.image import imsave
    file = io.BytesIO()
    imsave(file, np.zeros((4, 6)), format="png")
    return file.getvalue()


def test_messages_to_the_browser_are_sent_once_and_again_when_it_asks():
    recorder = Recorder()
    recorder.scalars({"w": np.arange(10.0)}, 3)
    recorder.file(everything=True)
    recorder.pictures["", "digit"] = kept = Sparse("digit", "", PICTURES)
    for step in (1, 2):
        kept.add(step, Picture(png(), 6, 4))
    board = LiveBoard(recorder=recorder)
    (first, [table]), (second, files) = board.rich_frames()
    assert first["type"] == "ridge" and first["steps"] == [3] and len(table) % 4 == 0
    assert second == {"type": "pictures", "picture": 0, "steps": [1, 2]} and files == [png()] * 2
    assert board.rich_frames() == []
    board._on_message(None, {"type": "ready"}, [])
    assert len(board.rich_frames()) == 2
    state = board._state()
    assert [one["name"] for one in state["ridges"]] == ["w"] and state["pictures"][0]["name"] == "digit"


def compared():
    recorder = Recorder()
    for run, factor in (("logs/slow", 1.0), ("logs/fast", 2.0)):
        for step in range(50):
            recorder.scalars({"loss": factor * step, "accuracy": factor}, step, run)
    recorder.file(everything=True)
    return recorder


def test_runs_are_compared_in_a_panel_for_each_tag_with_a_colour_for_each_run():
    board = LiveBoard(recorder=compared())
    panels = by_panel(board.curves())
    assert list(panels) == ["loss", "accuracy"]
    assert [(curve.name, curve.color) for curve in panels["accuracy"]] == [("slow", 0), ("fast", 1)]
    assert board._state()["tags"][3] == {"name": "fast", "color_index": 1, "group": "accuracy"}
    assert board["fast/loss"][1][-1] == 98
    one = LiveBoard("loss", runs=["f*"], recorder=board.recorder)
    assert [(curve.tag, curve.group) for curve in one.curves()] == [("loss", "")]


def test_a_figure_for_papers_has_the_same_data(tmp_path):
    recorder = compared()
    recorder.scalars({"w": np.arange(10.0)}, 3, "logs/fast")
    recorder.pictures["logs/fast", "digit"] = Sparse("digit", "logs/fast", PICTURES)
    recorder.pictures["logs/fast", "digit"].add(0, Picture(png(), 6, 4))
    figure = LiveBoard(recorder=recorder, smooth=0.5).figure()
    assert [axis.get_title() for axis in figure.axes] == ["loss", "accuracy", "fast/w", "fast/digit, step 0"]
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["slow", "fast"]
    raw = figure.axes[0].get_lines()[2]
    assert raw.get_ydata().tolist() == [2.0 * step for step in range(50)]
    figure.savefig(tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


def test_saved_pictures_are_well_formed_and_escaped():
    evil = '<script>alert("x")</script>'
    ramp = np.stack([np.arange(5.0), np.arange(5.0)], axis=1)
    kept = Sparse(evil, "", ROWS)
    kept.add(1, Histogram(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0])))
    drawn = svg([Curve(evil, ramp)], ridges=[(evil, ridge(kept))], pictures=[(evil, 1.0, Picture(png(), 6, 4))])
    tree = ET.fromstring(drawn)
    assert len(list(tree)) == 3 and "<script" not in drawn
    assert svg([Curve(evil, ramp)], ridges=[(evil, ridge(kept))]) == svg([Curve(evil, ramp)],
                                                                         ridges=[(evil, ridge(kept))])
