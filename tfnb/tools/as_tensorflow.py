"""`import tensorflow` that finds tfnb, for programs whose imports nobody wants to change."""
from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from tfnb.core.absent import absent, without
from tfnb.core.version import VERSION
from tfnb.tools.inside import ABSENT, Inside, inside, internal, public

NAME, HOROVOD = "tensorflow", "horovod"
# Packages that TensorFlow 1.15 is made of -> the path of each in TensorFlow. Editors write imports from them.
_PACKAGES = {NAME: "", "tensorflow_core": "", "tensorflow_estimator": "estimator"}
_MESSAGES = "tfnb.proto"
# Folders of messages: `tensorflow.core.framework` has graph_pb2 and the like.
_PROTOS = frozenset(("core", "core.framework", "core.protobuf", "core.util", "core.example"))


class Public:
    """The names of a public module of tfnb, with the interface of `Inside`."""

    def __init__(self, of: Any) -> None:
        self.of, self.__doc__ = of, of.__doc__

    def find(self, name: str) -> Any:
        """Return what the module calls so, or ABSENT."""
        return ABSENT if name.startswith("__") else getattr(self.of, name, ABSENT)

    def listed(self) -> list[str]:
        """Return the names that `dir` and `import *` give; without `print`: the builtin stays what it is."""
        return [name for name in dir(self.of) if not name.startswith("_") and name != "print"
                and not internal(getattr(self.of, name, None))]


class _Namespace(ModuleType):
    """A module of TensorFlow's name, whose names are those of modules of tfnb. `_below`: its path in TensorFlow."""

    def __getattr__(self, name: str) -> Any:
        below = self.__dict__.get("_below")        # not there while the module is being made
        if below is None or name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        if names_of(f"{below}.{name}".lstrip(".")) is not None:       # `from tensorflow.python.framework import ops`
            with suppress(ModuleNotFoundError):
                return importlib.import_module(f"{self.__name__}.{name}")
        found = self._of.find(name)
        if found is ABSENT or internal(found):
            raise absent(f"tfnb.{below}".rstrip("."), name, self.__name__)
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a name, also in the module of tfnb: programs put functions of their own in the place of a library's."""
        super().__setattr__(name, value)
        of = self.__dict__.get("_of")
        if isinstance(of, Public) and not isinstance(value, ModuleType) and name in vars(of.of) and name[0] != "_":
            self.__dict__.setdefault("_replaced", {}).setdefault(name, getattr(of.of, name))
            setattr(of.of, name, value)

    def __delattr__(self, name: str) -> None:
        """Take back what a program has set, as unittest.mock.patch does at its end: tfnb has its own again."""
        super().__delattr__(name)
        replaced = self.__dict__.get("_replaced", {})
        if name in replaced:
            setattr(self._of.of, name, replaced.pop(name))

    def __dir__(self) -> list[str]:
        return sorted({*self.__all__, *self.__dict__} - {"_of", "_below", "_replaced"})


class _Finder(MetaPathFinder, Loader):
    """Finds what is below a package, in tfnb or not at all. start: the path of the package in TensorFlow.

    inner: find the modules inside of TensorFlow alone, below a package that tfnb has itself.
    """

    def __init__(self, package: str, start: str = "", inner: bool = False) -> None:
        self.package, self._start, self._inner = package, start, inner
        self._look_up = inside if inner else names_of

    def _below(self, fullname: str) -> str:
        return f"{self._start}{fullname.removeprefix(self.package)}".lstrip(".")

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
                  ) -> ModuleSpec | None:
        """The spec of a module below the package. Raises ModuleNotFoundError if tfnb has nothing of the kind."""
        if not f"{fullname}.".startswith(f"{self.package}.") or (self._inner and fullname == self.package):
            return None
        if self._look_up(self._below(fullname)) is None:
            raise ModuleNotFoundError(f"No module named {fullname!r}: tfnb stands in for TensorFlow here, and has "
                                      "nothing of that name", name=fullname)
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module, empty."""
        return _Namespace(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Tie the module to where its names are."""
        below = self._below(module.__name__)
        of = self._look_up(below)
        assert of is not None
        if below in ("", "compat.v1"):
            module.__dict__.update(__version__=VERSION, VERSION=VERSION)
        module.__dict__.update(_of=of, _below=below, __doc__=of.__doc__, __all__=of.listed())


class _Horovod(MetaPathFinder, Loader):
    """Finds `horovod` and what is below it in tfnb: the same modules under both names."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
                  ) -> ModuleSpec | None:
        """The spec of a module of Horovod; None for others."""
        if fullname.split(".")[0] != HOROVOD or find_spec(f"tfnb.{fullname}") is None:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module of tfnb."""
        module = importlib.import_module(f"tfnb.{spec.name}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Let the module keep its own spec, in whose place the import system has put the other one."""
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state


def names_of(below: str) -> Public | Inside | None:
    """Return the names of the module at a path below `tensorflow`, or None if there is none."""
    if below in ("", "compat.v1"):
        return Public(importlib.import_module("tfnb"))
    if below in _PROTOS:
        return Public(importlib.import_module(_MESSAGES))
    if below.startswith("core.") and below.endswith("_pb2"):
        return _message(below.split(".")[-1])
    if "python" in below.split(".") and not below.startswith("contrib.learn.") or below in ("ops", "pywrap_tensorflow"):
        return inside(below)                       # tfnb.contrib.learn.python is there, as files
    found = public(below)
    return Public(found) if found is not None and not internal(found) else inside(below)


def _message(name: str) -> Public | None:
    full = f"{_MESSAGES}.{name}"
    try:
        return Public(importlib.import_module(full))
    except ModuleNotFoundError as error:
        if error.name != full:
            raise                                  # a library that is not installed, not a module that is not there
        return None


def find_inside(package: ModuleType, start: str) -> None:
    """Let modules below `package` be found as those of TensorFlow below `start`, and be its attributes."""
    otherwise = vars(package).get("__getattr__", without(package.__name__))
    vars(package).setdefault("__path__", [])       # else the import system looks for nothing below a module
    sys.meta_path.insert(0, _Finder(package.__name__, start, inner=True))

    def find(name: str) -> Any:
        """Return the module of that name. Raises AttributeError if there is none."""
        if inside(f"{start}.{name}") is None:
            return otherwise(name)
        return importlib.import_module(f"{package.__name__}.{name}")
    vars(package)["__getattr__"] = find


def _loaded() -> Iterator[ModuleType]:
    yield from (m for name, m in sys.modules.items() if name.split(".")[0] == NAME and not isinstance(m, _Namespace))


def install_as_tensorflow() -> None:
    """Let `import tensorflow` give tfnb from now on, also `tensorflow.compat.v1`, and modules of its inside.

    `import horovod.tensorflow` and `horovod.keras` give tfnb's modules for training on MPI (docs/cluster.md).

    `tensorflow_core` and `tensorflow_estimator`, the packages that TensorFlow 1.15 is made of, are found as well.

    What tfnb does not have is absent: an import of it raises ModuleNotFoundError, even where TensorFlow is installed.
    `tensorflow.__version__` is "1.15.0". Calling it again does nothing. Raises ImportError if TensorFlow itself is
    imported already: two packages of one name would work on each other's objects.

    >>> import subprocess, sys
    >>> program = "import tfnb; tfnb.install_as_tensorflow(); import tensorflow; print(tensorflow.__version__)"
    >>> subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
    '1.15.0\\n'
    """
    real = next(_loaded(), None)
    if real is not None:
        where = getattr(sys.modules.get(NAME), "__file__", None) or "an unknown place"
        raise ImportError(f"TensorFlow itself is imported already, from {where}: restart Python (the notebook's "
                          "kernel) and call install_as_tensorflow() before any `import tensorflow`", name=NAME)
    if not any(isinstance(finder, _Finder) and finder.package == NAME for finder in sys.meta_path):
        sys.meta_path[:0] = [*(_Finder(package, start) for package, start in _PACKAGES.items()), _Horovod()]
