"""The instrument itself: guarded memory, and that each planted fault is found."""
from __future__ import annotations

import sys

import numpy as np
import pytest

import tfnb as tf
from tests.modes import compiling
from tests.safety.guard import PATTERNS, Block, Trespass, empty, guarded, watching
from tests.safety.mutations import mutations
from tests.safety.planted import CALL, KERNELS, OP
from tests.safety.service import Worker
from tfnb.opdef import registry

PLANTED = (sys.executable, "-W", "ignore", "-m", "tests.safety.planted")
FOUND = {
    "none": "", "reads behind its input": "CRASH", "reads before its input": "FOREIGN",
    "writes behind its output": "CRASH", "writes before its output": "MEMORY",
    "writes behind its scratch": "CRASH", "leaves an element out": "FOREIGN", "checks in the first run only": "RUNS",
}


@pytest.fixture(scope="module")
def planted():
    with Worker(PLANTED, limit=2.0) as worker:
        yield worker


@pytest.mark.parametrize("fault", FOUND)
def test_each_planted_fault_is_found(fault, planted):
    longer = next(i for i, m in enumerate(mutations(CALL)) if m.arrays[0].shape == (11,))
    found = planted.ask(fault, 0, [longer] if fault == "checks in the first run only" else [])["problems"]
    assert any(p.startswith(FOUND[fault]) for p in found) if FOUND[fault] else not found, found


def test_a_worker_that_does_not_end_is_stopped_and_another_one_answers(planted):
    with Worker((sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"), limit=0.05) as idle:
        assert idle.ask(OP, 0, [])["problems"] == ["HANG more than 0.05 s"]
    assert planted.ask("never ends", 0, [])["problems"] == ["HANG more than 2.0 s"]
    assert planted.ask("none", 0, [])["problems"] == []


@pytest.mark.parametrize("nbytes", [0, 1, 4096, 5000])
def test_a_block_knows_what_was_written_around_it(nbytes):
    block = Block(nbytes)
    assert len(block.bytes) == nbytes and (block.bytes == PATTERNS[0]).all() and not block.trespassed()
    if block._front.size:
        block._front[-1] = 0
        assert block.trespassed()


def test_arrays_keep_shape_and_values():
    array, _ = empty((3, 2), np.float32)
    assert array.shape == (3, 2) and (array.view(np.uint8) == PATTERNS[0]).all()
    assert guarded(np.arange(5)).tolist() == [0, 1, 2, 3, 4]


def test_programs_are_as_before_afterwards(monkeypatch):
    x = tf.placeholder(tf.float32, [3])
    with compiling("always"), tf.Session() as sess:
        with watching() as watch:
            guarded_sum = sess.run(tf.cumsum(x), {x: [1, 2, 3]})
            assert watch.runs == 1
        assert sess.run(tf.cumsum(x), {x: [1, 2, 3]}).tolist() == guarded_sum.tolist() == [1, 3, 6]
        assert watch.runs == 1


def test_a_write_around_an_array_raises(monkeypatch):
    monkeypatch.setitem(vars(registry.OPS[OP]), "cpu", KERNELS["writes before its output"])
    x = tf.placeholder(tf.float32, [3])
    with compiling("always"), watching(), tf.Session() as sess, pytest.raises(Trespass, match="around an array"):
        sess.run(tf.cumsum(x), {x: [1, 2, 3]})
