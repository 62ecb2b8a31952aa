"""AttributeErrors of public modules: the nearest name, or the reason why there is no such name."""
from __future__ import annotations

import sys
from collections.abc import Callable
from difflib import get_close_matches

_TPU = "tfnb runs on CPUs and CUDA GPUs, and on no TPU"
_REPLICAS = ("strategies that copy a model over devices are not there: place ops with tf.device, and share the work "
             "between processes by tf.train.ClusterSpec")
_XLA = "it drives TensorFlow's own compiler; tfnb compiles all graphs, see tf.explain"
_LIBRARY = "tfnb can't load ops that are compiled for TensorFlow; declare them in Python with tf.custom"
_EAGER = "tfnb has graphs and sessions, and no eager execution"
_NEWER = "it is newer than TensorFlow 1.15"
_NO_CXX = "no part of tfnb is compiled from C++"
_HALF = "variables and gradients keep the dtype that the program gives them: no graph is rewritten to half precision"
_DATA_SERVICE = "datasets are made in the process that reads them"
_LITE = "save the model by tf.saved_model, and convert it with TensorFlow"

# Public names of TensorFlow 1.15 (and of tensorflow.compat.v1) that tfnb refuses, by path; a path stands for all below.
REFUSED = {
    "tpu": _TPU, "contrib.tpu": _TPU, "estimator.tpu": _TPU, "distribute.experimental.TPUStrategy": _TPU,
    "distribute": _REPLICAS, "contrib.distribute": _REPLICAS, "contrib.cluster_resolver": _REPLICAS,
    "nn.compute_average_loss": _REPLICAS, "nn.scale_regularization_loss": _REPLICAS,
    "xla": _XLA, "mlir": _XLA, "contrib.compiler": _XLA, "contrib.tensorrt": "it needs NVIDIA's TensorRT inside of "
    "TensorFlow", "config.experimental.disable_mlir_bridge": _XLA, "config.experimental.enable_mlir_bridge": _XLA,
    "load_op_library": _LIBRARY, "load_library": _LIBRARY, "load_file_system_library": _LIBRARY,
    "experimental": _NEWER, "dtypes.experimental": _NEWER, "quantization.experimental": _NEWER,
    "types.experimental": _NEWER, "nn.experimental": _NEWER, "debugging.experimental": _NEWER,
    "data.experimental.service": _DATA_SERVICE, "mixed_precision": _HALF, "train.experimental": _HALF,
    "lite": _LITE, "contrib.lite": _LITE,
    "GradientTape": f"{_EAGER}: use tf.gradients", "function": f"{_EAGER}: a session compiles what it runs",
    **dict.fromkeys(("MONOLITHIC_BUILD", "CXX11_ABI_FLAG", "CXX_VERSION", "COMPILER_VERSION"), _NO_CXX),
    "LMDBReader": "LMDB files are read by a library inside of TensorFlow: convert them to TFRecords",
    **dict.fromkeys(("sparse.bincount", "approx_top_k", "math.approx_max_k", "math.approx_min_k", "nn.approx_max_k",
                     "nn.approx_min_k", "conv", "ragged_fill_empty_rows", "ragged_fill_empty_rows_grad", "check_pinned",
                     "conv2d_backprop_filter_v2", "conv2d_backprop_input_v2", "NoneTensorSpec"), _NEWER),
    "compat.v2": _EAGER, "wrap_function": _EAGER,
}


def refusal(path: str) -> str:
    """Return the reason why the public name `path` ("contrib.tpu.RunConfig") is not there on purpose, or ""."""
    while path:
        if path in REFUSED:
            return REFUSED[path]
        path = path.rpartition(".")[0]
    return ""


def absent(module: str, name: str, shown: str = "") -> AttributeError:
    """Return the error for a name that a module does not have, with the reason or the nearest name.

    shown: the name of the module in the message. The error has no `obj`, else Python adds a guess of its own.
    """
    text = f"module {shown or module!r} has no attribute {name!r}"
    reason = refusal(f"{module}.{name}".removeprefix("tfnb").lstrip("."))
    if reason:
        return AttributeError(f"{text}: {reason}", name=name)
    there = sys.modules.get(module)
    near = [] if there is None or name.startswith("_") else get_close_matches(name, _public(dir(there)), n=1)
    return AttributeError(text + (f". Did you mean {near[0]!r}?" if near else ""), name=name)


def _public(names: list[str]) -> list[str]:
    return [name for name in names if not name.startswith("_")]


def without(module: str) -> Callable[[str], object]:
    """Return a `__getattr__` that raises `absent`."""
    def find(name: str) -> object:
        raise absent(module, name)
    return find


def explain(module: str) -> None:
    """Let a public module, imported by now, tell of names that it does not have.

    Type checkers don't see it: they go on to find wrong names themselves.
    """
    vars(sys.modules[module]).setdefault("__getattr__", without(module))
