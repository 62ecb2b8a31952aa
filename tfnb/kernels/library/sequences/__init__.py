"""Kernels over sequences: beams and connectionist temporal classification."""
