"""Shapes, new tensors, slices, gathers, concatenation, partition."""
