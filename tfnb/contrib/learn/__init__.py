"""`tf.contrib.learn`."""
# ruff: noqa: F401, I001
from tfnb.contrib.learn import datasets, preprocessing, python
from tfnb.core.lazy import lazy_module as _lazy_module, lazy_names as _lazy_names

io = _lazy_module("tfnb.contrib.learn.io")
monitors = _lazy_module("tfnb.contrib.learn.monitors")
learn_runner = _lazy_module("tfnb.contrib.learn.learn_runner")
models = _lazy_module("tfnb.contrib.learn.models")
ops = _lazy_module("tfnb.contrib.learn.ops")
# Programs that read MNIST by it don't wait for the estimators.
__getattr__ = _lazy_names(__name__, {
    **dict.fromkeys(("Estimator", "MetricSpec", "ModeKeys", "ModelFnOps", "RunConfig", "SKCompat"),
                    "tfnb.estimator.learn.estimator"),
    "TensorFlowEstimator": "tfnb.estimator.learn.old",
    **dict.fromkeys(("Experiment", "ExportStrategy", "make_export_strategy"), "tfnb.estimator.learn.experiment"),
    **dict.fromkeys(("infer_real_valued_columns_from_input", "infer_real_valued_columns_from_input_fn"),
                    "tfnb.estimator.learn.arrays"),
    **dict.fromkeys(("DNNClassifier", "DNNRegressor", "LinearClassifier", "LinearRegressor",
                     "DNNLinearCombinedClassifier", "DNNLinearCombinedRegressor"), "tfnb.estimator.learn.models"),
})
