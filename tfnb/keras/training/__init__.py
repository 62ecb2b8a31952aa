"""Models: what trains, evaluates and predicts with a network."""
