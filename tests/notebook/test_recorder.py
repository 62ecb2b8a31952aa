"""What a step reports, and how it is filed."""
import struct
import threading

import numpy as np
import pytest

from tfnb.notebook.plots.recorder import BATCH, FIRST, NUMBERS, Recorder
from tfnb.notebook.plots.wire import WireError, read_scalars, scalar_layout


def field(number, kind, body):
    size = bytes([len(body)]) if kind == 2 and len(body) < 128 else b""
    if kind == 2 and not size:
        size = bytes([len(body) & 127 | 128, len(body) >> 7])
    return bytes([number << 3 | kind]) + size + body


def scalar(tag, value):
    return field(1, 2, field(1, 2, tag.encode()) + field(2, 5, struct.pack("<f", value)))


def histogram(tag, body):
    return field(1, 2, field(1, 2, tag.encode()) + field(5, 2, body))


def test_the_layout_names_scalars_and_passes_over_the_rest():
    data = scalar("loss", 0.5) + histogram("w", b"abc" * 60) + scalar("é", 2)
    layout, more = scalar_layout(data)
    assert more and not scalar_layout(scalar("loss", 0.5))[1]
    assert [tag for tag, _ in layout] == ["loss", "é"]
    assert [struct.unpack_from("<f", data, place)[0] for _, place in layout] == [0.5, 2]


@pytest.mark.parametrize("data", [b"\x0a", b"\x0a\x7f", b"\xff" * 12, b"\x0b"])
def test_what_is_no_message_is_refused(data):
    with pytest.raises(WireError):
        scalar_layout(data)
    assert read_scalars([data]) == []


def test_a_batch_of_several_layouts_is_read_whole():
    rng = np.random.default_rng(3)
    messages, expected = [], {"a": [], "b": [], "c": []}
    for i in range(300):
        tag = "ab"[i % 2]
        value = float(np.float32(rng.normal()))
        expected[tag].append((i, value))
        data = scalar(tag, value)
        if i % 3 == 0:
            expected["c"].append((i, float(i)))
            data += histogram("w", bytes(rng.integers(0, 255, 8, dtype=np.uint8))) + scalar("c", i)
        messages.append(data)
    found = {"a": [], "b": [], "c": []}
    for tag, indices, values in read_scalars(messages):
        found[tag] += list(zip(indices.tolist(), values.tolist(), strict=True))
    assert {tag: sorted(pairs) for tag, pairs in found.items()} == expected


def test_a_fetched_summary_that_is_then_written_counts_once_with_its_step():
    recorder = Recorder()
    for step in range(5, 8):
        data = scalar("loss", step)
        recorder.summary(data, None, "")
        recorder.summary(data, step * 10, "logs")
    recorder.file()
    assert list(recorder.series) == [("logs", "loss")]
    series = recorder.series["logs", "loss"]
    assert series.steps.tolist() == [50, 60, 70] and series.values.tolist() == [5, 6, 7]


def test_filing_waits_once_for_the_step_of_the_newest_fetch():
    recorder = Recorder()
    data = scalar("loss", 1)
    recorder.summary(data, None, "")
    recorder.file()
    assert ("", "loss") not in recorder.series
    recorder.summary(data, 40, "")
    recorder.file()
    assert recorder.series["", "loss"].steps.tolist() == [40]
    recorder.new_cell()
    recorder.summary(data, None, "")
    recorder.file()
    recorder.file()
    assert recorder.series["", "loss"].steps.tolist() == [40, 41]


def test_fetches_between_two_writes_do_not_count_until_another_cell_runs():
    recorder = Recorder()
    for step in range(20):
        recorder.summary(scalar("loss", step), None, "")
        if step % 10 == 0:
            recorder.summary(scalar("loss", step), step, "logs")
    recorder.file(everything=True)
    assert {key: series.steps.tolist() for key, series in recorder.series.items()} == {("logs", "loss"): [0, 10]}


def test_two_writers_of_a_tag_are_two_series():
    recorder = Recorder()
    for step in range(3):
        recorder.summary(scalar("loss", step), step, "logs/train")
        recorder.summary(scalar("loss", -step), step, "logs/test")
    recorder.file()
    assert recorder.series["logs/test", "loss"].values.tolist() == [0, -1, -2]
    assert recorder.series["logs/train", "loss"].steps.tolist() == [0, 1, 2]


def test_equal_summaries_of_two_steps_are_two_points():
    recorder = Recorder()
    for step in (1, 2):
        recorder.summary(scalar("loss", 1), step, "")
    recorder.file()
    assert recorder.series["", "loss"].steps.tolist() == [1, 2]


def test_values_by_name_take_what_float_reads():
    recorder = Recorder()
    recorder.scalars({"loss": np.float32(2), "acc": np.array(0.5)})
    recorder.scalars({"loss": 1, "acc": "nonsense"}, step=7)
    recorder.file()
    assert recorder.series["", "loss"].steps.tolist() == [0, 7]
    assert recorder.series["", "acc"].values[0] == 0.5 and np.isnan(recorder.series["", "acc"].values[1])


def test_the_inbox_is_filed_by_the_step_when_nobody_does():
    recorder = Recorder()
    for i in range(8 * BATCH):
        recorder.scalars({"loss": i})
        recorder.summary(scalar("x", i), i, "")
        recorder.scalars({"w": np.zeros(3)}) if i % 2 else None
        assert len(recorder._columns[""]["loss"]) < 2 * NUMBERS * BATCH and len(recorder._inbox) < BATCH
    assert min(len(recorder.series["", "x"]), len(recorder.series["", "loss"])) > 6 * BATCH
    assert recorder.histograms["", "w"].count > 3 * BATCH


def test_batches_get_as_large_as_they_are_quick():
    clock = [0.0]
    recorder = Recorder(lambda: clock[0])
    for seconds, most in ((1e-5, 2 * NUMBERS * BATCH), (1.0, 2 * NUMBERS * FIRST)):
        longest = 0
        for i in range(32 * BATCH):
            recorder.scalars({"loss": i})
            clock[0] += seconds
            longest = max(longest, len(recorder._columns[""]["loss"])) if i > 16 * BATCH else 0
        assert longest == most - 2
    recorder.file()
    times = recorder.series["", "loss"].times
    assert abs(times[-1] - times[-1001] - 1000) < 2


def test_numbers_of_all_kinds_and_arrays_may_come_under_one_tag():
    recorder = Recorder()
    for step, value in enumerate([1, 2.5, np.float16(3), np.array(4), np.int64(5), "x", 1e300, np.arange(3), True]):
        recorder.scalars({"v": value}, step=2 * step)
    recorder.file()
    series = recorder.series["", "v"]
    assert series.steps.tolist() == [0, 2, 4, 6, 8, 10, 12, 16]
    np.testing.assert_array_equal(series.values, np.array([1, 2.5, 3, 4, 5, np.nan, np.inf, 1], np.float32))
    assert recorder.histograms["", "v"].items(9)[0][0] == 14


def test_large_summaries_are_filed_before_they_fill_memory(monkeypatch):
    recorder = Recorder()
    data = scalar("loss", 1) + histogram("w", b"x" * 8000)
    monkeypatch.setitem(Recorder.summary.__globals__, "WAITING", 10 * len(data))
    for step in range(100):
        recorder.summary(data, step, "")
        assert len(recorder._inbox) <= 10
    assert len(recorder.series["", "loss"]) >= 90


def test_several_threads_lose_nothing():
    recorder = Recorder()
    def work():
        for i in range(5000):
            recorder.scalars({"loss": i})
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.file(everything=True)
    assert recorder.series["", "loss"].count == 15_000
