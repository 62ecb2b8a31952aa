"""Programs in the style of 0.7 (r0_07), 0.12, 1.0, 1.4 and 1.15: they run unchanged and learn what they should.

Each is run as it is, by `import tensorflow as tf` in a process for its release, and here with tfnb for tensorflow.
"""
from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import tfnb as tf

HERE = Path(__file__).parent
# The range of the score that a program prints last: an accuracy, or an error.
SCORES = {
    "r0_07_linear_regression": (0, 0.05), "r0_07_mnist_softmax": (0.95, 1), "r0_07_queue": (0.9, 1),
    "r0_07_rnn": (0.75, 1), "r0_07_word2vec": (0.9, 1), "r0_12_char_rnn": (0, 0.2), "r0_12_gan": (0, 1),
    "r0_12_mnist_cnn": (0.9, 1), "r0_12_tfrecords": (0, 1e-3), "r1_0_autoencoder": (0, 0.3),
    "r1_0_control_flow": (0, 1e-3), "r1_0_dqn": (5, 5), "r1_0_lstm": (0.9, 1), "r1_0_perceptron": (0.93, 1),
    "r1_0_seq2seq": (0.5, 1), "r1_15_policy_gradient": (0.9, 1),
    "r1_15_sequence_examples": (0.75, 1), "r1_15_wgan": (0, 0.8), "r1_15_saved_model": (0.9, 1), "r1_15_vae": (0, 0.6),
    "r1_4_dynamic_rnn": (0.9, 1), "r1_4_layers": (0.8, 1), "r1_4_logistic": (0.95, 1), "r1_4_saver": (0, 0.05),
    "r1_4_tfidf": (0.9, 1), "r1_4_wide_census": (0.85, 1),
}
RELEASES = sorted({re.match(r"r\d+_\d+", name)[0] for name in SCORES})
RUN = """
import runpy, sys
import tfnb
tfnb.install_as_tensorflow()
import tensorflow as tf
folder = sys.argv[1]
for path in sys.argv[2:]:
    print("program", path)
    sys.argv = [path, f"{folder}/{path.split('/')[-1]}"]
    tf.gfile.MakeDirs(sys.argv[1])
    tf.reset_default_graph()
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        assert not end.code
"""


def score(name, printed):
    found = re.findall(r"^score (\S+)$", printed, re.MULTILINE)
    low, high = SCORES[name]
    assert found and low <= float(found[-1]) <= high + 1e-3, f"{name}: expected {low} to {high}, got {found}"


def test_the_table_names_all_programs():
    assert sorted(SCORES) == sorted(path.stem for path in HERE.glob("r*.py"))


@pytest.mark.parametrize("release", RELEASES)
def test_programs_that_import_tensorflow(release, tmp_path):
    names = [name for name in SCORES if re.match(rf"{release}_(?!\d)", name)]
    paths = [(HERE / f"{name}.py").as_posix() for name in names]
    done = subprocess.run([sys.executable, "-c", RUN, tmp_path.as_posix(), *paths], text=True, capture_output=True,
                          check=False, timeout=300, env={**os.environ, "PYTHONPATH": str(HERE.parents[1])})
    assert not done.returncode, f"{done.stdout[-300:]}\n{done.stderr[-3000:]}"
    parts = re.split(r"^program .*$", done.stdout, flags=re.MULTILINE)[1:]
    for name, printed in zip(names, parts, strict=True):
        score(name, printed)


@pytest.mark.parametrize("name", sorted(SCORES.keys() - {"r0_07_rnn"}))    # which imports tensorflow.models
def test_programs_that_import_tfnb(name, tmp_path, capsys, monkeypatch):
    text = (HERE / f"{name}.py").read_text(encoding="utf-8")
    program = tmp_path / f"{name}.py"
    program.write_text(re.sub(r"^(import|from) tensorflow\b", r"\1 tfnb", text, flags=re.MULTILINE), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", [name, str(tmp_path)])
    before = set(tf.flags.FLAGS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)               # SummaryWriter with a file name
            runpy.run_path(str(program), run_name="__main__")
    except SystemExit as end:
        assert not end.code
    finally:
        for flag in set(tf.flags.FLAGS) - before:
            delattr(tf.flags.FLAGS, flag)
        tf.flags.FLAGS.unparse_flags()
        tf.reset_default_graph()
    score(name, capsys.readouterr().out)
