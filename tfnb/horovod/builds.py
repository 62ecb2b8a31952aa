"""Transports of this Horovod: MPI, and no other."""
from __future__ import annotations


def mpi_built() -> bool:
    """Return True: collectives run on MPI.

    >>> hvd.mpi_built()
    True
    """
    return True


def mpi_enabled() -> bool:
    """Return True: collectives run on MPI.

    >>> hvd.mpi_enabled()
    True
    """
    return True


def gloo_built() -> bool:
    """Return False: there is MPI alone, as for the functions that follow.

    >>> hvd.gloo_built()
    False
    """
    return False


def gloo_enabled() -> bool:
    """Return False.

    >>> hvd.gloo_enabled()
    False
    """
    return False


def nccl_built() -> bool:
    """Return False: tensors of GPUs are sent from the memory of the host.

    >>> hvd.nccl_built()
    False
    """
    return False


def ddl_built() -> bool:
    """Return False.

    >>> hvd.ddl_built()
    False
    """
    return False


def ccl_built() -> bool:
    """Return False.

    >>> hvd.ccl_built()
    False
    """
    return False


def cuda_built() -> bool:
    """Return False: tensors of GPUs are sent from the memory of the host.

    >>> hvd.cuda_built()
    False
    """
    return False


def rocm_built() -> bool:
    """Return False.

    >>> hvd.rocm_built()
    False
    """
    return False
