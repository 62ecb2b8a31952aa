"""Bijectors: invertible, differentiable transforms of random variables."""
