"""RecordInput: batches of shuffled records of TFRecord files, epoch after epoch without end."""
from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from typing import Any

import numpy as np

from tfnb.core.errors import InvalidArgumentError, NotFoundError, OpError, OutOfRangeError
from tfnb.core.files.paths import matching
from tfnb.core.shape import Static
from tfnb.ops.declaration.declare import host
from tfnb.proto.records import read_records


def _records(attrs: Any) -> Iterator[bytes]:
    """Yield records: of each epoch all, from a buffer that files fill in random order."""
    files = sorted(matching(attrs["file_pattern"].decode()))
    if not files:
        raise NotFoundError(None, None, f"no files match {attrs['file_pattern'].decode()!r}")
    for epoch in count():
        random = np.random.default_rng([attrs["file_random_seed"] & 0xFFFFFFFF, epoch])
        order = random.permutation(len(files))
        shift = int(len(files) * attrs["file_shuffle_shift_ratio"])
        found = _shuffled([files[i] for i in np.roll(order, -shift)], attrs, random)
        first = next(found, None)
        if first is None:
            raise OutOfRangeError(None, None, f"{attrs['file_pattern'].decode()!r}: the files have no records")
        yield first
        yield from found


def _shuffled(files: list[str], attrs: Any, random: np.random.Generator) -> Iterator[bytes]:
    buffer: list[bytes] = []
    for file in files:
        for record in read_records(file, attrs["compression_type"].decode()):
            buffer.append(record)
            if len(buffer) >= max(attrs["file_buffer_size"], 1):
                yield _any_of(buffer, random)
    while buffer:
        yield _any_of(buffer, random)


def _any_of(buffer: list[bytes], random: np.random.Generator) -> bytes:
    place = int(random.integers(len(buffer)))
    buffer[place], buffer[-1] = buffer[-1], buffer[place]
    return buffer.pop()


def _batch(ctx: Any) -> list[Static]:
    return [(ctx.attrs["batch_size"],) if ctx.attrs["batch_size"] >= 0 else None]


@host("-> records: string", shape=_batch, stateful=True, file_pattern="string", file_random_seed="int = 301",
      file_shuffle_shift_ratio="float = 0.0", file_buffer_size="int = 10000", file_parallelism="int = 16",
      batch_size="int = 32", compression_type="string = ''")
def RecordInput(*, ctx: Any) -> Any:
    """Read `batch_size` records of the TFRecord files that match a pattern, shuffled.

    file_random_seed: of files and records, in an order of its own (not TensorFlow's). file_shuffle_shift_ratio: by
    which part the list of shuffled files is rotated. file_buffer_size: how many records a record is chosen from; an
    epoch ends before the next one begins. file_parallelism makes no difference.
    """
    attrs, op = ctx.op.attrs, ctx.op
    if attrs["batch_size"] < 0:
        raise InvalidArgumentError(None, op, f"batch_size must be at least 0, got {attrs['batch_size']}")
    made = np.empty(attrs["batch_size"], object)
    with ctx.store.updating:
        held = ctx.store.resource(op, lambda: [_records(attrs)])
        try:
            made[:] = list(islice(held[0], attrs["batch_size"]))
        except OpError:                            # a generator that has raised is over
            held[0] = _records(attrs)
            raise
    return made


RecordInput.no_gradient("it reads strings")
