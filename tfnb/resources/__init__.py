"""Python objects behind resource handles: queues, accumulators, the elements of TensorArrays and stacks."""
