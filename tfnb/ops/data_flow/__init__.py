"""Queues, accumulators, TensorArrays and stacks."""
