"""AttributeErrors of public modules: the nearest name, or the reason why there is no such name."""
from __future__ import annotations

import sys
from collections.abc import Callable
from difflib import get_close_matches
from types import ModuleType

# The house's own folders, which TensorFlow has under other names or not at all.
INTERNAL = frozenset(f"tfnb.{name}" for name in (
    "core resources proto opdef graph kernels ops control_flow variables autodiff compile runtime debug rnn seq2seq "
    "tools notebook").split())

_TPU = "tfnb runs on CPUs and CUDA GPUs, and on no TPU"
_REPLICAS = ("strategies that copy a model over devices are not there: place ops with tf.device, and share the work "
             "between processes by tf.train.ClusterSpec")
_XLA = "it drives TensorFlow's own compiler; tfnb compiles all graphs, see tf.explain"
_LIBRARY = "tfnb can't load ops that are compiled for TensorFlow; declare them in Python with tf.custom"
_EAGER = "tfnb has graphs and sessions, and no eager execution"
_NEWER = "it is newer than TensorFlow 1.15"
_NO_CXX = "no part of tfnb is compiled from C++"
_LMDB = "LMDB files are read by a library inside of TensorFlow: convert them to TFRecords"
_HALF = "variables and gradients keep the dtype that the program gives them: no graph is rewritten to half precision"
_DATA_SERVICE = "datasets are made in the process that reads them"
_LITE = "save the model by tf.saved_model, and convert it with TensorFlow"
_FLAGS = "tf.flags has what programs use; the package absl-py has it, as absl.flags"
_SCRIPT = "functions are not rewritten: use tf.cond and tf.while_loop"
_PROFILER = "see tf.RunMetadata, timeline and the notebook's %profile for what a run spends"
_YET = "tfnb does not have it yet"
_FOREST = "tfnb has no decision trees: scikit-learn has them"

# Public names of TensorFlow (1.15, tensorflow.compat.v1, contrib) that tfnb lacks, by reason; a path stands for all
# below. docs/api_status.md lists them.
_PATHS = {
    _TPU: "tpu contrib.tpu estimator.tpu distribute.experimental.TPUStrategy contrib.cluster_resolver",
    _REPLICAS: "distribute contrib.distribute nn.compute_average_loss nn.scale_regularization_loss "
               "config.experimental_connect_to_cluster config.experimental_connect_to_host "
               "config.experimental.ClusterDeviceFilters",
    _XLA: "xla mlir contrib.compiler contrib.tensorrt config.experimental.disable_mlir_bridge "
          "config.experimental.enable_mlir_bridge config.optimizer",
    _LIBRARY: "load_op_library load_library load_file_system_library",
    f"{_EAGER}: use tf.gradients": "GradientTape",
    f"{_EAGER}: a session compiles what it runs": "function",
    _EAGER: "compat.v2 wrap_function config.experimental_functions_run_eagerly "
            "config.experimental_run_functions_eagerly config.functions_run_eagerly config.run_functions_eagerly "
            "test.with_eager_op_as_function saved_model.load_v2 saved_model.save saved_model.experimental",
    _HALF: "mixed_precision train.experimental keras.mixed_precision",
    _DATA_SERVICE: "data.experimental.service",
    _LITE: "lite contrib.lite",
    _FLAGS: "flags app.flags",
    _SCRIPT: "autograph",
    _PROFILER: "profiler",
    _FOREST: "contrib.tensor_forest contrib.boosted_trees",
    _NEWER: "experimental dtypes.experimental quantization.experimental types.experimental nn.experimental "
            "debugging.experimental config.LogicalDevice config.LogicalDeviceConfiguration "
            "keras.layers.experimental keras.export keras.saving keras.optimizers.legacy keras.utils.legacy "
            "keras.applications.convnext keras.applications.efficientnet keras.applications.efficientnet_v2 "
            "keras.applications.regnet keras.applications.resnet_rs keras.applications.mobilenet_v3 "
            "fftnd ifftnd rfftnd irfftnd signal.fftnd signal.ifftnd signal.rfftnd signal.irfftnd "
            "image.decode_jxl image.decode_webp image.generate_bounding_box_proposals io.decode_jxl io.decode_webp "
            "random_index_shuffle random.experimental.index_shuffle approx_top_k math.approx_max_k math.approx_min_k "
            "nn.approx_max_k nn.approx_min_k linalg.eigh_tridiagonal ragged_fill_empty_rows "
            "ragged_fill_empty_rows_grad check_pinned sparse.bincount",
}
REFUSED = {path: reason for reason, paths in _PATHS.items() for path in paths.split()}


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
    near = [] if there is None or name.startswith("_") else get_close_matches(name, _public(there), 1, 0.65)
    return AttributeError(text + (f". Did you mean {near[0]!r}?" if near else ""), name=name)


def _public(module: ModuleType) -> list[str]:
    has = vars(module)
    return [name for name in dir(module) if not name.startswith("_")
            and getattr(has.get(name), "__name__", "") not in INTERNAL]


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
