"""Last parts of models: from logits to predictions, losses, metrics and exports."""
