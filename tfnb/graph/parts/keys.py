"""`GraphKeys`: the names of the collections that the library itself uses."""
from __future__ import annotations


class GraphKeys:
    """Names of graph collections. Any other name serves for a collection of one's own.

    >>> v = tf.Variable(1.0)
    >>> tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES) == [v]
    True
    """

    GLOBAL_VARIABLES = "variables"              # what Saver saves
    LOCAL_VARIABLES = "local_variables"         # of one process: counters
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"         # needed for inference
    TRAINABLE_VARIABLES = "trainable_variables"     # what optimizers train
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    CONCATENATED_VARIABLES = "concatenated_variables"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    VARIABLES = "variables"                     # the name of GLOBAL_VARIABLES before r0.12
    SAVERS = "savers"
    SAVEABLE_OBJECTS = "saveable_objects"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    LOSSES = "losses"
    REGULARIZATION_LOSSES = "regularization_losses"
    UPDATE_OPS = "update_ops"
    TRAIN_OP = "train_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    SUMMARIES = "summaries"
    SUMMARY_OP = "summary_op"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    _SUMMARY_COLLECTION = "_SUMMARY_V2"
    _VARIABLE_COLLECTIONS = (GLOBAL_VARIABLES, LOCAL_VARIABLES, METRIC_VARIABLES, MODEL_VARIABLES, TRAINABLE_VARIABLES,
                             MOVING_AVERAGE_VARIABLES, CONCATENATED_VARIABLES, TRAINABLE_RESOURCE_VARIABLES)
