"""`tf.data.Dataset`: input pipelines as ops. Each method adds one node, whose value iterators go through."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.shape import Static, TensorShape
from tfnb.data import structure
from tfnb.data.calls import Called, dataset_of, single, with_state
from tfnb.data.generators import Generators, generated
from tfnb.data.iterator import Iterator
from tfnb.data.structure import Component, Structured
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.function import FunctionGraph
from tfnb.graph.parts.constant_value import constant_value, constant_value_as_shape
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.data import datasets as ops
from tfnb.ops.data import iterators
from tfnb.ops.random.random_ops import get_seed
from tfnb.ragged.tensor import RaggedTensor

AUTOTUNE = -1


def _int64(value: Any, name: str) -> Tensor:
    tensor: Tensor = convert_to_tensor(value, dtype=dtypes.int64, name=name)
    return tensor


class Dataset(Structured):
    """A sequence of elements of one structure: a tensor, or tuples, namedtuples and dicts of tensors.

    Programs make one of tensors, files or a Python generator, and others of it by its methods. Nothing is computed
    before an iterator is asked for an element. variant_tensor: the op that makes it; element: a tensor for each
    component, of its dtype and shape.

    >>> dataset = tf.data.Dataset.from_tensor_slices([1, 2, 3, 4]).map(lambda x: 10 * x).batch(2)
    >>> batch = dataset.make_one_shot_iterator().get_next()
    >>> sess.run(batch), sess.run(batch)
    (array([10, 20], dtype=int32), array([30, 40], dtype=int32))
    """

    def __init__(self, variant_tensor: Tensor, element: Any) -> None:
        self._variant_tensor, self._element = variant_tensor, element
        self._class = Dataset                      # what a tensor that holds such a dataset is made one with

    def __repr__(self) -> str:
        return f"<{type(self).__name__} shapes: {self.output_shapes}, types: {self.output_types}>"

    def __iter__(self) -> Any:
        raise RuntimeError("__iter__() is only supported inside of tf.function or when eager execution is enabled. "
                           "Make an iterator: dataset.make_one_shot_iterator().get_next()")

    # ---- where elements come from

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """A dataset of one element: `tensors`."""
        with name_scope("normalize_element"):
            element, flat = structure.as_tensors(tensors)
        return Dataset(ops.TensorDataset(flat, output_shapes=structure.shapes(element), name="TensorDataset"), element)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """A dataset of the rows of `tensors`, along their first axis. Raises ValueError for scalars, unequal sizes."""
        with name_scope("normalize_element"):
            whole, flat = structure.as_tensors(tensors, rows=True)
        sizes: set[int] = set()
        for tensor in flat:
            if tensor.static == ():
                raise ValueError(f"Unbatching a tensor is only supported for rank >= 1, but {tensor.name} is a scalar")
            if tensor.static and tensor.static[0] is not None:
                sizes.add(tensor.static[0])
        if len(sizes) > 1:
            raise ValueError(f"Dimensions {' and '.join(map(str, sorted(sizes)))} are not compatible: all components "
                             "must have the same size along their first axis")
        element = structure.convert(structure.row, whole)
        return Dataset(ops.TensorSliceDataset(flat, output_shapes=structure.shapes(element)), element)

    @staticmethod
    def from_generator(generator: Callable[..., Any], output_types: Any, output_shapes: Any = None,
                       args: Sequence[Any] | None = None) -> Dataset:
        """A dataset of what `generator(*args)` yields, called anew for each iterator.

        output_types, output_shapes: of the components, in the structure of an element. args: tensors, whose values
        the generator gets as arrays. Raises TypeError if it can't be called; iterators raise InvalidArgumentError for
        elements of other dtypes and shapes.
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        element = structure.of(output_types, output_shapes)
        state = Generators(generator, element)
        given = tuple(convert_to_tensor(arg, name="args") for arg in args or ())

        def of_one(*arguments: Any) -> Dataset:
            return Dataset(generated(state, arguments[1:]), element)
        return Dataset.from_tensors((0, *given)).flat_map(of_one)

    @staticmethod
    def range(*args: Any, output_type: Any = dtypes.int64) -> Dataset:
        """A dataset of int64 scalars, as of Python's range: range(stop), range(start, stop[, step])."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        element = Component(dtypes.as_dtype(output_type), TensorShape([]))
        return Dataset(ops.RangeDataset(_int64(start, "start"), _int64(stop, "stop"), _int64(step, "step"),
                                        **structure.attrs(element)), element)

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """A dataset of the elements of several, in the structure of `datasets` (a tuple or dict of them)."""
        parts = structure.flatten(datasets)
        for part in parts:
            if not isinstance(part, Dataset):
                raise TypeError(f"The argument to `Dataset.zip()` must be a (nested) structure of datasets, but one is "
                                f"{part!r}; a Python list is none.")
        element = structure.pack(datasets, [part._element for part in parts])
        return Dataset(ops.ZipDataset([part._variant_tensor for part in parts], **structure.attrs(element)), element)

    @staticmethod
    def list_files(file_pattern: Any, shuffle: bool | None = None, seed: int | None = None) -> Dataset:
        """A dataset of the names of the files that match a pattern (or any of several), in random order by default."""
        patterns = convert_to_tensor(file_pattern, dtype=dtypes.string, name="file_pattern")
        found = Dataset(ops.MatchingFilesDataset(patterns), Component(dtypes.string, TensorShape([])))
        return found if shuffle is False else found.shuffle(1 << 20, seed)

    # ---- one of others

    def _made(self, op: Any, *inputs: Any, element: Any = None, **attrs: Any) -> Dataset:
        """The dataset that `op` makes of this one."""
        element = self._element if element is None else element
        return Dataset(op(self._variant_tensor, *inputs, **structure.attrs(element), **attrs), element)

    def concatenate(self, dataset: Dataset) -> Dataset:
        """This dataset, then the other. Raises TypeError if their elements have other dtypes."""
        if structure.types(dataset._element) != structure.types(self._element) or \
                self.output_types != dataset.output_types:
            raise TypeError(f"Two datasets to concatenate have different types {self.output_types} and "
                            f"{dataset.output_types}")
        parts = zip(structure.flatten(self._element), structure.flatten(dataset._element), strict=True)
        element = structure.pack(self._element, [
            replace(a, shape=structure.common_shape(a.shape, b.shape)) for a, b in parts])
        return self._made(ops.ConcatenateDataset, dataset._variant_tensor, element=element)

    def repeat(self, count: Any = None) -> Dataset:
        """This dataset `count` times; for ever for None or -1."""
        return self._made(ops.RepeatDataset, _int64(-1 if count is None else count, "count"))

    def take(self, count: Any) -> Dataset:
        """The first `count` elements; all for -1."""
        return self._made(ops.TakeDataset, _int64(count, "count"))

    def skip(self, count: Any) -> Dataset:
        """All but the first `count` elements; none for -1."""
        return self._made(ops.SkipDataset, _int64(count, "count"))

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Every element whose number modulo `num_shards` is `index`. Raises ValueError for an index out of range."""
        known = [v if isinstance(v, int) else constant_value(v) if isinstance(v, Tensor) else None
                 for v in (num_shards, index)]
        if known[0] is not None and known[1] is not None and not 0 <= known[1] < known[0]:
            raise ValueError(f"index must be >= 0 and < num_shards, got index = {known[1]}, num_shards = {known[0]}")
        return self._made(ops.ShardDataset, _int64(num_shards, "num_shards"), _int64(index, "index"))

    def enumerate(self, start: Any = 0) -> Dataset:
        """Pairs of a number (int64, from `start`) and an element."""
        return Dataset.zip((Dataset.range(start, dtypes.int64.max), self))

    def prefetch(self, buffer_size: Any = None) -> Dataset:
        """The same elements, up to `buffer_size` of them (tf.data.experimental.AUTOTUNE: 2) made beforehand."""
        return self._made(ops.PrefetchDataset, _int64(AUTOTUNE if buffer_size is None else buffer_size, "buffer_size"))

    def cache(self, filename: Any = "") -> Dataset:
        """The same elements, kept in memory the first time. Iterators raise InvalidArgumentError for a file name."""
        return self._made(ops.CacheDataset, convert_to_tensor(filename, dtype=dtypes.string, name="filename"))

    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None) -> Dataset:
        """The elements in random order, each drawn from the next `buffer_size` ones.

        seed: see tf.set_random_seed; reshuffle_each_iteration: in another order each time (by default True). The same
        seeds give TensorFlow's order.
        """
        again = True if reshuffle_each_iteration is None else reshuffle_each_iteration
        return self._made(ops.ShuffleDataset, _int64(buffer_size, "buffer_size"), *seeds(seed),
                          reshuffle_each_iteration=again)

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """`batch_size` elements as the rows of one. drop_remainder: leave out a last batch that would be smaller."""
        size = _int64(batch_size, "batch_size")
        drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        known = constant_value(size) if constant_value(drop) else None
        rows = None if known is None else int(known)
        element = structure.convert(lambda c: structure.batched(c, rows), self._element)
        return self._made(ops.BatchDatasetV2, size, drop, element=element)

    def padded_batch(self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None,
                     drop_remainder: Any = False) -> Dataset:
        """As `batch`, of elements that are filled up with `padding_values` (0 and "") to `padded_shapes`.

        padded_shapes: a shape for each component, in their structure; None or -1 for the largest size in the batch.
        """
        parts = structure.flatten(self._element)
        if any(c.wrap is not None for c in parts):
            raise TypeError("Batching of padded sparse tensors, ragged ones and datasets is not supported, got "
                            f"components {self.output_classes}")
        wanted = [c.shape for c in parts] if padded_shapes is None else \
            structure.flatten_up_to(self._element, padded_shapes, "padded_shapes")
        sizes = [_padded_shape(shape, c) for shape, c in zip(wanted, parts, strict=True)]
        values = [None] * len(parts) if padding_values is None else \
            structure.flatten_up_to(self._element, padding_values, "padding_values")
        filling = [convert_to_tensor(_zero(c) if v is None else v, dtype=c.dtype, name="padding_value")
                   for v, c in zip(values, parts, strict=True)]
        size = _int64(batch_size, "batch_size")
        drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        known = constant_value(size) if constant_value(drop) else None
        element = structure.pack(self._element, [
            Component(c.dtype, TensorShape([None if known is None else int(known)]).concatenate(shape))
            for c, (_, shape) in zip(parts, sizes, strict=True)])
        made = ops.PaddedBatchDatasetV2(self._variant_tensor, size, [vector for vector, _ in sizes], filling, drop,
                                        output_shapes=structure.shapes(element))
        return Dataset(made, element)

    def unbatch(self) -> Dataset:
        """The rows of each element."""
        whole = self
        if any(c.wrap in (SparseTensor, RaggedTensor) for c in structure.flatten(self._element)):
            call = Called(lambda *parts: parts if len(parts) > 1 else parts[0], self._element, "Dataset_unbatch", True)
            whole = self._made(ops.MapDataset, call.captured, f=call.f)
        return whole._made(ops.UnbatchDataset, element=structure.convert(structure.row, whole._element))

    def window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False) -> Dataset:
        """Elements whose components are datasets of `size` elements, `stride` apart; the next begins `shift` later."""
        step = size if shift is None else shift
        inner = structure.convert(lambda c: Component(dtypes.variant, TensorShape([]), c, Dataset), self._element)
        return self._made(ops.WindowDataset, _int64(size, "size"), _int64(step, "shift"), _int64(stride, "stride"),
                          convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder"), element=inner)

    # ---- with functions

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None,
            preserve_cardinality: bool = False) -> Dataset:
        """Apply `map_func` to each element: a function of tensors, called once, to build the graph of a step.

        A tuple is given as several arguments. num_parallel_calls: calls at a time, by threads; the order stays. Errors
        of a step are raised when its element is asked for; the next call goes on with the next element.
        """
        call = Called(map_func, self._element, "Dataset_map")
        attrs = {"f": call.f, "preserve_cardinality": preserve_cardinality}
        if num_parallel_calls is None:
            return self._made(ops.MapDataset, call.captured, element=call.element, **attrs)
        parallel = convert_to_tensor(num_parallel_calls, dtype=dtypes.int32, name="num_parallel_calls")
        return self._made(ops.ParallelMapDataset, call.captured, parallel, element=call.element, **attrs)

    map_with_legacy_function = map

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """The elements of the datasets that `map_func` makes of elements, one dataset after the other."""
        call = Called(map_func, self._element, "Dataset_flat_map")
        return self._made(ops.FlatMapDataset, call.captured, element=dataset_of(call, "flat_map"), f=call.f)

    def interleave(self, map_func: Callable[..., Any], cycle_length: Any = AUTOTUNE, block_length: Any = 1,
                   num_parallel_calls: Any = None) -> Dataset:
        """As `flat_map`, of `cycle_length` datasets in turns, `block_length` elements of each at a time."""
        call = Called(map_func, self._element, "Dataset_interleave")
        inputs = [_int64(cycle_length, "cycle_length"), _int64(block_length, "block_length")]
        op: Any = ops.InterleaveDataset
        if num_parallel_calls is not None:
            op = ops.ParallelInterleaveDatasetV2
            inputs.append(_int64(num_parallel_calls, "num_parallel_calls"))
        return self._made(op, call.captured, *inputs, element=dataset_of(call, "interleave"), f=call.f)

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements for which `predicate` gives True, a bool scalar. Raises TypeError, ValueError if it is none."""
        call = Called(predicate, self._element, "Dataset_filter")
        single(call, dtypes.bool, "`predicate`")
        return self._made(ops.FilterDataset, call.captured, predicate=call.f)

    filter_with_legacy_function = filter

    def apply(self, transformation_func: Callable[[Dataset], Any]) -> Dataset:
        """`transformation_func(self)`. Raises TypeError unless that is a Dataset."""
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"`transformation_func` must return a Dataset. Got {made!r}.")
        return made

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """Return the final state, as tensors: `reduce_func(state, element)` is called with each element in turn."""
        with name_scope("initial_state"):
            state, flat = structure.as_tensors(initial_state)
        call, state = with_state(reduce_func, state, self._element, "Dataset_reduce")
        made = ops.ReduceDataset(self._variant_tensor, flat, call.captured, f=call.f, **structure.attrs(call.element))
        return structure.as_values(state, made)

    def with_options(self, options: Any) -> Dataset:
        """This dataset: tfnb takes options and has no use for them."""
        return self

    def options(self) -> Any:
        """An empty `tf.data.Options`."""
        return Options()

    # ---- iterators

    def make_initializable_iterator(self, shared_name: str | None = None) -> Iterator:
        """An iterator that begins when its `initializer` is run, with the values that are fed then."""
        made = Iterator(iterators.IteratorV2(shared_name=shared_name or "", container="",
                                             **structure.attrs(self._element)), self._element)
        made.begin_with(self)
        return made

    def make_one_shot_iterator(self) -> Iterator:
        """An iterator that needs no initializer, and goes through the dataset once in each session.

        Raises ValueError if the dataset needs placeholders, variables or other state of a session.
        """
        try:
            with FunctionGraph(get_default_graph(), by_value=True) as body:
                factory = body.finish([self._variant_tensor], "make_dataset")
        except ValueError as error:
            if not str(error).startswith("Cannot capture"):
                raise
            raise ValueError(f"{error} Failed to create a one-shot iterator for a dataset: use "
                             "`Dataset.make_initializable_iterator()`, whose initializer takes such values.") from None
        return Iterator(iterators.OneShotIterator(dataset_factory=factory, **structure.attrs(self._element)),
                        self._element)


class Options:
    """Options for `Dataset.with_options`; any attribute may be set, and none has an effect here.

    >>> options = tf.data.Options()
    >>> options.experimental_deterministic = False
    >>> element = tf.data.Dataset.range(3).with_options(options).make_one_shot_iterator().get_next()
    >>> sess.run(element)
    0
    """

    def __init__(self) -> None:
        self.experimental_optimization = self.experimental_threading = self.experimental_distribute = None
        self.experimental_deterministic: bool | None = None


def seeds(seed: Any) -> tuple[Tensor, Tensor]:
    """The two seeds of a dataset that draws random numbers, as int64 scalars; (0, 0) where none is set."""
    if isinstance(seed, Tensor):
        return _int64(get_seed(1)[0], "seed"), _int64(seed, "seed2")
    first, second = get_seed(seed)
    return _int64(first or 0, "seed"), _int64(second or 0, "seed2")


def _padded_shape(shape: Any, component: Component) -> tuple[Tensor, TensorShape]:
    """Return a shape to pad to as an int64 vector, -1 for the largest size, and its static shape.

    shape: anything that makes a TensorShape (-1 as None), a list with int64 scalars in it, or an int64 vector. Raises
    TypeError for another dtype, ValueError for a tensor that is no vector or another rank than the component's.
    """
    if isinstance(shape, (list, tuple, np.ndarray)):
        symbolic = any(isinstance(size, Tensor) for size in shape)
        shape = _int64(shape, "padded_shape") if symbolic else [None if size == -1 else size for size in shape]
    given = shape if isinstance(shape, Tensor) else None
    known = TensorShape(shape) if given is None else TensorShape.of(_sizes(given))
    if given is None and known.static is None:
        raise ValueError(f"padded_shapes must have a rank, but one is unknown (for a component of {component.shape})")
    if component.shape.ndims is not None and known.ndims is not None and component.shape.ndims != known.ndims:
        raise ValueError(f"The padded shape {known} is not compatible with the shape {component.shape} of the "
                         "corresponding input component.")
    if given is not None:
        return given, known
    return _int64(np.array([-1 if n is None else n for n in known.static or ()], np.int64), "padded_shape"), known


def _sizes(shape: Tensor) -> Static:
    """Return what is known of the sizes in an int64 vector. Raises TypeError, ValueError for something else."""
    if shape.dtype.base_dtype != dtypes.int64:
        raise TypeError(f"Padded shape {shape} must be a `tf.int64` vector tensor, but its element type was "
                        f"{shape.dtype.name}.")
    if shape.static is not None and len(shape.static) != 1:
        raise ValueError(f"Padded shape {shape} must be a `tf.int64` vector tensor, but its shape was "
                         f"{shape.get_shape()}.")
    return constant_value_as_shape(shape)


def _zero(component: Component) -> Any:
    return "" if component.dtype == dtypes.string else np.zeros((), component.dtype.as_numpy_dtype)
