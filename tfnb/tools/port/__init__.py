"""Old programs: what of TensorFlow they use that tfnb lacks, Python 2, notebooks, trials in a folder of their own."""
