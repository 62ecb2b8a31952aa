"""TFRecord files: `tf.python_io`."""
# ruff: noqa: F401, I001
from tfnb.proto.record_files import TFRecordCompressionType, TFRecordOptions, TFRecordWriter, tf_record_iterator
