"""Matrix products in tiles of vector registers, and by BLAS."""
