"""`tf.contrib.training`: hyperparameters, and what input pipelines need."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
import sys as _sys

from tfnb.core.program.hparams import HParams
from tfnb.train.input.bucket import bucket, bucket_by_sequence_length
from tfnb.train.checkpoints.iterator import checkpoints_iterator, wait_for_new_checkpoint
from tfnb.train.optimizers.train_op import add_gradients_summaries, clip_gradient_norms, create_train_op, train
from tfnb.train.sessions.evaluation import (
    StopAfterNEvalsHook, SummaryAtEndHook, evaluate_once, evaluate_repeatedly, get_or_create_eval_step,
)
from tfnb.tools.as_tensorflow import find_inside as _find_inside

_find_inside(_sys.modules[__name__], "contrib.training")        # contrib.training.python and below

_explain(__name__)
