"""Command-line flags: absl's, as `tf.flags` has them since 1.5, with what programs of earlier releases expect.

The command line is parsed at the first access to a flag, or by `tf.app.run`; undefined flags are ignored then, since
a notebook's kernel has other arguments. A definition that comes again, in a cell that is run again, takes the place
of the first one.
"""
from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any

from absl import flags as absl

absl.disclaim_key_flags()                 # flags are those of the module that calls a definition of this one
# Names of the arguments up to 1.4.
_FORMER = {"flag_name": "name", "default_value": "default", "docstring": "help"}
_HELP = {"help", "helpshort", "helpfull", "helpxml"}


class _Shown:
    """A flag whose text is its value: up to 1.4 `FLAGS.__flags` has values, since then flags; programs print either."""

    def __init__(self, flag: Any) -> None:
        self._flag = flag

    def __getattr__(self, name: str) -> Any:
        return getattr(self._flag, name)

    def __str__(self) -> str:
        return str(self._flag.value)


class _ByName(Mapping[str, Any]):
    """The flags of a registry by name: `FLAGS.__flags`."""

    def __init__(self, values: absl.FlagValues) -> None:
        self._values = values

    def __getitem__(self, name: str) -> _Shown:
        return _Shown(self._values[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Flags:
    """The registry of absl, `absl.flags.FLAGS`, which parses the command line where nobody has done so.

    values: a registry. Values of flags are attributes, flags are items; calling it parses a command line.

    >>> steps = tf.flags.DEFINE_integer("example_batch", 32, "Examples a step.")
    >>> left = tf.flags.FLAGS(["program", "--example_batch", "64", "data"])
    >>> left, tf.flags.FLAGS.example_batch, tf.flags.FLAGS["example_batch"].default
    (['program', 'data'], 64, 32)
    """

    def __init__(self, values: absl.FlagValues) -> None:
        vars(self).update({"_values": values, "__flags": _ByName(values)})     # programs list them by this name

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Parse a command line (argv[0] is the program) and return the positional arguments.

        known_only: return undefined flags, too, in place of an UnrecognizedFlagError.
        """
        rest: list[str] = self._values(argv, known_only)
        return rest

    def _parse_flags(self, args: Sequence[str] | None = None) -> list[str]:
        """Parse the command line, by default the process's (0.x to 1.4), and return the positional arguments.

        args: without the name of the program.
        """
        return self([sys.argv[0], *(sys.argv[1:] if args is None else args)], known_only=True)[1:]

    def __getattr__(self, name: str) -> Any:
        if not self._values.is_parsed() and not hasattr(type(self._values), name) and not name.startswith("__"):
            self(sys.argv or [""], known_only=True)
        return getattr(self._values, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._values, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._values, name)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __setitem__(self, name: str, flag: Any) -> None:
        self._values[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return sorted(self._values)


FLAGS = Flags(absl.FLAGS)


def definition(define: Callable[..., Any]) -> Callable[..., Any]:
    """Return a definition of absl's that takes the arguments' former names, and may come again.

    It replaces an equal flag, and any flag where it stands in a cell of a notebook; a flag that is defined after the
    command line was parsed gets its value from there.
    """
    signature = inspect.signature(define)

    @wraps(define)
    def defined(*args: Any, **kwargs: Any) -> Any:
        kwargs = {_FORMER.get(name, name): value for name, value in kwargs.items()}
        given = signature.bind(*args, **kwargs)
        values = given.arguments.get("flag_values", absl.FLAGS)
        given.arguments["flag_values"] = values = vars(values)["_values"] if isinstance(values, Flags) else values
        name = given.arguments["name"]
        if name in values:
            place = sys._getframe(1).f_code.co_filename
            if "ipykernel" in place or place.startswith("<") or _same(_alone(define, given)[name], values[name]):
                delattr(values, name)
        late = values.is_parsed() and name not in values
        made = define(*given.args, **given.kwargs)
        if late:
            alone = _alone(define, given)
            alone(sys.argv or [""], known_only=True)
            if alone[name].present:
                values[name].value, values[name].present = alone[name].value, alone[name].present
        return made
    return defined


def _alone(define: Callable[..., Any], given: inspect.BoundArguments) -> Any:
    """Return a registry of a flag alone."""
    values: Any = absl.FlagValues()         # type: ignore[no-untyped-call]
    define(*given.args, **{**given.kwargs, "flag_values": values, **(
        {"required": False} if "required" in given.kwargs else {})})
    return values


def _same(a: Any, b: Any) -> bool:
    return (a.default, a.help, type(a)) == (b.default, b.help, type(b))


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> None:
    """`tf.app.run`: read the command line, call `main` (by default that of the program) with the rest, and exit.

    argv: the command line, by default that of the process; --help prints the flags of the program.

    >>> def main(argv):
    ...     print("arguments:", argv[1:])
    >>> tf.app.run(main, argv=["program", "data"])
    arguments: ['data']
    SystemExit
    """
    words = list(sys.argv if argv is None else argv)
    if any(word.lstrip("-") in _HELP - set(FLAGS) for word in words[1:] if word.startswith("-")):
        from absl import app  # its flags, of logs and debuggers, are no program's that asks for no help
        app.define_help_flags()
    rest = FLAGS(words, known_only=True)
    sys.exit((main or sys.modules["__main__"].main)(rest))
