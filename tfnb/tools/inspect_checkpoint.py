"""Checkpoints printed: what `tensorflow.python.tools.inspect_checkpoint` has."""
from __future__ import annotations

import math
import re
from typing import Any

from tfnb.train.checkpoints.reader import NewCheckpointReader


def print_tensors_in_checkpoint_file(file_name: Any, tensor_name: str | None, all_tensors: bool,
                                     all_tensor_names: bool = False, count_exclude_pattern: str = "") -> None:
    """Print what is in a checkpoint: the names of its tensors, or with `all_tensors` the values too.

    tensor_name: the one whose value to print ("" or None: list all); all_tensor_names: print names only, also beside
    one value; count_exclude_pattern: a regular expression for tensors that are not counted as parameters. Raises
    NotFoundError for a file or tensor that is not there. `tfnb inspect` tells more.
    """
    reader = NewCheckpointReader(file_name)
    shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    if all_tensors or all_tensor_names:
        for name in sorted(shapes):
            print(f"tensor: {name} ({types[name].name}) {shapes[name]}")
            if all_tensors:
                print(reader.get_tensor(name))
    elif tensor_name:
        value = reader.get_tensor(tensor_name)
        print(f"tensor: {tensor_name} ({types[tensor_name].name}) {shapes[tensor_name]}")
        print(value)
    else:
        print(reader.debug_string().decode())
    sizes = {name: math.prod(shape) for name, shape in shapes.items()}
    pattern = count_exclude_pattern
    left = {name: size for name, size in sizes.items() if pattern and re.match(pattern, name)}
    if left:
        print(f"# Excluding {len(left)} tensors ({sum(left.values())} params) that match {pattern} when counting.")
    print("# Total number of params:", sum(sizes.values()) - sum(left.values()))
