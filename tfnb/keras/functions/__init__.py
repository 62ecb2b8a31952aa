"""Parts that layers, losses and engine of Keras share: activations, initializers, regularizers, constraints."""
