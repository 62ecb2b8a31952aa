"""TensorFlow 1.15.5's own answers: variables, collections, names and values of programs of tf.contrib, tf.layers...

`facts.json.xz` has them, so that the comparison runs without TensorFlow; where TFNB_TF1_PYTHON names a Python with
1.15, `python -m tests.tf1.test_facts` measures them anew. Each run takes a part of the programs, TFNB_STRESS=1 all.
"""
from __future__ import annotations

import json
import lzma
import math
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

import tfnb as tf
from tests.tf1.measure import measure
from tests.tf1.programs import PROGRAMS
from tfnb.opdef import registry
from tfnb.opdef.newer import newer

HERE = Path(__file__).parent
FACTS = json.loads(lzma.open(HERE / "facts.json.xz").read())
# Results of compositions and of other ops than TensorFlow's, whose ops have other names inside of the same scope.
OTHER_NAMES = set("""
    layers/unit_norm cells/LSTMBlockCell cells/LSTMBlockCell_peephole cells/GRUBlockCell cells/GRUBlockCellV2
    cells/CoupledInputForgetGateLSTMCell cells/TimeFreqLSTMCell cells/GridLSTMCell cells/GridLSTMCell_peephole
    cells/BidirectionalGridLSTMCell cells/AttentionCellWrapper cells/AttentionCellWrapper_lstm cells/UGRNNCell
    cells/IntersectionRNNCell cells/IntersectionRNNCell_in cells/PhasedLSTMCell cells/GLSTMCell
    cells/GLSTMCell_projected cells/IndyLSTMCell cells/CudnnCompatibleLSTMCell rnn/fused rnn/fused_peephole
    rnn/reversed legacy_seq2seq/embedding_attention_seq2seq legacy_seq2seq/embedding_attention_seq2seq_heads
    seq2seq/sequence_loss seq2seq/hardmax crf/decode crf/scores contrib.metrics/streaming_covariance
    contrib.metrics/streaming_false_negatives contrib.metrics/streaming_false_positives
    contrib.metrics/streaming_true_positives contrib.metrics/streaming_true_negatives
    contrib.metrics/streaming_false_negatives_at_thresholds contrib.metrics/streaming_mean_iou
    contrib.metrics/streaming_sparse_average_precision_at_k contrib.metrics/count
    contrib.metrics.plain/confusion_matrix metrics/average_precision_at_k metrics/false_negatives
    metrics/false_positives_at_thresholds metrics/mean_iou metrics/true_negatives losses/contrib_hinge_loss
    losses/contrastive_loss losses/triplet_semihard_loss contrib.more/dense_image_warp
    contrib.more/connected_components contrib.more/bipartite_match contrib.more/interpolate_spline
    contrib.more/lookup contrib.more/percentile feature_column/contrib_linear keras/lstm keras/simple
    keras/layer_norm keras/activations keras/losses layers/group_norm layers/group_norm_plain
    layers/group_norm_batch layers/spatial_softmax layers/spatial_softmax_set layers/spatial_softmax_trained
    layers/spatial_softmax_nchw
""".split())
# The sign of the loss of cosines (docs/compatibility.md), columns as the keys of a dict, losses before their reduction.
OTHER_VALUES = set("""
    feature_column/contrib_linear estimator/LinearRegressor estimator/DNNClassifier estimator/DNNRegressor
    estimator/BaselineRegressor keras/losses
""".split())
# Local variables of metrics, and a table.
OTHER_COLLECTIONS = set("""
    contrib.metrics/streaming_false_negatives_at_thresholds contrib.metrics/streaming_sparse_average_precision_at_k
    metrics/average_precision_at_k feature_column/contrib_linear
""".split())
OTHER_VARIABLES = set("""
    contrib.metrics/streaming_false_negatives_at_thresholds contrib.metrics/streaming_sparse_average_precision_at_k
    metrics/average_precision_at_k
""".split())
OTHER_SHAPES = set("""
    contrib.metrics.plain/sets feature_column/crossed feature_column/contrib_linear
""".split())
# What these use is not there yet.
MISSING = set("""
    layers/batch_norm_2d layers/batch_norm_debias_updates layers/conv3d_transpose layers/bow_encoder
    layers/bow_encoder_sparse layers/conv2d_in_plane layers/conv2d_in_plane_set layers/summarize_tensor
    layers/summarize_scalar layers/summarize_activation layers/summarize_tensors layers/summarize_collection
    layers/summarize_activations layers/summarize_variables layers/scale_gradient layers/embedding_lookup_unique
    layers/safe_embedding_lookup_sparse layers/dense_to_sparse layers/images_to_sequence layers/sequence_to_images
    layers/legacy_fully_connected layers/legacy_linear layers/legacy_relu layers/gdn layers/gdn_inverse
    cells/CoupledInputForgetGateLSTMCell_all rnn/cudnn_lstm rnn/cudnn_gru contrib.metrics/streaming_concat
    contrib.metrics/streaming_concat_axis contrib.metrics/cohen_kappa contrib.metrics/cohen_kappa_weighted
    contrib.metrics/f1_score contrib.metrics/f1_score_weighted contrib.metrics/precision_at_recall
    contrib.metrics/recall_at_precision contrib.metrics/recall_at_precision_strict
    contrib.metrics/streaming_curve_points contrib.metrics/streaming_curve_points_pr
    contrib.metrics/streaming_dynamic_auc contrib.metrics/streaming_dynamic_auc_pr
    contrib.metrics/streaming_false_negative_rate contrib.metrics/streaming_false_positive_rate
    contrib.metrics/streaming_false_negative_rate_at_thresholds
    contrib.metrics/streaming_false_positive_rate_at_thresholds contrib.metrics/streaming_sparse_precision_at_top_k
    contrib.metrics/streaming_sparse_average_precision_at_top_k contrib.metrics/sparse_recall_at_top_k
    contrib.metrics/precision_recall_at_equal_thresholds contrib.metrics/auc_with_confidence_intervals
    contrib.metrics/auc_using_histogram losses/npairs_loss_multilabel losses/lifted_struct_loss
    losses/lifted_struct_gradient optimizers/LazyAdamGS optimizers/Shampoo optimizers/Multitask
    framework/reduce_sum_n framework/with_shape framework/with_same_shape framework/prepend contrib.nn/alpha_dropout
    contrib.nn/conv1d_transpose contrib.nn/nth_element contrib.nn/scaled_softplus contrib.nn/scaled_softplus_clipped
    contrib.nn/flipped_sigmoid contrib.nn/flipped_softmax contrib.nn/flipped_sparse contrib.more/sparsemax
    contrib.more/sparsemax_loss contrib.more/sparsemax_gradient contrib.more/resampler
    contrib.more/resampler_gradient contrib.more/resampler_outside contrib.more/odeint contrib.more/odeint_info
    contrib.more/odeint_fixed contrib.more/odeint_midpoint contrib.more/conjugate_gradient keras/transpose3d
""".split())
SAMPLE = sorted(FACTS.keys() - MISSING)[::1 if os.environ.get("TFNB_STRESS") else 16]


def python() -> str:
    """The Python that has TensorFlow 1.15. Skips where TFNB_TF1_PYTHON names none."""
    return os.environ.get("TFNB_TF1_PYTHON") or pytest.skip("TFNB_TF1_PYTHON names no Python with TensorFlow 1.15")


def asked(interpreter: str, programs: dict[str, str]) -> dict[str, Any]:
    """Measure programs in TensorFlow 1.15; {"error": traceback} for one that fails there."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "programs.json"), Path(folder, "facts.json")
        source.write_text(json.dumps(programs), encoding="utf-8")
        subprocess.run([interpreter, str(HERE / "worker.py"), str(source), str(target)], check=True, env=environment,
                       capture_output=True)
        return dict(json.loads(target.read_text(encoding="utf-8")))


def close(a: Any, b: Any) -> bool:
    """Whether two measured values are equal, numbers but for 2e-4."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= 2e-4 * max(1, abs(a))
    return bool(a == b)


def held(items: Any) -> Any:
    """Collections without the order, and without the output number that an op has not."""
    return {key: sorted(name.removesuffix(":0") for name in names) for key, names in items.items()}


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> set[str]:
    """The kinds of facts in which two measurements differ."""
    return {kind for kind, same in {
        "variables": sorted(ours["variables"]) == sorted(theirs["variables"]),
        "collections": held(ours["collections"]) == held(theirs["collections"]),
        "names": ours["names"] == theirs["names"], "shapes": ours["shapes"] == theirs["shapes"],
        "values": close(theirs["values"], ours["values"])}.items() if not same}


def known(name: str) -> set[str]:
    return {kind for kind, names in {"variables": OTHER_VARIABLES, "collections": OTHER_COLLECTIONS,
                                     "names": OTHER_NAMES, "shapes": OTHER_SHAPES,
                                     "values": OTHER_VALUES}.items() if name in names}


@pytest.mark.parametrize("name", SAMPLE)
def test_a_program_is_what_it_is_in_1_15(name: str) -> None:
    assert differences(measure(tf, PROGRAMS[name]), FACTS[name]) == known(name)


@pytest.mark.parametrize("name", sorted(MISSING)[::1 if os.environ.get("TFNB_STRESS") else 16])
def test_what_is_missing_is_missing(name: str) -> None:
    with pytest.raises((AttributeError, TypeError, ValueError, NotImplementedError)):
        measure(tf, PROGRAMS[name])


def test_planted_differences_are_found() -> None:
    fact = FACTS["layers/fully_connected"]
    assert differences(fact, fact) == set()
    for kind in ("variables", "names", "shapes", "values"):
        assert differences({**fact, kind: fact[kind][:-1]}, fact) == {kind}
    assert differences({**fact, "collections": {}}, fact) == {"collections"}


def test_nodes_have_no_attr_that_1_15_lacks() -> None:
    ops = json.loads(lzma.open(HERE / "ops.json.xz").read())
    wrong = {(name, attr.name) for name in registry.names() & ops.keys() for attr in registry.find(name).attrs
             if newer(name, attr.name) != (attr.name not in ops[name])}
    assert wrong == set()
    tf.layers.max_pooling2d(tf.layers.conv2d(tf.ones([1, 4, 4, 1]), 2, 2), 2, 1)
    tf.nn.top_k(tf.matmul(tf.ones([2, 2]), tf.ones([2, 2])))
    tf.data.Dataset.range(3).map(lambda x: x + 1).make_one_shot_iterator()
    for node in tf.get_default_graph().as_graph_def().node:
        assert {attr for attr in node.attr if not attr.startswith("_")} <= set(ops[node.op]), node.op


def test_committed_facts_are_those_of_the_interpreter() -> None:
    some = {name: PROGRAMS[name] for name in (FACTS if os.environ.get("TFNB_STRESS") else SAMPLE[:1])}
    found = asked(python(), some)
    assert {name: differences(found[name], FACTS[name]) for name in some} == {name: set() for name in some}


if __name__ == "__main__":
    found = asked(os.environ["TFNB_TF1_PYTHON"], PROGRAMS)
    for key, fact in found.items():
        if "error" in fact:
            print(key, fact["error"])
    kept = {key: fact for key, fact in found.items() if "error" not in fact}
    (HERE / "facts.json.xz").write_bytes(lzma.compress(json.dumps(kept).encode(), preset=9))
