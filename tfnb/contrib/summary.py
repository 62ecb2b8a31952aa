"""`tf.contrib.summary`: summaries that write themselves to event files."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.train.recording import (
    all_summary_ops, always_record_summaries, audio, create_file_writer, create_summary_file_writer, eval_dir, flush,
    generic, graph, histogram, image, import_event, initialize, never_record_summaries,
    record_summaries_every_n_global_steps, scalar, should_record_summaries, summary_writer_initializer_op,
)

_explain(__name__)
