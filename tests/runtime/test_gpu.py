"""Sessions that have no use for a GPU look for none."""
from __future__ import annotations

import subprocess
import sys

UNASKED = """
import sys
import tfnb as tf
x = tf.placeholder(tf.float32, [3])
with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess, tf.device("/cpu:0"):
    y = tf.exp(x)
    for _ in range(3):
        sess.run(y, {x: [1, 2, 3]})
print([name for name in sys.modules if name.startswith("numba.cuda")])
"""


def test_nobody_looks_for_a_gpu_unasked():
    done = subprocess.run([sys.executable, "-c", UNASKED], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
