"""Neural networks: activations, convolution, pooling, normalization, cross-entropy."""
