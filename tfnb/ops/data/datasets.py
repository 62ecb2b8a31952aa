"""Dataset ops: their value, a scalar of type variant, is a source of elements (`ops/data/steps.py`).

Making one costs nothing: elements are made when an iterator (`ops/data/iterators.py`) asks for them. Signatures are
those of TensorFlow 2.21.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tfnb.core.errors import InvalidArgumentError
from tfnb.core.files.paths import matching
from tfnb.graph.function import FunctionGraph
from tfnb.kernels.arrays.philox import words
from tfnb.ops.data import buffers as buffers
from tfnb.ops.data import groups as groups
from tfnb.ops.data import steps as steps
from tfnb.ops.data.lifting import lifts
from tfnb.ops.data.steps import Element, Source, as_handle
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import host
from tfnb.ops.io.readers import Records, fixed, lines
from tfnb.proto.records import read_records

OUTPUTS: dict[str, Any] = {"output_types": "list(type) >= 1", "output_shapes": "list(shape) >= 1"}
_DATA: dict[str, Any] = {"metadata": "string = ''"}
_ARGUMENTS: dict[str, Any] = {"Targuments": "list(type) >= 0"}
_INPUT = "input_dataset: variant"
_HANDLE = "-> handle: variant"

Call = Callable[[Element], Element]
_runner: list[Callable[[Any, FunctionGraph], Call]] = []


def set_function_runner(run: Callable[[Any, FunctionGraph], Call]) -> None:
    """Tell how functions run: run(store, body) -> what takes and returns arrays. `runtime/functions.py` does."""
    _runner[:] = [run]


def function(ctx: Any, f: Any, captured: Sequence[np.ndarray] = ()) -> Call:
    """Return the function that an attr of `ctx.op` names, with the values that it captured."""
    body = ctx.op.graph._functions.get(f.name)
    if body is None:
        raise InvalidArgumentError(None, ctx.op, f"function {f.name!r} is not in the graph's library")
    call = _runner[0](ctx.store, body)
    rest = tuple(owned(a) for a in captured)
    return (lambda element: call((*element, *rest))) if rest else call


def _lifts(ctx: Any, f: Any) -> bool:
    return lifts(ctx.op.graph._functions[f.name])


def owned(array: np.ndarray) -> np.ndarray:
    """Return a copy: what ops are given is another's, and elements are made after the run is over."""
    return array if array.dtype == object and not array.ndim else array.copy()


def source_of(handle: Any) -> Source:
    """Return the dataset that a scalar of type variant holds."""
    found: Source = handle[()]
    return found


def _invalid(ctx: Any, message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, ctx.op, message)


def _named(source: Source, op: Any) -> Source:
    """`source`, whose own errors (not those of ops in functions) name `op`."""
    def start() -> steps.Elements:
        elements = source.start()

        def step() -> Element:
            try:
                return next(elements)
            except InvalidArgumentError as error:
                if error.op is None:
                    raise InvalidArgumentError(None, op, error.message) from None
                raise
        return steps.Steps(step)
    return Source(start, source.fresh)


# ---- of tensors and numbers ------------------------------------------------------------------------------------------

@host(f"components: Toutput_types {_HANDLE}", shape=shapes.scalar, stateful=True, Toutput_types="list(type) >= 1",
      output_shapes="list(shape) >= 1", **_DATA)
def TensorDataset(components: Sequence[np.ndarray]) -> Any:
    """Create a dataset of one element."""
    element = tuple(owned(a) for a in components)
    return as_handle(Source(lambda: iter([element])))


@host(f"components: Toutput_types {_HANDLE}", shape=shapes.scalar, stateful=True, Toutput_types="list(type) >= 1",
      output_shapes="list(shape) >= 1", is_files="bool = false", **_DATA, replicate_on_split="bool = false")
def TensorSliceDataset(components: Sequence[np.ndarray], *, ctx: Any) -> Any:
    """Create a dataset of the rows of its components."""
    arrays = [owned(a) for a in components]
    if any(not a.ndim for a in arrays):
        raise _invalid(ctx, "All components must be at least 1-dimensional")
    if len({len(a) for a in arrays}) > 1:
        raise _invalid(ctx, "All components must have the same size in the 0th dimension, got "
                            + ", ".join(str(a.shape) for a in arrays))
    return as_handle(steps.of_slices(arrays))


@host(f"start: int64, stop: int64, step: int64 {_HANDLE}", shape=shapes.scalar, stateful=True, **OUTPUTS, **_DATA,
      replicate_on_split="bool = false")
def RangeDataset(start: Any, stop: Any, step: Any, *, output_types: Any, ctx: Any) -> Any:
    """Create a dataset of the integers from `start` to before `stop`."""
    if step == 0:
        raise _invalid(ctx, "step must be a non-zero integer.")
    numbers, dtype = range(int(start), int(stop), int(step)), output_types[0].as_numpy_dtype
    return as_handle(Source(lambda: ((np.array(i, dtype),) for i in numbers), True))


@host(f"init_func_other_args: Tinit_func_args, next_func_other_args: Tnext_func_args, "
      f"finalize_func_other_args: Tfinalize_func_args {_HANDLE}", shape=shapes.scalar, stateful=True, init_func="func",
      next_func="func", finalize_func="func", Tinit_func_args="list(type) >= 0", Tnext_func_args="list(type) >= 0",
      Tfinalize_func_args="list(type) >= 0", **OUTPUTS, **_DATA)
def GeneratorDataset(init_func_other_args: Any, next_func_other_args: Any, finalize_func_other_args: Any, *,
                     init_func: Any, next_func: Any, finalize_func: Any, ctx: Any) -> Any:
    """Create a dataset of `next_func` applied to the state of `init_func`, until it raises OutOfRangeError."""
    first, following, last = (function(ctx, f, args) for f, args in (
        (init_func, init_func_other_args), (next_func, next_func_other_args),
        (finalize_func, finalize_func_other_args)))
    return as_handle(steps.generated(first, following, last))


# ---- of other datasets -----------------------------------------------------------------------------------------------

@host(f"input_datasets: N * variant {_HANDLE}", shape=shapes.scalar, **OUTPUTS, N="int >= 1", **_DATA)
def ZipDataset(input_datasets: Sequence[np.ndarray]) -> Any:
    """Zip datasets: each element joins the components of one element of each."""
    return as_handle(steps.zipped([source_of(d) for d in input_datasets]))


@host(f"{_INPUT}, another_dataset: variant {_HANDLE}", shape=shapes.scalar, **OUTPUTS, **_DATA)
def ConcatenateDataset(input_dataset: Any, another_dataset: Any) -> Any:
    """Concatenate two datasets."""
    return as_handle(steps.concatenate([source_of(input_dataset), source_of(another_dataset)]))


@host(f"{_INPUT}, count: int64 {_HANDLE}", shape=shapes.scalar, **OUTPUTS, **_DATA)
def RepeatDataset(input_dataset: Any, count: Any) -> Any:
    """Repeat a dataset `count` times, without end if that is negative."""
    return as_handle(steps.repeat(source_of(input_dataset), int(count)))


@host(f"{_INPUT}, count: int64 {_HANDLE}", shape=shapes.scalar, **OUTPUTS, **_DATA)
def TakeDataset(input_dataset: Any, count: Any) -> Any:
    """Take the first `count` elements, all if that is negative."""
    return as_handle(steps.sliced(source_of(input_dataset), 0, None if count < 0 else int(count)))


@host(f"{_INPUT}, count: int64 {_HANDLE}", shape=shapes.scalar, **OUTPUTS, **_DATA)
def SkipDataset(input_dataset: Any, count: Any) -> Any:
    """Skip the first `count` elements, all of them if that is negative."""
    return as_handle(Source(lambda: iter(())) if count < 0 else
                     steps.sliced(source_of(input_dataset), int(count), None))


@host(f"{_INPUT}, num_shards: int64, index: int64 {_HANDLE}", shape=shapes.scalar, require_non_empty="bool = false",
      **OUTPUTS, **_DATA)
def ShardDataset(input_dataset: Any, num_shards: Any, index: Any, *, ctx: Any) -> Any:
    """Keep the elements whose index modulo `num_shards` is `index`."""
    if num_shards < 1 or not 0 <= index < num_shards:
        raise _invalid(ctx, "Index must be between 0 and num_shards - 1 "
                            f"(currently index = {index}, num_shards = {num_shards}).")
    return as_handle(steps.sliced(source_of(input_dataset), int(index), None, int(num_shards)))


def _positive(ctx: Any, name: str, value: Any) -> int:
    if value < 1:
        raise _invalid(ctx, f"{name} must be greater than zero, but got {value}.")
    return int(value)


@host(f"{_INPUT}, batch_size: int64, drop_remainder: bool {_HANDLE}", shape=shapes.scalar,
      parallel_copy="bool = false", **OUTPUTS, **_DATA)
def BatchDatasetV2(input_dataset: Any, batch_size: Any, drop_remainder: Any, *, ctx: Any) -> Any:
    """Stack consecutive elements into batches; the last one may be smaller, unless it is dropped."""
    size = _positive(ctx, "Batch size", batch_size)
    made = groups.batched(source_of(input_dataset), size, bool(drop_remainder), groups.stacked)
    return as_handle(_named(made, ctx.op))


@host(f"{_INPUT}, batch_size: int64, padded_shapes: N * int64, padding_values: Toutput_types, drop_remainder: bool "
      f"{_HANDLE}", shape=shapes.scalar, parallel_copy="bool = false", Toutput_types="list(type) >= 1",
      output_shapes="list(shape) >= 1", N="int >= 1", **_DATA)
def PaddedBatchDatasetV2(input_dataset: Any, batch_size: Any, padded_shapes: Any, padding_values: Any,
                         drop_remainder: Any, *, ctx: Any) -> Any:
    """As BatchDatasetV2, of elements that are padded to common shapes."""
    size, wanted = _positive(ctx, "Batch size", batch_size), [owned(a) for a in padded_shapes]
    values = [owned(a) for a in padding_values]
    return as_handle(_named(groups.batched(source_of(input_dataset), size, bool(drop_remainder),
                                          lambda group: groups.padded(group, wanted, values)), ctx.op))


@host(f"{_INPUT} {_HANDLE}", shape=shapes.scalar, **OUTPUTS, **_DATA)
def UnbatchDataset(input_dataset: Any, *, ctx: Any) -> Any:
    """Split each element into its rows."""
    return as_handle(_named(groups.unbatched(source_of(input_dataset)), ctx.op))


@host(f"{_INPUT}, size: int64, shift: int64, stride: int64, drop_remainder: bool {_HANDLE}", shape=shapes.scalar,
      **OUTPUTS, **_DATA)
def WindowDataset(input_dataset: Any, size: Any, shift: Any, stride: Any, drop_remainder: Any, *, ctx: Any) -> Any:
    """Create datasets of `size` elements that are `stride` apart, the next one beginning `shift` later."""
    count, step, every = (_positive(ctx, f"Window {name}", value)
                          for name, value in (("size", size), ("shift", shift), ("stride", stride)))
    return as_handle(groups.windows(source_of(input_dataset), count, step, every, bool(drop_remainder)))


def _draws(seed: Any, seed2: Any, again: bool) -> Callable[[], Iterator[int]]:
    """Return the words of each new iterator: always those of the seeds, or (`again`) of new seeds drawn with them."""
    first, second = int(seed), int(seed2)
    if not again:
        return lambda: words(first, second)
    parent = words(first, second)
    return lambda: words(next(parent), next(parent))


@host(f"{_INPUT}, buffer_size: int64, seed: int64, seed2: int64 {_HANDLE}", shape=shapes.scalar,
      reshuffle_each_iteration="bool = true", **OUTPUTS, **_DATA)
def ShuffleDataset(input_dataset: Any, buffer_size: Any, seed: Any, seed2: Any, *, reshuffle_each_iteration: bool,
                   ctx: Any) -> Any:
    """Shuffle the elements: each is drawn from a buffer of the next `buffer_size` ones."""
    size = _positive(ctx, "buffer_size", buffer_size)
    return as_handle(buffers.shuffled(source_of(input_dataset), size, _draws(seed, seed2, reshuffle_each_iteration)))


@host(f"{_INPUT}, buffer_size: int64, seed: int64, seed2: int64, count: int64 {_HANDLE}", shape=shapes.scalar,
      **OUTPUTS, reshuffle_each_iteration="bool = true", **_DATA)
def ShuffleAndRepeatDataset(input_dataset: Any, buffer_size: Any, seed: Any, seed2: Any, count: Any, *,
                            reshuffle_each_iteration: bool, ctx: Any) -> Any:
    """Shuffle and repeat a dataset; the last elements of one epoch mix with the first ones of the next."""
    size = _positive(ctx, "buffer_size", buffer_size)
    return as_handle(buffers.shuffled(source_of(input_dataset), size, _draws(seed, seed2, reshuffle_each_iteration),
                                    int(count)))


@host(f"{_INPUT}, buffer_size: int64 {_HANDLE}", shape=shapes.scalar, **OUTPUTS, slack_period="int = 0",
      legacy_autotune="bool = true", buffer_size_min="int = 0", **_DATA)
def PrefetchDataset(input_dataset: Any, buffer_size: Any, *, ctx: Any) -> Any:
    """Prefetch up to `buffer_size` elements."""
    if buffer_size < steps.AUTOTUNE:
        raise _invalid(ctx, f"buffer_size must be >= 0 or set buffer_size to be {steps.AUTOTUNE} for auto-tuning")
    return as_handle(buffers.ahead(source_of(input_dataset), int(buffer_size)))


@host(f"{_INPUT}, filename: string {_HANDLE}", shape=shapes.scalar, **OUTPUTS, **_DATA)
def CacheDataset(input_dataset: Any, filename: Any, *, ctx: Any) -> Any:
    """Cache the elements of the first iteration in memory."""
    if filename[()]:
        raise _invalid(ctx, f"tfnb keeps cached elements in memory only, but got the file {filename[()]!r}")
    return as_handle(buffers.Memory().over(source_of(input_dataset)))


@host(f"selector_input_dataset: variant, data_input_datasets: N * variant {_HANDLE}", shape=shapes.scalar, **OUTPUTS,
      N="int >= 1", stop_on_empty_dataset="bool = false")
def DirectedInterleaveDataset(selector_input_dataset: Any, data_input_datasets: Any, *, ctx: Any) -> Any:
    """Interleave datasets: each element of the selector is the index of the dataset to take from."""
    return as_handle(_named(steps.chosen(source_of(selector_input_dataset),
                                         [source_of(d) for d in data_input_datasets]), ctx.op))


@host(f"{_INPUT} {_HANDLE}", shape=shapes.scalar, **OUTPUTS, **_DATA)
def UniqueDataset(input_dataset: Any) -> Any:
    """Drop duplicate elements."""
    return as_handle(steps.unique(source_of(input_dataset)))


@host(f"{_INPUT} {_HANDLE}", shape=shapes.scalar, **OUTPUTS, log_warning="bool = false")
def IgnoreErrorsDataset(input_dataset: Any) -> Any:
    """Drop the elements whose computation fails."""
    return as_handle(steps.without_errors(source_of(input_dataset)))


# ---- with functions --------------------------------------------------------------------------------------------------

@host(f"{_INPUT}, other_arguments: Targuments {_HANDLE}", shape=shapes.scalar, f="func", **_ARGUMENTS, **OUTPUTS,
      use_inter_op_parallelism="bool = true", preserve_cardinality="bool = false", force_synchronous="bool = false",
      **_DATA)
def MapDataset(input_dataset: Any, other_arguments: Any, *, f: Any, ctx: Any) -> Any:
    """Apply `f` to each element."""
    return as_handle(steps.mapped(source_of(input_dataset), function(ctx, f, other_arguments), _lifts(ctx, f)))


@host(f"{_INPUT}, other_arguments: Targuments, num_parallel_calls: int32 {_HANDLE}", shape=shapes.scalar, f="func",
      **_ARGUMENTS, **OUTPUTS, use_inter_op_parallelism="bool = true", sloppy="bool = false",
      preserve_cardinality="bool = false", **_DATA)
def ParallelMapDataset(input_dataset: Any, other_arguments: Any, num_parallel_calls: Any, *, f: Any, ctx: Any) -> Any:
    """As MapDataset, with several calls of `f` at a time, in order."""
    threads = int(num_parallel_calls) if num_parallel_calls == steps.AUTOTUNE else \
        _positive(ctx, "num_parallel_calls", num_parallel_calls)
    return as_handle(buffers.mapped_by_threads(source_of(input_dataset), function(ctx, f, other_arguments), threads,
                                               _lifts(ctx, f)))


@host(f"{_INPUT}, other_arguments: Targuments {_HANDLE}", shape=shapes.scalar, predicate="func", **_ARGUMENTS,
      **OUTPUTS, **_DATA)
def FilterDataset(input_dataset: Any, other_arguments: Any, *, predicate: Any, ctx: Any) -> Any:
    """Keep the elements for which `predicate` returns True."""
    call = function(ctx, predicate, other_arguments)
    return as_handle(steps.filtered(source_of(input_dataset), lambda element: bool(call(element)[0])))


@host(f"{_INPUT}, other_arguments: Targuments {_HANDLE}", shape=shapes.scalar, predicate="func", **_ARGUMENTS,
      **OUTPUTS, **_DATA)
def TakeWhileDataset(input_dataset: Any, other_arguments: Any, *, predicate: Any, ctx: Any) -> Any:
    """Take the elements before the first for which `predicate` returns False."""
    call = function(ctx, predicate, other_arguments)
    return as_handle(steps.taken_while(source_of(input_dataset), lambda element: bool(call(element)[0])))


def _datasets(ctx: Any, f: Any, captured: Any) -> Callable[[Element], Source]:
    call = function(ctx, f, captured)
    return lambda element: source_of(call(element)[0])


@host(f"{_INPUT}, other_arguments: Targuments {_HANDLE}", shape=shapes.scalar, f="func", **_ARGUMENTS, **OUTPUTS,
      **_DATA)
def FlatMapDataset(input_dataset: Any, other_arguments: Any, *, f: Any, ctx: Any) -> Any:
    """Apply `f`, which returns a dataset, to each element and concatenate the results."""
    return as_handle(steps.flattened(source_of(input_dataset), _datasets(ctx, f, other_arguments)))


def _interleaved(ctx: Any, source: Any, captured: Any, f: Any, cycle: Any, block: Any) -> np.ndarray:
    cycle = 10 if cycle == steps.AUTOTUNE else _positive(ctx, "cycle_length", cycle)
    return as_handle(steps.interleaved(source_of(source), _datasets(ctx, f, captured), cycle,
                                       _positive(ctx, "block_length", block)))


@host(f"{_INPUT}, other_arguments: Targuments, cycle_length: int64, block_length: int64 {_HANDLE}",
      shape=shapes.scalar, f="func", **_ARGUMENTS, **OUTPUTS, **_DATA)
def InterleaveDataset(input_dataset: Any, other_arguments: Any, cycle_length: Any, block_length: Any, *, f: Any,
                      ctx: Any) -> Any:
    """Interleave the datasets that `f` returns: `cycle_length` of them in turns, `block_length` elements at a time."""
    return _interleaved(ctx, input_dataset, other_arguments, f, cycle_length, block_length)


@host(f"{_INPUT}, other_arguments: Targuments, cycle_length: int64, block_length: int64, num_parallel_calls: int64 "
      f"{_HANDLE}", shape=shapes.scalar, f="func", **_ARGUMENTS, **OUTPUTS, sloppy="bool = false", **_DATA)
def ParallelInterleaveDatasetV2(input_dataset: Any, other_arguments: Any, cycle_length: Any, block_length: Any,
                                num_parallel_calls: Any, *, f: Any, ctx: Any) -> Any:
    """As InterleaveDataset, and in its order; here no elements are made beforehand."""
    return _interleaved(ctx, input_dataset, other_arguments, f, cycle_length, block_length)


@host(f"{_INPUT}, initial_state: Tstate, other_arguments: Targuments {_HANDLE}", shape=shapes.scalar, f="func",
      Tstate="list(type) >= 1", **_ARGUMENTS, **OUTPUTS, preserve_cardinality="bool = false",
      use_default_device="bool = true", **_DATA)
def ScanDataset(input_dataset: Any, initial_state: Any, other_arguments: Any, *, f: Any, ctx: Any) -> Any:
    """Fold `f` over the elements: from a state and an element, the next state and an element."""
    state = tuple(owned(a) for a in initial_state)
    return as_handle(steps.scanned(source_of(input_dataset), state, function(ctx, f, other_arguments), len(state)))


@host(f"{_INPUT}, key_func_other_arguments: Tkey_func_other_arguments, "
      "reduce_func_other_arguments: Treduce_func_other_arguments, "
      f"window_size_func_other_arguments: Twindow_size_func_other_arguments {_HANDLE}", shape=shapes.scalar,
      key_func="func", reduce_func="func", window_size_func="func", Tkey_func_other_arguments="list(type) >= 0",
      Treduce_func_other_arguments="list(type) >= 0", Twindow_size_func_other_arguments="list(type) >= 0", **OUTPUTS,
      **_DATA)
def GroupByWindowDataset(input_dataset: Any, key_func_other_arguments: Any, reduce_func_other_arguments: Any,
                         window_size_func_other_arguments: Any, *, key_func: Any, reduce_func: Any,
                         window_size_func: Any, ctx: Any) -> Any:
    """Group elements by key in windows of `window_size_func`, and concatenate `reduce_func` of each window."""
    key = function(ctx, key_func, key_func_other_arguments)
    size = function(ctx, window_size_func, window_size_func_other_arguments)
    reduce = function(ctx, reduce_func, reduce_func_other_arguments)

    def one(number: int) -> Element:
        return (np.array(number, np.int64),)
    return as_handle(_named(groups.grouped(
        source_of(input_dataset), lambda element: int(key(element)[0]), lambda of: int(size(one(of))[0]),
        lambda of, window: source_of(reduce((*one(of), as_handle(window)))[0])), ctx.op))


def _outputs(ctx: Any) -> list[Any]:
    return list(ctx.attrs["output_shapes"])


@host(f"{_INPUT}, initial_state: Tstate, other_arguments: Targuments -> components: output_types", shape=_outputs,
      stateful=True, f="func", Tstate="list(type) >= 1", **_ARGUMENTS, **OUTPUTS,
      use_inter_op_parallelism="bool = true", **_DATA)
def ReduceDataset(input_dataset: Any, initial_state: Any, other_arguments: Any, *, f: Any, ctx: Any) -> Any:
    """Fold `f` over the elements from the initial state, and return the last state."""
    state, call = tuple(owned(a) for a in initial_state), function(ctx, f, other_arguments)
    for element in source_of(input_dataset).start():
        state = call((*state, *element))
    return state


# ---- of files --------------------------------------------------------------------------------------------------------

_COMPRESSION = {b"": "", b"GZIP": "GZIP", b"ZLIB": "ZLIB"}


def compression_of(ctx: Any, given: Any) -> str:
    """Return a type of compression, "" for none. Raises InvalidArgumentError for an unknown one."""
    if given[()] not in _COMPRESSION:
        raise _invalid(ctx, f"Unsupported compression_type: {given[()].decode()!r}; there are ZLIB and GZIP.")
    return _COMPRESSION[given[()]]


def _of_files(filenames: Any, records: Callable[[bytes], Records]) -> np.ndarray:
    def of(name: bytes) -> Source:
        return Source(lambda: ((np.array(data, object),) for _, data in records(name)), True)
    return as_handle(steps.concatenate([of(name) for name in owned(filenames).reshape(-1).tolist()]))


@host(f"filenames: string, compression_type: string, buffer_size: int64 {_HANDLE}", shape=shapes.scalar, stateful=True,
      **_DATA)
def TextLineDataset(filenames: Any, compression_type: Any, buffer_size: Any, *, ctx: Any) -> Any:
    """Read the lines of files, without line ends."""
    return _of_files(filenames, lines(0, compression_of(ctx, compression_type)))


@host(f"filenames: string, compression_type: string, buffer_size: int64 {_HANDLE}", shape=shapes.scalar, stateful=True,
      **_DATA)
def TFRecordDataset(filenames: Any, compression_type: Any, buffer_size: Any, *, ctx: Any) -> Any:
    """Read the records of TFRecord files."""
    kind = compression_of(ctx, compression_type)
    return _of_files(filenames, lambda name: ((name, data) for data in read_records(name, kind)))


@host(f"filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64, "
      f"compression_type: string {_HANDLE}", shape=shapes.scalar, stateful=True, **_DATA)
def FixedLengthRecordDatasetV2(filenames: Any, header_bytes: Any, record_bytes: Any, footer_bytes: Any,
                               buffer_size: Any, compression_type: Any, *, ctx: Any) -> Any:
    """Read the records of `record_bytes` bytes of files, between a header and a footer."""
    size = _positive(ctx, "record_bytes", record_bytes)
    if header_bytes < 0 or footer_bytes < 0:
        raise _invalid(ctx, f"header_bytes and footer_bytes must be >= 0, got {header_bytes} and {footer_bytes}")
    kind = compression_of(ctx, compression_type)
    return _of_files(filenames, fixed(int(header_bytes), size, int(footer_bytes), 0, kind, whole=not kind))


@host("patterns: string -> handle: variant", shape=shapes.scalar, stateful=True)
def MatchingFilesDataset(patterns: Any) -> Any:
    """List the names of the files that match any of the patterns, sorted."""
    wanted = owned(patterns).reshape(-1).tolist()

    def start() -> steps.Elements:
        names = sorted({name for pattern in wanted for name in matching(pattern)})
        return ((np.array(os.fsencode(name), object),) for name in names)
    return as_handle(Source(start, True))



for _op in list(globals().values()):
    if isinstance(_op, Constructor):
        _op.no_gradient("datasets are not differentiable")
