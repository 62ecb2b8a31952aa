"""Linear operators: batches of matrices that compute by their structure, `tf.linalg.LinearOperator*`."""
# Products and inverses of operators are rules in `algebra`, which knows all classes: each of them needs it.
from tfnb.linalg.operators import algebra  # noqa: F401
