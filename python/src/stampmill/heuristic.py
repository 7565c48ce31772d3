"""Heuristics that learn from tasks: `stampmill heuristic`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ._dataset import Dataset, Report
from ._stage import Common, made, options, paths, reported, stage
from ._stages import Names
from ._texts import Inputs, PathLike, path

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["arms", "crossval", "diagnose", "explain", "import_", "next_", "predict", "reproduce", "train"]


class Columns(Common, total=False):
    """Which columns of a table are what."""

    program: str
    variant: str
    group: str
    features: Names
    costs: Names
    keep_garbage: bool


@stage("heuristic import")
def import_(table: PathLike, *, out: PathLike | None = None, force: bool = False, **columns: Unpack[Columns]) -> Dataset:
    """Import a CSV table as a task; rows that cannot be used get a verdict."""
    given = {"out": out, "force": force, **columns}
    with Inputs() as inputs:
        return made("heuristic import", [path(table)], given, inputs)


@stage("heuristic train")
def train(
    task: PathLike,
    *,
    out: PathLike,
    force: bool = False,
    model: str | None = None,
    seed: int | None = None,
    **columns: Unpack[Columns],
) -> Report:
    """Fit a model to a whole task and write it to the file `out`."""
    return reported("heuristic train", [path(task)], {"out": out, "force": force, "model": model, "seed": seed, **columns})


@stage("heuristic predict")
def predict(
    model: PathLike,
    task: PathLike,
    *,
    global_sizes: Names | None = None,
    local_sizes: Names | None = None,
    **columns: Unpack[Columns],
) -> Report:
    """Predict the best choice, or the cost, for every row of a task; of kernels that nobody ran at these sizes."""
    sizes = {"global_sizes": global_sizes, "local_sizes": local_sizes}
    return reported("heuristic predict", [path(model), path(task)], {**sizes, **columns})


@stage("heuristic crossval")
def crossval(
    task: PathLike,
    *,
    model: Names | None = None,
    folds: int | None = None,
    seed: int | None = None,
    extra: PathLike | None = None,
    **columns: Unpack[Columns],
) -> Report:
    """Cross-validate models on held-out groups: `accuracy`, `geomean_speedup` and its interval."""
    return reported("heuristic crossval", [path(task)], {"model": model, "folds": folds, "seed": seed, "extra": extra, **columns})


@stage("heuristic explain")
def explain(
    task: PathLike,
    *,
    extra: PathLike | None = None,
    model: str | None = None,
    depth: int | None = None,
    out: PathLike | None = None,
    seed: int | None = None,
    **columns: Unpack[Columns],
) -> Report:
    """The tree, decisions that `extra` changes, rows with equal features and different labels."""
    given = {"extra": extra, "model": model, "depth": depth, "out": out, "seed": seed}
    return reported("heuristic explain", [path(task)], {**given, **columns})


@stage("heuristic diagnose")
def diagnose(
    task: PathLike,
    *,
    space: Names | None = None,
    made: PathLike | Sequence[PathLike] | None = None,
    tries: Names | Sequence[int] | None = None,
    splits: int | None = None,
    draws: int | None = None,
    regions: int | None = None,
    targets: PathLike | None = None,
    vectors: PathLike | None = None,
    target_space: str | None = None,
    seed: int | None = None,
    out: PathLike | None = None,
    force: bool = False,
    **common: Unpack[Common],
) -> Report:
    """Is a task short of programs, of features or of good labels? `verdicts` says what was found."""
    given = options(locals(), "task")
    return reported("heuristic diagnose", [path(task)], given)


@stage("heuristic next")
def next_(
    task: PathLike,
    pool: PathLike,
    *,
    n: int | None = None,
    by: Literal["committee", "expected-error", "uncovered", "regret"] | None = None,
    targets: PathLike | None = None,
    vectors: PathLike | None = None,
    target_space: str | None = None,
    seed: int | None = None,
    **common: Unpack[Common],
) -> Report:
    """Which programs of `pool` to label next, or to steer to; `by` committee, expected-error, uncovered or regret."""
    given = options(locals(), "task", "pool")
    return reported("heuristic next", [path(task), path(pool)], given)


@stage("heuristic arms")
def arms(
    arm: PathLike | Sequence[PathLike],
    *,
    base: PathLike,
    test: PathLike,
    base_size: int | None = None,
    added: Names | Sequence[int] | None = None,
    ceiling: PathLike | None = None,
    curve: Names | Sequence[int] | None = None,
    draws: int | None = None,
    space: Names | None = None,
    seed: int | None = None,
    **common: Unpack[Common],
) -> Report:
    """Which programs are worth adding? Equally many of each task of `arm` are added to `base`, and scored on `test`: `arms` has an
    error for each, `verdicts` says in words what was found."""
    return reported("heuristic arms", paths(arm), options(locals(), "arm"))


@stage("heuristic reproduce")
def reproduce(
    *,
    data: PathLike,
    recipe: str | None = None,
    seeds: int | None = None,
    kernels: PathLike | None = None,
    tokenizer: PathLike | None = None,
    out: PathLike | None = None,
    **common: Unpack[Common],
) -> Report:
    """Recompute a published evaluation from its published data."""
    return reported("heuristic reproduce", [], options(locals()))
