"""Each public function and class has an example in its docstring, which is executed here and gives what it says."""
from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

import tfnb as tf
from tests import example_run
from tests.example_run import run, same, show, step, steps
from tfnb.tools.names import documentation, documented

# Public functions that have no example, and why.
WITHOUT = dict.fromkeys(["tf.load_ipython_extension", "tf.unload_ipython_extension"],
                        "IPython calls them at %load_ext and %unload_ext: tests/notebook")

# Examples of names that TensorFlow 2 has no more, as what it prints says.
ABSENT = re.compile(r"AttributeError: (module |.*not available with Keras)")
# Examples that print something else in TensorFlow 2, and why.
DIFFERENT = {"tf.logging.flush": "not implemented there", "tf.test.is_built_with_xla": "it is",
             "tf.enable_eager_execution": "it would", "tf.enable_v2_behavior": "it would",
             "tf.test.Benchmark": "prints another line",
             "tf.IndexedSlicesSpec": "its dtype is private there",
             "tf.compat.forward_compatible": "2.21 is compatible with more",
             "tf.config.experimental.get_memory_growth": "knows no CPU",
             "tf.linalg.tridiagonal_solve": "takes no lists", "tf.print": "prints from C++",
             "tf.nn.quantized_relu_x": "has no kernel there",
             "tf.train.experimental.DynamicLossScale": "its update has a value",
             **dict.fromkeys([f"tf.config.{name}" for name in (
                 "set_logical_device_configuration", "experimental.set_virtual_device_configuration",
                 "threading.set_inter_op_parallelism_threads", "threading.set_intra_op_parallelism_threads")],
                 "refused once something has run"),
             "tf.test.create_local_cluster": "needs the package portpicker",
             "tf.math.special.bessel_y1": "NaN at 0, where the function goes to minus infinity",
             "tf.test.main": "has absl's arguments",
             "tf.train.SyncReplicasOptimizer": "its session takes two minutes to close",
             "tf.test.test_src_dir_path": "Bazel's directory", "tf.install_as_tensorflow": "not there",
             **dict.fromkeys([f"tf.resource_loader.{name}" for name in (
                 "get_data_files_path", "get_path_to_datafile", "get_root_dir_with_all_resources",
                 "load_resource")], "looks for the file of the caller")}
# The class of an error is TensorFlow's; its text says more here.
ERROR = re.compile(r"(\w+(?:Error|Exit)): .*", re.DOTALL)
FLAG = "<absl.flags"        # a definition returns None in 1.x, the flag in 2.x


def faults(doc: str) -> list[str]:
    """Return the steps of an example that print something else than it says."""
    wanted = steps(doc)
    got = run(tf, [source for source, _ in wanted])
    return [f">>> {source}{text}\ninstead of\n{want}" for (source, want), text in zip(wanted, got, strict=True)
            if not same(text, want)]


@pytest.mark.parametrize("value, text", [
    (np.float32(0.1), "0.1"), (np.int64(3), "3"), (np.bool_(True), "True"), (1e-9, "0.0"), (-0.0, "0.0"),
    (b"a", "b'a'"), (np.array([0.5, 1], np.float32), "array([0.5, 1. ], dtype=float32)"),
    ([np.float32(1), None], "[1.0, None]"),
    (np.zeros([1, 2, 1], np.int32), "array([[[0],\n        [0]]], dtype=int32)"), ((1j,), "(1j,)"),
    ({"a": 1}, "{'a': 1}")])
def test_results_are_printed_alike_by_each_numpy(value, text):
    assert show(value) == text


def test_another_result_is_found():
    assert same("array([0.3333, 1.    ])", "array([0.3334,\n 1.])") and same("<a at 0x7>", "<a at ...>")
    assert not same("array([0.3333, 1.0])", "array([0.3353, 1.0])") and not same("[1, 2]", "[1, 2, 3]")
    assert not same("array([1], dtype=int32)", "array([1], dtype=int64)")
    assert step("1 / 0\n", {}) == "ZeroDivisionError: division by zero"
    assert faults(">>> sess.run(tf.constant(2) + 3)\n6\n") and not faults(">>> sess.run(tf.constant(2) + 3)\n5\n")


def test_which_have_no_example():
    missing = {name for name, value in documented().items() if ">>> " not in documentation(value)}
    assert missing == WITHOUT.keys(), "write an example"


@pytest.mark.parametrize("room", sorted({name.rpartition(".")[0] for name in documented()}))
def test_examples_give_what_they_say(room):
    texts = {name: documentation(value) for name, value in documented().items() if name.rpartition(".")[0] == room}
    found = {name: faults(doc) for name, doc in texts.items() if ">>> " in doc}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.slow
def test_real_tensorflow_gives_the_same(oracle):
    """Every sixth name; all of them with TFNB_STRESS=1, which takes a minute or two."""
    share = 1 if os.environ.get("TFNB_STRESS") else 6
    listed = sorted((name, value) for name, value in documented().items()
                    if not name.startswith("tf.keras."))[::share]           # TensorFlow 2 has Keras 3 there
    texts = {name: steps(documentation(value)) for name, value in listed}
    sources = {name: [source for source, _ in listed] for name, listed in texts.items()
               if listed and name not in DIFFERENT}
    answers = oracle("exec(runner, globals()); result = {name: run(tf, listed) for name, listed in sources.items()}",
                     runner=Path(example_run.__file__).read_text(encoding="utf-8"), sources=sources)
    known = {name: got for name, got in answers.items() if not any(ABSENT.match(text) for text in got)}
    assert len(known) > len(answers) // 2
    different = [f"{name}: {source}TensorFlow: {text}, documented: {want}" for name, got in known.items()
                 for text, (source, want) in zip(got, texts[name], strict=True)
                 if not text.startswith(FLAG) and not same(ERROR.sub(r"\1", text), ERROR.sub(r"\1", want))]
    assert not different, "\n".join(different)
