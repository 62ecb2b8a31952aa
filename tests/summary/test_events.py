from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time

import pytest

from tfnb.proto.event_files import EventFile
from tfnb.proto.event_pb2 import Event
from tfnb.summary.events import summary_iterator


def steps(path):
    return [event.step for event in summary_iterator(path)][1:]


def test_a_file_begins_with_its_version(tmp_path):
    file = EventFile(tmp_path / "made" / "on the way", suffix=".mine")
    file.close()
    first, = summary_iterator(file.path)
    assert first.file_version == "brain.Event:2"
    assert first.wall_time == pytest.approx(time.time(), abs=60)
    assert file.path.name.startswith("events.out.tfevents.") and file.path.name.endswith(".mine")


def test_files_of_one_second_do_not_meet(tmp_path):
    files = [EventFile(tmp_path) for _ in range(3)]
    for step, file in enumerate(files, 1):
        file.add(Event(step=step).SerializeToString())
        file.close()
    assert [steps(file.path) for file in files] == [[1], [2], [3]]


def test_flush_waits_until_all_is_in_the_file(tmp_path):
    file = EventFile(tmp_path, max_queue=2)
    for step in range(1, 101):
        file.add(Event(step=step).SerializeToString())
    file.flush()
    assert steps(file.path) == list(range(1, 101))
    file.close()
    file.close()
    assert file.closed


def test_events_reach_the_file_with_no_further_call(tmp_path):
    file = EventFile(tmp_path, flush_secs=0.05)
    file.add(Event(step=1).SerializeToString())
    deadline = time.monotonic() + 30
    while not steps(file.path) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert steps(file.path) == [1]
    file.close()


def test_an_event_is_taken_as_it_is_when_added(tmp_path):
    file, event = EventFile(tmp_path), Event(step=1)
    file.add(event.SerializeToString())
    event.step = 2
    file.close()
    assert steps(file.path) == [1]


def test_several_threads_add(tmp_path):
    file = EventFile(tmp_path)
    data = [[Event(step=100 * k + i).SerializeToString() for i in range(100)] for k in range(4)]
    threads = [threading.Thread(target=lambda k=k: [file.add(event) for event in data[k]]) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    file.close()
    assert sorted(steps(file.path)) == list(range(400))


def test_a_dropped_file_is_finished(tmp_path):
    file = EventFile(tmp_path)
    path = file.path
    file.add(Event(step=1).SerializeToString())
    del file
    gc.collect()
    assert steps(path) == [1]
    assert not [thread for thread in threading.enumerate() if path.name in thread.name]


def test_what_waits_at_the_end_of_the_program_is_written(tmp_path):
    code = f"""
from tfnb.proto.event_pb2 import Event
from tfnb.proto.event_files import EventFile
file = EventFile({str(tmp_path)!r})
file.add(Event(step=7).SerializeToString())
print(file.path)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert steps(done.stdout.strip()) == [7]


def test_a_full_disk_is_reported_and_blocks_nobody(tmp_path, monkeypatch):
    def fail(self, record):
        raise OSError(28, "No space left on device")

    file = EventFile(tmp_path, max_queue=1)
    monkeypatch.setattr("tfnb.proto.records.RecordWriter.write", fail)
    with pytest.raises(OSError, match="No space left"):
        for step in range(10):
            file.add(Event(step=step).SerializeToString())
        file.flush()
    with pytest.raises(OSError, match="No space left"):
        file.add(Event().SerializeToString())
    with pytest.raises(OSError, match="No space left"):
        file.close()
