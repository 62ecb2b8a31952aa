"""`import tensorflow` that finds tfnb, for programs whose imports nobody wants to change."""
from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

NAME = "tensorflow"
# The release whose API this is: programs compare `tf.__version__` with numbers.
VERSION = "1.15.0"
_ABSENT = object()

# Modules of TensorFlow's inside that programs import by name -> where tfnb has what stands in them: public modules
# ("" is tfnb itself, "nn" is tfnb.nn), or with "tfnb." before it any module. A name is looked for in one after another.
_PYTHON = {
    "": "",
    "client": "", "client.device_lib": "tfnb.runtime.devices", "client.session": "",
    "client.timeline": "tfnb.runtime.timeline",
    "framework": "", "framework.constant_op": "", "framework.dtypes": "", "framework.errors": "errors",
    "framework.errors_impl": "errors", "framework.graph_util": "graph_util", "framework.importer": "",
    "framework.ops": "", "framework.random_seed": "", "framework.tensor_shape": "", "framework.tensor_util": "",
    "framework.sparse_tensor": "", "framework.function": "", "framework.graph_io": "train",
    "framework.meta_graph": "train", "framework.test_util": "test", "framework.device": "",
    "lib.io": "", "lib.io.file_io": "gfile", "lib.io.tf_record": "python_io",
    "ops": "", "ops.array_ops": "", "ops.check_ops": "", "ops.clip_ops": "", "ops.control_flow_ops": "",
    "ops.data_flow_ops": "", "ops.embedding_ops": "nn", "ops.functional_ops": "", "ops.gradients": "",
    "ops.gradients_impl": "", "ops.init_ops": "", "ops.io_ops": "", "ops.linalg_ops": "", "ops.logging_ops": "",
    "ops.math_ops": "", "ops.nn": "nn", "ops.nn_impl": "nn", "ops.nn_ops": "nn", "ops.parsing_ops": "",
    "ops.partitioned_variables": "", "ops.random_ops": "", "ops.rnn": "nn", "ops.rnn_cell": "nn.rnn_cell",
    "ops.rnn_cell_impl": "nn.rnn_cell", "ops.script_ops": "", "ops.sparse_ops": "", "ops.state_ops": "",
    "ops.string_ops": "", "ops.template": "", "ops.tensor_array_ops": "", "ops.variable_scope": "",
    "ops.variables": "",
    "platform": "", "platform.app": "app", "platform.flags": "flags", "platform.gfile": "gfile",
    "platform.test": "test", "platform.tf_logging": "logging",
    "pywrap_tensorflow": "train",
    "summary": "summary", "summary.summary": "summary", "summary.summary_iterator": "train",
    "tools": "", "tools.inspect_checkpoint": "tfnb.tools.inspect_checkpoint",
    "training": "train", "training.adam": "train", "training.basic_session_run_hooks": "train",
    "training.checkpoint_utils": "train", "training.coordinator": "train", "training.input": "train",
    "training.learning_rate_decay": "train", "training.monitored_session": "train", "training.moving_averages": "train",
    "training.optimizer": "train", "training.queue_runner": "train", "training.saver": "train",
    "training.session_run_hook": "train", "training.slot_creator": "tfnb.train.slots", "training.training": "train",
    "training.training_util": "train",
    "util": "", "util.nest": "tfnb.core.nest",
}
_MESSAGES = "tfnb.proto"
_FOLDERS = frozenset(f"tfnb.{name}" for name in ("core", "proto", "opdef", "graph", "kernels", "ops", "autodiff",
                                                 "compile", "runtime", "tools", "notebook"))
_PLACES = {
    **{f"python.{name}".rstrip("."): places for name, places in _PYTHON.items()},
    "compat.v1": "",
    "core": _MESSAGES, "core.framework": _MESSAGES, "core.protobuf": _MESSAGES, "core.util": _MESSAGES,
    "core.example": _MESSAGES,
}


def _module(place: str) -> Any:
    """The module (or public namespace) at a place of the table; None if tfnb has none."""
    full = place if place.startswith("tfnb.") else f"tfnb.{place}".rstrip(".")
    try:
        return importlib.import_module(full)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{full}.".startswith(f"{error.name}."):
            raise                                  # a library that is not installed, not a module that is not there
    return _attribute(full.partition(".")[2])


def _attribute(path: str) -> Any:
    """Return what a path of names in tfnb leads to, or None."""
    value: Any = importlib.import_module("tfnb")
    for name in filter(None, path.split(".")):
        value = getattr(value, name, None)
    return value


def internal(value: Any) -> bool:
    """True for one of tfnb's own folders, which TensorFlow has under other names or not at all."""
    return isinstance(value, ModuleType) and value.__name__ in _FOLDERS


class _Namespace(ModuleType):
    """A module of the name `tensorflow...`, whose names are those of a module of tfnb."""

    def __getattr__(self, name: str) -> Any:
        inner = f"{self.__name__}.{name}"
        if inner.partition(".")[2] in _PLACES:     # `from tensorflow.python.framework import ops`
            with suppress(ModuleNotFoundError):
                return importlib.import_module(inner)
        of = self.__dict__.get("_of")              # not there while the module is being made
        found = getattr(of, name, _ABSENT) if of is not None and not name.startswith("__") else _ABSENT
        if found is _ABSENT or internal(found):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}: tfnb does not have it",
                                 name=name, obj=self)
        return found

    def __dir__(self) -> list[str]:
        return sorted({*self.__all__, *self.__dict__} - {"_of"})


class _Finder(MetaPathFinder, Loader):
    """Finds `tensorflow` and all below it, in tfnb or not at all."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
                  ) -> ModuleSpec | None:
        """The spec of a module called `tensorflow...`. Raises ModuleNotFoundError if tfnb has nothing of the kind."""
        top, _, rest = fullname.partition(".")
        if top != NAME:
            return None
        if self._of(rest) is None:
            raise ModuleNotFoundError(f"No module named {fullname!r}: tfnb stands in for TensorFlow here, and has "
                                      "nothing of that name", name=fullname)
        return ModuleSpec(fullname, self, is_package=True)

    @staticmethod
    def _of(rest: str) -> Any:
        if rest in _PLACES:
            return _module(_PLACES[rest])
        if rest.startswith("core.") and rest.endswith("_pb2"):
            return _module(f"{_MESSAGES}.{rest.split('.')[-1]}")
        return _public(rest)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module, empty."""
        return _Namespace(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Tie the module to where its names are."""
        rest = module.__name__.partition(".")[2]
        of = self._of(rest)
        module.__dict__["_of"] = of
        module.__doc__ = of.__doc__
        if not rest or rest == "compat.v1":
            module.__dict__.update(__version__=VERSION, VERSION=VERSION)
        module.__dict__["__all__"] = [
            name for name in dir(of) if not name.startswith("_") and not internal(getattr(of, name, None))]


def _public(rest: str) -> Any:
    """Return `tf.` and this name, if it is a namespace: not a class or a function."""
    value = _attribute(rest)
    return value if isinstance(value, ModuleType) and not internal(value) else None


def _loaded() -> Iterator[ModuleType]:
    yield from (m for name, m in sys.modules.items() if name.split(".")[0] == NAME and not isinstance(m, _Namespace))


def install_as_tensorflow() -> None:
    """From now on `import tensorflow` gives tfnb, also `tensorflow.compat.v1`, and modules of its inside.

    What tfnb does not have is absent: an import of it raises ModuleNotFoundError, even where TensorFlow is installed.
    `tensorflow.__version__` is "1.15.0". Calling it again does nothing. Raises ImportError if TensorFlow itself is
    imported already: two packages of one name would work on each other's objects.
    """
    real = next(_loaded(), None)
    if real is not None:
        where = getattr(sys.modules.get(NAME), "__file__", None) or "an unknown place"
        raise ImportError(f"TensorFlow itself is imported already, from {where}: restart Python (the notebook's "
                          "kernel) and call install_as_tensorflow() before any `import tensorflow`", name=NAME)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
