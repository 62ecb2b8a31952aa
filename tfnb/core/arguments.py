"""Conventional arguments: `trainable` means the same in 37 functions, so that it is described once.

At its end a module calls `describe(globals(), TABLE)`: the docstrings of its public functions and classes get a line,
before the example, for each argument that they take and don't mention.
"""
from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from types import FunctionType
from typing import Any

_EACH_AXIS = "an integer, or one for each axis"

SCOPED = {
    "scope": "the name scope, or variable scope, of what is made",
    "seed": "with the graph's seed (tf.set_random_seed) it decides the random numbers",
    "reuse": "whether to share the variables that are there, as in tf.variable_scope",
    "trainable": "whether the variables join GraphKeys.TRAINABLE_VARIABLES",
    "collections": "keys of the collections that the result joins",
    "shared_name": "resources of one shared_name are one in a session",
}
VARIABLES = SCOPED | {
    "initializer": "a function of (shape, dtype), or a constant",
    "regularizer": "a function from the variable to a loss, which joins GraphKeys.REGULARIZATION_LOSSES",
    "constraint": "a function from the variable to the value that an optimizer leaves in it",
    "caching_device": "a device on which reads are cached",
    "partitioner": "a function of (shape, dtype) -> parts by axis",
    "validate_shape": "False leaves the shape open", "use_resource": "accepted: variables are references either way",
    "custom_getter": "a function (getter, name, **arguments) that stands between",
    "synchronization": "a tf.VariableSynchronization", "aggregation": "a tf.VariableAggregation",
    "dtype": "float32 unless the scope says otherwise", "shape": "the shape, of known sizes",
    "initial_value": "a tensor, what converts to one, or a function that returns it",
    "suffix": "the end of the names", "given_name": "the last part of the name", "var_op_name": "the name",
    "model_path": "a checkpoint's prefix", "var_list": "variables, or a dict of names to variables",
    "ignore_missing_vars": "whether variables that the checkpoint lacks are left out",
    "reshape_variables": "whether values of another shape are reshaped",
    "values": "tensors that name the graph", "name_or_scope": "a name, or a VariableScope", "default_name": "a name",
}
LAYERS = SCOPED | {
    "inputs": "the input tensor, whose first axis is the batch", "filters": "number of output channels",
    "kernel_size": f"size of the window, {_EACH_AXIS}", "pool_size": f"size of the window, {_EACH_AXIS}",
    "strides": f"step between windows, {_EACH_AXIS}",
    "dilation_rate": f"step between the taps of a window, {_EACH_AXIS}",
    "padding": '"valid" or "same", in any case',
    "data_format": '"channels_last": (batch, ..., channels), or "channels_first": (batch, channels, ...)',
    "activation": "a function of the outputs; None: none", "use_bias": "whether a bias is added",
    "activity_regularizer": "a function from the outputs to a loss, which joins GraphKeys.REGULARIZATION_LOSSES",
    "rate": "the probability that an element is set to 0",
    "noise_shape": "shape of the choices, broadcast to the inputs",
    "axis": "the axis of the channels", "epsilon": "added to the variance",
    "center": "whether there is beta, an offset",
    "scale": "whether there is gamma, a factor", "momentum": "the weight of the old moving average",
    "renorm_momentum": "the momentum of the averages for renorm",
    "depth_multiplier": "output channels for each input channel",
    "*_initializer": "initializer of the variable; None: that of the variable scope",
    "*_regularizer": "a function from the variable to a loss, which joins GraphKeys.REGULARIZATION_LOSSES",
    "*_constraint": "a function from the variable to the value that an optimizer leaves in it",
    "fused": "whether one op does it; None: if it can", "renorm": "whether to correct towards the moving averages",
    "renorm_clipping": "a dict with some of rmax, rmin and dmax",
    "renorm_decay": "the momentum of the averages for renorm",
    "virtual_batch_size": "normalize parts of this size of the batch on their own",
    "adjustment": "a function of the input's shape -> (scale, bias) for the normalized values while training",
}
CONTRIB_LAYERS = LAYERS | {
    "num_outputs": "number of output channels", "stride": f"step between windows, {_EACH_AXIS}",
    "rate": f"step between the taps of a window, {_EACH_AXIS}", "padding": '"SAME" or "VALID"',
    "data_format": '"NHWC" (by default; "NWC", "NDHWC") or "NCHW" ("NCW", "NCDHW")',
    "activation_fn": "a function of the outputs; None: none",
    "normalizer_fn": "a normalization in place of the bias, such as batch_norm",
    "normalizer_params": "arguments of normalizer_fn, a dict", "decay": "the weight of the old moving average",
    "is_training": "whether the batch's moments are used, or the moving averages",
    "variables_collections": 'keys of the variables\' collections: a list, or a dict by "weights", "biases"...',
    "outputs_collections": "keys of the collections that the output joins",
    "num_classes": "the depth of the result", "labels": "the classes, integers",
    "ids": "int32 or int64, [batch, length]", "initializer": "initializer of the variable",
    "regularizer": "a function from the variable to a loss, which joins GraphKeys.REGULARIZATION_LOSSES",
    "repetitions": "number of layers", "off_value": "the value elsewhere", "unique": "accepted, without effect",
}
NN = {
    "input": "the input, [batch, height, width, channels] or as data_format says",
    "value": "the input, [batch, height, width, channels] or as data_format says",
    "filter": "the weights, [height, width, in_channels, out_channels]", "filters": "another name of filter",
    "strides": "step between windows: one number, one for each axis of the window, or one for each axis of the input",
    "ksize": "size of the window: one number, one for each axis of the window, or one for each axis of the input",
    "dilations": "step between the taps of a window: one number, or one for each axis", "padding": '"SAME" or "VALID"',
    "stride": "step between windows, one number",
    "dilation_rate": "step between the taps of a window, one for each axis",
    "rate": "step between the taps of a window",
    "data_format": 'the order of the axes: "NHWC" or "NCHW"; of other ranks "NWC", "NCW", "NDHWC", "NCDHW"',
    "use_cudnn_on_gpu": "accepted, without effect", "output_shape": "shape of the result",
    "filter_sizes": "shape of the filter", "input_sizes": "shape of the input",
    "out_backprop": "the gradient with respect to the output", "dim": "another name of axis",
}
METRICS = {
    "labels": "the true values", "predictions": "the predicted values, of the same shape",
    "weights": "factors of the values, broadcast to them; None: 1",
    "metrics_collections": "keys of the collections that the value joins",
    "num_thresholds": "number of thresholds in [0, 1]",
    "updates_collections": "keys of the collections that the update op joins", "num_classes": "number of classes",
}
LOSSES = SCOPED | METRICS | {
    "weights": "factors of the losses, broadcast to them", "logits": "unscaled log probabilities",
    "loss_collection": "key of the collection that the loss joins", "multi_class_labels": "the true values, in [0, 1]",
    "onehot_labels": "the true probabilities of the classes",
    "reduction": "a tf.losses.Reduction: how losses are summed",
    "targets": "the true classes, int32", "average_across_timesteps": "whether to divide by the sum of the weights",
    "average_across_batch": "whether to divide by the batch size",
    "softmax_loss_function": "(labels, logits) -> losses, in place of the sparse softmax cross entropy",
    "num_classes": "number of classes", "num_true": "number of target classes of an example",
    "partition_strategy": '"mod" or "div", as in tf.nn.embedding_lookup', "inputs": "activations, [batch, dim]",
    "sampled_values": "a triple that a candidate sampler returned; None: one is drawn",
    "remove_accidental_hits": "whether sampled classes that are true ones are left out",
    "biases": "vector, one per class",
    "add_regularization_losses": "whether GraphKeys.REGULARIZATION_LOSSES count",
    "true_classes": "int64, [batch, num_true]",
    "*_l1": "factor of the sum of absolute values", "*_l2": "factor of half the sum of squares",
    "regularizer_list": "a list of regularizers",
}
INPUT = SCOPED | {
    "tensors": "an example: a list or dict of tensors", "tensors_list": "a list of such examples, one for each thread",
    "batch_size": "number of examples of a batch", "capacity": "the most elements that the queue holds",
    "num_threads": "number of threads that fill the queue",
    "shapes": "static shapes of an example's tensors; None: inferred",
    "enqueue_many": "whether the tensors hold many examples, along the first axis",
    "dynamic_pad": "whether sizes that differ are padded with zeros at the end",
    "allow_smaller_final_batch": "whether the last batch may have fewer examples",
    "num_epochs": "number of passes, after which OutOfRangeError is raised; None: no end",
    "shuffle": "whether each epoch has another order", "keep_input": "a bool: whether the example goes into the queue",
    "min_after_dequeue": "the fewest elements left in the queue, which mix the examples",
    "cancel_op": "an op that runs when the queue is cancelled", "string_tensor": "a vector of strings",
    "tensor_list": "a list of tensors with the same first size", "bucket_capacities": "capacity for each bucket",
}
OPTIMIZERS = {
    "use_locking": "whether updates of a variable by several threads are whole",
    "use_own_namescope_for_non_slot_vars": "whether variables that are no slots stand in a name scope of the optimizer",
    "learning_rate": "a float, scalar tensor or function without arguments",
    "global_step": "an integer scalar: the number of steps so far",
    "staircase": "whether the exponent is an integer, so that the rate falls in steps",
    "momentum": "the weight of the old direction", "use_nesterov": "whether the step looks ahead (Nesterov)",
    "beta": "the decay of the average of gradients", "sign_decay_fn": "(step) -> sign_decay; None: 1",
    "beta1": "the decay of the average of gradients", "beta2": "the decay of the average of their squares",
    "epsilon": "added to the divisor", "weight_decay": "the factor of the variable that each step takes off",
    "initial_accumulator_value": "the accumulators' first value, positive", "base_optimizer": "a subclass of Optimizer",
    "l1_regularization_strength": "factor of the absolute values, at least 0",
    "l2_regularization_strength": "factor of the squares, at least 0",
}
INITIALIZERS = SCOPED | {"dtype": "of the values, where the caller gives none", "stddev": "the standard deviation"}
RECURRENT = LAYERS | {
    "num_units": "number of units of the state", "activation": "a function of the outputs; None: tanh",
    "forget_bias": "added to the forget gate before its sigmoid", "dtype": "of the variables or of the initial state",
    "sequence_length": "number of valid steps of each example; later outputs are 0", "cell": "an RNNCell",
    "cell_fw": "the RNNCell of the forward direction", "cell_bw": "the RNNCell of the backward direction",
    "initial_state_fw": "the first state of cell_fw; None: zeros",
    "initial_state_bw": "the first state of cell_bw; None: zeros",
    "inputs": "the inputs: a list of [batch, size], or [batch, steps, size]",
    "parallel_iterations": "an attr of the loop in exported graphs",
    "swap_memory": "an attr of the loop in exported graphs",
    "time_major": "whether the axes are [steps, batch, size]",
    "encoder_inputs": "a list of the encoder's inputs by step",
    "decoder_inputs": "a list of the decoder's inputs by step",
    "initial_state": "the first state, [batch, size]", "attention_states": "what is attended to, [batch, steps, size]",
    "loop_function": "(output, step) -> the next input, from the second step on",
    "num_symbols": "number of symbols of the decoder", "num_encoder_symbols": "number of symbols of the encoder",
    "num_decoder_symbols": "number of symbols of the decoder", "embedding_size": "size of a symbol's embedding",
    "num_heads": "number of attention reads", "output_size": "size of the outputs; None: that of the cell",
    "output_projection": "None, or (weights, biases) from outputs to symbols",
    "feed_previous": "whether the decoder's inputs are its own previous symbols; a bool or a bool tensor",
    "update_embedding_for_previous": "whether gradients reach the embedding through these symbols",
    "initial_state_attention": "whether attention starts from the initial state, in place of zeros",
    "buckets": "pairs (encoder steps, decoder steps), ascending",
    "softmax_loss_function": "(labels, logits) -> losses, in place of the sparse softmax cross entropy",
    "per_example_loss": "whether losses have an element for each example", "embedding_classes": "number of symbols",
    "*_prob": "the probability that an element is kept", "state_is_tuple": "whether the state is an LSTMStateTuple",
    "cell_clip": "the memory is cut to [-cell_clip, cell_clip]", "use_peephole": "whether gates see the memory",
    "use_peepholes": "whether gates see the memory", "initializer": "initializer of the variables",
}
LOOPS = {
    "parallel_iterations": "an attr of the loop in exported graphs",
    "swap_memory": "an attr of the loop in exported graphs",
    "back_prop": "whether the loop may be differentiated", "infer_shape": "whether shapes that differ are refused",
}
SUMMARIES = SCOPED | {
    "tag": "the tag, a string", "tensor": "the value", "family": "a prefix of the tag",
    "values": "the values, of any shape",
    "collections": "keys of the collections that the summary joins, by default [GraphKeys.SUMMARIES]",
    "max_images": "number of images that are written, at most",
}
COMMAND_LINE = {
    "default": "the value where the command line gives none", "help": "its description",
    "flag_values": "the registry, by default tf.flags.FLAGS", "lower_bound": "the least value",
    "upper_bound": "the largest value",
    "module_name": "accepted, without effect",
}
ERRORS = {"node_def": "the NodeDef of the op, or None", "op": "the operation, or None", "message": "the text"}
ASSERTIONS = {
    "data": "tensors that the error shows; None: those compared", "message": "the beginning of the error's text",
    "summarize": "number of elements of each that the error shows",
}
IMAGES = SCOPED | {
    "image": "[height, width, channels]", "images": "[batch, height, width, channels] or [height, width, channels]",
    "contents": "a string scalar, the bytes of the file", "align_corners": "whether the corners' centers stay in place",
    "half_pixel_centers": "whether a pixel's center is at 0.5", "target_height": "rows of the result",
    "target_width": "columns of the result", "score_threshold": "boxes with a lower score are left out",
    "fancy_upscaling": "accepted: colors are always interpolated", "acceptable_fraction": "accepted, without effect",
    "dct_method": "accepted, without effect", "dtype": "uint8 or uint16", "output_type": "int32 or int64",
    "offset_height": "rows left out at the top", "offset_width": "columns left out at the left",
    "compression": "0 (none) to 9 (smallest); -1: the default of zlib", "a": "images of one shape",
    "b": "images like a",
    "img1": "images, [..., height, width, channels]", "img2": "images of the shape of img1",
    "k1": "the constant (k1 * max_val)^2 stabilizes the luminance term",
    "k2": "the constant (k2 * max_val)^2 stabilizes the contrast term", "filter_size": "size of the Gaussian window",
    "filter_sigma": "standard deviation of the Gaussian window", "max_val": "the largest value less the least",
    "channels": "1, 3, 4, or 0: as in the file",
    "iou_threshold": "boxes that overlap a kept one more than this are left out",
    "scores": "a score for each box", "max_output_size": "an int32 scalar", "method": "a tf.image.ResizeMethod",
    "ratio": "1, 2, 4 or 8, by how much the result is smaller",
}
FILES = {"filename": "a path or file:// name", "dirname": "a path", "path": "a path"}
TENSORS = SCOPED | {
    "input": "a tensor, or what converts to one", "input_tensor": "a tensor, or what converts to one",
    "tensor": "a tensor, or what converts to one", "x": "a tensor, or what converts to one", "value": "a tensor",
    "values": "a list of tensors", "inputs": "a list of tensors", "t_list": "a list of tensors, IndexedSlices or None",
    "shape": "the shape of the result, a list or an integer vector", "stddev": "the standard deviation",
    "dtype": "the dtype of the result", "out_type": "the dtype of the result", "output_type": "the dtype of the result",
    "axis": "the axis; negative: counted from the end", "dim": "an older name of axis",
    "dimension": "an older name of axis",
    "squeeze_dims": "an older name of axis", "dims": "an older name of axis",
    "reduction_indices": "an older name of axis",
    "keepdims": "whether axes that are reduced stay, with size 1", "keep_dims": "an older name of keepdims",
    "num": "the size of the axis, where it is not known", "num_or_size_splits": "the number of parts, or their sizes",
    "use_norm": "the global norm, where it is known already", "optimize": "accepted, without effect",
    "validate_indices": "accepted: an index out of range is refused either way",
    "batch_dims": "number of leading axes that params and indices share", "filename": "a string scalar, the path",
    "use_locking": "whether updates of a variable by several threads are whole",
    "a": "floats, integers or complex numbers", "b": "of the dtype of a", "transpose_a": "whether a is transposed",
    "transpose_b": "whether b is transposed", "adjoint_a": "whether a is transposed and conjugated",
    "adjoint_b": "whether b is transposed and conjugated", "reverse": "whether the last element comes first",
    "record_defaults": "a list of tensors, one for each column: dtype and default; an empty one: required",
    "field_delim": "the character between fields", "use_quote_delim": "whether quotes may enclose fields",
    "features": "dict of names to FixedLenFeature, VarLenFeature...", "example_names": "names for error messages",
    "input_bytes": "a tensor of strings", "little_endian": "the order of the bytes of a number",
    "segment_ids": "int32 or int64, the segment of each row", "data": "a tensor, whose first axis is the rows",
    "indices": "int32 or int64, numbers of rows", "lengths": "integers of any shape", "source": "a vector of strings",
    "hypothesis": "a SparseTensor, the sequences", "truth": "a SparseTensor, what they are compared with",
    "labels": "the true probabilities or classes", "logits": "unscaled log probabilities", "dct_method": "accepted",
    "capacity": "the most elements that the queue holds", "dtypes": "a dtype, or one for each component",
    "shapes": "static shapes of the components; None: any",
    "names": "keys of the components, which make elements dicts",
    "begin_mask": "bits of axes whose begin counts not", "end_mask": "bits of axes whose end counts not",
    "ellipsis_mask": "the bit of `...`", "new_axis_mask": "bits of axes to insert", "k": "the number of elements",
    "shrink_axis_mask": "bits of axes to drop", "out_idx": "the dtype of the indices", "sorted": "whether they descend",
    "y": "a tensor of the dtype of x", "adj_x": "whether x is transposed and conjugated",
    "adj_y": "whether y is transposed and conjugated", "sp_input": "a SparseTensor", "var_list": "a list of variables",
    "num_segments": "an int32 or int64 scalar", "condition": "a tensor of bools", "contents": "a string scalar",
    "seq_dim": "an older name of seq_axis", "batch_dim": "an older name of batch_axis", "separator": "what is between",
    "op_seed": "the seed of the op", "align": "where shorter diagonals stand", "targets": "the true classes",
    "conjugate": "whether elements are conjugated", "beta": "added", "variance_epsilon": "added to the variance",
}
CHECKPOINTS = {
    "checkpoint_dir": "a directory",
    "ckpt_dir_or_file": "a checkpoint's prefix, or a directory (its newest checkpoint)",
    "latest_filename": 'the file of the directory that names its checkpoints, by default "checkpoint"',
    "checkpoint_prefix": "the path of a checkpoint without .index", "checkpoint_prefixes": "a list of such paths",
    "save_dir": "a directory", "model_checkpoint_path": "the newest checkpoint's prefix",
    "all_model_checkpoint_paths": "prefixes from old to new",
    "last_preserved_timestamp": "seconds, of the last one kept",
    "all_model_checkpoint_timestamps": "seconds since 1970, one for each path", "export_dir": "a directory",
    "checkpoint_format_version": "1 or 2 (SaverDef)", "meta_graph_suffix": "the ending of files of graphs",
    "meta_graph_or_file": "a MetaGraphDef, or the path of one",
}
SESSIONS = {
    "target": '"" for this process, or a server\'s target', "graph": "the graph, by default the default one",
    "config": "a ConfigProto", "master": '"" for this process, or a server\'s target',
    "scaffold": "a Scaffold, by default one of the default graph", "coord": "a Coordinator that stops the threads",
    "daemon": "whether the threads end with the program", "hooks": "a list of SessionRunHooks", "sess": "a session",
    "stop_grace_period_secs": "seconds that threads have to stop", "qr": "a QueueRunner",
    "enqueue_ops": "a list of ops, one for each thread", "global_step_tensor": "an integer variable",
}
GRAPHS = SCOPED | {
    "key": "key of a collection", "scope": "a regular expression that names begin with", "value": "what is added",
    "control_inputs": "operations and tensors that run before", "values": "tensors that name the graph",
    "device_name_or_function": "a name, a DeviceSpec, or a function of the operation",
    "graph_def": "a GraphDef", "input_graph_def": "a GraphDef", "default_name": "the name where none is given",
}
LOGS = {"msg": "a format for the other arguments (`%s`)", "level": "one of DEBUG, INFO, WARN, ERROR and FATAL",
        "v": "one of DEBUG, INFO, WARN, ERROR and FATAL"}
DATASETS = SCOPED | {
    "filenames": "a string or vector of paths", "compression_type": '"", "ZLIB" or "GZIP"',
    "buffer_size": "bytes, or elements, that are read ahead", "num_parallel_reads": "number of files read in turns",
    "batch_size": "number of elements of a batch", "drop_remainder": "whether a smaller last batch is left out",
    "num_parallel_batches": "accepted, without effect", "num_parallel_calls": "number of calls at the same time",
    "map_func": "a function of an element", "key_func": "a function of an element to an int64 scalar",
    "padded_shapes": "the shape of each component in a batch; None: its largest size",
    "padding_values": "a scalar for each component, by default 0", "count": "number of repetitions; None: no end",
    "start": "the first number", "step": "the difference of two numbers", "dtype": "the dtype of the elements",
    "initial_state": "the first state", "datasets": "a list of datasets", "device": "a name, without effect",
    "cycle_length": "number of elements in turn", "block_length": "elements taken from each at a time",
    "buffer_output_elements": "accepted, without effect", "prefetch_input_elements": "accepted, without effect",
    "target_device": "a name, without effect", "source_device": "a name, without effect",
    "no_padding": "whether sequences of a batch have one length", "dataset_or_iterator": "a Dataset or an Iterator",
}


def describe(namespace: Mapping[str, Any], table: Mapping[str, str]) -> None:
    """Complete the docstrings of the public functions and classes that a module defines, its `globals()`."""
    for name, value in namespace.items():
        if not name.startswith("_") and isinstance(value, (FunctionType, type)) and value.__doc__ \
                and value.__module__ == namespace["__name__"]:
            value.__doc__ = completed(value, value.__doc__, table)


def completed(value: Any, doc: str, table: Mapping[str, str]) -> str:
    """Return `doc` with a line for each argument of a function or class that `table` has and `doc` does not mention."""
    description, mark, example = doc.partition(">>> ")
    indent = re.search(r"\n( *)\S", doc)
    start = "\n" + (indent.group(1) if indent else "")
    lines = [f"{argument}: {text}." for argument in _arguments(value)
             if (text := table.get(argument) or table.get("*" + argument[argument.rfind("_"):]))
             and not re.search(rf"\b{argument}\b", description)]
    if not lines:
        return doc
    return description.rstrip() + "\n" + start + start.join(lines) + ("\n" + start + mark + example if mark else "")


def _arguments(value: Any) -> list[str]:
    """Return the names of the arguments; of a class, those of its constructor."""
    if isinstance(value, type) and hasattr(value, "_fields"):
        return list(value._fields)
    made = value.__init__ if isinstance(value, type) else value     # type: ignore[misc]
    if "__signature__" in getattr(made, "__dict__", {}):
        return list(made.__signature__.parameters)
    code = getattr(inspect.unwrap(made), "__code__", None)
    return list(code.co_varnames[:code.co_argcount]) if code else []
