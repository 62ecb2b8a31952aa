"""Files of models: HDF5 in the layout of Keras, checkpoints, JSON."""
