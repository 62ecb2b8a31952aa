"""Every public name of TensorFlow 1.15 and every official op is there, or refused with a reason that the error tells.

`docs/api_status.md` lists them; TFNB_WRITE_DOCS=1 in the environment of this test writes it. tests/data/api_symbols.txt
has the public names of `tf`, `tf.compat.v1`, tf.estimator and tf.keras, and those of tf.contrib that public programs
use; tests/data/official_ops.txt the official ops.
"""
from __future__ import annotations

import importlib
import os
import subprocess
import sys
import types
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tfnb as tf
from tfnb.core.absent import refusal
from tfnb.opdef import refused, registry

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "api_status.md"
INTRODUCTION = """# TensorFlow 1.15's public names and ops, one by one

Written by `tests/test_api_status.py`, which looks each of them up. The names are those of `tf` and `tf.compat.v1`, of
`tf.estimator` and `tf.keras`, some of them newer than 1.15, and those of `tf.contrib` that public programs use. What is
refused raises an `AttributeError` that tells the reason. What the names do is tested in the folders of `tests/`; what
differs is told in [compatibility.md](compatibility.md).
"""


def listed(file: str) -> list[str]:
    return (ROOT / "tests" / "data" / file).read_text(encoding="utf-8").split()


def found(name: str) -> Any:
    """What the package has under a dotted name. Raises AttributeError."""
    if name.startswith("tf.core."):                 # `tensorflow.core` has messages, tfnb.core is a room of the house
        return message(name)
    value: Any = tf
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def message(name: str) -> Any:
    """A message, as `from tensorflow.core.framework import summary_pb2` finds it. Raises AttributeError."""
    module, _, inner = name.removeprefix("tf.core.").partition("_pb2")
    value: Any = importlib.import_module(f"tfnb.proto.{module.rpartition('.')[2]}_pb2")
    for part in inner.split(".")[1:]:
        value = getattr(value, part)
    return value


@cache
def state(name: str) -> str:
    """ "" for a public name that is there, else the reason why not; "missing" if there is none."""
    try:
        found(name)
    except AttributeError as error:
        reason = refusal(name.removeprefix("tf."))
        return reason if reason and (reason in str(error) or "type object" in str(error)) else "missing"
    return ""


def op_state(name: str) -> str:
    return "" if name in registry.names() else refused.refusal(name) or "missing"


def refused_part(names: dict[str, str]) -> list[str]:
    """A paragraph for each reason."""
    of = defaultdict(list)
    for name, reason in names.items():
        if reason:
            of[reason].append(name)
    return [f"* {reason} ({len(found)}): {', '.join(f'`{name}`' for name in found)}"
            for reason, found in sorted(of.items())]


def page() -> str:
    names = {name: state(name) for name in listed("api_symbols.txt")}
    ops = {name: op_state(name) for name in listed("official_ops.txt")}
    there = defaultdict(list)
    for name, reason in names.items():
        if not reason:
            there[name.rpartition(".")[0]].append(name.rpartition(".")[2])
    own = [name for name, reason in ops.items() if not reason]
    return "\n".join([
        INTRODUCTION,
        f"**{sum(not s for s in names.values())} of {len(names)} names** and **{len(own)} of {len(ops)} ops** "
        "are there.\n",
        "## Names that are refused\n", *refused_part(names), "\n## Ops that are refused\n", *refused_part(ops),
        "\n## Names that are there\n",
        *(f"* `{module}`: {', '.join(found)}" for module, found in sorted(there.items())),
        "\n## Ops that are there\n", ", ".join(own), ""])


def test_no_name_is_silently_absent() -> None:
    assert [name for name in listed("api_symbols.txt") if state(name) == "missing"] == []


def test_no_op_is_silently_absent() -> None:
    assert [name for name in listed("official_ops.txt") if op_state(name) == "missing"] == []


def test_what_is_there_is_not_refused() -> None:
    assert [name for name in listed("api_symbols.txt") if not state(name) and refusal(name.removeprefix("tf."))] == []


def test_page() -> None:
    if os.environ.get("TFNB_WRITE_DOCS"):
        PAGE.write_text(page(), encoding="utf-8", newline="\n")
    assert PAGE.read_text(encoding="utf-8") == page(), "TFNB_WRITE_DOCS=1 pytest tests/test_api_status.py"


def modules() -> list[types.ModuleType]:
    """The public modules right below `tf` and `tf.contrib`, once each."""
    paths = {name.rpartition(".")[0] for name in listed("api_symbols.txt") if not state(name)}
    names = {path for path in paths if path.count(".") <= 1 + path.startswith("tf.contrib.")}
    values = {id(value): value for value in map(found, sorted(names)) if isinstance(value, types.ModuleType)}
    return list(values.values())


def test_modules_explain_however_they_are_imported() -> None:
    """`import tfnb.contrib.slim` imports tfnb.contrib behind the back of the lazy `tf.contrib`."""
    code = "import importlib, sys, tfnb\nfor name in sys.argv[1:]:\n    importlib.import_module(name)\n" \
           "print(*[name for name in sys.argv[1:] if '__getattr__' not in vars(sys.modules[name])])"
    names = [module.__name__ for module in modules()]
    assert subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True, check=True,
                          cwd=ROOT).stdout.split() == []


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__)
def test_a_wrong_name_is_told_the_nearest(module: types.ModuleType) -> None:
    longest = max((name for name in dir(module) if not name.startswith("_")), key=len)
    wrong = longest[:-1] + "_"
    with pytest.raises(AttributeError, match=f"has no attribute {wrong!r}. Did you mean '"):
        getattr(module, wrong)


@pytest.mark.parametrize(("name", "told"), [
    ("tpu.rewrite", "no TPU"), ("distribute.MirroredStrategy", "tf.train.ClusterSpec"),
    ("load_op_library", "tf.custom"), ("function", "no eager execution")])
def test_refusals_say_why(name: str, told: str) -> None:
    with pytest.raises(AttributeError, match=told):
        found(f"tf.{name}")


def test_refused_ops_say_why() -> None:
    with pytest.raises(RuntimeError, match="no op of that name. 'InfeedDequeue' is left out: it is for TPUs"):
        tf.get_default_graph().create_op("InfeedDequeue", [], [tf.float32])
    with pytest.raises(AttributeError, match="'InfeedDequeue' is left out: it is for TPUs"):
        tf.raw_ops.InfeedDequeue()
    assert refused.hint("Tahn").startswith(" Did you mean ")
