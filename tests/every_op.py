"""All ops, imported: tests by kind go over `OPS`, which has those too that `import tfnb` leaves to their first use."""
from __future__ import annotations

import tfnb  # noqa: F401   (the order in which it imports families is the one that users see)
from tfnb.opdef import registry

for _name in registry.names():
    registry.find(_name)
# Those of Horovod, which its module registers, are not TensorFlow's, and need MPI: tests/horovod/ has them.
OPS = {name: spec for name, spec in registry.OPS.items() if not name.startswith("Horovod")}
