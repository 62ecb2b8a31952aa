"""Testing programs: `tf.test`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from unittest import mock

from tfnb.cluster.local import create_local_cluster
from tfnb.testing.benchmark import Benchmark, benchmark_config
from tfnb.testing.gradient_checker import compute_gradient, compute_gradient_error
from tfnb.testing.helpers import (
    assert_equal_graph_def, get_temp_dir, gpu_device_name, is_built_with_cuda, is_built_with_gpu_support,
    is_built_with_rocm, is_built_with_xla, is_gpu_available, main, test_src_dir_path,
)
from tfnb.testing.stubbing import StubOutForTesting
from tfnb.testing.test_case import TestCase

_explain(__name__)
