"""Horovod's API over MPI: data-parallel training in which tfnb computes in every rank.

`import tfnb.horovod.tensorflow as hvd`; after `tfnb.install_as_tensorflow()` also `import horovod.tensorflow as hvd`.
"""
