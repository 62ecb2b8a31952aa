"""The places of temporary buffers in the arena."""
import random

import pytest

from tfnb.compile.lower import Ref, Step
from tfnb.compile.memory import ALIGN, place_buffers
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
