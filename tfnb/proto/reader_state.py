"""Serialized states of readers: the fields of TensorFlow's ReaderBaseState message."""
from __future__ import annotations

from typing import NamedTuple

from tfnb.core.errors import InvalidArgumentError
from tfnb.proto.varints import read_varint, varint


class ReaderState(NamedTuple):
    """Counts of a reader, and the work unit that it is at."""

    started: int = 0
    finished: int = 0
    produced: int = 0
    current: bytes = b""

    def serialized(self) -> bytes:
        """Return the message; fields that are 0 or empty are left out."""
        counts = b"".join(bytes([number << 3]) + varint(count) for number, count in enumerate(self[:3], 1) if count)
        return counts + (b"\x22" + varint(len(self.current)) + self.current if self.current else b"")


def parse_state(data: bytes) -> ReaderState:
    """Return the state in a message. Raises InvalidArgumentError for anything else."""
    found, at = [0, 0, 0, b""], 0
    try:
        while at < len(data):
            tag, at = read_varint(data, at)
            value, at = read_varint(data, at)
            if tag == 0x22:
                found[3], at = data[at:at + value], at + value
            elif tag in (0x08, 0x10, 0x18):
                found[(tag >> 3) - 1] = value
            else:
                raise ValueError(f"tag {tag}")
        state = ReaderState(*found)                # type: ignore[arg-type]
        if at != len(data) or not state.finished <= state.started < 1 << 63 or state.produced >> 63:
            raise ValueError("bad counts or length")
    except (ValueError, IndexError) as error:
        raise InvalidArgumentError(None, None, f"Could not parse state for reader: {data[:80]!r} ({error})") from None
    return state
