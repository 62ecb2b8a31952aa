"""Declaration, construction, validation and evaluation of an op."""
