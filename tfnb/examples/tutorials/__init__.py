"""The tutorials: of MNIST."""
# ruff: noqa: F401
from tfnb.examples.tutorials import mnist
