"""Runs in the environment that has real TensorFlow, started by the fixture `oracle`: reads requests, answers them."""
from __future__ import annotations

import os
import pickle
import struct
import sys
import traceback
from typing import Any, BinaryIO

# Its own libraries print to stdout: keep the real one for answers only.
ANSWERS: BinaryIO = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)

import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

tf.disable_v2_behavior()
tf.disable_resource_variables()


def answer(code: str, inputs: dict[str, Any]) -> tuple[bool, Any]:
    """(failed, what `code` assigned to `result`, or the traceback)."""
    tf.reset_default_graph()
    scope = {"tf": tf, "np": np, **inputs}
    try:
        exec(compile(code, "<oracle>", "exec"), scope)
        return False, scope.get("result")
    except Exception:
        return True, traceback.format_exc()


while header := sys.stdin.buffer.read(8):
    reply = pickle.dumps(answer(*pickle.loads(sys.stdin.buffer.read(struct.unpack("<Q", header)[0]))))
    ANSWERS.write(struct.pack("<Q", len(reply)) + reply)
    ANSWERS.flush()
