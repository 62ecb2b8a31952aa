"""Sessions whose graph another process runs, over TensorFlow's gRPC protocol."""
