"""Circulant and Toeplitz operators, by Fourier transforms."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.control_flow.assertions import assert_less, assert_positive
from tfnb.core.arguments import LINEAR_OPERATORS, describe
from tfnb.core.dtypes import as_dtype, complex64, complex128, int32
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.linalg.matrices import adjoint as adjoint_of
from tfnb.linalg.operators.batches import broadcast_shapes, floating, joined, matrices, sizes, split_batch
from tfnb.linalg.operators.operator import LinearOperator
from tfnb.linalg.operators.shaped import implied
from tfnb.ops.array.create import range_
from tfnb.ops.array.gather import gather
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, matrix_transpose, reverse, shape
from tfnb.ops.control.group import no_op
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.math.complex import conj
from tfnb.ops.math.functions import log
from tfnb.ops.reductions.reduce import reduce_mean, reduce_prod, reduce_sum

_FORWARD = {1: "FFT", 2: "FFT2D", 3: "FFT3D"}


def _transformed(x: Tensor, depth: int, back: bool = False) -> Tensor:
    made: Tensor = getattr(raw, "I" * back + _FORWARD[depth])(x)
    return made


def _complex(x: Tensor) -> Tensor:
    """Return x as complex numbers of its precision."""
    return x if x.dtype.is_complex else cast(x, complex128 if x.dtype.size == 8 else complex64)


class _Circulant(LinearOperator):
    """Matrices that the Fourier transform over `depth` axes makes diagonal."""

    _depth = 1

    def __init__(self, spectrum: Any, input_output_dtype: Any = complex64, is_non_singular: bool | None = None,
                 is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
                 is_square: bool | None = True, name: str = "") -> None:
        with name_scope(name, None, [spectrum]):
            self._spectrum = floating(matrices(spectrum, "spectrum", self._depth), "spectrum")
        is_square = implied(is_square, True, "A [[nested] block] circulant operator is always square.")
        is_self_adjoint = implied(is_self_adjoint, not self._spectrum.dtype.is_complex,
                                  "A real spectrum always corresponds to a self-adjoint operator.")
        super().__init__(as_dtype(input_output_dtype), [self._spectrum], is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)

    @property
    def spectrum(self) -> Tensor:
        """The eigenvalues, [..., N], [..., N0, N1] or [..., N0, N1, N2]."""
        return self._spectrum

    @property
    def block_depth(self) -> int:
        """The number of axes of the transform: 1 for circulant matrices, 2 for blocks of them..."""
        return self._depth

    @property
    def block_shape(self) -> TensorShape:
        """The static shape of the axes of the transform."""
        return self._spectrum.shape[-self._depth:]

    def block_shape_tensor(self) -> Tensor:
        """Return the shape of the axes of the transform as an int32 vector."""
        return convert_to_tensor(self._blocks(), dtype=int32, name="block_shape")

    def _blocks(self) -> Any:
        return sizes(self.block_shape, lambda: shape(self._spectrum)[-self._depth:])

    def _shape(self) -> TensorShape:
        found = self._spectrum.shape
        if found.ndims is None:
            return found
        side = found[-self._depth:].num_elements()
        return found[:-self._depth].concatenate([side, side])

    def _shape_tensor(self) -> Any:
        found: Any = shape(self._spectrum)
        side = [reduce_prod(found[-self._depth:])]
        return joined(found[:-self._depth], side, side)

    def _eigenvalues(self) -> Tensor:
        """Return the spectrum as complex numbers of the precision of the operator."""
        double = self.dtype.real_dtype.size == 8
        return cast(self._spectrum, complex128 if double else complex64)

    def _filtered(self, x: Tensor, factors: Tensor) -> Tensor:
        """Return x, [..., N, k], whose columns are multiplied by factors in the frequency domain."""
        x = matrix_transpose(cast(x, factors.dtype))
        blocks = split_batch(x, sizes(x.shape[:-1], lambda: shape(x)[:-1]), *self._block_list())
        found = raw.Mul(_transformed(blocks, self._depth), expand_dims(factors, -1 - self._depth))
        found = _transformed(found, self._depth, back=True)
        lead = sizes(found.shape[:-self._depth], lambda: shape(found)[:-self._depth])
        return cast(matrix_transpose(split_batch(found, lead, self._side(-1))), self.dtype)

    def _block_list(self) -> list[Any]:
        blocks = self._blocks()
        return blocks if isinstance(blocks, list) else [blocks[i] for i in range(self._depth)]

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        factors = self._eigenvalues()
        return self._filtered(adjoint_of(x) if adjoint_arg else x, conj(factors) if adjoint else factors)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        factors: Any = self._eigenvalues()
        return self._filtered(adjoint_of(rhs) if adjoint_arg else rhs, 1 / (conj(factors) if adjoint else factors))

    def _axes(self) -> list[int]:
        return list(range(-self._depth, 0))

    def _determinant(self) -> Tensor:
        return cast(reduce_prod(self._spectrum, self._axes()), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return cast(reduce_sum(log(self._absolute()), self._axes()), self.dtype)

    def _absolute(self) -> Tensor:
        made: Tensor = raw.ComplexAbs(self._spectrum) if self._spectrum.dtype.is_complex else raw.Abs(self._spectrum)
        return made

    def _trace(self) -> Tensor:
        return cast(reduce_sum(self._spectrum, self._axes()), self.dtype)

    def _diag_part(self) -> Tensor:
        mean = cast(reduce_mean(self._spectrum, self._axes()), self.dtype)
        made: Tensor = raw.BroadcastTo(expand_dims(mean, -1), joined(self._lead(), [self._side(-1)]))
        return made

    def _eigvals(self) -> Tensor:
        return cast(split_batch(self._spectrum, self._lead(), self._side(-1)), self.dtype)

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """Return the inverse transform of the spectrum: the first column of the matrices, in blocks."""
        with self._scope(name):
            return cast(_transformed(_complex(self._spectrum), self._depth, back=True), self.dtype)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Operation:
        """Return an op that raises InvalidArgumentError unless the matrices are real, up to rounding."""
        with self._scope(name):
            found: Any = _transformed(_complex(self._spectrum), self._depth, back=True)
            size, rest = raw.ComplexAbs(found), raw.Abs(raw.Imag(found))
            least = 10 * float(np.finfo(size.dtype.as_numpy_dtype).eps)
            return assert_less(rest, least * (1 + raw.Max(size, self._axes(), keep_dims=True)),
                               message="Spectrum was not Hermitian")

    def _assert_non_singular(self) -> Operation:
        size = self._absolute()
        return assert_less(convert_to_tensor(float(np.finfo(size.dtype.as_numpy_dtype).eps), dtype=size.dtype), size,
                           message="Singular operator: Spectrum contained zero values.")

    def _assert_positive_definite(self) -> Operation:
        real = raw.Real(self._spectrum) if self._spectrum.dtype.is_complex else self._spectrum
        return assert_positive(real, message="Not positive definite: Real part of spectrum was not all positive.")

    def _assert_self_adjoint(self) -> Operation:
        if not self._spectrum.dtype.is_complex:
            return no_op()
        size = raw.Abs(raw.Imag(self._spectrum))
        most = float(np.finfo(size.dtype.as_numpy_dtype).eps) * self._absolute()
        return assert_less(size, most, message="Not self-adjoint: The spectrum contained non-zero imaginary part.")


@public("linalg.LinearOperatorCirculant", "contrib.linalg.LinearOperatorCirculant")
class LinearOperatorCirculant(_Circulant):
    """Circulant matrices: each column is the one before it, moved down by one, around the end.

    spectrum: the Fourier transform of the first column, [..., N]. input_output_dtype: of the arguments and results; the
    imaginary part is dropped for a real one. Raises ValueError for a scalar, and for hints that don't fit.

    >>> spectrum = tf.signal.fft([1.0, 2.0, 0.0])
    >>> sess.run(tf.linalg.LinearOperatorCirculant(spectrum, tf.float32).to_dense()).round(3) + 0
    array([[1., 0., 2.],
           [2., 1., 0.],
           [0., 2., 1.]], dtype=float32)
    """

    def __init__(self, spectrum: Any, input_output_dtype: Any = complex64, is_non_singular: bool | None = None,
                 is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
                 is_square: bool | None = True, name: str = "LinearOperatorCirculant") -> None:
        super().__init__(spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)


@public("linalg.LinearOperatorCirculant2D", "contrib.linalg.LinearOperatorCirculant2D")
class LinearOperatorCirculant2D(_Circulant):
    """Block circulant matrices with circulant blocks: convolutions of images with periodic edges.

    spectrum: the Fourier transform of the kernel, [..., N0, N1]. input_output_dtype: of the arguments, [..., N0 N1, k],
    and results; the imaginary part is dropped for a real one. Raises ValueError for fewer axes and hints that don't
    fit.

    >>> tf.linalg.LinearOperatorCirculant2D(tf.ones([2, 3])).shape.as_list()
    [6, 6]
    """

    _depth = 2

    def __init__(self, spectrum: Any, input_output_dtype: Any = complex64, is_non_singular: bool | None = None,
                 is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
                 is_square: bool | None = True, name: str = "LinearOperatorCirculant2D") -> None:
        super().__init__(spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)


@public("linalg.LinearOperatorCirculant3D", "contrib.linalg.LinearOperatorCirculant3D")
class LinearOperatorCirculant3D(_Circulant):
    """Block circulant matrices whose blocks are block circulant: convolutions of volumes with periodic edges.

    spectrum: the Fourier transform of the kernel, [..., N0, N1, N2]. input_output_dtype: of the arguments, [...,
    N0 N1 N2, k], and results; the imaginary part is dropped for a real one. Raises ValueError for fewer axes and hints
    that don't fit.

    >>> tf.linalg.LinearOperatorCirculant3D(tf.ones([2, 3, 2])).shape.as_list()
    [12, 12]
    """

    _depth = 3

    def __init__(self, spectrum: Any, input_output_dtype: Any = complex64, is_non_singular: bool | None = None,
                 is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
                 is_square: bool | None = True, name: str = "LinearOperatorCirculant3D") -> None:
        super().__init__(spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)


@public("linalg.LinearOperatorToeplitz", "contrib.linalg.LinearOperatorToeplitz")
class LinearOperatorToeplitz(LinearOperator):
    """Toeplitz matrices, whose diagonals are constant. col: the first columns, [..., n]. row: the first rows, [..., n].

    The first element of `row` is not read. Products take O(n log n), by a circulant matrix of 2 n - 1 rows. Raises
    ValueError for sizes that don't fit.

    >>> sess.run(tf.linalg.LinearOperatorToeplitz([1.0, 2.0, 3.0], [1.0, 4.0, 5.0]).to_dense())
    array([[1., 4., 5.],
           [2., 1., 4.],
           [3., 2., 1.]], dtype=float32)
    """

    def __init__(self, col: Any, row: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None,
                 name: str = "LinearOperatorToeplitz") -> None:
        with name_scope(name, None, [row, col]):
            self._row = floating(matrices(row, "row", 1), "row")
            self._column = floating(matrices(col, "col", 1), "col")
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        if None not in (self._row.shape.ndims, self._column.shape.ndims) and \
                not self._row.shape[-1].is_compatible_with(self._column.shape[-1]):
            raise ValueError("Expected square matrix, got row and col with mismatched dimensions "
                             f"{self._row.shape} and {self._column.shape}")
        super().__init__(self._row.dtype, [self._row, self._column], is_non_singular, is_self_adjoint,
                         is_positive_definite, True, name)

    @property
    def col(self) -> Tensor:
        """The first columns, [..., n]."""
        return self._column

    @property
    def row(self) -> Tensor:
        """The first rows, [..., n]."""
        return self._row

    def _shape(self) -> TensorShape:
        found = broadcast_shapes(self._row.shape, self._column.shape)
        return found if found.ndims is None else found.concatenate(found[-1:])

    def _shape_tensor(self) -> Any:
        found: Any = raw.BroadcastArgs(shape(self._row), shape(self._column))
        return joined(found, found[-1:])

    def _around(self, adjoint: bool) -> Tensor:
        """Return the first column of the circulant matrix whose corner the matrix is, [..., 2 n - 1]."""
        col: Any = self._column
        row: Any = raw.ConcatV2([col[..., :1] + raw.ZerosLike(self._row[..., :1]),
                                 self._row[..., 1:] + raw.ZerosLike(col[..., 1:])], -1)
        col = col + raw.ZerosLike(row)
        first, second = (conj(row), conj(col)) if adjoint else (col, row)
        return concat([first, reverse(second[..., 1:], [-1])], -1)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = matrix_transpose(adjoint_of(x) if adjoint_arg else x)
        n = self._side(-1)
        lead = sizes(x.shape[:-1], lambda: shape(x)[:-1])
        wide: Any = concat([x, raw.Fill(joined(lead, [n - 1]), convert_to_tensor(0, dtype=x.dtype))], -1)
        found = raw.Mul(raw.FFT(_complex(wide)), expand_dims(raw.FFT(_complex(self._around(adjoint))), -2))
        made: Any = matrix_transpose(raw.IFFT(found))
        return cast(made[..., :n, :], self.dtype)

    def _trace(self) -> Tensor:
        return reduce_sum(self._diag_part(), -1)

    def _diag_part(self) -> Tensor:
        first: Any = self._column[..., :1]
        made: Tensor = raw.BroadcastTo(first, joined(self._lead(), [self._side(-1)]))
        return made

    def _to_dense(self) -> Tensor:
        n = self._side(-1)
        places: Any = range_(n)
        return gather(self._around(False), raw.FloorMod(places[:, None] - places[None, :], 2 * n - 1), axis=-1)


describe(globals(), LINEAR_OPERATORS)
