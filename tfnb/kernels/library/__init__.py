"""Hand-written kernels as functions, one for CPU and GPU."""
