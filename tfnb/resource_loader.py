"""Files beside a program: `tf.resource_loader`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.core.files.resource_loader import (
    get_data_files_path,
    get_path_to_datafile,
    get_root_dir_with_all_resources,
    load_resource,
    readahead_file_path,
)

_explain(__name__)
