"""tfnb against TensorFlow: the same programs, in turns, in one run. `make bench`, or `python -m benchmarks --help`."""
