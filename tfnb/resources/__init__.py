"""Python objects behind resource handles: queues, accumulators, lookup tables, elements of TensorArrays and stacks."""
