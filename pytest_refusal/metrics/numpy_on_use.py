"""numpy, loaded when something is first asked of it.

A short summary needs none of it, and its 17 MB would be most of what a run of ours takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
else:

    class _OnFirstUse:
        """Stands for the module until one of its names is needed."""

        def __getattr__(self, name: str) -> object:
            import numpy

            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _OnFirstUse()
    Floats = "npt.NDArray[np.float64]"

__all__ = ["Floats", "np"]
