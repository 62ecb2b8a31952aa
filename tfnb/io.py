"""Files, and what stands in them: `tf.io`, later names of what is elsewhere too."""
# ruff: noqa: F401, I001
from tfnb import io_gfile as gfile
from tfnb.ops.strings.decoding import decode_base64, decode_raw, encode_base64
from tfnb.ops.strings.numbers import decode_csv
from tfnb.ops.io.files import matching_files, read_file, write_file
from tfnb.image.files import (
    decode_and_crop_jpeg, decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png, encode_jpeg, encode_png,
    extract_jpeg_shape, is_jpeg,
)
from tfnb.ops.io.parsing import (
    FixedLenFeature, FixedLenSequenceFeature, VarLenFeature, parse_example, parse_single_example,
)
from tfnb.ops.data_flow.queues import PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
from tfnb.proto.record_files import TFRecordCompressionType, TFRecordOptions, TFRecordWriter, tf_record_iterator
from tfnb.train.input.batching import match_filenames_once
from tfnb.train.checkpoints.meta_graph import write_graph
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__)
