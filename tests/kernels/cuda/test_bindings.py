"""A session's calls go through NVIDIA's Python bindings to a driver in C that notes its arguments."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tfnb.kernels.cuda import device

pytestmark = [
    pytest.mark.cuda_compile,
    pytest.mark.skipif(not device.can_compile() or sys.platform != "linux" or shutil.which("cc") is None,
                       reason="numba-cuda, Linux or a C compiler is not there"),
]
PROGRAM = """
import numpy as np, tfnb as tf
from tfnb.kernels.cuda import device
device.gpu = lambda: device.Gpu("a stub", (9, 0), 80 << 30)
with tf.device("/gpu:0"):
    x, w = tf.placeholder(tf.float32, [8, 4]), tf.Variable(tf.ones([4, 3]))
    loss = tf.reduce_sum(tf.square(tf.matmul(x, w)))
    step = tf.train.GradientDescentOptimizer(.1).minimize(loss)
config = tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=.5))
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        sess.run([loss, step], {x: np.ones([8, 4])})
    for i in range(4):
        sess.run(step, {x: np.ones([8, 4])})
"""


def test_calls_reach_the_driver_with_their_arguments(tmp_path):
    stub, log = tmp_path / "libcuda.so.1", tmp_path / "log"
    source = Path(__file__).with_name("driver_stub.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", stub, source, "-ldl"], check=True, timeout=60)
    environment = {**os.environ, "STUB_LOG": str(log), "LD_LIBRARY_PATH": str(tmp_path)}
    subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], env=environment, check=True, timeout=200)
    calls = log.read_text(encoding="utf-8").splitlines()
    assert "anything" not in calls
    pool = calls.index(f"cuMemPoolCreate 1 0 1 0 {40 << 30}")          # pinned, no handle, on device 0, half of it
    assert calls[pool + 1] == "cuMemPoolSetAttribute 4 ffffffffffffffff"
    assert "cuLibraryLoadData ELF 0 0" in calls
    begin = calls.index("cuStreamBeginCapture 2")
    launches = [call for call in calls[begin:calls.index("cuStreamEndCapture")] if call.startswith("cuLaunchKernel")]
    assert launches[0] == "cuLaunchKernel 1 1 1 256 1 1 0 extra 0 words 0 0 32 4 32"      # x: 32 floats of 4 bytes
    assert calls[begin + 1] == "cuMemcpyHtoDAsync 128" and len(launches) == 4
    replays = calls[calls.index("cuGraphInstantiate") + 1:]
    assert replays[:4] == ["cuGraphLaunch", "cuStreamSynchronize"] * 2
    last = max(i for i, call in enumerate(calls) if call == "cuGraphLaunch")
    assert calls[last - 1] == "cuGraphExecMemcpyNodeSetParams 1 1 2 1 128 1 1"
