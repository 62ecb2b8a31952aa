"""tfnb itself, so that `import tensorflow.compat.v1 as tf` needs one other word."""
import sys

import tfnb

sys.modules[__name__] = tfnb
