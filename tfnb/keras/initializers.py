"""`tf.keras.initializers`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.keras.functions.initializers import (
    Constant,
    Identity,
    Ones,
    Orthogonal,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    VarianceScaling,
    Zeros,
    deserialize,
    get,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
    serialize,
)
from tfnb.keras.functions.initializers import (
    Constant as constant,
)
from tfnb.keras.functions.initializers import (
    GlorotNormal as glorot_normal,
)
from tfnb.keras.functions.initializers import (
    GlorotUniform as glorot_uniform,
)
from tfnb.keras.functions.initializers import (
    Identity as identity,
)
from tfnb.keras.functions.initializers import (
    Ones as ones,
)
from tfnb.keras.functions.initializers import (
    Orthogonal as orthogonal,
)
from tfnb.keras.functions.initializers import (
    RandomNormal as normal,
)
from tfnb.keras.functions.initializers import (
    RandomNormal as random_normal,
)
from tfnb.keras.functions.initializers import (
    RandomUniform as random_uniform,
)
from tfnb.keras.functions.initializers import (
    RandomUniform as uniform,
)
from tfnb.keras.functions.initializers import (
    TruncatedNormal as truncated_normal,
)
from tfnb.keras.functions.initializers import (
    Zeros as zeros,
)
from tfnb.variables.initializers import Initializer

_explain(__name__)
