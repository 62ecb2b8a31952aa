"""Models with their variables, signatures and files in a directory: `tf.saved_model`."""
# ruff: noqa: F401, I001
from tfnb.saved_model import (
    builder, constants, loader, main_op, signature_constants, signature_def_utils, tag_constants, utils,
)
from tfnb.saved_model.builder import SavedModelBuilder as Builder
from tfnb.saved_model.builder import simple_save
from tfnb.saved_model.loader import load, maybe_saved_model_directory
from tfnb.saved_model.loader import maybe_saved_model_directory as contains_saved_model
from tfnb.saved_model.signature_def_utils import (
    build_signature_def, classification_signature_def, is_valid_signature, predict_signature_def,
    regression_signature_def,
)
from tfnb.saved_model.utils import build_tensor_info, get_tensor_from_tensor_info
