"""Checkpoints of any format, by their prefix."""
from __future__ import annotations

import glob
import os
import re
from contextlib import suppress

from tfnb.core.errors import DataLossError, NotFoundError
from tfnb.core.files.paths import local
from tfnb.proto.bundle import BundleReader
from tfnb.proto.checkpoint_v1 import CheckpointV1
from tfnb.proto.nearby import as_prefix, nearby

Checkpoint = BundleReader | CheckpointV1
_SHARD = re.compile(r"\.data-.{5}-of-.{5}")


def open_checkpoint(prefix: str) -> Checkpoint:
    """The checkpoint that `Saver.save` called `prefix`, or one of the first format: a file, or a pattern of files.

    Raises NotFoundError if there is none, DataLossError if it is damaged or something else.
    """
    prefix = local(prefix)
    if os.path.exists(f"{prefix}.index"):
        return BundleReader(prefix)
    if os.path.isdir(prefix):
        raise NotFoundError(None, None, f"{prefix} is a directory; pass the checkpoint's prefix, for example "
                            f"tf.train.latest_checkpoint(directory){nearby(prefix)}")
    try:
        return CheckpointV1(prefix)
    except DataLossError as error:
        raise DataLossError(None, None, "Unable to open table file (is it a checkpoint?): "
                            f"{error.message}{as_prefix(prefix)}") from None


def checkpoint_files(prefix: str) -> list[str]:
    """The files of a checkpoint of either format, the index last; none if it is not there."""
    prefix = local(prefix)
    folder, name = os.path.split(prefix)
    data = []
    # Not by a pattern of the prefix: Python keeps 32,768 of them, 800 bytes for each checkpoint of a long training.
    with suppress(OSError):
        data = sorted(os.path.join(folder, one) for one in os.listdir(folder or os.curdir)
                      if one.startswith(name) and _SHARD.fullmatch(one, len(name)))
    index = [f"{prefix}.index"] if os.path.exists(f"{prefix}.index") else []
    return data + index or sorted(glob.glob(prefix)) or ([prefix] if os.path.isfile(prefix) else [])
