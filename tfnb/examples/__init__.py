"""What programs import of TensorFlow's examples."""
# ruff: noqa: F401
from tfnb.examples import tutorials
