"""Training: `tf.train`."""
# ruff: noqa: F401, I001
from tfnb.train.optimizers.adadelta import AdadeltaOptimizer
from tfnb.train.optimizers.adagrad import AdagradOptimizer
from tfnb.train.optimizers.adagrad_da import AdagradDAOptimizer
from tfnb.train.optimizers.adam import AdamOptimizer
from tfnb.cluster.spec import ClusterSpec
from tfnb.train.checkpoints.reader import (
    NewCheckpointReader, init_from_checkpoint, list_variables, load_checkpoint, load_variable,
)
from tfnb.train.checkpoints.state import (
    checkpoint_exists, generate_checkpoint_state_proto, get_checkpoint_mtimes, get_checkpoint_state, latest_checkpoint,
    remove_checkpoint, update_checkpoint_state,
)
from tfnb.train.input.coordinator import Coordinator, LooperThread
from tfnb.train.optimizers.decay import (
    cosine_decay, cosine_decay_restarts, exponential_decay, inverse_time_decay, linear_cosine_decay, natural_exp_decay,
    noisy_linear_cosine_decay, piecewise_constant, piecewise_constant_decay, polynomial_decay,
)
from tfnb.train.optimizers.ftrl import FtrlOptimizer
from tfnb.train.global_step import (
    assert_global_step, create_global_step, get_global_step, get_or_create_global_step, global_step,
)
from tfnb.train.optimizers.gradient_descent import GradientDescentOptimizer
from tfnb.train.checkpoints.meta_graph import export_meta_graph, write_graph
from tfnb.train.input.batching import (
    batch, batch_join, input_producer, limit_epochs, match_filenames_once, maybe_batch, maybe_batch_join,
    maybe_shuffle_batch, maybe_shuffle_batch_join, range_input_producer, shuffle_batch, shuffle_batch_join,
    slice_input_producer, string_input_producer,
)
from tfnb.train.optimizers.momentum import MomentumOptimizer
from tfnb.train.optimizers.moving_averages import ExponentialMovingAverage
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.train.optimizers.proximal import ProximalAdagradOptimizer, ProximalGradientDescentOptimizer
from tfnb.train.input import queue_runner
from tfnb.train.input.queue_runner import QueueRunner, add_queue_runner, start_queue_runners
from tfnb.train.optimizers.rmsprop import RMSPropOptimizer
from tfnb.train.checkpoints.saver import Saver, import_meta_graph
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.core.lazy import lazy_names as _lazy_names

experimental = _lazy_module("tfnb.train.experimental")

# A program that writes no event files does not import protobuf, and one that trains by hand no sessions that do it.
__getattr__ = _lazy_names(__name__, {
    "basic_train_loop": "tfnb.train.sessions.basic_loops",
    **dict.fromkeys(("CheckpointSaverHook", "CheckpointSaverListener"), "tfnb.train.sessions.checkpoint_hook"),
    **dict.fromkeys(("VocabInfo", "warm_start"), "tfnb.train.checkpoints.warm_start"),
    "Server": "tfnb.cluster.server",
    **dict.fromkeys(("sdca_optimizer", "sdca_shrink_l1"), "tfnb.ops.state.dual_ascent"),
    "sdca_fprint": "tfnb.ops.strings.hashing",
    **dict.fromkeys(("Checkpoint", "CheckpointManager"), "tfnb.train.checkpoints.checkpoint"),
    "checkpoints_iterator": "tfnb.train.checkpoints.iterator",
    "replica_device_setter": "tfnb.train.device_setter",
    **dict.fromkeys(("FeedFnHook", "FinalOpsHook"), "tfnb.train.sessions.feed_hooks"),
    **dict.fromkeys(("LoggingTensorHook", "StepCounterHook"), "tfnb.train.sessions.logging_hooks"),
    **dict.fromkeys(("MonitoredSession", "MonitoredTrainingSession", "SingularMonitoredSession"),
                    "tfnb.train.sessions.monitored_session"),
    "ProfilerHook": "tfnb.train.sessions.profiler_hook",
    "Scaffold": "tfnb.train.sessions.scaffold",
    **dict.fromkeys(("ChiefSessionCreator", "SessionCreator", "WorkerSessionCreator"), "tfnb.train.sessions.creator"),
    "SessionManager": "tfnb.train.sessions.manager",
    **dict.fromkeys(("SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues"),
                    "tfnb.train.sessions.hook"),
    **dict.fromkeys(("GlobalStepWaiterHook", "NanLossDuringTrainingError", "NanTensorHook", "StopAtStepHook"),
                    "tfnb.train.sessions.stop_hooks"),
    "SummarySaverHook": "tfnb.train.sessions.summary_hook",
    "Supervisor": "tfnb.train.sessions.supervisor",
    "SyncReplicasOptimizer": "tfnb.train.optimizers.sync_replicas",
    "SecondOrStepTimer": "tfnb.train.sessions.timers",
    "SummaryWriter": "tfnb.summary.writer", "summary_iterator": "tfnb.summary.events",
    **dict.fromkeys(("Example", "SequenceExample"), "tfnb.proto.example_pb2"),
    **dict.fromkeys(("BytesList", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList", "Int64List"),
                    "tfnb.proto.feature_pb2"),
    **dict.fromkeys(("ClusterDef", "JobDef"), "tfnb.proto.cluster_pb2"),
    "ServerDef": "tfnb.proto.tensorflow_server_pb2",
    "SaverDef": "tfnb.proto.saver_pb2",
    "QueueRunnerDef": "tfnb.proto.queue_runner_pb2",
})
