"""Optimizers, their slots, decay of learning rates, moving averages."""
