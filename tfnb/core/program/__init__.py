"""Parts of a program beside its graph: flags, hyperparameters, logging, marks of deprecation."""
