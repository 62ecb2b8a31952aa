"""Trainings on disk: what is written while they run, what is left of a kernel that was killed, names of all kinds."""
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tfnb as tf
from tfnb.notebook.plots.learning_rate import NumberRate
from tfnb.notebook.plots.recorder import Recorder
from tfnb.notebook.plots.training import Run
from tfnb.notebook.run_store import keeper, run_folder
from tfnb.notebook.run_store.keeper import keep, seeds, slug
from tfnb.notebook.run_store.kept_run import read_run, write_about
from tfnb.notebook.run_store.run_folder import delete, deleted_runs, empty_deleted, find_run, kept_runs, rename, restore

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = ["<script>alert(1)</script>", "../../up", "CON", "a/b\\c:d*?\"|", "e\u2028f\udc80", " . ", "x" * 300, "日本"]


def trained(root, name="lenet", steps=20, step=lambda number: {"loss": 1 / (number + 1)}, about=None, **more):
    run = Run(step, steps, recorder=Recorder(), name=name, **more)
    assert keep(run, root, about or {}) == ""
    return run.start()


def test_a_run_is_kept_with_its_values_and_how_it_ended(tmp_path):
    trained(tmp_path, step=lambda n: {"loss": (n - 5) ** 2 / 10, "accuracy": -abs(n - 8.0)}).wait()
    (run,) = kept_runs(tmp_path)
    assert (run.name, run.status, run.steps, run.tags) == ("lenet", "done", 20, ["loss", "accuracy"])
    assert (run.last("loss"), run.best("loss"), run.best("accuracy")) == ((19, 19.6), (5, 0), (8, 0))
    assert 0 < run.seconds < 60 and abs(run.started - time.time()) < 60
    assert run.about["schema"] == 1 and run.about["tfnb"] == tf.__version__
    curve = run.series["loss"]
    assert curve.steps.tolist() == list(range(20)) and curve.values[5] == 0 and 0 <= curve.times[0] < 60
    assert run.as_dict()["loss best step"] == 5


def test_a_long_run_is_thinned_to_its_extremes(tmp_path):
    trained(tmp_path, steps=20000, step=lambda n: {"loss": 9.0 if n == 7777 else 0.5}).wait()
    curve = kept_runs(tmp_path)[0].series["loss"]
    assert len(curve) <= keeper.POINTS + 2 and curve.values.max() == 9 and curve.steps[-1] == 19999


def test_changes_of_the_rate_and_the_end_are_marks(tmp_path):
    rate = NumberRate({"rate": 0.1}, "rate")
    run = trained(tmp_path, steps=None, step=lambda n: time.sleep(0.0005), rate=rate)
    run.wait_for_step()
    run.pause()
    run.hold(), run.release()
    run.set_rate(0.05)
    run.set_rate(0.01)
    run.resume()
    here = run.steps
    while run.steps < here + 3:
        time.sleep(0.001)
    run.stop("by Interrupt")
    kept = kept_runs(tmp_path)[0]
    pause, change, end = kept.marks
    assert change.text == f"rate 0.1 → 0.01 at step {int(change.step):,}", "one change, though it came in two"
    assert change.values == (0.1, 0.01) and kept.rate == 0.01 and kept.about["rate"]["first"] == 0.1
    assert pause.text.startswith(f"paused at step {int(pause.step):,} for ")
    assert end.text == f"stopped: by Interrupt at step {run.steps:,}" and kept.about["why"] == "by Interrupt"
    assert kept.about["rates"] == [[change.step, 0.01]]


def test_an_error_and_numbers_that_are_none_are_kept(tmp_path):
    def step(number):
        if number == 3:
            raise ZeroDivisionError("here")
        return {"loss": [1.0, math.inf, math.nan][number]}

    with pytest.raises(ZeroDivisionError):
        trained(tmp_path, step=step).wait()
    (run,) = kept_runs(tmp_path)
    json.loads((run.folder / "run.json").read_text("utf-8"), parse_constant=pytest.fail)
    assert run.status == "failed" and run.about["why"] == "ZeroDivisionError: here"
    assert run.best("loss") == (0, 1) and math.isnan(run.last("loss")[1])
    assert np.isinf(run.series["loss"].values[1])


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_makes_a_folder_that_every_system_takes(tmp_path, name):
    trained(tmp_path / "runs", name=name, step=lambda n: {name: 0.5}).wait()
    (run,) = kept_runs(tmp_path / "runs")
    assert run.folder.parent == tmp_path / "runs" and set(run.folder.name) <= set("0123456789-" + slug(name))
    assert len(run.folder.name) < 80 and all(char.isascii() for char in slug(name))
    assert run.name == name.replace("\udc80", "?")


def test_two_runs_of_one_second_have_two_folders(tmp_path):
    for _ in range(3):
        trained(tmp_path, steps=2).wait()
    assert len(kept_runs(tmp_path)) == 3


def test_a_disk_that_cannot_be_written_stops_no_training(tmp_path):
    (tmp_path / "file").write_text("")
    run = Run(lambda n: {"loss": 1.0}, 3, recorder=Recorder())
    said = keep(run, tmp_path / "file" / "runs", {})
    assert said.startswith("not kept on disk: ") and "\n" not in said and run.keeper is None
    assert run.start().wait().status == "done"


def test_a_disk_that_becomes_full_stops_no_training(tmp_path, monkeypatch):
    run = trained(tmp_path, steps=None, step=lambda n: time.sleep(0.0005))

    def full(*_):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(keeper, "write_about", full)
    assert run.wait_for_step().stop().status == "stopped"
    assert run.keeper.problem == "not kept on disk any more: No space left on device"
    assert kept_runs(tmp_path)[0].status == "running", "as it was when it began, for this process lives"


KILLED = """import json, sys, time
from pathlib import Path
from tfnb.notebook.plots.recorder import Recorder
from tfnb.notebook.plots.training import Run
from tfnb.notebook.run_store import keeper
keeper.PERIOD = 0.05, 0.05
run = Run(lambda n: time.sleep(0.001) or {"loss": float(n)}, None, recorder=Recorder(), name="night")
assert not keeper.keep(run, Path(sys.argv[1]), {})
run.start()
while json.loads((run.keeper.folder / "run.json").read_text("utf-8"))["steps"] < 200: time.sleep(0.01)
if sys.argv[2] == "kill": print("now", flush=True); time.sleep(60)
"""


@pytest.mark.parametrize("how", ["kill", "shut down"])
def test_a_kernel_that_ends_leaves_a_run_that_can_be_read(tmp_path, how):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path), how], stdout=subprocess.PIPE,
                          env=environment) as process:
        if how == "kill":
            process.stdout.readline()
            assert kept_runs(tmp_path)[0].status == "running"
            process.kill()
    (run,) = kept_runs(tmp_path)
    assert run.status == ("killed" if how == "kill" else "stopped")
    assert run.series["loss"].values[100] == 100 and run.steps > 100
    assert how == "kill" or run.about["why"] == "its kernel was shut down"


def test_without_psutil_a_run_that_is_silent_for_minutes_is_taken_for_dead(tmp_path, monkeypatch):
    monkeypatch.setattr("tfnb.notebook.run_store.kept_run.process_alive", lambda *_: None)
    trained(tmp_path).wait()
    (run,) = kept_runs(tmp_path)
    about = {**run.about, "status": "running"}
    write_about(run.folder, about)
    assert read_run(run.folder).status == "running"
    write_about(run.folder, {**about, "updated": "2026-01-01T00:00:00+00:00"})
    assert read_run(run.folder).status == "killed"


def test_rename_delete_and_take_back(tmp_path):
    for name in ("a", "b"):
        trained(tmp_path, name=name).wait()
    a = find_run(kept_runs(tmp_path), "a")
    assert rename(a, "  first\nrun ").name == "first run"
    with pytest.raises(ValueError, match="at least one letter"):
        rename(a, " ")
    with pytest.raises(KeyError, match="no run is called 'firts run'; did you mean 'first run'"):
        find_run(kept_runs(tmp_path), "firts run")
    place = delete(find_run(kept_runs(tmp_path), "first run"))
    assert [run.name for run in kept_runs(tmp_path)] == ["b"] and [run.name for run in deleted_runs(tmp_path)]
    assert restore(place).name == "first run" and len(kept_runs(tmp_path)) == 2
    assert restore(place) is None
    delete(find_run(kept_runs(tmp_path), "b"))
    assert (empty_deleted(tmp_path), deleted_runs(tmp_path)) == (1, [])


def test_a_run_that_goes_on_is_not_deleted(tmp_path):
    run = trained(tmp_path, steps=None, step=lambda n: time.sleep(0.0005))
    (kept,) = kept_runs(tmp_path)
    for act in (delete, lambda kept: rename(kept, "other")):
        with pytest.raises(ValueError, match="has not ended: stop it"):
            act(kept)
    run.stop()


def test_what_is_damaged_or_no_run_is_passed_over(tmp_path):
    assert kept_runs(tmp_path / "none") == []
    trained(tmp_path).wait()
    (run,) = kept_runs(tmp_path)
    for name, text in [("broken", '{"schema": 1'), ("list", "[1]"), ("other", "{}"), ("new", '{"schema": 99}')]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(text)
    assert {each.folder.name for each in kept_runs(tmp_path)} == {run.folder.name, "new"}
    odd = read_run(tmp_path / "new")
    assert (odd.status, odd.steps, odd.marks, odd.series, odd.last("x")) == ("killed", 0, [], {}, None)
    (events,) = run.folder.glob("events*")
    events.write_bytes(events.read_bytes()[:-7])
    assert len(run.series["loss"]) == 19


def test_seeds_of_the_graph_and_of_ops():
    tf.reset_default_graph()
    tf.set_random_seed(7)
    tf.random_normal([2], seed=3, name="noise")
    assert seeds(tf.get_default_graph()) == {"graph": 7, "ops": {"noise/RandomStandardNormal": (7, 3)}}


def test_tensorboard_reads_it(tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    trained(tmp_path, step=lambda n: {"loss": n / 2, "train/acc": 1.0}).wait()
    found = reader.EventAccumulator(str(kept_runs(tmp_path)[0].folder)).Reload()
    assert sorted(found.Tags()["scalars"]) == ["loss", "train/acc"]
    assert [(event.step, event.value) for event in found.Scalars("loss")][-2:] == [(18, 9.0), (19, 9.5)]


def test_the_folder_is_a_setting(tmp_path, monkeypatch):
    monkeypatch.setattr(run_folder.settings, "runs_folder", str(tmp_path / "here"))
    trained(tmp_path / "here").wait()
    assert len(kept_runs()) == 1


def test_histograms_and_pictures_of_summaries_are_kept(tmp_path):
    tf.reset_default_graph()
    numbers = tf.placeholder(tf.float32, [None])
    merged = tf.summary.merge([tf.summary.histogram("weights", numbers),
                               tf.summary.image("face", tf.zeros([1, 4, 6, 1]))])
    with tf.Session() as sess:
        data = sess.run(merged, {numbers: [-1.0, 0.0, 3.0]})
    recorder = Recorder()
    recorder.summary(data, 1, "again")
    run = Run(lambda n: recorder.summary(data, 10 + n, "again"), 5, recorder=recorder, name="again")
    recorder.file(everything=True)
    assert not keep(run, tmp_path, {})
    run.start().wait()
    loaded = kept_runs(tmp_path)[0].load(key="x")
    ((key, kept),) = loaded.histograms.items()
    steps = [step for step, _ in kept.items(9)]
    histogram = kept.items(1)[0][1]
    assert key == ("x", "weights") and steps == [10, 11, 12, 13, 14], "what an earlier run of the name made is not its"
    assert histogram.edges[0] == -1 and histogram.edges[-1] == 3 and histogram.counts.sum() == 3
    ((_, picture),) = loaded.pictures["x", "face/image/0"].items(1)
    assert (picture.width, picture.height) == (6, 4)
