"""From kernel source to machine code through LLVM, its cache on disk, and the tape that plays it."""
