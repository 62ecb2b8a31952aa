"""Calls with one wrong argument, run alike by tfnb and by TensorFlow: what class of error comes, and when.

This file is executed in both. Each op of TABLE has good arguments; each of these is replaced by relatives of other
ranks, sizes and values, as a constant and fed.
"""
import numpy as np

f = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
g = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def i(*values):
    """An int32 array."""
    return np.array(values[0] if len(values) == 1 else values, np.int32)


TABLE = {
    # name: (op, good arguments, attrs)
    "gather": ("GatherV2", {"params": f, "indices": i([0, 2]), "axis": i(0)}, {}),
    "gather last axis": ("GatherV2", {"params": g, "indices": i([[0, 2]]), "axis": i(-1)}, {}),
    "gather batch": ("GatherV2", {"params": g, "indices": i([[0, 2], [1, 1]]), "axis": i(1)}, {"batch_dims": 1}),
    "gather batch behind axis": ("GatherV2", {"params": f, "indices": i([[0], [1], [2]]), "axis": i(0)},
                                 {"batch_dims": 1}),
    "gather batch -1": ("GatherV2", {"params": g, "indices": i([[0, 2], [1, 1]]), "axis": i(1)}, {"batch_dims": -1}),
    "gather batch -9": ("GatherV2", {"params": g, "indices": i([[0, 2], [1, 1]]), "axis": i(1)}, {"batch_dims": -9}),
    "gather batch 3": ("GatherV2", {"params": g, "indices": i([[0, 2], [1, 1]]), "axis": i(1)}, {"batch_dims": 3}),
    "gather of nothing": ("GatherV2", {"params": f[:, :0], "indices": i([0, 2]), "axis": i(0)}, {}),
    "gather nothing": ("GatherV2", {"params": f, "indices": i([]), "axis": i(0)}, {}),
    "old gather": ("Gather", {"params": f, "indices": i([0, 2])}, {}),
    "gather_nd": ("GatherNd", {"params": f, "indices": i([[0, 1], [2, 2]])}, {}),
    "gather_nd rows": ("GatherNd", {"params": g, "indices": i([[0], [1]])}, {}),
    "gather_nd one": ("GatherNd", {"params": f, "indices": i([2, 1])}, {}),
    "gather_nd wide": ("GatherNd", {"params": f, "indices": i([[2, 1, 0]])}, {}),
    "gather_nd no coordinates": ("GatherNd", {"params": f, "indices": np.zeros((2, 0), np.int32)}, {}),
    "gather_nd of nothing": ("GatherNd", {"params": f[:, :0], "indices": i([[0], [1]])}, {}),
    "scatter_nd": ("ScatterNd", {"indices": i([[0], [2]]), "updates": f[:2], "shape": i([3, 4])}, {}),
    "scatter_nd one": ("ScatterNd", {"indices": i([2]), "updates": f[0], "shape": i([3, 4])}, {}),
    "scatter_nd into nothing": ("ScatterNd", {"indices": i([[0], [2]]), "updates": f[:2, :0], "shape": i([3, 0])}, {}),
    "scatter_nd empty shape": ("ScatterNd", {"indices": i([[0]]), "updates": f[0, :1], "shape": i([0])}, {}),
    "segment sum": ("UnsortedSegmentSum", {"data": f, "segment_ids": i([0, 2, 0]), "num_segments": i(3)}, {}),
    "segment sum matrix": ("UnsortedSegmentSum", {"data": f[:, :2], "segment_ids": i([[0, 1], [1, 1], [0, 0]]),
                                                  "num_segments": i(2)}, {}),
    "segment sum into none": ("UnsortedSegmentSum", {"data": f, "segment_ids": i([-1, -1, -1]), "num_segments": i(0)},
                              {}),
    "segment max": ("UnsortedSegmentMax", {"data": f, "segment_ids": i([0, 2, 0]), "num_segments": i(3)}, {}),
    "segment prod": ("UnsortedSegmentProd", {"data": f, "segment_ids": i([0, 2, 0]), "num_segments": i(3)}, {}),
    "sorted sum": ("SegmentSum", {"data": f, "segment_ids": i([0, 0, 2])}, {}),
    "sorted mean": ("SegmentMean", {"data": f, "segment_ids": i([0, 0, 2])}, {}),
    "sorted max": ("SegmentMax", {"data": f, "segment_ids": i([0, 0, 2])}, {}),
    "picked sum": ("SparseSegmentSum", {"data": f, "indices": i([0, 2]), "segment_ids": i([0, 1])}, {}),
    **{f"picked {name}, counted": (f"SparseSegment{name}WithNumSegments", {
        "data": f, "indices": i([0, 2]), "segment_ids": i([0, 1]), "num_segments": i(3)}, {})
       for name in ("Sum", "Mean", "SqrtN")},
    "picked mean": ("SparseSegmentMean", {"data": f, "indices": i([0, 2]), "segment_ids": i([0, 1])}, {}),
    "one_hot": ("OneHot", {"indices": i([0, 2]), "depth": i(3), "on_value": np.float32(5), "off_value": np.float32(1)},
                {}),
    "one_hot axis 0": ("OneHot", {"indices": i([[0, 2]]), "depth": i(3), "on_value": np.float32(5),
                                  "off_value": np.float32(1)}, {"axis": 0}),
    "one_hot axis 7": ("OneHot", {"indices": i([[0, 2]]), "depth": i(3), "on_value": np.float32(5),
                                  "off_value": np.float32(1)}, {"axis": 7}),
    "where": ("Where", {"condition": f > 5}, {}),
    "unique": ("Unique", {"x": i([3, 3, 1])}, {}),
    "list diff": ("ListDiff", {"x": i([3, 3, 1]), "y": i([1])}, {}),
    "slice": ("Slice", {"input": f, "begin": i([1, 0]), "size": i([2, 2])}, {}),
    "slice rest": ("Slice", {"input": f, "begin": i([1, 4]), "size": i([-1, -1])}, {}),
    "slice -2": ("Slice", {"input": f, "begin": i([1, 1]), "size": i([-2, 1])}, {}),
    "strided": ("StridedSlice", {"input": f, "begin": i([1, 0]), "end": i([3, 3]), "strides": i([1, 2])}, {}),
    "strided index": ("StridedSlice", {"input": f, "begin": i([1]), "end": i([2]), "strides": i([1])},
                      {"shrink_axis_mask": 1}),
    "strided backwards": ("StridedSlice", {"input": f, "begin": i([2]), "end": i([0]), "strides": i([-1])}, {}),
    "strided wide": ("StridedSlice", {"input": f, "begin": np.array([1], np.int64),
                                      "end": np.array([2**63 - 1], np.int64), "strides": np.array([1], np.int64)}, {}),
    "strided low": ("StridedSlice", {"input": f, "begin": np.array([-2**63], np.int64),
                                     "end": np.array([2**63 - 1], np.int64),
                                     "strides": np.array([2**62], np.int64)}, {}),
    "strided grad": ("StridedSliceGrad", {"shape": i([3, 4]), "begin": i([1, 0]), "end": i([3, 3]),
                                          "strides": i([1, 2]), "dy": f[:2, :2]}, {}),
    "strided grad index": ("StridedSliceGrad", {"shape": i([3, 4]), "begin": i([1]), "end": i([2]), "strides": i([1]),
                                                "dy": f[0]}, {"shrink_axis_mask": 1}),
    "strided grad other size": ("StridedSliceGrad", {"shape": i([3, 4]), "begin": i([1]), "end": i([3]),
                                                     "strides": i([1]), "dy": f[:1]}, {}),
    "split": ("Split", {"axis": i(1), "value": f}, {"num_split": 2}),
    "split 3": ("Split", {"axis": i(1), "value": f}, {"num_split": 3}),
    "split_v": ("SplitV", {"value": f, "size_splits": i([1, -1]), "axis": i(1)}, {"num_split": 2}),
    "concat": ("ConcatV2", {"values": [f, f[:1]], "axis": i(0)}, {}),
    "concat -1": ("ConcatV2", {"values": [g, g], "axis": i(-1)}, {}),
    "concat of sizes": ("ConcatV2", {"values": [g, g[:, :, :3]], "axis": i(0)}, {}),
    "old concat": ("Concat", {"concat_dim": i(1), "values": [f, f]}, {}),
    "concat offset": ("ConcatOffset", {"concat_dim": i(1), "shape": [i([2, 3]), i([2, 5])]}, {}),
    "pack": ("Pack", {"values": [f, f]}, {"axis": 1}),
    "pack axis 4": ("Pack", {"values": [f, f]}, {"axis": 4}),
    "pack of sizes": ("Pack", {"values": [f, f[:2]]}, {}),
    "unpack": ("Unpack", {"value": f}, {"num": 3, "axis": 0}),
    "unpack 2": ("Unpack", {"value": f}, {"num": 2, "axis": 0}),
    "unpack axis 2": ("Unpack", {"value": f}, {"num": 3, "axis": 2}),
    "tile": ("Tile", {"input": f, "multiples": i([2, 1])}, {}),
    "tile none": ("Tile", {"input": f, "multiples": i([0, 2])}, {}),
    "broadcast": ("BroadcastTo", {"input": f[:, :1], "shape": i([2, 3, 4])}, {}),
    "pad": ("Pad", {"input": f, "paddings": i([[1, 0], [0, 2]])}, {}),
    "pad_v2": ("PadV2", {"input": f, "paddings": i([[1, 0], [0, 2]]), "constant_values": np.float32(7)}, {}),
    "mirror": ("MirrorPad", {"input": f, "paddings": i([[1, 0], [0, 2]])}, {"mode": "REFLECT"}),
    "symmetric": ("MirrorPad", {"input": f, "paddings": i([[3, 0], [0, 4]])}, {"mode": "SYMMETRIC"}),
    "fill": ("Fill", {"dims": i([2, 3]), "value": np.float32(4)}, {}),
    "fill scalar": ("Fill", {"dims": i([]), "value": np.float32(4)}, {}),
    "range": ("Range", {"start": i(1), "limit": i(9), "delta": i(2)}, {}),
    "linspace": ("LinSpace", {"start": np.float32(1), "stop": np.float32(3), "num": i(5)}, {}),
    "diag": ("Diag", {"diagonal": f[0]}, {}),
    "diag_part": ("DiagPart", {"input": f[:3, :3]}, {}),
    "diag_part wide": ("DiagPart", {"input": f}, {}),
    "matrix_diag": ("MatrixDiag", {"diagonal": f}, {}),
    "matrix_diag_part": ("MatrixDiagPart", {"input": g}, {}),
    "reshape": ("Reshape", {"tensor": f, "shape": i([2, -1])}, {}),
    "reshape two unknown": ("Reshape", {"tensor": f, "shape": i([-1, -1])}, {}),
    "reshape of nothing": ("Reshape", {"tensor": f[:0], "shape": i([-1, 0])}, {}),
    "expand_dims": ("ExpandDims", {"input": f, "axis": i(1)}, {}),
    "squeeze": ("Squeeze", {"input": f[:1]}, {"axis": [0]}),
    "squeeze all": ("Squeeze", {"input": f[:1]}, {}),
    "transpose": ("Transpose", {"x": f, "perm": i([1, 0])}, {}),
    "transpose twice": ("Transpose", {"x": f, "perm": i([1, 1])}, {}),
    "invert": ("InvertPermutation", {"x": i([2, 0, 1])}, {}),
    "reverse": ("ReverseV2", {"tensor": f, "axis": i([1])}, {}),
    "roll": ("Roll", {"input": f, "shift": i([1, 2]), "axis": i([0, 1])}, {}),
    "roll once": ("Roll", {"input": f, "shift": i(1), "axis": i(1)}, {}),
    "ensure": ("EnsureShape", {"input": f}, {"shape": [3, None]}),
    "sum": ("Sum", {"input": g, "axis": i([0, 2])}, {}),
    "max": ("Max", {"input": f, "axis": i(1)}, {"keep_dims": True}),
    "mean": ("Mean", {"input": f, "axis": i([-1])}, {}),
    "argmax": ("ArgMax", {"input": f, "dimension": i(1)}, {}),
    "argmin of nothing": ("ArgMin", {"input": f[:, :0], "dimension": i(1)}, {}),
    "cumsum": ("Cumsum", {"x": f, "axis": i(1)}, {}),
    "cumprod": ("Cumprod", {"x": f, "axis": i(-1)}, {"exclusive": True}),
    "matmul": ("MatMul", {"a": f, "b": f.T.copy()}, {}),
    "matmul turned": ("MatMul", {"a": f, "b": f}, {"transpose_a": True}),
    "batch matmul": ("BatchMatMulV2", {"x": g, "y": f.T.copy()}, {}),
    "old batch matmul": ("BatchMatMul", {"x": g, "y": g.transpose(0, 2, 1).copy()}, {}),
    "partition": ("DynamicPartition", {"data": f, "partitions": i([0, 1, 0])}, {"num_partitions": 2}),
    "stitch": ("DynamicStitch", {"indices": [i([0, 2]), i([1])], "data": [f[:2], f[2:]]}, {}),
    "tensor scatter": ("TensorScatterUpdate", {"tensor": f, "indices": i([[0], [2]]), "updates": f[:2]}, {}),
    "tensor scatter add": ("TensorScatterAdd", {"tensor": f, "indices": i([[0, 1], [2, 3]]), "updates": f[0, :2]}, {}),
    "top_k": ("TopKV2", {"input": f, "k": i(2)}, {}),
    "in_top_k": ("InTopKV2", {"predictions": f, "targets": i([0, 1, 9]), "k": i(2)}, {}),
    "reverse sequence": ("ReverseSequence", {"input": f, "seq_lengths": i([0, 4, 2])}, {"seq_dim": 1, "batch_dim": 0}),
    "sparse to dense": ("SparseToDense", {"sparse_indices": i([[0, 1], [2, 2]]), "output_shape": i([3, 4]),
                                          "sparse_values": f[0, :2], "default_value": np.float32(0)}, {}),
    "band": ("MatrixBandPart", {"input": f, "num_lower": i(1), "num_upper": i(0)}, {}),
    "select": ("SelectV2", {"condition": f[:, :1] > 3, "t": f, "e": f[:1]}, {}),
    "shape": ("Shape", {"input": f}, {}),
    "bias": ("BiasAdd", {"value": f, "bias": f[0]}, {}),
    "mirror grad": ("MirrorPadGrad", {"input": f, "paddings": i([[1, 0], [0, 1]])}, {"mode": "REFLECT"}),
    "broadcast args": ("BroadcastArgs", {"s0": i([3, 1]), "s1": i([1, 4])}, {}),
    "broadcast gradient": ("BroadcastGradientArgs", {"s0": i([3, 1]), "s1": i([1, 4])}, {}),
    "bias grad": ("BiasAddGrad", {"out_backprop": f}, {}),
    "conjugate": ("ConjugateTranspose", {"x": f, "perm": i([1, 0])}, {}),
    "picked root": ("SparseSegmentSqrtN", {"data": f, "indices": i([0, 2]), "segment_ids": i([0, 1])}, {}),
    "random": ("RandomUniform", {"shape": i([2, 3])}, {"dtype": "float32", "seed": 1, "seed2": 2}),
    "normal": ("RandomStandardNormal", {"shape": i([2, 3])}, {"dtype": "float32", "seed": 1, "seed2": 2}),
    "truncated": ("TruncatedNormal", {"shape": i([2, 3])}, {"dtype": "float32", "seed": 1, "seed2": 2}),
    "random int": ("RandomUniformInt", {"shape": i([2, 3]), "minval": i(2), "maxval": i(9)}, {"seed": 1, "seed2": 2}),
    "random int of none": ("RandomUniformInt", {"shape": i([0]), "minval": i(2), "maxval": i(2)},
                           {"seed": 1, "seed2": 2}),
    "shuffle": ("RandomShuffle", {"value": f}, {"seed": 1, "seed2": 2}),
    "multinomial": ("Multinomial", {"logits": f, "num_samples": i(2)}, {"seed": 1, "seed2": 2}),
}
REFS = {
    "scatter_update": ("ScatterUpdate", {"indices": i([0, 2]), "updates": f[:2]}),
    "scatter_add": ("ScatterAdd", {"indices": i([0, 2]), "updates": f[:2]}),
    "scatter_nd_update": ("ScatterNdUpdate", {"indices": i([[0], [2]]), "updates": f[:2]}),
    "scatter_nd_add": ("ScatterNdAdd", {"indices": i([[0, 1], [2, 3]]), "updates": f[0, :2]}),
    "assign_add": ("AssignAdd", {"value": f}),
    "assign": ("Assign", {"value": f}),
    "descend": ("ApplyGradientDescent", {"alpha": np.float32(0.5), "delta": f}),
}


def relatives(array):
    """What may stand in the place of an array, with a name for each."""
    yield "deeper", array[None]
    yield "twice as deep", np.stack([array, array])
    if array.ndim:
        yield "longer", np.concatenate([array, array])
        yield "none", array[:0]
        yield "two axes of none", np.zeros((0, *array.shape), array.dtype)
        if len(array):
            yield "first", array[0]
            yield "shorter", array[:-1]
    else:
        yield "empty", np.zeros(0, array.dtype)
        yield "empty matrix", np.zeros((0, 0), array.dtype)
    if array.dtype.kind == "i":
        yield "negative", -array - 1
        yield "beyond", array + 100
        yield "lowest", np.full_like(array, np.iinfo(array.dtype).min)
        yield "0", np.zeros_like(array)


LARGE = {"range: start lowest"}          # of 4 GB in both


def calls():
    """(name, op, arguments, attrs, name of the wrong argument, variable) of each call."""
    return (call for call in _calls() if call[0] not in LARGE)


def _calls():
    for name, (op, args, attrs) in TABLE.items():
        yield name, op, args, attrs, "", None
        for arg, value in args.items():
            for what, other in _others(value):
                yield f"{name}: {arg} {what}", op, {**args, arg: other}, attrs, arg, None
    for name, (op, args) in REFS.items():
        yield name, op, args, {}, "", f
        for arg, value in args.items():
            for what, other in _others(value):
                yield f"{name}: {arg} {what}", op, {**args, arg: other}, {}, arg, f


def _others(value):
    if not isinstance(value, list):
        yield from relatives(np.asarray(value))
        return
    for what, other in relatives(value[1]):
        yield f"[1] {what}", [value[0], other]


def outcome(tf, op, args, attrs, fed, variable, runs):
    """What a call gives: ("build", class), or for each run ("run", class) or ("value", arrays).

    fed: the arguments that are placeholders of unknown shape, others are constants.
    """
    graph = tf.Graph()
    with graph.as_default():
        feeds, given = {}, {}

        def tensor(name, value):
            value = np.asarray(value)
            if name not in fed:
                return tf.constant(value)
            made = tf.placeholder(tf.as_dtype(value.dtype))
            feeds[made] = value
            return made

        try:
            for name, value in args.items():
                given[name] = [tensor(name, v) for v in value] if isinstance(value, list) else tensor(name, value)
            if variable is not None:
                state = tf.Variable(variable)
                given[{"Assign": "ref", "AssignAdd": "ref", "ApplyGradientDescent": "var"}.get(op, "ref")] = state
            made = construct(tf, op, given, attrs)
        except Exception as error:
            return [("build", type(error).__name__)]
        fetches = [t for t in (made if isinstance(made, (list, tuple)) else [made])]
        found = []
        with tf.Session(graph=graph) as sess:
            for _ in range(runs):
                if variable is not None:
                    sess.run(tf.global_variables_initializer() if not found else graph.get_operation_by_name("init"))
                try:
                    made = [np.asarray(a) for a in sess.run(fetches, feeds)]
                    found.append(("value", [a * 0 for a in made] if op in RANDOM else made))
                except Exception as error:
                    found.append(("run", type(error).__name__))
        return found


def construct(tf, op, args, attrs):
    """The op, by its official name."""
    attrs = {name: getattr(tf, v) if name == "dtype" else v for name, v in attrs.items()}
    if any(op == found for found, _ in REFS.values()):
        args = {name: getattr(v, "_ref", lambda v=v: v)() for name, v in args.items()}
    made = getattr(tf.raw_ops, op)
    if type(made).__name__ == "Constructor":                     # ours: arguments in their order, by official names
        names = [arg.name for arg in made.spec.inputs]
        given = {ALIASES.get((op, name), name): value for name, value in args.items()}
        attrs = {ALIASES.get((op, name), name): value for name, value in attrs.items()}
        return made(*(given[name] for name in names), **attrs)
    return made(**args, **attrs)


# What TensorFlow's Python calls an argument otherwise than its op does.
ALIASES = {**{(op, "axis"): "reduction_indices" for op in ("Sum", "Max", "Mean")}, ("ExpandDims", "axis"): "dim",
           ("Split", "axis"): "split_dim", ("SplitV", "axis"): "split_dim", ("Squeeze", "axis"): "squeeze_dims",
           ("Where", "condition"): "input"}
RANDOM = {"RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt", "RandomShuffle",
          "Multinomial"}                       # their numbers are others in each run: tests/ops/test_random.py


def manners():
    """(name of the call and how it is fed, the call, what is fed) of everything."""
    for call in calls():
        name, _, args, _, wrong, _ = call
        yield f"{name} (constant)", call, ()
        if wrong:
            yield f"{name} (fed)", call, (wrong,)
        yield f"{name} (all fed)", call, tuple(args)


def outcomes(tf, names, runs):
    """The outcome of each call with one of these names."""
    return {name: outcome(tf, *call[1:4], fed, call[5], runs) for name, call, fed in manners() if name in names}
