"""`python -m stampmill`: becomes the binary."""

from __future__ import annotations

import os
import sys

from ._binary import binary


def main() -> None:
    """Replace this process by the command."""
    try:
        file = binary()
    except FileNotFoundError as error:
        sys.exit(f"stampmill: {error}")
    os.execv(file, [str(file), *sys.argv[1:]])


if __name__ == "__main__":
    main()
