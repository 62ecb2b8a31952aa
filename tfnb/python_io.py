"""TFRecord files: `tf.python_io`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.proto.record_files import TFRecordCompressionType, TFRecordOptions, TFRecordWriter, tf_record_iterator

_explain(__name__)
