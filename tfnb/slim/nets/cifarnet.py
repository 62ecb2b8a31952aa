"""`tf.contrib.slim.nets.cifarnet`."""
from tfnb.slim.nets.lenet import cifarnet, cifarnet_arg_scope

__all__ = ["cifarnet", "cifarnet_arg_scope"]
