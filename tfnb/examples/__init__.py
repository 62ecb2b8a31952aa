"""Modules of TensorFlow's examples that programs import."""
# ruff: noqa: F401
from tfnb.examples import tutorials
