"""Modules of TensorFlow's examples that programs import."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.examples import tutorials

_explain(__name__)
