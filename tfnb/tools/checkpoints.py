"""The checkpoints of a directory."""
from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfnb.core.errors import NotFoundError, OpError
from tfnb.proto.checkpoint import checkpoint_files, open_checkpoint
from tfnb.train.checkpoints.state import get_checkpoint_state, meta_graph_filename

_STEP = re.compile(r"-(\d+)$").search


@dataclass(frozen=True)
class CheckpointInfo:
    """A checkpoint: its prefix, the step in its name (None without one), when it was written (seconds since the epoch),
    the bytes of its files, how many tensors it has, whether it is the newest by the directory's "checkpoint" file.

    problem: why it can't be opened, else "". meta: it has a meta graph beside it.
    """

    path: str
    step: int | None
    time: float
    bytes: int
    tensors: int
    newest: bool
    meta: bool
    problem: str = ""

    @property
    def name(self) -> str:
        """The last part of the prefix."""
        return os.path.basename(self.path)


def list_checkpoints(directory: Any) -> list[CheckpointInfo]:
    """The checkpoints in a directory, oldest first: those that its file "checkpoint" names, and all others.

    Raises NotFoundError if there is no such directory.
    """
    folder = os.fsdecode(directory)
    if not os.path.isdir(folder):
        raise NotFoundError(None, None, f"there is no directory {folder}")
    state = get_checkpoint_state(folder)
    named = list(state.all_model_checkpoint_paths) if state is not None else []
    newest = state.model_checkpoint_path if state is not None else ""
    found = [_info(path, _same(path, newest)) for path in _prefixes(folder, named)]
    return sorted(found, key=lambda info: (info.time, -1 if info.step is None else info.step, info.path))


def _same(path: str, other: str) -> bool:
    return bool(other) and os.path.abspath(path) == os.path.abspath(other)


def _prefixes(folder: str, named: Iterable[str]) -> list[str]:
    """Each checkpoint once: those that are named and there, and those of the second format in the folder."""
    found = {os.path.abspath(path): path for path in named if checkpoint_files(path)}
    for index in sorted(Path(folder).glob("*.index")):
        path = str(index).removesuffix(".index")
        found.setdefault(os.path.abspath(path), path)
    return list(found.values())


def _info(path: str, newest: bool) -> CheckpointInfo:
    files = [file for file in checkpoint_files(path) if os.path.exists(file)]
    step = _STEP(path)
    problem, tensors = "", 0
    try:
        tensors = len(open_checkpoint(path).entries)
    except OpError as error:
        problem = error.message
    return CheckpointInfo(path, int(step[1]) if step else None, max(map(os.path.getmtime, files), default=0.0),
                          sum(map(os.path.getsize, files)), tensors, newest,
                          os.path.exists(meta_graph_filename(path)), problem)
