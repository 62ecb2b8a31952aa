"""Linear algebra: `tf.linalg`."""
# ruff: noqa: F401, I001
from tfnb.ops.array import matrix_transpose
from tfnb.ops.array import matrix_transpose as transpose
from tfnb.ops.clip import global_norm
from tfnb.ops.create import diag as tensor_diag
from tfnb.ops.create import diag_part as tensor_diag_part
from tfnb.ops.create import eye
from tfnb.ops.diagonals import matrix_diag as diag
from tfnb.ops.diagonals import matrix_diag_part as diag_part
from tfnb.ops.diagonals import matrix_set_diag as set_diag
from tfnb.ops.decompositions import qr, svd
from tfnb.ops.decompositions import self_adjoint_eig as eigh
from tfnb.ops.decompositions import self_adjoint_eigvals as eigvalsh
from tfnb.ops.einsum import einsum
from tfnb.ops.linalg import adjoint, cholesky, cholesky_solve, cross, logdet, slogdet
from tfnb.ops.linalg import matrix_band_part as band_part
from tfnb.ops.linalg import matrix_determinant as det
from tfnb.ops.linalg import matrix_inverse as inv
from tfnb.ops.linalg import matrix_solve as solve
from tfnb.ops.linalg import matrix_solve_ls as lstsq
from tfnb.ops.linalg import matrix_triangular_solve as triangular_solve
from tfnb.ops.matmul import matmul, matvec, tensordot
from tfnb.ops.reduce import l2_normalize, norm, trace
