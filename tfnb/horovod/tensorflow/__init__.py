"""`horovod.tensorflow`: Horovod's API for graphs and sessions, over MPI (mpi4py: `pip install 'tfnb[mpi]'`)."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.horovod.collectives import (
    Adasum, Average, Compression, Max, Min, Product, Sum, allgather, allgather_object, allreduce, alltoall, broadcast,
    broadcast_object, grouped_allreduce, join, local_rank_op, local_size_op, rank_op, size_op,
)
from tfnb.horovod.optimizer import (
    BroadcastGlobalVariablesHook, DistributedOptimizer, broadcast_global_variables, broadcast_variables,
)
from tfnb.horovod.world import (
    cross_rank, cross_size, init, is_homogeneous, is_initialized, local_rank, local_size, mpi_threads_supported, rank,
    shutdown, size,
)
from tfnb.horovod.builds import (
    ccl_built, cuda_built, ddl_built, gloo_built, gloo_enabled, mpi_built, mpi_enabled, nccl_built, rocm_built,
)

keras = _lazy_module("tfnb.horovod.tensorflow.keras")

_explain(__name__)
