"""Tools beside the API: `import tensorflow` that finds tfnb, and the program `tfnb` for files of TensorFlow."""
