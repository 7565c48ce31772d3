"""Programs and data for learned compilers: the stages of the `stampmill` command as functions.

    import stampmill

    vectors = stampmill.features(["kernel void a(global int* x) { x[0] = 1; }"], space="grewe").to_pandas()

A stage takes a path, a `Dataset`, or programs in memory (a list of texts, a table with a column `text`), and gives a
`Dataset`. It runs the command as a process of its own: other threads run meanwhile, and Ctrl-C stops it where nothing
is lost. What the command cannot do is an `Error`; what is wrong with a program is a row with a verdict.
"""

from __future__ import annotations

from . import _run, edits, heuristic, ir, rewards
from ._dataset import Dataset, Report
from ._error import Error
from ._shipped import shipped
from ._stage import command
from ._stages import (
    devices,
    doctor,
    evaluate,
    export,
    features,
    fetch,
    fsck,
    import_,
    label,
    learn,
    merge,
    mine,
    opt,
    prepare,
    project,
    query,
    report,
    run,
    sample,
    steer,
    time,
    train,
)
from ._version import __version__

__all__ = [
    "Dataset",
    "Error",
    "Report",
    "__version__",
    "command",
    "devices",
    "doctor",
    "edits",
    "evaluate",
    "export",
    "features",
    "fetch",
    "fsck",
    "heuristic",
    "import_",
    "ir",
    "label",
    "learn",
    "merge",
    "mine",
    "opt",
    "prepare",
    "project",
    "query",
    "report",
    "rewards",
    "run",
    "sample",
    "shipped",
    "show_progress",
    "steer",
    "time",
    "train",
]


def show_progress(shown: bool | None) -> None:
    """Show the progress of commands always, never, or (`None`, the default) on terminals and in notebooks."""
    _run.progress = shown
