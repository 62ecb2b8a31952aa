"""Variables: the class, scopes, the store behind `get_variable`, partitions, initializers."""
