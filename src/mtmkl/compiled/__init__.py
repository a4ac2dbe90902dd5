"""The one way to compile, and the sums and products that compiled code uses.

Compiled code rounds as it is written: no compiler may reorder or fuse a sum, so that
its digits hang neither on the processor, nor on what was inlined where. A sum that is
hot is written as one of :mod:`mtmkl.compiled.lanes`.
"""

from mtmkl.compiled.cache import compiled, routine
from mtmkl.compiled.lanes import add_scaled, dot, dot_at, total

__all__ = ["add_scaled", "compiled", "dot", "dot_at", "routine", "total"]
