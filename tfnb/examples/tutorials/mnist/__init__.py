"""The digits of MNIST: `input_data` reads them, `mnist` is a network for them."""
# ruff: noqa: F401
from tfnb.examples.tutorials.mnist import input_data, mnist
