"""Look-up of names in the modules inside of TensorFlow: `python.ops.math_ops`, `contrib.rnn.python.ops.rnn_cell`.

Programs import these modules by path though they are not public. Most of their names are public under another path:
`paths.py` says where. The functions of `gen_*_ops` are the ops themselves; the rest is in _NAMES.
"""
from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from tfnb.core.absent import INTERNAL
from tfnb.core.lazy import lazy_module
from tfnb.opdef import registry
from tfnb.ops.declaration.raw import raw

paths = lazy_module("tfnb.tools.paths")            # 4 ms, for programs that import such modules
ABSENT = object()
_CELLS = ("_linear=tfnb.rnn.linear:linear linear=tfnb.rnn.linear:linear _Linear=tfnb.tools.private:Linear "
          "tfnb.rnn.cells:LayerRNNCell tfnb.rnn.cells:assert_like_rnncell _concat=tfnb.tools.private:joined_sizes "
          "_zero_state_tensors=tfnb.rnn.cell_shapes:zero_states _like_rnncell=tfnb.tools.private:like_rnncell")
_DYNAMIC = ("_transpose_batch_time=tfnb.rnn.dynamic:transpose_batch_time "
            "_best_effort_input_batch_size=tfnb.tools.private:batch_size_of rnn_cell_impl=tfnb.nn:rnn_cell")
_TABLES = " ".join(f"tfnb.contrib.lookup:{name}" for name in (
    "HashTable", "KeyValueTensorInitializer", "MutableHashTable", "index_table_from_file", "index_table_from_tensor",
    "index_to_string_table_from_file", "index_to_string_table_from_tensor"))
# Names that are not public in TensorFlow either: "module:name", or "name=module:name"; "module:*" has all.
_NAMES = {
    "python.client.device_lib": "tfnb.runtime.devices:list_local_devices",
    "python.client.timeline": "tfnb.debug.timeline:Timeline",
    "contrib.framework.python.ops.audio_ops": "tfnb.contrib.audio_ops:*",
    "contrib.learn.python.learn.preprocessing.text": "tfnb.data.vocabulary:VocabularyProcessor",
    "contrib.seq2seq.python.ops.attention_wrapper": "_BaseAttentionMechanism=tfnb.seq2seq.attention:BaseAttention "
                                                    "_prepare_memory=tfnb.seq2seq.attention:prepared "
                                                    "_maybe_mask_score=tfnb.seq2seq.attention:masked_score "
                                                    "_bahdanau_score=tfnb.seq2seq.attention:additive_score "
                                                    "_luong_score=tfnb.seq2seq.attention:multiplicative_score "
                                                    "_compute_attention=tfnb.seq2seq.attention_wrapper:attend",
    "contrib.seq2seq.python.ops.beam_search_ops": "tfnb.contrib.seq2seq:gather_tree",
    "contrib.seq2seq.python.ops.decoder": _DYNAMIC, "contrib.seq2seq.python.ops.helper": _DYNAMIC,
    "contrib.losses.python.metric_learning": "tfnb.losses.metric_learning:*",
    "contrib.losses.python.metric_learning.metric_loss_ops": "tfnb.losses.metric_learning:*",
    "contrib.tpu.python.tpu.tpu_function": "tfnb.tools.private:get_tpu_context",
    "python.tpu.tpu_function": "tfnb.tools.private:get_tpu_context",
    **{f"python.tpu.{name}": "tfnb.contrib.tpu:*" for name in ("tpu_config", "tpu_estimator", "tpu_optimizer")},
    "contrib.layers.python.layers.utils": "tfnb.layers.contrib.outputs:*",
    "python.data.ops.dataset_ops": "DatasetV2=tfnb.data:Dataset",
    "python.data.util.nest": "tfnb.layers.contrib.nest:*",
    "python.eager.backprop": "tfnb.autodiff.tape:GradientTape",
    "python.eager.context": "tfnb.tools.private:in_graph_mode tfnb.tools.private:in_eager_mode",
    "python.estimator.canned.head": "tfnb.estimator.heads.contrib:*",
    "python.estimator.canned.metric_keys": "tfnb.tools.private:MetricKeys",
    "python.estimator.canned.prediction_keys": "tfnb.tools.private:PredictionKeys",
    "python.estimator.util": "fn_args=tfnb.estimator.calls:arguments",
    "python.framework.dtypes": "",
    "python.framework.function": "tfnb.tools.private:Defun",
    "python.framework.ops": "tfnb.graph.convert:convert_n_to_tensor tfnb.graph.convert:internal_convert_to_tensor "
                            "tfnb.graph.convert:internal_convert_n_to_tensor "
                            "tfnb.ops.composite.indexed_slices:convert_n_to_tensor_or_indexed_slices "
                            "tfnb.tools.private:is_dense_tensor_like tfnb.tools.private:name_from_scope_name "
                            "tfnb.tools.private:prepend_name_scope tfnb.tools.private:strip_name_scope "
                            "tfnb.tools.private:inside_function "
                            "_get_graph_from_inputs=tfnb.tools.private:graph_of",
    "python.framework.smart_cond": "smart_cond=tfnb.layers.choices:either "
                                   "smart_constant_value=tfnb.layers.choices:known",
    "python.framework.tensor_shape": "tfnb.core.shape:as_shape tfnb.core.shape:unknown_shape "
                                     "tfnb.core.dimension:as_dimension",
    "python.framework.tensor_util": "tfnb.graph.parts.constant_value:constant_value tfnb.variables.helpers:is_tensor",
    "python.framework.test_util": "TensorFlowTestCase=tfnb.test:TestCase tfnb.testing.decorators:*",
    "python.keras.engine.network": "Network=tfnb.keras.models:Model",
    "python.layers.convolutional": "Convolution1D=tfnb.layers:Conv1D Convolution2D=tfnb.layers:Conv2D "
                                   "Convolution3D=tfnb.layers:Conv3D "
                                   "Convolution2DTranspose=tfnb.layers:Conv2DTranspose "
                                   "Convolution3DTranspose=tfnb.layers:Conv3DTranspose",
    "python.layers.utils": "tfnb.tools.private:conv_output_length tfnb.tools.private:deconv_output_length "
                           "smart_cond=tfnb.layers.choices:either constant_value=tfnb.layers.choices:known "
                           "normalize_tuple=tfnb.layers.choices:sizes_for "
                           "convert_data_format=tfnb.layers.choices:layout",
    "python.lib.io.file_io": "FileIO=tfnb.gfile:GFile tfnb.core.files.gfile:read_file_to_string "
                             "tfnb.core.files.gfile:write_string_to_file",
    "python.ops.confusion_matrix": "tfnb.losses.weights:remove_squeezable_dimensions "
                                   "tfnb.ops.array.counting:confusion_matrix",
    "python.ops.control_flow_util": "tfnb.tools.private:GraphOrParentsInXlaContext "
                                    "tfnb.tools.private:GetContainingXLAContext",
    "python.ops.gradients_impl": "_hessian_vector_product=tfnb.tools.private:hessian_vector_product",
    "python.ops.init_ops": "tfnb.variables.initializers:Initializer _compute_fans=tfnb.variables.initializers:fans",
    "python.ops.image_ops_impl": "_is_tensor=tfnb.image.geometry:is_tensor",
    "python.ops.inplace_ops": "tfnb.tools.private:alias_inplace_update tfnb.tools.private:alias_inplace_add "
                              "tfnb.tools.private:alias_inplace_sub tfnb.tools.private:inplace_update "
                              "tfnb.tools.private:inplace_add tfnb.tools.private:inplace_sub",
    "python.ops.lookup_ops": _TABLES,
    "python.ops.metrics_impl": "_remove_squeezable_dimensions=tfnb.metrics.base:fitted "
                               "tfnb.metrics.base:metric_variable",
    "python.ops.parallel_for": "tfnb.tools.private:jacobian tfnb.tools.private:batch_jacobian",
    "python.ops.parallel_for.gradients": "tfnb.tools.private:jacobian tfnb.tools.private:batch_jacobian",
    "python.ops.rnn": _DYNAMIC,
    "python.ops.variable_scope": "variable=tfnb.variables.variable:Variable",
    "python.ops.weights_broadcast_ops": "tfnb.losses.weights:broadcast_weights "
                                        "tfnb.losses.weights:assert_broadcastable",
    "python.ops.variables": "VariableV1=tfnb.variables.variable:Variable "
                            "tfnb.variables.partitioned:PartitionedVariable",
    "python.ops.data_flow_ops": "Barrier=tfnb.ops.data_flow.barriers:KeyedBarrier "
                                "StagingArea=tfnb.contrib.staging:StagingArea",
    "python.ops.random_ops": "tfnb.ops.random.truncated:parameterized_truncated_normal",
    "python.ops.control_flow_ops": "tfnb.ops.control.group:with_dependencies",
    "python.ops.resource_variable_ops": "ResourceVariable=tfnb.variables.variable:Variable "
                                        "tfnb.tools.private:is_resource_variable",
    "python.ops.rnn_cell": _CELLS, "python.ops.rnn_cell_impl": _CELLS, "models.rnn.linear": _CELLS,
    "models.rnn.rnn_cell": _CELLS, "contrib.rnn.python.ops.core_rnn_cell": _CELLS,
    "contrib.rnn.python.ops.core_rnn_cell_impl": _CELLS, "contrib.rnn.python.ops.rnn_cell": _CELLS,
    "python.tools.freeze_graph": "tfnb.tools.freeze_graph:freeze_graph",
    "python.tools.inspect_checkpoint": "tfnb.tools.inspect_checkpoint:print_tensors_in_checkpoint_file",
    "python.training.evaluation": "_StopAfterNEvalsHook=tfnb.contrib.training:StopAfterNEvalsHook "
                                  "_evaluate_once=tfnb.contrib.training:evaluate_once "
                                  "_get_or_create_eval_step=tfnb.contrib.training:get_or_create_eval_step",
    "python.training.moving_averages": "tfnb.train.optimizers.moving_averages:assign_moving_average",
    "python.training.slot_creator": "tfnb.train.optimizers.slots:create_slot "
                                    "tfnb.train.optimizers.slots:create_slot_with_initializer "
                                    "tfnb.train.optimizers.slots:create_zeros_slot",
    "python.training.training_ops": "",
    "python.util.deprecation": "tfnb.core.program.deprecation:deprecated "
                               "tfnb.core.program.deprecation:deprecated_args "
                               "tfnb.core.program.deprecation:deprecated_arg_values "
                               "tfnb.core.program.deprecation:deprecated_argument_lookup",
    "python.util.tf_export": "tfnb.core.program.deprecation:tf_export",
    "python.tf2": "tfnb.tools.private:enabled",
    "python.util.all_util": "tfnb.core.program.decorators:make_all tfnb.core.program.decorators:remove_undocumented",
    "python.util.function_utils": "fn_args=tfnb.estimator.calls:arguments",
    "python.util.tf_contextlib": "contextlib:*",
    "python.util.tf_decorator": "tfnb.core.program.decorators:make_decorator tfnb.core.program.decorators:unwrap",
    "python.util.nest": "tfnb.layers.contrib.nest:*",
    "python.util.tf_inspect": "inspect:* tfnb.tools.port.legacy:getargspec",
}
# Folders of which TensorFlow has the modules under several paths.
_SAME = {"contrib.keras.api.keras": "python.keras", "contrib.keras.api": "python.keras",
         "contrib.keras.python.keras": "python.keras", "contrib.keras.python": "python.keras",
         "contrib.estimator.python.estimator": "python.estimator", "contrib.estimator.python": "python.estimator",
         "estimator.python.estimator": "python.estimator", "estimator.python": "python.estimator",
         "_api.v1.keras": "python.keras"}
# Folders whose modules `tensorflow.python` itself had, `from tensorflow.python import control_flow_ops`.
LIFTED = ("ops", "framework", "client", "training", "platform", "lib.io", "util")


def internal(value: Any) -> bool:
    """Return whether it is one of tfnb's own folders, which TensorFlow has under other names or not at all."""
    return isinstance(value, ModuleType) and value.__name__ in INTERNAL


def public(path: str) -> Any:
    """Return the public module or namespace at a path below tfnb ("." is tfnb itself), or None."""
    found: Any = importlib.import_module("tfnb")
    for name in path.split(".") if path != "." else ():
        found = getattr(found, name, None)
    return found if isinstance(found, ModuleType) else None


def snake_case(op: str) -> str:
    """Return the name of an op's function in its gen_*_ops module: "MaxPool3DGrad" is max_pool3d_grad."""
    made = ""
    for i, letter in enumerate(op):
        starts = letter.isupper() and i > 0 and (op[i - 1].islower() or op[i + 1:i + 2].islower())
        made += ("_" if starts else "") + letter.lower()
    return made


@cache
def _functions() -> dict[str, str]:
    return {snake_case(op): op for op in registry.names()}


@dataclass(frozen=True, slots=True)
class Inside:
    """A module inside of TensorFlow: the public namespaces of its names, names from elsewhere, whether it has ops."""

    path: str
    spaces: tuple[Any, ...]
    names: dict[str, str]
    has_ops: bool

    def find(self, name: str) -> Any:
        """Return what the module calls so, or ABSENT."""
        found = _imported(self.names[name]) if name in self.names else ABSENT
        if found is not ABSENT:
            return found
        for space in self.spaces:
            found = getattr(space, name, ABSENT) if not name.startswith("_") else ABSENT
            if found is not ABSENT and not internal(found):
                return found
        op = _functions().get(name.lstrip("_")) if self.has_ops else None
        return ABSENT if op is None else getattr(raw, op)

    def listed(self) -> list[str]:
        """Return the names that `dir` and `import *` give."""
        found = {name for space in self.spaces for name in dir(space) if not internal(getattr(space, name, None))}
        found |= {name for name, place in self.names.items() if ":" in place or _imported(place) is not ABSENT}
        if self.path.rpartition(".")[2].startswith("gen_"):
            found |= set(_functions())
        return sorted(name for name in found if not name.startswith("_"))


def _imported(place: str) -> Any:
    """Return the value at "module:name", or at a public path of tfnb; ABSENT if tfnb does not have it."""
    module, _, name = place.rpartition(":")
    if not module:
        module, _, name = place.rpartition(".")
        space = public(module or ".")
        return ABSENT if space is None else getattr(space, name, ABSENT)
    return getattr(importlib.import_module(module), name)


def _names(path: str) -> Iterator[tuple[str, str]]:
    yield from (item.split("=") for item in paths.RENAMED.get(path, "").split())
    for item in _NAMES.get(path, "").split():
        name, _, place = item.rpartition("=")
        module, _, attribute = place.partition(":")
        if attribute == "*":
            inner = importlib.import_module(module)
            yield from ((one, f"{module}:{one}") for one in dir(inner) if not one.startswith("_"))
        else:
            yield name or attribute, place


def known() -> frozenset[str]:
    """Return the paths of the modules inside of TensorFlow of which tfnb may have names."""
    return frozenset({*paths.MODULES, *_NAMES, *(f"python.ops.{name}" for name in paths.GENERATED)})


@cache
def _folders() -> frozenset[str]:
    """Return the paths of the packages that hold these modules."""
    return frozenset(path.rsplit(".", count)[0] for path in known() for count in range(1, path.count(".") + 1))


def standard(path: str) -> str:
    """Return the path by which the tables know a module that TensorFlow has under several.

    >>> from tfnb.tools.inside import standard
    >>> standard("contrib.keras.api.keras.layers"), standard("estimator.python.estimator.canned.dnn")
    ('python.keras.layers', 'python.estimator.canned.dnn')
    """
    for begin, place in _SAME.items():
        if f"{path}.".startswith(f"{begin}."):
            return f"{place}{path[len(begin):]}"
    return path


def inside(path: str) -> Inside | None:
    """Return the module at a path below `tensorflow`; None if TensorFlow has none there, or tfnb none of its names."""
    path = standard(path)
    generated = path.startswith("python.ops.gen_") and path.removeprefix("python.ops.") in paths.GENERATED
    if path in paths.MODULES or path in _NAMES or generated:
        spaces = tuple(space for one in paths.MODULES.get(path, ()) if (space := public(one)) is not None)
        names = dict(_names(path))
        has_ops = path.startswith("python.ops.") or path == "python.training.training_ops"
        if spaces or names or has_ops and (generated or path in _NAMES) or path in _folders():
            return Inside(path, spaces, names, has_ops)
        return None
    if path in _folders() and not path.startswith("contrib."):
        return Inside(path, (), {}, False)
    if path.startswith("python.") and path.count(".") == 1:
        return next((found for folder in LIFTED if (found := inside(path.replace(".", f".{folder}.", 1)))), None)
    return None
