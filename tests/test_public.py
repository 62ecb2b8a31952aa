"""Public functions are what help says and what TensorFlow has: names, arguments and their order, defaults."""
from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
import re
import types
from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest
from google.protobuf.message import Message

import tfnb as tf
from tfnb.tools.names import members

# Arguments that TensorFlow 2 has put at the end, or between, and no release of 1.x has.
NEWER = {
    **dict.fromkeys(("experimental_priority", "experimental_device_ordinal"),
                    "tf.config.LogicalDeviceConfiguration"),
    "layout": "tf.fill tf.ones tf.zeros", "bad_indices_policy": "tf.gather_nd tf.scatter_nd tf.tensor_scatter_add "
    "tf.tensor_scatter_sub tf.tensor_scatter_nd_add tf.tensor_scatter_nd_sub tf.tensor_scatter_nd_max "
    "tf.tensor_scatter_nd_min", "sparse_gradient": "tf.sparse_segment_sum tf.sparse_segment_mean "
    "tf.sparse_segment_sqrt_n", "output_type": "tf.matmul tf.linalg.matmul", "grad_a": "tf.matmul tf.linalg.matmul",
    "grad_b": "tf.matmul tf.linalg.matmul", "index_type": "tf.math.top_k tf.nn.top_k",
    **dict.fromkeys(("step_counter", "checkpoint_interval", "init_fn", "last_checkpoint_step"),
                    "tf.train.CheckpointManager"),
    "alg": "tf.random.stateless_normal tf.random.stateless_truncated_normal tf.random.stateless_uniform",
    "name": "tf.data.FixedLengthRecordDataset tf.data.TFRecordDataset tf.data.TextLineDataset",
    "stop_on_empty_dataset": "tf.data.experimental.choose_from_datasets tf.data.experimental.sample_from_datasets",
    "experimental_is_anonymous": "tf.lookup.StaticHashTable tf.lookup.StaticVocabularyTable",
    "use_safe_embedding_lookup": "tf.feature_column.embedding_column tf.feature_column.shared_embedding_columns",
    "file_format": "tf.feature_column.categorical_column_with_vocabulary_file "
    "tf.feature_column.sequence_categorical_column_with_vocabulary_file",
    "value_index_offset": "tf.lookup.TextFileInitializer",
    "log_warning": "tf.data.experimental.ignore_errors", "axis": "tf.linspace tf.lin_space", "handle_data": "tf.DType",
    "sorted_input": "tf.image.non_max_suppression_padded", "tile_size": "tf.image.non_max_suppression_padded",
    "canonicalized_coordinates": "tf.image.non_max_suppression_padded", "fn_output_signature": "tf.map_fn",
    "defaults": "tf.saved_model.build_signature_def tf.saved_model.signature_def_utils.build_signature_def",
    "encoding": "tf.compat.as_str_any", "parameters": "tf.linalg.LinearOperator",
    "flat_values_spec": "tf.RaggedTensorSpec",
    "allow_fast_lookup": "tf.nn.embedding_lookup_sparse tf.nn.safe_embedding_lookup_sparse",
}
# Programs get these from other functions and don't construct them, or their class has other parts here.
NOT_CONSTRUCTED = {"tf.Operation", "tf.Tensor", "tf.data.Dataset", "tf.data.Iterator",
                   "tf.flags.FLAGS", "tf.RaggedTensor", "tf.UnconnectedGradients", "tf.VariableAggregation",
                   "tf.VariableSynchronization"}
# Other defaults. By another name: what an older release gave by another keyword can't be required here.
OTHER_DEFAULTS = {
    "by another name": {"tf.SparseTensor", "tf.concat", "tf.nn.avg_pool", "tf.nn.avg_pool2d", "tf.nn.max_pool",
                        "tf.nn.conv3d_transpose", "tf.nn.convolution", "tf.reverse", "tf.reverse_v2", "tf.split",
                        "tf.SparseTensorValue"},
    "no default in 2.x": {"tf.image.extract_patches"},
}
READ = '''
from tensorflow.python.util import tf_inspect
def parameters(value):
    made = value if not isinstance(value, type) else (
        value.__init__ if value.__init__ is not object.__init__ else value.__new__)
    spec = tf_inspect.getfullargspec(made)
    names = spec.args[isinstance(value, type):]
    defaults = spec.defaults or ()
    required = len(names) - len(defaults)
    return [(name, show(defaults[i - required]) if i >= required else "") for i, name in enumerate(names)]
def show(value):
    if isinstance(value, (list, tuple)):
        return str(list(value))
    return repr(value) if value is None or type(value) in (bool, int, float, str) else "other"
result = {}
for dotted in names:
    value = tf
    for part in dotted.split(".")[1:]:
        value = getattr(value, part, None)
    if callable(value):
        result[dotted] = parameters(value)
'''


@cache
def called() -> dict[str, Any]:
    """Dotted name -> public function or class, by each of its names."""
    return {name: value for name, value in members(tf, "tf")
            if str(getattr(value, "__module__", "")).startswith("tfnb") and callable(value)
            and not (isinstance(value, type) and issubclass(value, (Message, BaseException)))}


def show(value: Any) -> str:
    """Return a default as the oracle shows it; "" if there is none."""
    if isinstance(value, (list, tuple)):
        return str(list(value))
    if value is inspect.Parameter.empty:
        return ""
    return repr(value) if value is None or type(value) in (bool, int, float, str) else "other"


def parameters(value: Any) -> list[tuple[str, str]]:
    """(name, default) of each parameter that may be given by its position."""
    return [(p.name, show(p.default)) for p in inspect.signature(value).parameters.values()
            if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "_sentinel"]


def unlike(ours: list[tuple[str, str]], theirs: list[tuple[str, str]], left_out: set[str]) -> str:
    """Return how parameters differ: ours may have more at the end, names of earlier releases."""
    wanted = [pair for pair in theirs if pair[0] not in left_out]
    own = ours[:len(wanted)]
    if [name for name, _ in own] != [name for name, _ in wanted]:
        return f"{[name for name, _ in ours]}, TensorFlow: {[name for name, _ in wanted]}"
    differ = [f"{name}={a}, TensorFlow: {name}={b}" for (name, a), (_, b) in zip(own, wanted, strict=True)
              if a != b and "other" not in (a, b)]
    return "; ".join(differ)


def of(names: Iterable[str]) -> set[int]:
    """The identities of what the names are of, which may have other names."""
    return {id(called()[name]) for name in names}


def left_out(name: str) -> set[str]:
    this = id(called()[name])
    return {argument for argument, names in NEWER.items() if this in of(names.split())} | (
        {"required"} if name.startswith("tf.flags.DEFINE") else set())


def test_arguments_are_those_of_tensorflow(oracle):
    names = sorted(name for name, value in called().items() if id(value) not in of(NOT_CONSTRUCTED)
                   and not name.startswith("tf.keras."))        # TensorFlow 2 has Keras 3 under these names
    theirs = oracle(READ, names=names)
    assert len(theirs) > 900
    listed = set().union(*OTHER_DEFAULTS.values())
    lenient = {name for name, value in called().items() if id(value) in of(listed)}
    found = {name: unlike(parameters(called()[name]), wanted, left_out(name)) for name, wanted in theirs.items()}
    assert {name: text for name, text in found.items() if text and name not in lenient} == {}
    assert listed <= {name for name, text in found.items() if "TensorFlow: " in text}, "these agree now"


def test_planted_differences_are_found():
    ours = [("x", ""), ("axis", "None"), ("dim", "None")]
    assert unlike(ours, ours[:2], set()) == "" == unlike(ours, [*ours[:2], ("layout", "None")], {"layout"})
    assert "TensorFlow" in unlike(ours, [("x", ""), ("dim", "None")], set())
    assert unlike(ours, [("x", ""), ("axis", "0")], set()) == "axis=None, TensorFlow: axis=0"


def title(value: Any) -> str:
    """Return what help says of a function first: its call, which Python 3.13 folds where it is long."""
    lines = pydoc.plain(pydoc.render_doc(value)).splitlines()[2:]
    folded = lines[:1 + next((i for i, line in enumerate(lines) if line.startswith(")")), 0)]
    return re.sub(r"(?<=[([]) |,? (?=\))", "", " ".join(line.strip() for line in folded))


def test_help_begins_with_the_call():
    names: dict[int, set[str]] = {}
    for name, value in called().items():
        names.setdefault(id(value), set()).add(name.rpartition(".")[2])
    functions = {name: value for name, value in called().items() if isinstance(value, types.FunctionType)}
    wrong = {name: title(value) for name, value in functions.items()
             if title(value) not in {f"{each}{inspect.signature(value)}" for each in names[id(value)]}}
    assert len(functions) > 700 and wrong == {}


def test_public_functions_of_ops_can_be_copied_and_pickled():
    ops = {name: value for name, value in called().items() if hasattr(value, "spec")}
    assert len(ops) > 100
    for value in ops.values():
        assert pickle.loads(pickle.dumps(value)) is value and copy.deepcopy(value) is value


@pytest.mark.parametrize("value, name, start", [
    (tf.exp, "exp", "exp(x, name=None)"), (tf.nn.relu, "relu", "relu(features, name=None)"),
    (tf.sin, "sin", "sin(x, name=None)"), (tf.math.log, "log", "log(x, name=None)"), (tf.mod, "floormod", "floormod(x"),
    (tf.range, "range", "range(start")])
def test_names_of_functions_made_by_declarations(value, name, start):
    assert value.__name__ == value.__qualname__ == name and inspect.isfunction(value)
    assert title(value).startswith(start)


def test_flags_take_the_names_of_arguments_of_earlier_releases():
    tf.flags.DEFINE_integer(flag_name="former_names", default_value=3, docstring="A count.")
    assert tf.flags.FLAGS.former_names == 3 and tf.flags.FLAGS["former_names"].help == "A count."
    with pytest.raises(tf.flags.IllegalFlagValueError, match="not integer <= 8"):
        tf.flags.DEFINE_multi_integer("former_names", [1, 9], "Counts.", upper_bound=8)


def test_defaults_of_arg_scope_reach_convolutions_of_each_rank():
    slim = tf.contrib.slim
    with slim.arg_scope([slim.conv3d, slim.conv1d], padding="VALID", stride=2):
        assert slim.conv3d(tf.ones([1, 5, 5, 5, 2]), 3, 3).shape.as_list() == [1, 2, 2, 2, 3]
        assert slim.conv1d(tf.ones([1, 5, 2]), 3, 3).shape.as_list() == [1, 2, 3]
        assert slim.conv2d(tf.ones([1, 5, 5, 2]), 3, 3).shape.as_list() == [1, 5, 5, 3]
    with pytest.raises(ValueError, match="not decorated"), slim.arg_scope([tf.contrib.layers.linear]):
        pass
