"""Quantized tensors: integers that represent the real numbers of a range."""
