"""Tables of variables, slots, checkpoints and queues."""
