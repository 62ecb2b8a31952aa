"""`horovod.keras`: Horovod for models of Keras, over MPI (mpi4py: `pip install 'tfnb[mpi]'`)."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.horovod import callbacks
from tfnb.horovod.builds import (
    ccl_built, cuda_built, ddl_built, gloo_built, gloo_enabled, mpi_built, mpi_enabled, nccl_built, rocm_built,
)
from tfnb.horovod.collectives import Adasum, Average, Compression, Sum
from tfnb.horovod.keras_optimizer import DistributedOptimizer, allgather, allreduce, broadcast, load_model
from tfnb.horovod.optimizer import broadcast_global_variables
from tfnb.horovod.world import (
    cross_rank, cross_size, init, is_homogeneous, is_initialized, local_rank, local_size, mpi_threads_supported, rank,
    shutdown, size,
)

_explain(__name__)
