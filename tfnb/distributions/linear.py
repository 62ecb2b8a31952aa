"""Scale matrices of multivariate distributions and affine transforms: diagonal, or lower triangular."""
from __future__ import annotations

from typing import Any

from tfnb.graph.parts.operation import Tensor
from tfnb.ops.array.diagonals import matrix_diag, matrix_diag_part
from tfnb.ops.array.reshape import expand_dims, squeeze
from tfnb.ops.declaration.raw import raw
from tfnb.ops.reductions.matmul import matmul


class Scale:
    """Square matrices, (..., k, k): diagonal ones by their diagonal (..., k), or lower triangular ones."""

    def __init__(self, diag: Tensor | None = None, tril: Tensor | None = None) -> None:
        if diag is not None and tril is not None:
            tril, diag = tril + matrix_diag(diag), None
        self.diag = matrix_diag_part(tril) if tril is not None else diag
        self.tril = tril

    def multiply(self, x: Tensor) -> Tensor:
        """Return the products with vectors (..., k)."""
        return self.diag * x if self.tril is None else squeeze(matmul(self.tril, expand_dims(x, -1)), -1)

    def solve(self, x: Tensor) -> Tensor:
        """Return the solutions of the systems with the right sides x (..., k)."""
        if self.tril is None:
            return x / self.diag
        right = expand_dims(x, -1) + raw.ZerosLike(self.tril[..., :1])
        return squeeze(raw.MatrixTriangularSolve(self.tril + raw.ZerosLike(right), right, lower=True), -1)

    def log_abs_det(self) -> Any:
        """Return the logarithms of the absolute determinants."""
        return raw.Sum(raw.Log(raw.Abs(self.diag)), [-1])

    def to_dense(self) -> Tensor:
        """Return the matrices."""
        return matrix_diag(self.diag) if self.tril is None else self.tril

    def covariance(self) -> Tensor:
        """Return the products of the matrices and their transposes."""
        return matrix_diag(raw.Square(self.diag)) if self.tril is None else matmul(self.tril, self.tril,
                                                                                 transpose_b=True)

    def variance(self) -> Any:
        """Return the diagonals of these products."""
        return raw.Square(self.diag) if self.tril is None else raw.Sum(raw.Square(self.tril), [-1])
