"""Models and data sets that come with the package."""

from __future__ import annotations

from pathlib import Path


def shipped(name: str = "") -> Path:
    """The path of a model or data set that comes with the package, as a checkout names it; without a name the folder of all.

    `models/infill` (kernels), `models/cost` (what a kernel costs), `datasets/device-mapping-h200/task` (processor or GPU) and
    `datasets/device-mapping-h200/kernels`, `datasets/local-size-h100/runs` (sizes of work-groups), `datasets/archive-instcount`
    and `datasets/archive-autophase` (kernels at known points, for `steer`), `packages.toml` and `functions.toml` (lists for
    `mine`).

    Raises:
        FileNotFoundError: there is none of that name.
    """
    here = Path(__file__).resolve().parent
    # In a checkout they stand where they are made.
    root = next((root for root in (here / "share", here.parents[2]) if (root / "models").is_dir()), None)
    if root is None:
        raise FileNotFoundError(f"no models and data sets beside {here}: install the wheel that `make wheel` builds")
    if not (root / name).exists():
        known = sorted(str(path.parent.relative_to(root)) for path in (*root.glob("models/*/README.md"), *root.glob("datasets/**/_dataset.json")))
        raise FileNotFoundError(f"no `{name}` comes with this package; there are {', '.join(known)}")
    return root / name
