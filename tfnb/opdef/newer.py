"""Attrs that ops have got since TensorFlow 1.15: left out of NodeDefs where they have their defaults.

TensorFlow 1.15 refuses a GraphDef with an attr that it does not know, and later releases put the defaults in.
`tests/tf1/test_facts.py` compares both tables with the ops of 1.15.
"""
from __future__ import annotations

NEWER = frozenset("""
    Tk Tsegmentids allow_missing_files allowed_devices bad_indices_policy batch_padding_policy blank_index
    buffer_size_min debug_name enable_large_batch_splitting ensure_minimum_range exponential_avg_factor
    force_synchronous grad_a grad_b grad_x grad_y is_files log_warning low_priority_allowed_batch_sizes
    low_priority_batch_timeout_micros low_priority_max_batch_size low_priority_max_enqueued_batches metadata
    mixed_priority_policy multiply_linear_by_lr offset perturb_singular replicate_on_split
    resize_if_index_out_of_bounds sparse_gradient stop_on_empty_dataset use_default_device
""".split())
# Those whose names other ops of 1.15 have.
NEWER_OF = {attr: frozenset(ops.split()) for attr, ops in {
    "Tcomplex": "IRFFT IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D",
    "Treal": "IRFFT IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D",
    "Tshape": "TensorListGetItem",
    "axis": "Dequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeV2",
    "dtype": "Dequantize",
    "explicit_paddings": "DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput "
                         "MaxPool MaxPoolGrad",
    "index_type": "TopKV2",
    "narrow_range": "Dequantize QuantizeV2",
    "reshuffle_each_iteration": "ShuffleAndRepeatDataset",
    "shape_type": "ConcatOffset",
    "validate_shape": "AssignVariableOp",
}.items()}


def newer(op: str, attr: str) -> bool:
    """Return whether TensorFlow 1.15's op of that name lacks the attr."""
    return attr in NEWER or op in NEWER_OF.get(attr, ())
