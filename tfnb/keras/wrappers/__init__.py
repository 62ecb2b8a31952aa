"""`tf.keras.wrappers`: models as estimators of scikit-learn."""
from tfnb.core.absent import explain as _explain
from tfnb.core.lazy import lazy_module as _lazy_module

scikit_learn = _lazy_module("tfnb.keras.wrappers.scikit_learn")

_explain(__name__)
