"""Checkpoints near a path that is none, for the text of an error: what the folder has, and what was meant."""
from __future__ import annotations

import os
import re

from tfnb.core.text import did_you_mean

FILES = re.compile(r"\.(index|meta|data-\d+-of-\d+)$")


def nearby(path: str) -> str:
    """Return the end of a message on a path that is no checkpoint: "; did you mean 'logs/m-20', the latest of 3?".

    It names the prefix of a file of a checkpoint, the latest checkpoint of a directory or of a name without its step,
    the nearest name, or what is missing. "" if nothing helps.
    """
    if as_prefix(path):
        return as_prefix(path)
    inside = os.path.isdir(path)
    folder, name = (path, "") if inside else os.path.split(path)
    try:
        found = [file.removesuffix(".index") for file in os.listdir(folder or ".") if file.endswith(".index")]
    except OSError:
        return f"; there is no directory {folder!r}"
    steps = [each for each in found if inside or re.fullmatch(f"{re.escape(name)}-[0-9]+", each)]
    if steps:
        latest = os.path.join(folder, max(steps, key=_step))
        return f"; did you mean {latest!r}{f', the latest of {len(steps)}' if len(steps) > 1 else ''}?"
    return did_you_mean(name, sorted(found), show=lambda each: repr(os.path.join(folder, each))) or \
        ("" if found else f"; {folder or '.'!r} has no checkpoint")


def as_prefix(path: str) -> str:
    """Return the end of a message on a file of a checkpoint that is given for its prefix; "" for any other path."""
    prefix = FILES.sub("", path)
    return f"; a checkpoint is named by its prefix: {prefix!r}" if prefix != path and \
        os.path.exists(f"{prefix}.index") else ""


def _step(name: str) -> tuple[int, str]:
    """The key that orders names by their steps."""
    number = re.search(r"-([0-9]+)$", name)
    return int(number[1]) if number else -1, name
