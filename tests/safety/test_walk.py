"""Every op with arrays, called wrongly: no crash, no foreign memory, the same in each run and way of running it.

A fixed part of all calls; TFNB_STRESS=1 takes them all, `python -m tests.safety.walk` shows them.
"""
from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.every_op import OPS
from tests.safety.mutations import mutations
from tests.safety.records import records, walked
from tests.safety.service import COMMAND, Worker
from tests.safety.walk import calls
from tfnb.opdef import kinds

STRESS = bool(os.environ.get("TFNB_STRESS"))
PARTS = 4                         # tests, which may run side by side
TAKEN = 3                         # calls of each op
RANDOM = 10_000 if STRESS else 150
# Ops of which some calls still give different answers, and why.
OPEN: dict[str, str] = {}


def part_of(op: str) -> list[tuple[int, list[int]]]:
    """The calls of an op that are tried: the valid one, and some changes far apart, others for each op."""
    every = calls(op)
    assert every, f"{op} has no sample: write an example into its docstring, or a call into tests/safety/written.py"
    shift = sum(op.encode())
    step = max(1, len(every) // TAKEN)
    return every if STRESS else [every[0], *(every[(shift + i * step) % len(every)] for i in range(TAKEN - 1))]


def unexpected(problems: list[str]) -> list[str]:
    """Problems but those that memory is short, which is so in other calls at other times."""
    return [p for p in problems if "MemoryError" not in p and "ResourceExhausted" not in p]


def wrong(ops: list[str], command: tuple[str, ...] = COMMAND) -> list[str]:
    """What is found of some ops."""
    found = []
    with Worker(command) as worker:
        for op in ops:
            for number, picks in part_of(op):
                answer = worker.ask(op, number, picks)
                if op not in OPEN and unexpected(answer["problems"]):
                    found.append(f"{op} {number} {picks} {answer['label']}: {answer['problems']}")
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_wrong_calls_of_every_op(part):
    found = wrong(walked()[part::PARTS])
    assert not found, "\n".join(found)


def test_wrong_calls_of_ops_on_strings_by_machine_code():
    """Python's functions of bytes, which check places, take the few strings of a sample elsewhere."""
    ops = [op for op in walked() if isinstance(OPS.get(op), kinds.Host)
           and OPS[op].call.__module__.startswith(("tfnb.ops.strings.", "tfnb.ops.io."))]
    found = wrong(ops, (*COMMAND, "--small"))
    assert len(ops) > 40 and not found, "\n".join(found)


@pytest.fixture(scope="module")
def worker():
    with Worker() as made:
        yield made


@st.composite
def wrong_calls(draw):
    """An op, a valid call of it, and one to three changes."""
    op = draw(st.sampled_from([op for op in walked() if op not in OPEN]))
    number = draw(st.integers(0, len(records(op)) - 1))
    return op, number, draw(st.lists(st.integers(0, 10_000), min_size=1, max_size=3))


@settings(max_examples=RANDOM, deadline=None, derandomize=True, database=None,
          suppress_health_check=list(HealthCheck))
@given(call=wrong_calls())
def test_random_wrong_calls(worker, call):
    answer = worker.ask(*call)
    assert not unexpected(answer["problems"]), answer


def test_every_op_with_a_kernel_is_walked():
    assert len(walked()) > 300
    assert all(records(op) and mutations(records(op)[0]) for op in walked() if op != "NoOp")
