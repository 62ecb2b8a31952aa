"""Causes of rows of the sweep under 1x, by family: why TensorFlow is ahead, what the limit is, what was tried."""
from __future__ import annotations

import re
from dataclasses import dataclass

NEAR = 0.9                                 # rows from there on are within what load and turns change


@dataclass(frozen=True)
class Cause:
    """A cause of rows under 1x. ops: a regular expression of their names, "module row" (`ops.math.special Igamma
    float32 medium fetch`); stages: of how we run them; limit: what bounds us, tried: what has been done."""

    title: str
    ops: str
    limit: str
    tried: str
    stages: str = ""


CAUSES = (
    Cause("Series with as many terms as an element needs", r"Igamma|Betainc|RandomGammaGrad|Zeta|Polygamma|Digamma",
          "one element at a time, 20 to 130 ns, as TensorFlow; lanes of a vector would wait for the slowest",
          "loops over float64 within the kernels, up to the last place of the dtype, since 2026-11-23 (SciPy's "
          "functions took 100 to 600 ns); fixed polynomials serve functions of one argument"),
    Cause("Functions of float64 from the C library", r"(Atanh|Erfc|Lgamma|Tan|Acos|Fresnel\w+) ",
          "one element at a time, for the bounds of docs/accuracy.md",
          "polynomials of float32 in float64; of float64 atanh, erfc, Dawson's integral and Ei"),
    Cause("CTC decoders", r"CTC", "calls of 60 us for tiny batches, most of it copies to and from Python",
          "machine code; greedy labels in one loop"),
    Cause("Strings", r"^ops\.strings|StringToNumber|AsString|Join|Decode|Encode|Unicode|Regex|Fingerprint|Substr",
          "an object of Python for each string, 25 ns to make where one split makes all, 130 and more one by one",
          "kernels read the bytes of objects where CPython keeps them, 3 to 8 ns, for feeds, lengths, hashes, base64, "
          "joins, parts, numbers, CSV records, Examples, Unicode and regular expressions (automata, 1 to 2 ns a byte); "
          "segments are joined by slices of a sorted list"),
    Cause("Sparse tensors", r"^ops\.sparse|SetOperation",
          "calls of NumPy, a sort or several passes over the indices, 5 us each and more; only a run knows how many "
          "results there are", "machine code for edit distance, sets and sums, merges without branches; "
          "crosses by repeats and gathers, strings joined in one buffer"),
    Cause("Decompositions and solutions of small matrices",
          r"Lu |Qr|Svd|SelfAdjointEig|Cholesky|MatrixTriangularSolve|MatrixSolve|MatrixInverse|Determinant|SquareRoot",
          "LAPACK's routine by NumPy for each matrix, 3 to 12 us to call beside 0.3 us of work on 8 x 8",
          "one loop over small triangular systems; those of 128 x 128 call the routine by its address"),
    Cause("Transforms", r"FFT", "pocketfft by NumPy; TensorFlow has the same plans in C++", "nothing"),
    Cause("Boxes, glimpses, samples of candidates",
          r"BoundingBox|Glimpse|CombinedNonMax|NonMaxSuppression|CandidateSampler|Kmeans|KMC2|ScaleAndTranslate|Fractional",
          "a loop of Python or several calls of NumPy: ops of pipelines and losses that few programs run at such sizes",
          "NonMaxSuppression, fractional pools, crops, draws by weights and counts and k-MC2's chain are machine code, "
          "ScaleAndTranslate is a kernel; the time of tiny ones is the call"),
    Cause("Quantization", r"Quantize|FakeQuant",
          "ranges along an axis take 30 us by NumPy, new memory for the result a third of the time at 8 MB; "
          "FakeQuant's gradient adds 3 columns at a time, a fifth of a vector",
          "one loop of machine code over the floats in float32; what follows from a constant range is kept; FakeQuant "
          "computes its range once for each channel, and takes many rows of channels at once"),
    Cause("16-bit floats", r"b?float16",
          "ops without a kernel are NumPy's, which converts element by element, 2.5 ns each",
          "hand-written kernels and draws take float32 copies; host calls of segments, einsum and ranges convert by "
          "hardware since 2026-11-24; gathers, paddings and shuffles move bits"),
    Cause("Integer products", r"(MatMul\w*|Conv2D|Einsum) int32", "loops of LLVM; TensorFlow has Eigen's tiles",
          "nothing: no model multiplies integers"),
    Cause("Reads that TensorFlow need not make", r"AssignVariableOp|Ref(Identity|Switch)|Identity |StridedSliceAssign",
          "a variable that is assigned another's value shares its memory there until one of them is written; here it "
          "is copied", "nothing: an address would change under programs that are built"),
    Cause("Reductions and rows of few elements", r"columns\]|rows of 10\]|8\]|Max|Norm|L2Loss|Mean|Sum",
          "rows of 8 or 10 elements fill half a vector, or the loop over them costs as much as its body",
          "sums along the columns, 16 rows at once, added by pairs; segments of one column in four chains; segments, "
          "partitions and stitches by machine code; loops with masks for the rest of a row, by which LogSoftmax's "
          "gradient gains half and Softmax loses a tenth; elementwise ops, but no ops along rows, take as many "
          "rows at once as make 512 elements"),
    Cause("Values decide the shape: a call of NumPy", r".",
          "the call takes 20 to 40 us beside its work: validation, arrays for the arguments",
          "host stages look up nothing in a run; machine code where there are many elements", "host"),
    Cause("Kernels bound by memory or by a division for each element", r".",
          "both systems wait for the same memory, or the loop's addresses take a division",
          "tiles, stores past the caches; see docs/performance.md"),
)


def cause(module: str, name: str, stages: str) -> Cause:
    """Return the first cause that fits a row; the last fits all."""
    full = f"{module.removeprefix('tfnb.')} {name}"
    return next(c for c in CAUSES if re.search(c.ops, full) and re.search(c.stages, stages))
