"""Files and records: checkpoints, readers, examples, summaries."""
