"""The table of runs: filters, sorting, curves over one another, names of all kinds, what the browser says."""
import re
import time
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest

import tfnb as tf
from tfnb.notebook.ownership.start_page import StartPage
from tfnb.notebook.plots.recorder import Recorder
from tfnb.notebook.plots.training import Run
from tfnb.notebook.run_store import run_folder
from tfnb.notebook.run_store.keeper import keep
from tfnb.notebook.run_store.run_folder import kept_runs, other_curves
from tfnb.notebook.run_store.runs_view import RunsView, runs, when

EVIL = "<img src=x onerror=alert(1)>\u2028'\""


class Browser:
    def __init__(self):
        self.state, self.sent = {}, []

    def send(self, content, buffers=None):
        self.sent.append((content["type"], content.get("tag"), len(buffers[0]) if buffers else 0))


def made(root, name, steps=10, scale=1.0, **about):
    run = Run(lambda n: {"loss": scale / (n + 1), "accuracy": n / 10}, steps, recorder=Recorder(), name=name)
    assert not keep(run, root, about)
    run.start().wait()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(run_folder.settings, "runs_folder", str(tmp_path))
    made(tmp_path, "slow", 40, 4.0, seed={"graph": 7})
    made(tmp_path, "fast")
    made(tmp_path, EVIL, 5, sources={"[1]": "a"})
    return tmp_path


def test_a_sequence_of_runs_as_dicts(folder):
    found = runs()
    assert len(found) == 3 and {run.name for run in found} == {"slow", "fast", EVIL}
    row = next(row for row in found.dicts() if row["name"] == "slow")
    assert (row["steps"], row["seed"], row["loss"], row["accuracy best"]) == (40, 7, 0.1, 3.9)
    assert found["slow"].steps == 40 and found[0].folder.exists()
    with pytest.raises(KeyError, match="no run is called 'slwo'; did you mean 'slow'"):
        found["slwo"]


def test_a_data_frame_is_made_of_the_dicts(folder, monkeypatch):
    monkeypatch.setattr("tfnb.notebook.run_store.runs_view._pandas", SimpleNamespace(DataFrame=list))
    assert sum(row["steps"] for row in runs().frame()) == 55


@pytest.mark.parametrize(("pattern", "names"), [
    ("slow", ["slow"]), ("^(slow|fast)$", ["fast", "slow"]), ("SLOW", ["slow"]), ("loss<=0.1", ["fast", "slow"]),
    ("steps>5 fast", ["fast"]), ("status=done steps=5", [EVIL]), ("rate<1", []), ("seed=7", ["slow"]),
    ("name=fast", ["fast"]), ("loss<much", [])])
def test_words_filter(folder, pattern, names):
    assert sorted(run.name for run in runs(pattern)) == sorted(names)


def test_what_is_no_expression_and_no_column_is_refused(folder):
    with pytest.raises(ValueError, match=r"'\(' is no regular expression"):
        runs("(")
    with pytest.raises(ValueError, match="no column 'los'; did you mean 'loss'"):
        runs(sort="los")


def test_sorted_by_a_column(folder):
    lines = repr(runs(sort="steps", descending=True)).splitlines()
    assert [line.split()[0] for line in lines[3:6]] == ["slow", "fast", "<img"]
    names = [name for name, _ in runs(sort="best accuracy").table("runs").sorted_rows()]
    assert [run_folder.find_run(kept_runs(), name).name for name in names] == [EVIL, "fast", "slow"]


def test_text_html_and_picture_of_a_comparison(folder):
    view = runs().compare("slow", "fast")
    found = view.forms()
    assert "slow" in found["text/plain"] and re.search(r"fast/loss +0\.1 ", found["text/plain"])
    assert "<img" not in found["text/html"] and "&lt;img" in found["text/html"]
    drawn = ET.fromstring(view.board.svg())
    words = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert any(word.startswith("slow  0.1") for word in words if word)
    both = runs().compare()
    assert len(both.board.series()) == 6 and both.board.look.x == "step"


def test_two_runs_of_one_name_are_two_curves(folder):
    made(folder, "fast", 20)
    view = runs("fast").compare()
    assert len(view.board.series()) == 4 and len({curve.name for curve in view.board.curves()}) == 2


def test_the_browser_chooses_renames_deletes_and_takes_back(folder):
    view, browser = RunsView(), Browser()
    view.widget = browser
    slow = view["slow"].folder.name
    view.hear({"type": "act", "act": "check", "row": slow})
    assert browser.state["live"]["tags"][0]["name"] == "loss" and browser.sent[0][0] == "reset"
    assert {sent[:2] for sent in browser.sent} >= {("points", 0), ("points", 1)}
    browser.sent.clear()
    view.hear({"type": "live", "message": {"type": "ready"}})
    assert ("points", 0, 40 * 12) in browser.sent
    view.hear({"type": "live", "message": {"type": "look", "smoothing": 0.1, "x": "share"}})
    assert browser.state["live"]["x"] == "share"
    view.hear({"type": "act", "act": "rename", "row": slow})
    cells = {name: cells for name, cells in view.table("runs").rows}
    assert cells[slow][1].edit == "New name of slow"
    view.hear({"type": "edit", "table": "runs", "row": slow, "text": EVIL})
    assert view.found[-1].name == " ".join(EVIL.split()) and view.chosen
    view.hear({"type": "act", "act": "delete", "row": slow})
    assert len(view) == 2 and browser.state["live"] is None
    assert browser.state["buttons"] == [["undo", "Take back what was deleted"]]
    view.hear({"type": "act", "act": "undo", "row": ""})
    assert len(view) == 3 and browser.state["buttons"] == []
    view.hear({"type": "act", "act": "delete", "row": "../../etc"})
    assert browser.state["note"] == "that run is not there any more" and len(view) == 3


def test_the_browser_filters_and_what_is_wrong_is_said(folder):
    view, browser = RunsView(), Browser()
    view.widget = browser
    view.hear({"type": "filter", "text": "fast"})
    assert (len(view), browser.state["note"].partition(" in ")[0]) == (1, "1 of 3")
    view.hear({"type": "filter", "text": "("})
    assert "is no regular expression" in browser.state["note"] and len(view) == 1
    view.hear({"type": "filter", "text": "nothing"})
    assert browser.state["tables"] == [] and browser.state["note"].startswith("0 of 3")


def test_nothing_is_kept_yet(tmp_path):
    assert "none in" in repr(runs(folder=tmp_path / "none")) and runs(folder=tmp_path).dicts() == []


def test_earlier_runs_are_found_behind_a_training(folder):
    run = Run(lambda n: {"loss": 1.0}, 3, recorder=Recorder(), name="new")
    assert not keep(run, folder, {})
    run.start().wait()
    run.recorder.scalars({"loss": 2.0}, 0, "beside")
    run.recorder.file(everything=True)
    found = other_curves(run)
    assert len(found) == 7 and {series.run.rpartition("/")[2] for series in found} == {"slow", "fast", EVIL, "beside"}


def test_the_start_page_lists_runs_and_draws_them(folder):
    tf.reset_default_graph()
    page, browser = StartPage(), Browser()
    page.widget = browser
    lines = page.lines()
    head, first = lines[-4:-2]
    assert head[0].startswith("3 trainings kept in ") and first[1] == "Draw it" and "done, 5 steps" in first[0]
    page.hear({"type": "do", "name": first[2]})
    sheet = browser.state["sheet"]
    assert sheet["live"]["tags"] and len(sheet["tables"][0]["rows"]) == 3
    page.hear({"type": "sheet", "message": {"type": "filter", "text": "slow"}})
    assert len(browser.state["sheet"]["tables"][0]["rows"]) == 1
    page.hear({"type": "sheet", "message": {"type": "live", "message": {"type": "ready"}}})
    assert any(sent[0] == "points" for sent in browser.sent)


def test_times_as_a_person_says_them():
    now = time.time()
    assert when(0) == "" and re.fullmatch(r"\d\d:\d\d", when(now)) and when(now - 86400).startswith("yesterday ")
    assert when(86400 * 400).startswith("1971-")
