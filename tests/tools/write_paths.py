"""Write `tfnb/tools/paths.txt`: which public names the modules inside of TensorFlow hold.

Run it by real TensorFlow's Python (TFNB_ORACLE_PYTHON): `python tests/tools/write_paths.py`. A module of release 2.21
that 1.15 has too is asked itself: a public symbol belongs to it if the same object is an attribute of it. What 1.15 and
before had elsewhere is said in EARLIER and CONTRIB.
"""
from __future__ import annotations

import importlib
import logging
import os
import types
from collections import Counter, defaultdict
from pathlib import Path

PLACE = Path(__file__).resolve().parents[2] / "tfnb" / "tools" / "paths.txt"
FOLDERS = ("client", "data", "framework", "lib", "ops", "platform", "saved_model", "summary", "training", "user_ops",
           "util")
# Folders of 2.x, or of what only TensorFlow's own tests and generators import.
LATER = ("/experimental/", "/ragged/", "/structured/", "/numpy_ops/", "/parallel_for/", "/kernel_tests/",
         "/benchmarks/", "/service/", "/risc/", "/weak_tensor", "/v1/", "/googletest/")
# Not public in 1.15, or found in other ways.
SKIPPED = ("compat", "keras", "estimator", "experimental", "raw_ops", "tf_decorator")
# contrib package -> (folder inside of it, namespaces, its modules in 1.15 or before)
CONTRIB = {
    "framework": [("python.ops", "contrib.audio_ops", "audio_ops"),
                  ("python.ops", "", "arg_scope checkpoint_ops ops prettyprint_ops script_ops variables"),
                  ("python.framework", "", "checkpoint_utils experimental graph_util tensor_util")],
    "layers": [("python.layers", "", "embedding_ops encoders feature_column initializers layers normalization "
                                     "optimizers regularizers summaries target_column utils"),
               ("python.ops", "", "bucketization_op sparse_ops")],
    "rnn": [("python.ops", "nn nn.rnn_cell", "core_rnn core_rnn_cell core_rnn_cell_impl fused_rnn_cell gru_ops "
                                             "lstm_ops rnn rnn_cell")],
    "seq2seq": [("python.ops", "", "attention_decoder_fn attention_wrapper basic_decoder beam_search_decoder decoder "
                                   "decoder_fn helper loss seq2seq")],
    "legacy_seq2seq": [("python.ops", "", "seq2seq")],
    "learn": [("python", "", "learn"), ("python.learn", "", "datasets preprocessing"),
              ("python.learn.datasets", "contrib.learn.datasets", "base mnist")],
    "data": [("python.ops", "", "batching error_ops grouping interleave_ops shuffle_ops sliding unique")],
    "training": [("python.training", "", "bucket_ops device_setter evaluation hparam sampling_ops training")],
    "slim": [*(("python.slim.nets", f"contrib.slim.nets.{name}", name) for name in (
                 "alexnet", "inception", "overfeat", "resnet_utils", "resnet_v1", "resnet_v2", "vgg")),
             ("python.slim.nets", "contrib.slim.nets.inception", "inception_v1 inception_v2 inception_v3"),
             ("python.slim.nets", "contrib.slim.nets", ""),
             *(("python.slim", f"contrib.slim.{name}", name) for name in (
                 "evaluation", "learning", "model_analyzer", "queues", "summaries")),
             *(("python.slim.data", f"contrib.slim.{name}", name) for name in (
                 "data_decoder", "data_provider", "dataset", "dataset_data_provider", "parallel_reader",
                 "prefetch_queue", "tfexample_decoder")),
             ("python.slim", "", "")],
    "metrics": [("python.ops", "", "metric_ops set_ops")],
    "losses": [("python.losses", "", "loss_ops")],
    "tpu": [("python.tpu", "", "tpu_config tpu_estimator tpu_optimizer")],
    "crf": [("python.ops", "", "crf")],
    "lookup": [("", "", "lookup_ops")],
    "image": [("python.ops", "", "dense_image_warp distort_image_ops image_ops interpolate_spline sparse_image_warp")],
    "linear_optimizer": [("python", "", "sdca_optimizer"), ("python.ops", "", "sdca_ops")],
    "cudnn_rnn": [("python.ops", "", "cudnn_rnn_ops"), ("python.layers", "", "cudnn_rnn")],
    "distributions": [("python.ops", "", "bernoulli categorical distribution normal uniform")],
}
# Modules of 1.15 or before that 2.21 lacks, or has emptied: public namespaces ("." is tf itself).
EARLIER = {
    ".": "ops python.client python.client.client_lib python.eager.context python.framework python.framework.ops "
         "python.framework.device "
         "python.framework.framework_lib python.framework.importer python.framework.tensor_shape python.ops "
         "python.ops.constant_op python.framework.constant_op "
         "python.ops.control_flow_ops python.ops.functional_ops python.ops.gradients python.ops.variable_scope "
         "python.ops.variables python.platform",
    ". initializers": "python.ops.init_ops", ". math": "python.ops.math_ops",
    ". random": "python.framework.random_seed", ". sparse": "python.ops.sparse_ops", ". nn train": "python",
    "compat": "python.util.compat",
    "data": "python.data python.data.ops", "distributions": "python.ops.distributions.distributions",
    "flags": "python.platform.flags", "gfile": "python.platform.default._gfile",
    "image": "python.ops.image_ops", "linalg": "python.ops.linalg_ns",
    "layers": "python.layers python.layers.base python.layers.convolutional python.layers.core python.layers.layers "
              "python.layers.normalization python.layers.pooling",
    "logging": "python.platform.logging", "losses": "python.ops.losses.losses", "python_io": "python.lib.io.python_io",
    "nn": "models.rnn models.rnn.rnn python.ops.rnn", "nn.seq2seq": "models.rnn.seq2seq python.ops.seq2seq",
    "nn.rnn_cell": "models.rnn.linear models.rnn.rnn_cell python.ops.rnn_cell python.ops.rnn_cell_impl",
    "saved_model": "python.saved_model", "summary": "python.summary", "user_ops": "python.user_ops",
    "train": "python.training python.framework.meta_graph python.pywrap_tensorflow pywrap_tensorflow "
             "python.training.checkpoint_management "
             "python.training.input python.training.learning_rate_decay python.training.learning_rate_decay_v2 "
             "python.training.queue_runner python.training.slot_creator python.training.training "
             "python.training.training_util",
    "train io": "python.framework.graph_io", "train summary": "python.training.summary_io",
}
# Folders that are not in 2.21 at all: module of the folder, or name in it -> namespaces below the folder's own.
FOLDED = {
    "keras": {
        "": "", "applications": "applications", "backend": "backend", "datasets": "datasets", "engine": "models layers",
        "layers": "layers", "preprocessing": "preprocessing", "saving": "models", "utils": "utils",
        "wrappers": "wrappers", "wrappers.scikit_learn": "wrappers.scikit_learn",
        **{name: name for name in "activations callbacks constraints initializers losses metrics models optimizers "
                                  "regularizers".split()},
        **{f"applications.{name}": f"applications.{name}" for name in
           "densenet imagenet_utils inception_resnet_v2 inception_v3 mobilenet mobilenet_v2 nasnet resnet resnet50 "
           "resnet_v2 vgg16 vgg19 xception".split()},
        **{f"datasets.{name}": f"datasets.{name}" for name in
           "boston_housing cifar10 cifar100 fashion_mnist imdb mnist reuters".split()},
        **{f"preprocessing.{name}": f"preprocessing.{name}" for name in "image sequence text".split()},
        **{f"engine.{name}": "models layers" for name in
           "base_layer input_layer input_spec network sequential topology training".split()},
        **{f"layers.{name}": "layers" for name in
           "advanced_activations convolutional convolutional_recurrent core cudnn_recurrent dense_attention embeddings "
           "local merge noise normalization pooling recurrent wrappers".split()},
        **{f"saving.{name}": "models" for name in "model_config save".split()},
        **{f"utils.{name}": "utils" for name in
           "data_utils generic_utils io_utils layer_utils multi_gpu_utils np_utils vis_utils".split()}},
    "estimator": {
        "canned": "", "estimator": "", "estimator_lib": "", "export": "export", "exporter": "", "inputs": "inputs",
        "early_stopping": "experimental", "model_fn": "", "run_config": "", "training": "", "": "",
        **{f"canned.{name}": "" for name in "baseline dnn dnn_linear_combined head linear".split()},
        **{f"export.{name}": "export" for name in "export export_lib export_output".split()},
        **{f"head.{name}": "" for name in
           "base_head binary_class_head multi_class_head multi_head multi_label_head regression_head".split()},
        **{f"inputs.{name}": "inputs" for name in "inputs numpy_io pandas_io".split()}},
    "feature_column": {"": "", "feature_column": "", "feature_column_lib": "", "feature_column_v2": ""},
}
HEAD = "# Modules inside of TensorFlow, and where tfnb has their names; written by `tests/tools/write_paths.py`.\n"


def public_symbols(tf) -> dict[int, list[str]]:
    """Identity of each public object -> its paths, ("nn.relu",)."""
    paths, seen = defaultdict(list), set()

    def walk(module, prefix: str) -> None:
        for name in dir(module):
            value = getattr(module, name, None)
            if name.startswith("_") or name in SKIPPED or value is None:
                continue
            if isinstance(value, types.ModuleType):
                if "tensorflow" in (vars(value).get("__name__") or "") and value not in seen and prefix.count(".") < 3:
                    seen.add(value)
                    walk(value, f"{prefix}{name}.")
            elif not isinstance(value, (int, float, str, bytes, tuple, list, dict)):
                paths[id(value)].append(f"{prefix}{name}")
    walk(tf, "")
    return paths


def modules(root: Path):
    """(name below `tensorflow`, module) for each that there is in FOLDERS."""
    for folder in FOLDERS:
        for file in sorted((root / "python" / folder).rglob("*.py")):
            place = file.relative_to(root).as_posix()
            if any(part in f"/{place}" for part in LATER) or place.endswith(("_test.py", "_v2.py", "__init__.py")):
                continue
            name = place.removesuffix(".py").replace("/", ".")
            try:
                yield name, importlib.import_module(f"tensorflow.{name}")
            except Exception as error:             # what needs hardware or tools that are not there
                logging.info("%s: %s", name, error)


def contrib() -> dict[str, str]:
    """The modules of CONTRIB, and the folders on the way, with their namespaces."""
    found = {}
    for package, folders in CONTRIB.items():
        for folder, more, names in folders:
            steps = folder.split(".") if folder else []
            places = [".".join(("contrib", package, *steps[:i])) for i in range(1, len(steps) + 1)]
            inner = ".".join(("contrib", package, *steps))
            for row in (*places, *(f"{inner}.{name}" for name in names.split())):
                found[row] = f"contrib.{package} {more}".strip()
    return found


def folded() -> dict[str, str]:
    """The modules of FOLDED with their namespaces."""
    return {f"python.{folder}.{module}".rstrip("."):
            " ".join(f"{folder}.{space}".rstrip(".") for space in spaces.split() or [""])
            for folder, modules in FOLDED.items() for module, spaces in modules.items()}


def held(module, paths: dict[int, list[str]]) -> tuple[list[str], dict[str, str]]:
    """The namespaces of the public symbols that a module holds, most first, and the names that differ."""
    spaces, renamed = Counter(), {}
    for name, value in vars(module).items():
        found = paths.get(id(value))
        if name.startswith("_") or found is None or "_v1" in name or "_v2" in name:
            continue
        same = [path for path in found if path.rpartition(".")[2] == name]
        if not same:
            renamed[name] = min(found, key=lambda path: (path.count("."), path))
        spaces.update({path.rpartition(".")[0] or "." for path in same})
    return [space for space, _ in sorted(spaces.items(), key=lambda item: (-item[1], item[0]))], renamed


def rows(table: dict[str, str]) -> str:
    """The rows of a table (core/tables.py)."""
    return "".join(f"{key}: {value}\n" for key, value in sorted(table.items()))


def main() -> None:
    """Ask, and write."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    paths = public_symbols(importlib.import_module("tensorflow.compat.v1"))
    table = {module: spaces for spaces, modules in EARLIER.items() for module in modules.split()} | contrib() | folded()
    renames, generated = {}, []
    for name, module in modules(Path(importlib.import_module("tensorflow").__file__).parent):
        leaf = name.rpartition(".")[2]
        if leaf.startswith("gen_"):
            generated.append(leaf)
            continue
        spaces, renamed = held(module, paths)
        if renamed:
            renames[name] = " ".join(f"{ours}={theirs}" for ours, theirs in sorted(renamed.items()))
        if spaces or renamed:
            found = dict.fromkeys([*table.get(name, "").split(), *spaces[:4]])
            table[name] = " ".join(found) or "."
    grouped = defaultdict(list)
    for name, spaces in sorted(table.items()):
        grouped[spaces].append(name)
    held_in = rows({spaces: " ".join(names) for spaces, names in grouped.items()})
    text = f"\n[HELD]\n{held_in}\n[RENAMED]\n{rows(renames)}\n[GENERATED]\npython.ops: {' '.join(sorted(generated))}\n"
    PLACE.write_text(HEAD + text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
