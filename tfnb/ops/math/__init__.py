"""Element-wise arithmetic and functions, comparisons, casts, complex numbers."""
