"""Ragged tensors: `tf.ragged`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.ragged.constants import constant, constant_value, ragged_placeholder as placeholder
from tfnb.ragged.elementwise import map_flat_values
from tfnb.ragged.gathering import boolean_mask, stack_dynamic_partitions
from tfnb.ragged.indexing import item as _item
from tfnb.ragged.joining import ragged_stack as stack
from tfnb.ragged.partition import row_splits_to_segment_ids, segment_ids_to_row_splits
from tfnb.ragged.reductions import ragged_range as range
from tfnb.ragged.specs import RaggedTensorSpec as _RaggedTensorSpec
from tfnb.ragged.text import ngrams as _ngrams
from tfnb.ragged.value import RaggedTensorValue

_explain(__name__)
