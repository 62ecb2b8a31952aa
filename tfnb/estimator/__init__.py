"""Models that are trained, evaluated, asked and exported by methods: `tf.estimator`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.estimator import export, inputs
from tfnb.estimator.estimator import Estimator
from tfnb.estimator.exporters import BestExporter, Exporter, FinalExporter, LatestExporter
from tfnb.estimator.run_config import RunConfig
from tfnb.estimator.spec import EstimatorSpec, ModeKeys
from tfnb.estimator.training import EvalSpec, TrainSpec, train_and_evaluate
from tfnb.estimator.warm_start import WarmStartSettings
from tfnb.train import (
    CheckpointSaverHook, CheckpointSaverListener, FeedFnHook, FinalOpsHook, GlobalStepWaiterHook, LoggingTensorHook,
    NanLossDuringTrainingError, NanTensorHook, ProfilerHook, SecondOrStepTimer, SessionRunArgs, SessionRunContext,
    SessionRunHook, SessionRunValues, StepCounterHook, StopAtStepHook, SummarySaverHook, VocabInfo,
)
from tfnb.estimator.heads.contrib import MultiHead
from tfnb.estimator.extenders import add_metrics
from tfnb.estimator.heads.base import Head
from tfnb.estimator.heads.kinds import (
    BinaryClassHead, LogisticRegressionHead, MultiClassHead, MultiLabelHead, PoissonRegressionHead, RegressionHead,
)
from tfnb.estimator.models.baseline import BaselineClassifier, BaselineEstimator, BaselineRegressor
from tfnb.estimator.models.dnn import DNNClassifier, DNNEstimator, DNNRegressor
from tfnb.estimator.models.dnn_linear import (
    DNNLinearCombinedClassifier, DNNLinearCombinedEstimator, DNNLinearCombinedRegressor,
)
from tfnb.estimator.models.linear import LinearClassifier, LinearEstimator, LinearRegressor
from tfnb.feature_column.parse_spec import classifier_parse_example_spec, regressor_parse_example_spec

experimental = _lazy_module("tfnb.estimator.experimental")
tpu = _lazy_module("tfnb.estimator.tpu")

_explain(__name__)
