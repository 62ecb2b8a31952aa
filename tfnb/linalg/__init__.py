"""Linear algebra: `tf.linalg`."""
# ruff: noqa: F401, I001
from tfnb.ops.array.reshape import matrix_transpose
from tfnb.ops.array.reshape import matrix_transpose as transpose
from tfnb.ops.reductions.clip import global_norm
from tfnb.ops.array.create import diag as tensor_diag
from tfnb.ops.array.create import diag_part as tensor_diag_part
from tfnb.ops.array.create import eye
from tfnb.ops.array.diagonals import matrix_diag as diag
from tfnb.ops.array.diagonals import matrix_diag_part as diag_part
from tfnb.ops.array.diagonals import matrix_set_diag as set_diag
from tfnb.linalg.decompositions import qr, svd
from tfnb.linalg.decompositions import self_adjoint_eig as eigh
from tfnb.linalg.decompositions import self_adjoint_eigvals as eigvalsh
from tfnb.ops.reductions.einsum import einsum
from tfnb.linalg.matrices import adjoint, cholesky, cholesky_solve, cross, logdet, slogdet
from tfnb.linalg.matrices import matrix_band_part as band_part
from tfnb.linalg.matrices import matrix_determinant as det
from tfnb.linalg.matrices import matrix_inverse as inv
from tfnb.linalg.matrices import matrix_solve as solve
from tfnb.linalg.matrices import matrix_solve_ls as lstsq
from tfnb.linalg.matrices import matrix_triangular_solve as triangular_solve
from tfnb.ops.declaration.public import exports as _exports
from tfnb.ops.reductions.matmul import matmul, matvec, tensordot
from tfnb.ops.reductions.reduce import l2_normalize, norm, trace

__getattr__ = _exports(__name__)
