"""tf.flags, tf.app, tf.logging and tf.gfile: what public programs begin with."""
from __future__ import annotations

import pytest

import tfnb as tf
from tfnb.core.program import flags


@pytest.fixture
def values():
    made = flags.FlagValues()
    flags.DEFINE_integer("n", 3, "number", flag_values=made)
    flags.DEFINE_string("s", None, "text", flag_values=made)
    flags.DEFINE_boolean("b", True, "bool", flag_values=made)
    flags.DEFINE_float("f", 1.5, "float", lower_bound=0, flag_values=made)
    flags.DEFINE_enum("e", "x", ["x", "y"], "one of", flag_values=made)
    flags.DEFINE_list("l", "a,b", "list", flag_values=made)
    flags.DEFINE_multi_integer("m", [1], "several", flag_values=made)
    return made


@pytest.mark.parametrize("line, rest, changed", [
    (["p"], ["p"], {}),
    (["p", "--n=4", "--nob", "rest", "-f", "2.5"], ["p", "rest"], {"n": 4, "b": False, "f": 2.5}),
    (["p", "--b=false", "--n", "7"], ["p"], {"n": 7, "b": False}),
    (["p", "--", "--n=9"], ["p", "--n=9"], {}),
    (["p", "--l=1, 2", "--e=y", "--s=t"], ["p"], {"l": ["1", "2"], "e": "y", "s": "t"}),
    (["p", "--m=4", "--m=5"], ["p"], {"m": [4, 5]}),
])
def test_command_lines(values, line, rest, changed):
    default = {"n": 3, "s": None, "b": True, "f": 1.5, "e": "x", "l": ["a", "b"], "m": [1]}
    assert values(line) == rest
    assert values.flag_values_dict() == {**default, **changed}


@pytest.mark.parametrize("line, error, text", [
    (["p", "--unknown"], flags.UnrecognizedFlagError, "Unknown command line flag 'unknown'"),
    (["p", "--n=x"], flags.IllegalFlagValueError, "flag --n=x: invalid literal"),
    (["p", "--e=z"], flags.IllegalFlagValueError, r"flag --e=z: value should be one of <x\|y>"),
    (["p", "--f=-1"], flags.IllegalFlagValueError, "not in the range"),
    (["p", "--n"], flags.Error, "Missing value for flag --n"),
])
def test_wrong_command_lines(values, line, error, text):
    with pytest.raises(error, match=text):
        values(line)


def test_flags_are_read_when_they_are_asked_for(values, monkeypatch):
    monkeypatch.setattr("sys.argv", ["kernel", "-x", "kernel.json", "--n=8"])
    assert values.n == 8 and "n" in values and values["n"].help == "number"
    values.n = "12"
    assert values.n == 12
    with pytest.raises(AttributeError):
        print(values.absent)
    with pytest.raises(AttributeError):
        values.absent = 1
    flags.DEFINE_integer("n", 3, "number", flag_values=values)     # the same again
    with pytest.raises(flags.DuplicateFlagError, match="The flag 'n' is defined twice"):
        flags.DEFINE_integer("n", 4, "number", flag_values=values)
    flags.mark_flag_as_required("s", values)
    with pytest.raises(flags.IllegalFlagValueError, match="must have a value other than None"):
        values(["p"])


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
    made = flags.FlagValues()
    flags.DEFINE_integer("steps", 3, "number", flag_values=made)
    flags.DEFINE_boolean("fast", True, "bool", flag_values=made)
    monkeypatch.setattr("sys.argv", ["program", "--steps", "5", "file"])
    assert made._parse_flags() == ["file"] and made.steps == 5
    assert [f"{name}={value}" for name, value in sorted(made.__flags.items())] == ["fast=True", "steps=5"]
    assert made.__flags["steps"].value == 5 and made.__dict__["__flags"] is made.__flags       # as since 1.5
    assert made._parse_flags(["--steps=6"]) == [] and made.steps == 6
    with pytest.raises(AttributeError, match="__nothing"):
        made.__nothing  # noqa: B018
