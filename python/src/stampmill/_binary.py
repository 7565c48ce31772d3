"""Where the `stampmill` binary is."""

from __future__ import annotations

import os
from pathlib import Path


def binary() -> Path:
    """The binary in this package, or the one that the environment variable `STAMPMILL` names.

    Raises:
        FileNotFoundError: there is none: the package is no wheel.
    """
    named = os.environ.get("STAMPMILL")
    file = Path(named) if named else Path(__file__).parent / "bin" / "stampmill"
    if not file.is_file():
        raise FileNotFoundError(
            f"no binary at {file}: install the wheel that `make wheel` builds, or name a binary in the variable STAMPMILL"
        )
    return file
