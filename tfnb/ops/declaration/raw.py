"""`raw.Sum(x, axes)`: the constructor of any op by its official name, looked up when it is called.

Gradients use it for ops of families that come after their own, so that the families import each other one way only.
Programs know it as `tf.raw_ops`.
"""
from __future__ import annotations

from tfnb.opdef import registry
from tfnb.opdef.refused import hint
from tfnb.ops.declaration.construct import Constructor


class _Raw:
    """Attributes are constructors, made at first use. Raises AttributeError for the name of no op."""

    def __getattr__(self, name: str) -> Constructor:
        spec = registry.find(name)
        if spec is None:
            raise AttributeError(f"expected the name of an op, got {name!r}.{hint(name)}", name=name)
        made = Constructor(spec)
        if name not in registry.CUSTOM:            # those may be declared again
            setattr(self, name, made)
        return made

    def __dir__(self) -> list[str]:
        return sorted(registry.names())


raw = _Raw()
