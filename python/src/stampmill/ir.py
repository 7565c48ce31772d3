"""LLVM IR of real packages: `stampmill ir`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ._dataset import Dataset, Report
from ._stage import Common, OnCluster, Parted, made, options, paths, reported, stage
from ._texts import Inputs, PathLike, path

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["build", "dedup", "diff", "export", "extract", "license", "optimize", "stats"]


@stage("ir build")
def build(
    source: PathLike | Sequence[PathLike],
    *,
    out: PathLike | None = None,
    force: bool = False,
    build: str | None = None,
    limit: str | None = None,
    disk: int | None = None,
    all_targets: bool = False,
    codegen_units: int | None = None,
    popcon: PathLike | None = None,
    offline: bool = False,
    cache: PathLike | None = None,
    keep: bool = False,
    **common: Unpack[Parted],
) -> Dataset:
    """Build packages with wrapped compilers and collect their modules: `build(["crate:hex"])`."""
    given = options(locals(), "source")
    with Inputs() as inputs:
        return made("ir build", paths(source), given, inputs)


@stage("ir extract")
def extract(
    input: PathLike | Sequence[PathLike],
    *,
    out: PathLike | None = None,
    force: bool = False,
    **common: Unpack[OnCluster],
) -> Dataset:
    """Extract modules from stores, objects, archives, corpora, compilation databases and ComPile's Parquet."""
    given = options(locals(), "input")
    with Inputs() as inputs:
        return made("ir extract", paths(input), given, inputs)


@stage("ir dedup")
def dedup(
    dataset: PathLike,
    *,
    out: PathLike | None = None,
    force: bool = False,
    **common: Unpack[OnCluster],
) -> Dataset:
    """Remove structurally equal modules and group similar ones into families."""
    given = options(locals(), "dataset")
    with Inputs() as inputs:
        return made("ir dedup", [path(dataset)], given, inputs)


@stage("ir license")
def license(
    dataset: PathLike,
    *,
    policy: Literal["compile", "permissive", "osi", "all"] | None = None,
    out: PathLike | None = None,
    force: bool = False,
    **common: Unpack[Parted],
) -> Dataset:
    """Select modules by license."""
    given = options(locals(), "dataset")
    with Inputs() as inputs:
        return made("ir license", [path(dataset)], given, inputs)


@stage("ir optimize")
def optimize(
    dataset: PathLike,
    *,
    pipeline: str | None = None,
    after_each: bool = False,
    stop_after: str | int | None = None,
    limit: str | None = None,
    no_times: bool = False,
    out: PathLike | None = None,
    force: bool = False,
    **common: Unpack[Parted],
) -> Dataset:
    """Run a pipeline of LLVM's passes on modules: `optimize(modules, pipeline="default<O3>", after_each=True)`.

    Gives the modules after it, or after any of its passes; with `after_each` a row for each run of a pass on a function.
    """
    given = options(locals(), "dataset")
    with Inputs() as inputs:
        return made("ir optimize", [path(dataset)], given, inputs)


@stage("ir run")
def run(
    dataset: PathLike,
    *,
    stdin: PathLike | None = None,
    inputs: PathLike | None = None,
    cpu: str | None = None,
    max_instructions: int | None = None,
    timeout: str | None = None,
    memory: int | str | None = None,
    max_output: int | str | None = None,
    out: PathLike | None = None,
    force: bool = False,
    **common: Unpack[Parted],
) -> Dataset:
    """Link modules that define `main`, run them on a simulated processor: a row for each program and each of its functions."""
    given = options(locals(), "dataset")
    with Inputs() as files:
        return made("ir run", [path(dataset)], given, files)


@stage("ir stats")
def stats(
    dataset: PathLike,
    *,
    out: PathLike | None = None,
    force: bool = False,
    no_tokens: bool = False,
    no_optimize: bool = False,
    **common: Unpack[OnCluster],
) -> Dataset:
    """Statistics of modules: sizes, opcodes before and after -O3, calls, tokens."""
    given = options(locals(), "dataset")
    with Inputs() as inputs:
        return made("ir stats", [path(dataset)], given, inputs)


@stage("ir export")
def export(
    dataset: PathLike,
    *,
    out: PathLike,
    force: bool = False,
    format: Literal["compile", "mlgo", "text"] | None = None,
    validation: int | None = None,
    test: int | None = None,
    seed: int | None = None,
    **common: Unpack[Common],
) -> Report:
    """Export modules: ComPile's Parquet, an ml-compiler-opt corpus, or textual IR."""
    return reported("ir export", [path(dataset)], options(locals(), "dataset"))


@stage("ir diff")
def diff(first: PathLike, second: PathLike, **common: Unpack[Common]) -> Report:
    """Compare two data sets of modules, or two modules; `exit_status` is 1 where they differ."""
    return reported("ir diff", [path(first), path(second)], options(locals(), "first", "second"))
