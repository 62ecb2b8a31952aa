"""tf.flags, tf.app, tf.logging and tf.gfile: what public programs begin with."""
from __future__ import annotations

import subprocess
import sys

import pytest
from absl import flags as absl

import tfnb as tf
from tests.differential import differences
from tfnb.core.program.flags import Flags

flags = tf.flags


@pytest.fixture
def values():
    made = Flags(absl.FlagValues())
    flags.DEFINE_integer("n", 3, "number", flag_values=made)
    flags.DEFINE_string("s", None, "text", flag_values=made)
    flags.DEFINE_boolean("b", True, "bool", flag_values=made)
    flags.DEFINE_float("f", 1.5, "float", lower_bound=0, flag_values=made)
    flags.DEFINE_enum("e", "x", ["x", "y"], "one of", flag_values=made)
    flags.DEFINE_list("l", "a,b", "list", flag_values=made)
    flags.DEFINE_multi_integer("m", [1], "several", flag_values=made)
    return made


def test_command_lines(values):
    default = {"n": 3, "s": None, "b": True, "f": 1.5, "e": "x", "l": ["a", "b"], "m": [1]}
    assert values(["p", "--n=4", "--nob", "rest", "-f", "2.5", "--m=4", "--m=5"]) == ["p", "rest"]
    assert values.flag_values_dict() == {**default, "n": 4, "b": False, "f": 2.5, "m": [4, 5]}
    assert len(values) == 7 and dir(values) == sorted(values) == sorted(default)
    values.unparse_flags()
    assert values(["p", "--", "--n=9"]) == ["p", "--n=9"] and values["n"].value == 3


SNIPPETS = {
    "definitions": """
import enum
class Color(enum.Enum):
    RED, BLUE = 1, 2
f, v = tf.flags, tf.flags.FlagValues()
f.DEFINE_integer("n", 3, "number", lower_bound=0, flag_values=v)
f.DEFINE_enum_class("c", Color.RED, Color, "color", flag_values=v)
f.DEFINE_multi_enum("me", None, ["a", "b"], "several", flag_values=v)
f.DEFINE_spaceseplist("w", "a b", "words", flag_values=v)
f.DEFINE_multi_enum_class("mc", [Color.RED], Color, "colors", flag_values=v)
f.DEFINE_multi_float("mf", None, "floats", flag_values=v)
f.DEFINE(f.FloatParser(0.0, 1.0), "rate", 0.5, "rate", v, f.ArgumentSerializer())
f.DEFINE_alias("number", "n", flag_values=v)
f.DEFINE_bool("quiet", False, "quiet", flag_values=v)
f.DEFINE_bool("loud", False, "loud", flag_values=v)
f.mark_flags_as_mutual_exclusive(["me", "mf"], required=False, flag_values=v)
f.mark_bool_flags_as_mutual_exclusive(["quiet", "loud"], flag_values=v)
rest = v(["p", "--number=7", "--c=blue", "--w=x y z", "--mc=RED", "--mc=blue", "--rate", "0.25", "left"])
values = sorted((name, str(value)) for name, value in v.flag_values_dict().items())
result = rest, values, v.flags_into_string()
""",
    "errors": """
f, found = tf.flags, []
def made():
    v = f.FlagValues()
    f.DEFINE_integer("n", 3, "number", flag_values=v, upper_bound=9)
    f.DEFINE_enum("e", "x", ["x", "y"], "one of", flag_values=v)
    f.DEFINE_string("s", None, "text", flag_values=v)
    f.register_validator("n", lambda n: n != 5, "must not be 5", flag_values=v)
    return v
for line in (["--unknown"], ["--n=x"], ["--e=z"], ["--n"], ["--n=11"], ["--n=5"], ["--nn=1"]):
    try:
        made()(["p", *line])
    except f.Error as error:
        found.append((type(error).__name__, str(error)))
for action in (lambda v: v.n, lambda v: v.nothing, lambda v: f.mark_flag_as_required("s", v) or v(["p"]),
               lambda v: f.DEFINE_integer("no digits", 1, "h", flag_values=v),
               lambda v: f.DEFINE_integer("n", "many", "h", flag_values=f.FlagValues())):
    try:
        action(made())
    except Exception as error:
        found.append((type(error).__name__, str(error)))
result = found
""",
}


def test_flags_like_tensorflow(oracle):
    assert differences(oracle, SNIPPETS, modes=("never",)) == {}


def test_flags_are_read_when_they_are_asked_for(values, monkeypatch):
    monkeypatch.setattr("sys.argv", ["kernel", "-x", "kernel.json", "--n=8", "--late=3"])
    assert values.n == 8 and "n" in values and values["n"].help == "number"
    values.n = 12
    assert values.n == 12
    with pytest.raises(AttributeError):
        print(values.absent)
    with pytest.raises(flags.UnrecognizedFlagError):
        values.absent = 1
    flags.DEFINE_integer("late", None, "after the first access", flag_values=values, required=True)
    flags.DEFINE_integer("later", 2, "not there", flag_values=values)
    assert (values.late, values.later, values.n) == (3, 2, 12)
    del values.late
    assert "late" not in values
    flags.DEFINE_integer("n", 3, "number", flag_values=values)     # the same again
    with pytest.raises(flags.DuplicateFlagError, match="The flag 'n' is defined twice"):
        flags.DEFINE_integer("n", 4, "number", flag_values=values)
    cell = compile("flags.DEFINE_integer('n', 5, 'another', flag_values=values)", "<ipython-input-3>", "exec")
    exec(cell, {"flags": flags, "values": values})
    assert values.n == 8 and values["n"].default == 5
    flags.mark_flag_as_required("s", values)
    with pytest.raises(flags.IllegalFlagValueError, match="must have a value other than None"):
        values(["p"])


def test_flags_are_those_of_absl():
    name = "shared_with_absl"
    try:
        absl.DEFINE_integer(name, 4, "a flag of absl's")
        assert tf.flags.FLAGS[name] is absl.FLAGS[name] and tf.flags.Flag is absl.Flag
        assert isinstance(tf.flags.DEFINE_string("shared_too", "x", "of tfnb", flag_values=tf.flags.FLAGS),
                          tf.flags.FlagHolder)
        assert [flag.name for flag in absl.FLAGS.get_key_flags_for_module(sys.modules[__name__])][-1] == "shared_too"
    finally:
        del tf.flags.FLAGS.shared_with_absl, tf.flags.FLAGS.shared_too


def test_help(tmp_path):
    path = tmp_path / "program.py"
    path.write_text('"""Trains."""\nimport tfnb as tf\ntf.flags.DEFINE_integer("steps", 7, "How many steps.")\n'
                    "def main(argv):\n    print(tf.flags.FLAGS.steps, argv[1:])\ntf.app.run()\n")
    shown = subprocess.run([sys.executable, str(path), "--help"], capture_output=True, text=True, check=False)
    assert shown.returncode == 1 and "Trains." in shown.stdout
    assert "--steps: How many steps." in shown.stdout and "(default: '7')" in shown.stdout


def test_a_program_runs(monkeypatch):
    seen = []
    with pytest.raises(SystemExit) as caught:
        tf.app.run(lambda argv: seen.append(argv) or 3, ["p", "rest", "--unknown"])
    assert caught.value.code == 3 and seen == [["p", "rest", "--unknown"]] and tf.app.flags is tf.flags


def test_messages(capsys):
    before = tf.logging.get_verbosity()
    try:
        tf.logging.set_verbosity(tf.logging.INFO)
        for i in range(4):
            tf.logging.log_every_n(tf.logging.INFO, "every %d", 2, i)
            tf.logging.log_first_n(tf.logging.INFO, "first %d", 1, i)
        tf.logging.debug("not shown")
        tf.logging.warn("warned")
        assert tf.logging.get_verbosity() == tf.logging.INFO == 20
    finally:
        tf.logging.set_verbosity(before)


def test_files(tmp_path):
    folder, path = tmp_path / "a" / "b", str(tmp_path / "a" / "b" / "f.txt")
    tf.gfile.MakeDirs(str(folder))
    with tf.gfile.GFile(path, "w") as file:
        file.write("one\ntwö\n")
    assert tf.gfile.Exists(path) and tf.gfile.IsDirectory(str(folder)) and not tf.gfile.IsDirectory(path)
    file = tf.gfile.Open(path)
    assert (file.readline(), file.tell(), file.readlines(), file.read(), file.size()) == ("one\n", 4, ["twö\n"], "", 9)
    file.seek(0)
    assert [*file] == ["one\n", "twö\n"]
    file.close()
    with tf.gfile.FastGFile(path, "rb") as file:
        assert file.read(3) == b"one"
    tf.gfile.Copy(path, path + "2")
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.gfile.Copy(path, path + "2")
    tf.gfile.Rename(path + "2", path + "3")
    assert tf.gfile.Glob(str(folder / "*")) == [path, path + "3"] and tf.gfile.Stat(path).length == 9
    assert sorted(tf.gfile.ListDirectory(str(folder))) == ["f.txt", "f.txt3"]
    assert [(d, f) for _, d, f in tf.gfile.Walk(str(tmp_path))][:2] == [(["a"], []), (["b"], [])]
    tf.gfile.Remove(path)
    tf.gfile.DeleteRecursively(str(tmp_path / "a"))
    assert not tf.gfile.Exists(str(folder))


def test_errors_of_files(tmp_path):
    none = str(tmp_path / "none")
    for call in (lambda: tf.gfile.GFile(none).read(), lambda: tf.gfile.ListDirectory(none),
                 lambda: tf.gfile.Remove(none), lambda: tf.gfile.DeleteRecursively(none), lambda: tf.gfile.Stat(none),
                 lambda: tf.gfile.Copy(none, none + "2")):
        with pytest.raises(tf.errors.NotFoundError, match="none"):
            call()
    with pytest.raises(tf.errors.PermissionDeniedError, match="File isn't open for reading"):
        tf.gfile.GFile(none, "w").read()
    with pytest.raises(tf.errors.PermissionDeniedError, match="File isn't open for writing"):
        tf.gfile.GFile(none).write("a")
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode is not"):
        tf.gfile.GFile(none, "q")


def test_flags_of_earlier_releases(monkeypatch):
    made = Flags(absl.FlagValues())
    flags.DEFINE_integer("steps", 3, "number", flag_values=made)
    flags.DEFINE_boolean("fast", True, "bool", flag_values=made)
    monkeypatch.setattr("sys.argv", ["program", "--steps", "5", "file"])
    assert made._parse_flags() == ["file"] and made.steps == 5
    assert [f"{name}={value}" for name, value in sorted(made.__flags.items())] == ["fast=True", "steps=5"]
    assert made.__flags["steps"].value == 5 and made.__dict__["__flags"] is made.__flags       # as since 1.5
    assert made._parse_flags(["--steps=6"]) == [] and made.steps == 6
    with pytest.raises(AttributeError, match="__nothing"):
        made.__nothing  # noqa: B018
