"""Live boards without a browser: frames, forms, the sender thread."""
import threading
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tfnb.notebook.plots import board as boards
from tfnb.notebook.plots.board import LiveBoard
from tfnb.notebook.plots.board_messages import COLUMNS
from tfnb.notebook.plots.marks import Mark
from tfnb.notebook.plots.panels import FAINT, Curve, group_of, number, numbers, sparkline, svg, text
from tfnb.notebook.plots.recorder import Recorder
from tfnb.notebook.plots.sender import Sender
from tfnb.notebook.plots.series import Series
from tfnb.notebook.plots.style import Look


class Browser:
    """What the front end makes of the messages, and a stand-in for the widget."""

    def __init__(self):
        self.state, self.points, self.sent = {}, {}, 0

    def send(self, content, buffers=()):
        if content["type"] == "reset":
            self.points.clear()
            return
        self.sent += len(buffers[0])
        fresh = np.frombuffer(buffers[0], np.float32).reshape(-1, 3)
        held = self.points.get(content["tag"], np.empty((0, 3), np.float32))
        assert content["start"] <= len(held), "a gap"
        self.points[content["tag"]] = np.concatenate([held[:content["start"]], fresh])


@pytest.fixture
def recorder():
    return Recorder()


def report(recorder, steps, tag="loss", begin=0):
    for step in range(begin, begin + steps):
        recorder.scalars({tag: np.sin(step / 30)}, step)
    recorder.file(everything=True)


def test_the_browser_has_what_a_full_frame_has_at_any_moment(recorder):
    board, browser = LiveBoard("loss", recorder=recorder), Browser()
    board.widget, board._heard = browser, True
    for round_ in range(40):
        report(recorder, 97, begin=97 * round_)
        board._send(browser, float(round_))
        full = LiveBoard("loss", recorder=recorder).frames()[0][1]
        assert np.array_equal(browser.points[0], full)
        assert len(full) <= 2 * COLUMNS + 2
    assert browser.state["tags"] == [{"name": "loss", "color_index": 0}]
    assert browser.sent < 40 * 97 * 12 * 3, "frames must be increments"


def test_a_restarted_run_replaces_what_is_shown(recorder):
    board, browser = LiveBoard(recorder=recorder), Browser()
    board.widget, board._heard = browser, True
    report(recorder, 50)
    board._send(browser, 0.0)
    report(recorder, 10)
    board._send(browser, 1.0)
    assert browser.points[0][:, 0].tolist() == list(range(10))


def test_ready_brings_everything_again(recorder):
    board, browser = LiveBoard(recorder=recorder), Browser()
    board.widget = browser
    report(recorder, 50)
    board.tick(1.0)
    assert len(browser.points[0]) == 50
    browser.points.clear()
    board.tick(2.0)
    assert not browser.points, "nothing new, nothing sent"
    board._on_message(browser, {"type": "ready"}, [])
    board.tick(3.0)
    assert len(browser.points[0]) == 50


def test_errors_of_the_browser_are_logged(recorder, caplog):
    LiveBoard(recorder=recorder)._on_message(None, {"type": "error", "message": "no canvas"}, [])
    LiveBoard(recorder=recorder)._on_message(None, "nonsense", [])
    assert "in the browser: no canvas" in caplog.text


def test_until_a_front_end_answers_frames_are_full(recorder):
    board, browser = LiveBoard(recorder=recorder), Browser()
    board.widget = browser
    for second in range(3):
        report(recorder, 5, begin=5 * second)
        browser.points.clear()
        board.tick(float(second))
        assert len(browser.points[0]) == 5 * second + 5


def test_tags_choose_and_colours_stay(recorder):
    board = LiveBoard("train/*", "acc", recorder=recorder)
    for tag in ("acc", "other", "train/loss"):
        report(recorder, 2, tag)
    assert [curve.tag for curve in board.curves()] == ["acc", "train/loss"]
    report(recorder, 2, "train/a")
    assert [(curve.tag, curve.color) for curve in board.curves()][2] == ("train/a", 2)


def test_curves_of_several_runs_are_named_by_run(recorder):
    recorder.summary(b"\x0a\x0b\x0a\x04loss\x15\x00\x00\x80\x3f", 1, "logs/train")
    board = LiveBoard(recorder=recorder)
    assert board["loss"][1].tolist() == [1]
    recorder.summary(b"\x0a\x0b\x0a\x04loss\x15\x00\x00\x80\x3f", 1, "logs/test")
    assert board["test/loss"][0].tolist() == [1]
    with pytest.raises(KeyError, match="no curve 'loss'; there are 'train/loss', 'test/loss'"):
        board["loss"]


@pytest.mark.parametrize("wrong", [{"hz": 0}, {"hz": 11}, {"smooth": 1}, {"smooth": -0.1}, {"x": "epoch"}, {"grid": -1},
                                   {"grid": 7}])
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        LiveBoard(**wrong)


@pytest.fixture
def two_runs():
    """Ten steps of "slow" in 100 s, and ten of "fast" in 10 s later on."""
    clock = [1000.0]
    recorder = Recorder(lambda: clock[0])
    for run, seconds in (("slow", 10.0), ("fast", 1.0)):
        for step in range(11):
            recorder.scalars({"loss": 1 / (step + 1), "accuracy": step / 10}, step, run)
            recorder.file()
            clock[0] += seconds
        clock[0] += 500
    return recorder


def test_seconds_count_from_the_begin_of_each_run(two_runs):
    board = LiveBoard("loss", x="time", recorder=two_runs)
    slow, fast = (curve.along("time") for curve in board.curves())
    assert (slow[0], slow[-1], fast[0], fast[-1]) == (0, 100, 0, 10)
    assert board._state()["x"] == "time" and [message["tag"] for message, _ in board.frames()] == [0, 1]
    words = [text.text for text in ET.fromstring(board.svg()).iter("{http://www.w3.org/2000/svg}text")]
    assert "100 s" in words and \
        {f"{run}  0.09091 · min 0.0909 · max 1" for run in ("slow", "fast")} <= {*words}
    axis, = board.figure().axes
    assert axis.get_xlabel() == "s" and axis.lines[-1].get_xdata()[-1] == 10


def test_a_restarted_run_begins_its_seconds_anew(two_runs):
    board, browser = LiveBoard("loss", runs=["slow"], recorder=two_runs), Browser()
    board._send(browser, 0.0)
    assert browser.points[0][-1, 2] == 100
    two_runs.scalars({"loss": 3.0, "accuracy": 0.0}, 0, "slow")
    two_runs.file()
    board._send(browser, 1.0)
    assert browser.points[0].tolist() == [[0, 3, 0]]


def test_runs_stand_apart_in_one_scale(two_runs):
    board = LiveBoard(apart=True, grid=2, recorder=two_runs)
    panels = list(ET.fromstring(board.svg()))
    assert [panel.get("aria-label").partition(":")[0] for panel in panels] == \
        ["loss · slow", "loss · fast", "accuracy · slow", "accuracy · fast"]
    ticks = [[t.text for t in panel.iter("{http://www.w3.org/2000/svg}text") if t.get("text-anchor") == "end"]
             for panel in panels]
    assert ticks[0] == ticks[1] != ticks[2] == ticks[3]
    state = board._state()
    assert [tag["share"] for tag in state["tags"]] == ["loss", "accuracy"] * 2 and state["grid"] == 2
    one = LiveBoard(runs=["slow"], apart=True, recorder=two_runs)
    assert not any("share" in tag for tag in one._state()["tags"]), "one run has nothing to stand apart from"
    left, right = board.figure().axes[:2]
    assert left.get_ylim() == right.get_ylim()


def test_how_it_is_drawn_is_one_dict(two_runs):
    board, browser = LiveBoard("loss", recorder=two_runs), Browser()
    board._send(browser, 0.0)
    assert board.state == {"smooth": 0.6, "x": "step", "grid": 0, "hist": False, "apart": False, "others": False}
    board.state = {"x": "time", "apart": True}
    board._send(browser, 1.0)
    assert browser.state["x"] == "time" and browser.state["tags"][0]["group"] == "loss · slow"
    board._on_message(browser, {"type": "look", "smoothing": 0.25, "x": "step"}, [])
    assert board.look == Look(0.25, "step", apart=True)
    for nonsense in ({"smoothing": 7}, {"x": "<b>"}, {"smoothing": []}):
        board._on_message(browser, {"type": "look", **nonsense}, [])
    assert board.look == Look(0.25, "step", apart=True)
    with pytest.raises(ValueError, match="has smooth, x, grid, hist, apart, others, not colour"):
        board.state = {"colour": 1}


def test_only_histograms(recorder):
    recorder.scalars({"loss": 1.0, "weights": np.arange(5.0)})
    recorder.file()
    board = LiveBoard(hist=True, recorder=recorder)
    assert not board.curves() and [name for name, _ in board.histograms()] == ["weights"]
    assert not board._state()["tags"] and len(board._state()["ridges"]) == 1


def test_a_tag_that_never_came_is_answered_with_the_nearest(recorder):
    board = LiveBoard("accurracy", recorder=recorder)
    assert "no values yet" in repr(board)
    recorder.scalars({"accuracy": 1.0, "loss": 2.0})
    recorder.file()
    assert "no values of accurracy yet; did you mean accuracy?" in repr(board)
    assert "did you mean accuracy?" in board.svg() and "did you mean accuracy?" in board._state()["empty"]
    assert "there are accuracy, loss" in repr(LiveBoard("zzz", recorder=recorder))
    assert LiveBoard("acc*", recorder=recorder)._state()["empty"] == ""


def test_runs_that_never_came_are_told(recorder):
    board = LiveBoard("loss", runs=["slow", "fast"], recorder=recorder)
    recorder.scalars({"loss": 1.0})
    recorder.file()
    assert "no values of the runs slow, fast yet; no run has a name" in repr(board)
    recorder.scalars({"loss": 1.0}, run="logs/quick")
    recorder.file()
    assert "no values of the runs slow, fast yet; there are quick" in repr(board)
    assert "no values of los yet; did you mean loss?" in repr(LiveBoard("los", runs=["quick"], recorder=recorder))


def test_forms_say_what_is_plotted_and_escape_tags(recorder):
    board = LiveBoard(title="digits & <b>", recorder=recorder)
    assert "no values yet" in repr(board) and "no values yet" in board.svg()
    report(recorder, 500, '<script>"x"')
    root = ET.fromstring(board.svg())
    assert root.get("role") == "img" and '<script>"x"' in root.get("aria-label")
    assert "<script>" not in board.svg()
    assert '<script>"x"' in repr(board) and "step 499" in repr(board)
    assert board.svg() == board.svg()
    assert set(board._repr_mimebundle_()) == {"text/plain", "image/svg+xml"}


def test_the_plot_survives_numbers_of_every_kind():
    odd = np.array([[0, 1], [1, np.nan], [2, np.inf], [3, 1e30], [4, -1e30], [5, 0]], np.float32)
    for curve in (odd, odd[1:3], odd[:1], odd[:0], np.array([[3, 2], [4, 2]], np.float32)):
        picture = svg([Curve("a", curve)], smoothing=0.5)
        drawn = [path.get("d") for path in ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}path")]
        assert not any("n" in d or "i" in d for d in drawn), "nan and inf can't be drawn"
        assert text([Curve("a", curve)]).startswith("a")


def test_panels_are_those_of_the_browser():
    assert [group_of(tag) for tag in ("loss", "a/b/c", "/x", "a/b")] == ["loss", "a/b", "/x", "a"]
    ramp = np.stack([np.arange(5.0), np.arange(5.0)], axis=1)
    picture = svg([Curve("train/loss", ramp, 0), Curve("train/acc", ramp, 1), Curve("other", ramp, 2)], smoothing=0.6)
    panels = list(ET.fromstring(picture))
    assert [panel.get("aria-label") for panel in panels] == ["train: loss, acc", "other: other"]
    assert (panels[1].get("x"), panels[1].get("y")) == ("360", "0")
    strokes = [path.get("class") for path in panels[0] if (path.get("class") or "").startswith("s")]
    assert strokes == ["s0", "s0", "s1", "s1"], "the data and their mean, in the colours of the tags"


def test_words_for_numbers_and_sparklines():
    assert [number(x) for x in (0.0, 1200.0, 0.012345, 3.2e-7, 123456789.0)] == \
        ["0", "1200", "0.01235", "3.2e-07", "1.235e+08"]
    assert sparkline(np.arange(8.0)) == "▁▂▃▄▅▆▇█" and sparkline(np.ones(3)) == "▁▁▁"


def test_the_sender_feeds_open_boards_and_ends_with_the_last(recorder):
    class Fed:
        hz, recorder = 10.0, None
        def __init__(self):
            self.fed = threading.Event()
        def tick(self, now):
            self.fed.set()
    class Broken(Fed):
        def tick(self, now):
            raise RuntimeError("no picture")
    sender, board, broken, odd = Sender(), Fed(), Broken(), Fed()
    board.recorder = broken.recorder = recorder
    odd.recorder = Recorder()
    odd.recorder.file = lambda: [][0]           # what it was given can't be filed
    broken_out = []
    sender._report = broken_out.append
    for each in (odd, broken, board):
        sender.open(each)
    assert board.fed.wait(5)
    for _ in range(100):
        if sender.boards == [board]:
            break
        threading.Event().wait(0.05)
    assert sender.boards == [board]
    assert sorted(type(error).__name__ for error in broken_out) == ["IndexError", "RuntimeError"]
    thread = sender._thread
    sender.close(board)
    thread.join(5)
    assert not thread.is_alive()


def test_record_takes_names_and_mappings():
    recorder = Recorder()
    record = recorder.reporter()
    record(loss=1.0)
    record({"train/loss": 2.0}, step=5)
    LiveBoard(recorder=recorder).record({"a/b": 1.0}, acc=0.5)
    record({"a/b": 2.0}, step=3, run="fast", acc=0.25)
    recorder.file()
    assert recorder.series["fast", "a/b"].steps.tolist() == [3] and ("fast", "acc") in recorder.series
    assert set(recorder.series) == {("", "loss"), ("", "train/loss"), ("", "a/b"), ("", "acc"),
                                    ("fast", "a/b"), ("fast", "acc")}
    boards.record({"a tag of this test": 3.0})
    boards.RECORDER.file()
    assert boards.RECORDER.series.pop(("", "a tag of this test")).values.tolist() == [3.0]


def noted(recorder, run=""):
    recorder.note(run, [Mark(40, recorder._clock(), "rate", "rate 0.1 → 0.01 at step 40 <b>", (0.1, 0.01))])


def test_marks_are_in_the_state_the_picture_and_the_text(recorder):
    report(recorder, 100)
    noted(recorder)
    board, browser = LiveBoard("loss", recorder=recorder), Browser()
    board._send(browser, 0.0)
    (mark,) = browser.state["marks"]
    assert (mark[0], mark[2:]) == (40, ["rate", "rate 0.1 → 0.01 at step 40 <b>", -1]) and mark[1] >= 0
    drawn = ET.fromstring(board.svg())
    titles = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["rate 0.1 → 0.01 at step 40 <b>"] and "<b>" not in board.svg()
    assert repr(board).endswith("◆ rate 0.1 → 0.01 at step 40 <b>")
    count = board._count()
    noted(recorder)
    assert board._count() != count, "a mark without a new value is told, too"


def test_marks_of_several_runs_have_their_names_and_colours(two_runs):
    noted(two_runs, "fast")
    board = LiveBoard("loss", recorder=two_runs)
    (mark,) = board.marks()
    assert (mark.text, mark.color) == ("fast: rate 0.1 → 0.01 at step 40 <b>", board.curves()[1].color)
    far = LiveBoard("loss", runs=["slow"], recorder=two_runs)
    assert far.marks() == []


def test_other_runs_are_faint_on_request_and_change_no_colour(recorder):
    report(recorder, 10)
    board, browser = LiveBoard("loss", recorder=recorder), Browser()
    board.widget, board._heard = browser, True
    board._send(browser, 0.0)
    assert "others" not in browser.state, "nobody finds any"
    asked = []

    def find():
        asked.append(1)
        found = [Series("loss", "a/night"), Series("other", "a/night")]
        for series in found:
            series.extend(np.arange(5.0), np.full(5, 0.5, np.float32), np.arange(5.0))
        return found
    board.find_others = find
    own = board.curves()
    board._on_message(browser, {"type": "look", "others": True}, [])
    board._send(browser, 1.0)
    board._send(browser, 2.0)
    assert browser.state["others"] == [{"name": "night", "group": "loss"}] and asked == [1]
    assert browser.points[1000].shape == (5, 3) and browser.state["tags"] == [{"name": "loss", "color_index": 0}]
    assert [curve.color for curve in board.curves()] == [own[0].color, FAINT]
    assert board.svg().count('class="m"') == 1
    board.state = {"others": False}
    assert len(board.curves()) == 1 and board.svg().count('class="m"') == 0


def test_the_share_of_a_run_makes_lengths_comparable(two_runs):
    noted(two_runs, "slow")
    board = LiveBoard("loss", x="share", recorder=two_runs)
    assert [curve.along("share")[-1] for curve in board.curves()] == [100, 100]
    assert "100 %" in board.svg() and board.marks()[0].along("share", board.curves()) == 400
    assert board.figure().axes[0].get_xlabel() == "%"


@pytest.mark.parametrize(("x", "bounds"), [("step", (5000, 5100)), ("share", (50, 51)), ("time", (50, 51))])
def test_a_zoomed_plot_gets_the_points_that_it_lacks(x, bounds):
    clock = [0.0]
    recorder = Recorder(lambda: clock[0])
    report(recorder, 1)
    clock[0] = 100.0
    report(recorder, 9999, begin=1)
    recorder.series["", "loss"].times[:] = np.arange(10000) / 100
    board, browser = LiveBoard("loss", x=x, recorder=recorder), Browser()
    board.widget = browser
    sent = []
    browser.send = lambda content, buffers: sent.append((content, np.frombuffer(buffers[0], np.float32).reshape(-1, 3)))
    board._on_message(browser, {"type": "zoom", "range": list(bounds)}, [])
    ((content, found),) = sent
    assert content == {"type": "detail", "tag": 0, "range": list(bounds)}
    assert found[0, 0] <= 5000 and found[-1, 0] >= 5099 and len(found) in (101, 102, 103)
    for wrong in ([1], None, ["a", "b"]):
        board._on_message(browser, {"type": "zoom", "range": wrong}, [])
    assert len(sent) == 1


def test_the_numbers_of_a_saved_board_come_without_a_warning(recorder):
    report(recorder, 10)
    recorder.scalars({"loss": float("nan")}, 10)
    recorder.file(everything=True)
    ((steps, values),) = numbers(LiveBoard(recorder=recorder).curves(), "step")
    assert steps == list(range(10)) and values[0] == 0
