"""The places of temporary buffers in the arena."""
import random

import pytest

from tfnb.compile.lower import Ref, Step
from tfnb.compile.memory import ALIGN, live_bytes, place_buffers
from tfnb.compile.values import Buffer


def made(seed):
    """Steps over buffers of random sizes and lifetimes."""
    choose = random.Random(seed)
    buffers = [Buffer("temp", "uint8", choose.choice([0, 1, 64, 65, 200, 5_000])) for _ in range(60)]
    named = [sorted(choose.sample(range(80), choose.randint(1, 3))) for _ in buffers]
    return buffers, [Step("", tuple(Ref(b) for b, times in zip(buffers, named, strict=True) if time in times), 1, 0, ())
                     for time in range(80)]


@pytest.mark.parametrize("seed", range(20))
def test_buffers_that_live_together_do_not_overlap(seed):
    buffers, steps = made(seed)
    offsets, size = place_buffers(steps)
    times = {b: [i for i, step in enumerate(steps) if any(ref.buffer is b for ref in step.args)] for b in buffers}
    assert all(offsets[b] % ALIGN == 0 and offsets[b] + b.nbytes <= size for b in buffers)
    for i, a in enumerate(buffers):
        for b in buffers[i + 1:]:
            if times[a][0] <= times[b][-1] and times[b][0] <= times[a][-1]:
                assert offsets[a] + max(1, a.nbytes) <= offsets[b] or offsets[b] + max(1, b.nbytes) <= offsets[a]
    peak = max(sum(max(ALIGN, -(-b.nbytes // ALIGN) * ALIGN) for b in buffers if times[b][0] <= t <= times[b][-1])
               for t in range(80))
    assert peak <= size <= 1.5 * peak                   # freed memory serves again


def lowest_places(buffers, lives):
    """First fit by looking at every place: the lowest one where no buffer lies that lives at the same time."""
    placed = {}
    for b in sorted(buffers, key=lambda b: (lives[b][0], -b.nbytes)):
        need = max(ALIGN, -(-b.nbytes // ALIGN) * ALIGN)
        # A buffer that came before is in the way if it is still in use when this one begins.
        taken = sorted((start, end) for a, (start, end) in placed.items() if lives[a][1] >= lives[b][0])
        at = 0
        for start, end in taken:
            if start - at >= need:
                break
            at = max(at, end)
        placed[b] = at, at + need
    return {b: start for b, (start, _) in placed.items()}, max(end for _, end in placed.values())


@pytest.mark.parametrize("seed", range(20))
def test_freed_neighbours_are_one_gap(seed):
    buffers, steps = made(seed)
    times = {b: [i for i, step in enumerate(steps) if any(ref.buffer is b for ref in step.args)] for b in buffers}
    assert place_buffers(steps) == lowest_places(buffers, {b: (times[b][0], times[b][-1]) for b in buffers})


def steps_of(*named):
    return [Step("", (*(Ref(b) for b in buffers), 7), 1, 0, ()) for buffers in named]


def test_what_only_the_first_run_computes_lives_on():
    a, b, c, d = (Buffer("temp", "uint8", 64 * size) for size in (1, 1, 1, 2))
    steps = steps_of([a, b], [b, c], [a, c], [d])
    assert place_buffers(steps) == ({a: 0, b: 64, c: 128, d: 0}, 192)
    assert place_buffers(steps, once=1) == ({a: 0, b: 64, c: 128, d: 128}, 256)      # a and b are read later
    assert place_buffers(steps, once=2) == ({a: 0, b: 64, c: 128, d: 192}, 320)
    assert place_buffers(steps, once=4) == place_buffers(steps)


def test_bytes_in_use_at_each_step():
    a, b, out = (Buffer(role, "float32", 10) for role in ("temp", "temp", "output"))
    given = Buffer("input", "float32", 1000)
    steps = steps_of([given, a], [a, b], [b, out], [given])
    assert live_bytes(steps) == [40, 80, 80, 40]
    assert live_bytes(steps, once=1) == [40, 80, 120, 80]
