"""Files of models: HDF5 in the layout of Keras, checkpoints, JSON."""
from tfnb.core.absent import explain as _explain

_explain(__name__)
