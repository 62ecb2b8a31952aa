"""Training: `tf.train`."""
# ruff: noqa: F401, I001
from tfnb.train.adadelta import AdadeltaOptimizer
from tfnb.train.adagrad import AdagradOptimizer
from tfnb.train.adagrad_da import AdagradDAOptimizer
from tfnb.train.adam import AdamOptimizer
from tfnb.runtime.cluster import ClusterSpec
from tfnb.runtime.server import Server
from tfnb.train.checkpoint_reader import (
    NewCheckpointReader, init_from_checkpoint, list_variables, load_checkpoint, load_variable,
)
from tfnb.train.checkpoint_state import (
    checkpoint_exists, generate_checkpoint_state_proto, get_checkpoint_mtimes, get_checkpoint_state, latest_checkpoint,
    remove_checkpoint, update_checkpoint_state,
)
from tfnb.train.coordinator import Coordinator, LooperThread
from tfnb.train.decay import (
    cosine_decay, cosine_decay_restarts, exponential_decay, inverse_time_decay, linear_cosine_decay, natural_exp_decay,
    noisy_linear_cosine_decay, piecewise_constant, piecewise_constant_decay, polynomial_decay,
)
from tfnb.train.ftrl import FtrlOptimizer
from tfnb.train.global_step import (
    assert_global_step, create_global_step, get_global_step, get_or_create_global_step, global_step,
)
from tfnb.train.gradient_descent import GradientDescentOptimizer
from tfnb.train.meta_graph import export_meta_graph, write_graph
from tfnb.train.input import (
    batch, batch_join, input_producer, limit_epochs, match_filenames_once, maybe_batch, maybe_batch_join,
    maybe_shuffle_batch, maybe_shuffle_batch_join, range_input_producer, shuffle_batch, shuffle_batch_join,
    slice_input_producer, string_input_producer,
)
from tfnb.train.momentum import MomentumOptimizer
from tfnb.train.moving_averages import ExponentialMovingAverage
from tfnb.train.optimizer import Optimizer
from tfnb.train.proximal import ProximalAdagradOptimizer, ProximalGradientDescentOptimizer
from tfnb.train.queue_runner import QueueRunner, add_queue_runner, start_queue_runners
from tfnb.train.rmsprop import RMSPropOptimizer
from tfnb.train.saver import Saver, import_meta_graph
from tfnb.core.lazy import lazy_names as _lazy_names

# A program that writes no event files does not import protobuf, and one that trains by hand no sessions that do it.
__getattr__ = _lazy_names(__name__, {
    "basic_train_loop": "tfnb.train.basic_loops",
    **dict.fromkeys(("CheckpointSaverHook", "CheckpointSaverListener"), "tfnb.train.checkpoint_hook"),
    "checkpoints_iterator": "tfnb.train.checkpoints_iterator",
    "replica_device_setter": "tfnb.train.device_setter",
    **dict.fromkeys(("FeedFnHook", "FinalOpsHook"), "tfnb.train.feed_hooks"),
    **dict.fromkeys(("LoggingTensorHook", "StepCounterHook"), "tfnb.train.logging_hooks"),
    **dict.fromkeys(("MonitoredSession", "MonitoredTrainingSession", "SingularMonitoredSession"),
                    "tfnb.train.monitored_session"),
    "ProfilerHook": "tfnb.train.profiler_hook",
    "Scaffold": "tfnb.train.scaffold",
    **dict.fromkeys(("ChiefSessionCreator", "SessionCreator", "WorkerSessionCreator"), "tfnb.train.session_creator"),
    "SessionManager": "tfnb.train.session_manager",
    **dict.fromkeys(("SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues"),
                    "tfnb.train.session_run_hook"),
    **dict.fromkeys(("GlobalStepWaiterHook", "NanLossDuringTrainingError", "NanTensorHook", "StopAtStepHook"),
                    "tfnb.train.stop_hooks"),
    "SummarySaverHook": "tfnb.train.summary_hook",
    "Supervisor": "tfnb.train.supervisor",
    "SyncReplicasOptimizer": "tfnb.train.sync_replicas",
    "SecondOrStepTimer": "tfnb.train.timers",
    "SummaryWriter": "tfnb.summary.writer", "summary_iterator": "tfnb.summary.events",
    **dict.fromkeys(("Example", "SequenceExample"), "tfnb.proto.example_pb2"),
    **dict.fromkeys(("BytesList", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList", "Int64List"),
                    "tfnb.proto.feature_pb2"),
    **dict.fromkeys(("ClusterDef", "JobDef"), "tfnb.proto.cluster_pb2"),
    "ServerDef": "tfnb.proto.tensorflow_server_pb2",
    "SaverDef": "tfnb.proto.saver_pb2",
    "QueueRunnerDef": "tfnb.proto.queue_runner_pb2",
})
