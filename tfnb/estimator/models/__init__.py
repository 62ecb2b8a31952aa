"""Models that are ready to be trained: baselines, linear, deep, wide and deep."""
