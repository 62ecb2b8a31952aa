"""Command-line flags: `tf.flags.DEFINE_integer("steps", 100, "How many.")`, then `tf.flags.FLAGS.steps`.

The command line is parsed at the first access to a flag, or by `tf.app.run`; undefined flags are ignored then, since
a notebook's kernel has other arguments.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, ParamSpec

from tfnb.core.arguments import COMMAND_LINE, describe

P = ParamSpec("P")
# Names of the arguments up to 1.4.
_FORMER = {"flag_name": "name", "default_value": "default", "docstring": "help"}


class Error(Exception):
    """Base class of errors of flags.

    >>> try:
    ...     left = tf.flags.FLAGS(["program", "--no_such_flag=1"])
    ... except tf.flags.Error as error:
    ...     print(error)
    Unknown command line flag 'no_such_flag'
    """


class DuplicateFlagError(Error):
    """A flag was defined twice, with different definitions.

    >>> issubclass(tf.flags.DuplicateFlagError, tf.flags.Error)
    True
    """


class IllegalFlagValueError(Error):
    """A flag received an invalid value.

    >>> tf.flags.DEFINE_integer("example_batch", 32, "Examples a step.")
    >>> tf.flags.FLAGS(["program", "--example_batch=many"])
    Traceback (most recent call last):
        ...
    IllegalFlagValueError: flag --example_batch=many: invalid literal for int() with base 10: 'many'
    """


class UnrecognizedFlagError(Error):
    """The command line has an undefined flag.

    >>> tf.flags.FLAGS(["program", "--no_such_example"])
    Traceback (most recent call last):
        ...
    UnrecognizedFlagError: Unknown command line flag 'no_such_example'
    """

    def __init__(self, flagname: str, flagvalue: str = "") -> None:
        super().__init__(f"Unknown command line flag '{flagname}'")
        self.flagname, self.flagvalue = flagname, flagvalue


class ValidationError(Error):
    """A validator rejected a flag's value.

    >>> def even(value):
    ...     if value % 2:
    ...         raise tf.flags.ValidationError("must be even")
    ...     return True
    >>> tf.flags.DEFINE_integer("example_even", 2, "An even number.")
    >>> tf.flags.register_validator("example_even", even)
    >>> tf.flags.FLAGS(["program", "--example_even=3"])
    Traceback (most recent call last):
        ...
    IllegalFlagValueError: flag --example_even=3: must be even
    """


class Flag:
    """One flag: its parser, default, value and validators.

    >>> tf.flags.DEFINE_integer("example_batch", 32, "Examples a step.")
    >>> flag = tf.flags.FLAGS["example_batch"]
    >>> isinstance(flag, tf.flags.Flag), flag.name, flag.default, flag.help
    (True, 'example_batch', 32, 'Examples a step.')
    """

    def __init__(self, name: str, default: Any, help: str, read: Callable[[Any], Any], boolean: bool = False,
                 multi: bool = False, place: str = "") -> None:
        self.name, self.help, self.read, self.boolean, self.multi = name, help or "", read, boolean, multi
        self.place, self.present = place, 0
        self.default = self.value = self._checked(default)
        self.validators: list[tuple[Callable[[Any], bool], str]] = []

    def __str__(self) -> str:
        """The value: up to 1.4 `FLAGS.__flags` has values, since then it has flags, and programs print either."""
        return str(self.value)

    def _checked(self, value: Any) -> Any:
        if value is None:
            return None
        if self.multi:
            return [self._one(v) for v in (value if isinstance(value, (list, tuple)) else [value])]
        return self._one(value)

    def _one(self, value: Any) -> Any:
        try:
            return self.read(value)
        except (TypeError, ValueError) as error:
            raise IllegalFlagValueError(f"flag --{self.name}={value}: {error}") from None

    def parse(self, text: str) -> None:
        """Parse a value from the command line; a multi flag appends it."""
        value = self._checked(text)
        self.value = [*self.value, *value] if self.multi and self.present else value
        self.present += 1

    def unparse(self) -> None:
        """Reset the value to the default."""
        self.value, self.present = self.default, 0

    def validate(self) -> None:
        """Raise IllegalFlagValueError if a validator rejects the value."""
        for check, message in self.validators:
            try:
                agreed = check(self.value)
            except ValidationError as error:
                agreed, message = False, str(error)
            if not agreed:
                raise IllegalFlagValueError(f"flag --{self.name}={self.value}: {message}")


class FlagValues:
    """Registry of flags: values are attributes, flags are items. Calling it parses a command line.

    >>> tf.flags.DEFINE_integer("example_batch", 32, "Examples a step.")
    >>> left = tf.flags.FLAGS(["program", "--example_batch", "64", "data"])
    >>> left, tf.flags.FLAGS.example_batch, tf.flags.FLAGS["example_batch"].default
    (['program', 'data'], 64, 32)
    """

    def __init__(self) -> None:
        self.__dict__["_flags"] = {}
        self.__dict__["__flags"] = self.__dict__["_flags"]           # programs list them by this name
        self.__dict__["_parsed"] = False

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Parse a command line (argv[0] is the program) and return the positional arguments.

        Raises UnrecognizedFlagError for undefined flags (with `known_only` they are returned too) and
        IllegalFlagValueError for wrong values.
        """
        rest, left = [argv[0]] if argv else [], list(argv[1:])
        while left:
            word = left.pop(0)
            if word == "--":
                rest += left
                break
            if not word.startswith("-") or word == "-":
                rest.append(word)
                continue
            name, equals, value = word.lstrip("-").partition("=")
            flag, boolean = self._find(name)
            if flag is None:
                if not known_only:
                    raise UnrecognizedFlagError(name)
                rest.append(word)
            elif flag.boolean:
                flag.parse(value if equals else boolean)
            elif equals or left:
                flag.parse(value if equals else left.pop(0))
            else:
                raise Error(f"Missing value for flag {word}")
        self.__dict__["_parsed"] = True
        self.validate_all_flags()
        return rest

    def _find(self, name: str) -> tuple[Flag | None, str]:
        flag = self._flags.get(name)
        if flag is None and name.startswith("no"):
            other = self._flags.get(name[2:])
            if other is not None and other.boolean:
                return other, "false"
        return flag, "true"

    def validate_all_flags(self) -> None:
        """Raise IllegalFlagValueError if a validator rejects a flag's value."""
        for flag in self._flags.values():
            flag.validate()

    def is_parsed(self) -> bool:
        """Return whether a command line was parsed."""
        return bool(self._parsed)

    def mark_as_parsed(self) -> None:
        """Mark the flags as parsed with their present values: no command line is read."""
        self.__dict__["_parsed"] = True

    def unparse_flags(self) -> None:
        """Reset all flags to their defaults."""
        for flag in self._flags.values():
            flag.unparse()
        self.__dict__["_parsed"] = False

    def flag_values_dict(self) -> dict[str, Any]:
        """Return a dict of flag names to values."""
        return {name: flag.value for name, flag in self._flags.items()}

    def _parse_flags(self, args: Sequence[str] | None = None) -> list[str]:
        """Parse the command line, by default the process's (0.x to 1.4), and return the positional arguments.

        args: without the name of the program.
        """
        return self([sys.argv[0], *(sys.argv[1:] if args is None else args)], known_only=True)[1:]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if not self._parsed:
            self(sys.argv, known_only=True)
        if name not in self._flags:
            raise AttributeError(name)
        return self._flags[name].value

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._flags:
            raise AttributeError(name)
        flag = self._flags[name]
        flag.value = flag._checked(value) if not flag.boolean else value
        flag.present = flag.present or 1
        flag.validate()

    def __delattr__(self, name: str) -> None:
        if name not in self._flags:
            raise AttributeError(name)
        del self._flags[name]

    def __getitem__(self, name: str) -> Flag:
        found: Flag = self._flags[name]
        return found

    def __contains__(self, name: str) -> bool:
        return name in self._flags

    def __iter__(self) -> Iterator[str]:
        return iter(self._flags)

    def __len__(self) -> int:
        return len(self._flags)

    def __dir__(self) -> list[str]:
        return sorted(self._flags)


FLAGS = FlagValues()


def _define(name: str, default: Any, help: str, read: Callable[[Any], Any], flag_values: FlagValues = FLAGS,
            boolean: bool = False, multi: bool = False, **other: Any) -> None:
    place = sys._getframe(3).f_code.co_filename
    flag = Flag(name, default, help, read, boolean, multi, place)
    before = flag_values._flags.get(name)
    cell = "ipykernel" in place or place.startswith("<")             # a notebook reruns its cells
    if before is not None and not cell and (before.default, before.help) != (flag.default, flag.help):
        raise DuplicateFlagError(f"The flag '{name}' is defined twice. First from {before.place}, Second from {place}. "
                                 f" Description from first occurrence: {before.help}")
    if before is None and flag_values._parsed:
        flag_values.__dict__["_parsed"] = False                     # the command line may set the new flag
    flag_values._flags[name] = flag


def _former_names(define: Callable[P, None]) -> Callable[P, None]:
    """Let a definition take its arguments by their former names, too (a decorator)."""
    @wraps(define)
    def definition(*args: P.args, **kwargs: P.kwargs) -> None:
        for former in _FORMER.keys() & kwargs.keys():
            kwargs[_FORMER[former]] = kwargs.pop(former)
        define(*args, **kwargs)
    return definition


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"flag value must be a string, found {type(value)}")
    return value


def _integer(value: Any) -> int:
    if isinstance(value, str) and value.lstrip("-")[:2].lower() in ("0x", "0o"):
        return int(value, 0)
    if isinstance(value, float):
        raise TypeError(f"Expect argument to be a string or int, found {type(value)}")
    return int(value)


def _boolean(value: Any) -> bool:
    if isinstance(value, str):
        word = value.lower()
        if word in ("true", "t", "1", "yes", "y"):
            return True
        if word in ("false", "f", "0", "no", "n"):
            return False
    elif value in (True, False):
        return bool(value)
    raise ValueError("Non-boolean argument to boolean flag")


def _list(value: Any) -> list[str]:
    if isinstance(value, (list, tuple)):
        return list(value)
    return [item.strip() for item in value.split(",")] if value else []


@_former_names
def DEFINE_string(name: str, default: Any, help: str, flag_values: FlagValues = FLAGS, **other: Any) -> None:
    """Define a string flag. help: its description. Raises DuplicateFlagError for a different flag of that name.

    >>> tf.flags.DEFINE_string("example_folder", "data", "The folder of the images.")
    >>> left = tf.flags.FLAGS(["program", "--example_folder=images"])
    >>> tf.flags.FLAGS.example_folder
    'images'
    """
    _define(name, default, help, _string, flag_values)


@_former_names
def DEFINE_integer(name: str, default: Any, help: str, lower_bound: int | None = None, upper_bound: int | None = None,
                   flag_values: FlagValues = FLAGS, **other: Any) -> None:
    """Define an integer flag, within bounds if these are given.

    >>> tf.flags.DEFINE_integer("example_batch", 32, "Examples a step.", lower_bound=1)
    >>> left = tf.flags.FLAGS(["program", "--example_batch=64"])
    >>> tf.flags.FLAGS.example_batch
    64
    """
    _define(name, default, help, _bounded(_integer, lower_bound, upper_bound), flag_values)


@_former_names
def DEFINE_float(name: str, default: Any, help: str, lower_bound: float | None = None,
                 upper_bound: float | None = None, flag_values: FlagValues = FLAGS, **other: Any) -> None:
    """Define a float flag, within bounds if these are given.

    >>> tf.flags.DEFINE_float("example_rate", 0.1, "The learning rate.")
    >>> left = tf.flags.FLAGS(["program", "--example_rate=0.01"])
    >>> tf.flags.FLAGS.example_rate
    0.01
    """
    _define(name, default, help, _bounded(float, lower_bound, upper_bound), flag_values)


def _bounded(read: Callable[[Any], Any], low: float | None, high: float | None) -> Callable[[Any], Any]:
    def bounded(value: Any) -> Any:
        number = read(value)
        if (low is not None and number < low) or (high is not None and number > high):
            raise ValueError(f"{number} is not in the range [{low}, {high}]")
        return number
    return bounded


@_former_names
def DEFINE_boolean(name: str, default: Any, help: str, flag_values: FlagValues = FLAGS,
                   module_name: str | None = None, **other: Any) -> None:
    """Define a boolean flag: `--name`, `--noname`, `--name=false`.

    >>> tf.flags.DEFINE_boolean("example_verbose", False, "Print more.")
    >>> left = tf.flags.FLAGS(["program", "--example_verbose"])
    >>> tf.flags.FLAGS.example_verbose
    True
    """
    _define(name, default, help, _boolean, flag_values, boolean=True)


DEFINE_bool = DEFINE_boolean


@_former_names
def DEFINE_enum(name: str, default: Any, enum_values: Sequence[str], help: str, flag_values: FlagValues = FLAGS,
                module_name: str | None = None, **other: Any) -> None:
    """Define a flag whose value is one of `enum_values`.

    >>> tf.flags.DEFINE_enum("example_mode", "train", ["train", "test"], "What to do.")
    >>> left = tf.flags.FLAGS(["program", "--example_mode=test"])
    >>> tf.flags.FLAGS.example_mode
    'test'
    """
    def read(value: Any) -> Any:
        if value not in enum_values:
            raise ValueError(f"value should be one of <{'|'.join(enum_values)}>")
        return value
    _define(name, default, help, read, flag_values)


@_former_names
def DEFINE_list(name: str, default: Any, help: str, flag_values: FlagValues = FLAGS, **other: Any) -> None:
    """Define a flag of comma-separated strings: its value is a list of strings.

    >>> tf.flags.DEFINE_list("example_names", "a,b", "Names, with commas between.")
    >>> left = tf.flags.FLAGS(["program", "--example_names=c,d"])
    >>> tf.flags.FLAGS.example_names
    ['c', 'd']
    """
    _define(name, default, help, _list, flag_values)


@_former_names
def DEFINE_multi_string(name: str, default: Any, help: str, flag_values: FlagValues = FLAGS, **other: Any) -> None:
    """Define a repeatable flag: its value is a list of strings.

    >>> tf.flags.DEFINE_multi_string("example_file", [], "A file; may be repeated.")
    >>> left = tf.flags.FLAGS(["program", "--example_file=a", "--example_file=b"])
    >>> tf.flags.FLAGS.example_file
    ['a', 'b']
    """
    _define(name, default, help, _string, flag_values, multi=True)


@_former_names
def DEFINE_multi_integer(name: str, default: Any, help: str, lower_bound: int | None = None,
                         upper_bound: int | None = None, flag_values: FlagValues = FLAGS, **other: Any) -> None:
    """Define a repeatable flag: its value is a list of integers, each within bounds if these are given.

    >>> tf.flags.DEFINE_multi_integer("example_size", [], "The size of a layer; may be repeated.")
    >>> left = tf.flags.FLAGS(["program", "--example_size=8", "--example_size=4"])
    >>> tf.flags.FLAGS.example_size
    [8, 4]
    """
    _define(name, default, help, _bounded(_integer, lower_bound, upper_bound), flag_values, multi=True)


@_former_names
def DEFINE_multi_float(name: str, default: Any, help: str, lower_bound: float | None = None,
                       upper_bound: float | None = None, flag_values: FlagValues = FLAGS, **other: Any) -> None:
    """Define a repeatable flag: its value is a list of floats, each within bounds if these are given.

    >>> tf.flags.DEFINE_multi_float("example_scale", [], "A scale; may be repeated.")
    >>> left = tf.flags.FLAGS(["program", "--example_scale=0.5", "--example_scale=2"])
    >>> tf.flags.FLAGS.example_scale
    [0.5, 2.0]
    """
    _define(name, default, help, _bounded(float, lower_bound, upper_bound), flag_values, multi=True)


def register_validator(flag_name: str, checker: Callable[[Any], bool], message: str = "Flag validation failed",
                       flag_values: FlagValues = FLAGS) -> None:
    """Register `checker(value)`, which returns whether a flag's value is valid; `message`: the error's text.

    >>> tf.flags.DEFINE_integer("example_even", 2, "An even number.")
    >>> tf.flags.register_validator("example_even", lambda value: value % 2 == 0, message="must be even")
    >>> tf.flags.FLAGS(["program", "--example_even=3"])
    Traceback (most recent call last):
        ...
    IllegalFlagValueError: flag --example_even=3: must be even
    """
    flag_values[flag_name].validators.append((checker, message))


def mark_flag_as_required(flag_name: str, flag_values: FlagValues = FLAGS) -> None:
    """Require a value for a flag.

    >>> tf.flags.DEFINE_string("example_needed", None, "The data.")
    >>> tf.flags.mark_flag_as_required("example_needed")
    >>> tf.flags.FLAGS(["program"])
    Traceback (most recent call last):
        ...
    IllegalFlagValueError: flag --example_needed=None: Flag --example_needed must have a value other ...
    """
    register_validator(flag_name, lambda value: value is not None,
                       f"Flag --{flag_name} must have a value other than None.", flag_values)


def mark_flags_as_required(flag_names: Sequence[str], flag_values: FlagValues = FLAGS) -> None:
    """Require a value for each of these flags.

    >>> tf.flags.DEFINE_string("example_needed", None, "The data.")
    >>> tf.flags.mark_flags_as_required(["example_needed"])
    >>> tf.flags.FLAGS(["program"])
    Traceback (most recent call last):
        ...
    IllegalFlagValueError: flag --example_needed=None: Flag --example_needed must have a value other ...
    """
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> None:
    """`tf.app.run`: read the command line, call `main` (by default that of the program) with the rest, and exit.

    argv: the command line, by default that of the process.

    >>> def main(argv):
    ...     print("arguments:", argv[1:])
    >>> tf.app.run(main, argv=["program", "data"])
    arguments: ['data']
    SystemExit
    """
    rest = FLAGS(list(sys.argv if argv is None else argv), known_only=True)
    sys.exit((main or sys.modules["__main__"].main)(rest))


describe(globals(), COMMAND_LINE)
