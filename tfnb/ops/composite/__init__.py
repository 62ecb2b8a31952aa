"""Values made of several tensors: IndexedSlices and SparseTensor."""
