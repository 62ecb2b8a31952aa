"""Queue-based input: coordinators, queue runners, batches."""
