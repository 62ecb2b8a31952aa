"""Parts of a graph: operations and tensors, names, scopes, collections, contexts, known values."""
