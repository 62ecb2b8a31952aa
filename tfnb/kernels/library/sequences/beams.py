"""Backtracking of beams.

    gather_tree(call)   GatherTree (step_ids, parent_ids, max_sequence_lengths, end_token) -> beams
"""
from __future__ import annotations

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array
from tfnb.kernels.launch import Call, Launch


@kernel_function
def follow_beam(ids: Array, parents: Array, lengths: Array, end: Array, beams: Array, steps: int, batch: int,
                width: int, item: int) -> None:
    """Follow a beam of (steps, batch, width) from its last step to the first, then end it behind its first `end`."""
    example, step_size = item // width, batch * width
    length = max(0, min(steps, int(lengths[example])))
    for time in range(length, steps):
        beams[time * step_size + item] = end[0]
    beam = int(item % width)
    for back in range(length):
        time = length - 1 - back
        at = time * step_size + example * width + beam
        beams[time * step_size + item] = ids[at]
        beam = int(parents[at])
    ended = False
    for time in range(length):
        if ended:
            beams[time * step_size + item] = end[0]
        elif beams[time * step_size + item] == end[0]:
            ended = True


def gather_tree(call: Call) -> list[Launch]:
    """Return one launch, with an item for each beam of each example."""
    steps, batch, width = call.inputs[0].shape
    whole = steps * batch * width * 4
    return [follow_beam.launch(call, batch * width, call.input(0).reach(whole), call.input(1).reach(whole),
                               call.input(2).reach(batch * 4), call.input(3).reach(4), call.output().reach(whole),
                               steps, batch, width, cost=2 * steps)]
