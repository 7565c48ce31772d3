"""The stages. A function has the options of its command, with underscores; a test compares them with `--help`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Union, overload

from ._dataset import Dataset, Report
from ._stage import Common, OnCluster, Parted, made, options, paths, reported, stage
from ._texts import Inputs, Language, PathLike, Programs, Texts, is_path, path

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from typing_extensions import Unpack

Names = Union[str, Sequence[str]]
"""Names: a list, or a string with commas."""

Target = Union[str, Mapping[str, object]]
"""A target: `"Load=3,FMul=2"`, `{"Load": 3, "FMul": "4..6"}`, or the path of a program or vector."""


@stage("doctor")
def doctor(*, bundle: PathLike | None = None, with_clang: bool = False, **common: Unpack[Common]) -> Report:
    """What this machine has and lacks, and how to install it: `components`, each with `name, found, install`."""
    return reported("doctor", [], options(locals()))


@stage("devices")
def devices(**common: Unpack[Common]) -> Report:
    """OpenCL devices, and why some cannot be used."""
    return reported("devices", [], options(locals()))


@stage("mine")
def mine(
    source: PathLike | Sequence[PathLike],
    *,
    out: PathLike | None = None,
    force: bool = False,
    licenses: str | None = None,
    language: Literal["opencl", "cuda", "c", "c++", "rust"] | None = None,
    suite: Literal["amd-sdk", "npb", "nvidia-sdk", "parboil", "polybench", "rodinia", "shoc"] | None = None,
    offline: bool = False,
    cache: PathLike | None = None,
    **common: Unpack[Parted],
) -> Dataset:
    """Fetch packages and find every kernel in them: `mine(["deb:gegl", "pypi:silx"])`. Gives raw data for `prepare`.

    Warns of sources that could not be had: their rows say why."""
    given = options(locals(), "source")
    with Inputs() as inputs:
        mined = made("mine", paths(source), given, inputs)
    if failed := mined.summary.get("failed_sources"):
        why = [f"{one['source']}: {note}" for one in mined.summary.get("packages", []) for note in one.get("notes", [])]
        warnings.warn(f"{failed} of {mined.summary['sources']} sources failed: {'; '.join(why)}", stacklevel=3)
    return mined


@stage("fetch")
def fetch(
    name: str | None = None,
    *,
    from_: PathLike | None = None,
    out: PathLike | None = None,
    lock: PathLike | None = None,
    max_size: int | str | None = None,
    **common: Unpack[Common],
) -> Report:
    """Fetch a public data set by name, from where it is published, a copy or a mirror, checked and resumed: `files`;
    without a name, `names`."""
    return reported("fetch", [] if name is None else [name], options(locals(), "name"))


@stage("prepare")
def prepare(
    raw: Programs,
    *,
    out: PathLike | None = None,
    force: bool = False,
    licenses: str | None = None,
    language: Literal["opencl", "cuda"] | None = None,
    define: Names | None = None,
    limit: str | None = None,
    **common: Unpack[OnCluster],
) -> Dataset:
    """Compile, isolate and normalize kernels. What does not compile is a row with a verdict."""
    given = options(locals(), "raw")
    with Inputs() as inputs:
        return made("prepare", [inputs.programs(raw)], given, inputs)


@stage("merge")
def merge(share: Sequence[PathLike], *, out: PathLike | None = None, force: bool = False, **common: Unpack[Common]) -> Dataset:
    """Join the data sets that were made with `part`."""
    given = options(locals(), "share")
    with Inputs() as inputs:
        return made("merge", paths(share), given, inputs)


@stage("query")
def query(
    sql: str,
    tables: Mapping[str, PathLike | pd.DataFrame | pa.Table] | PathLike | pd.DataFrame | pa.Table,
    *,
    memory: str | None = None,
    out: PathLike | None = None,
    force: bool = False,
    cluster: str | None = None,
    token_file: PathLike | None = None,
    **common: Unpack[Common],
) -> Dataset:
    """An SQL query: `query("SELECT ... FROM k", {"k": kernels})`. A table without a name is `dataset`."""
    given = options(locals(), "sql", "tables")
    with Inputs() as inputs:
        if isinstance(tables, Mapping):
            named = [f"{name}={inputs.table(table)}" for name, table in tables.items()]
        else:
            named = [f"dataset={inputs.table(tables)}"]
        return made("query", [sql, *named], given, inputs)


@stage("fsck")
def fsck(dataset: PathLike | Sequence[PathLike], **common: Unpack[Common]) -> Report:
    """Verify data sets to the last byte: `ok`, and `problems` of each file."""
    return reported("fsck", paths(dataset), options(locals(), "dataset"))


@stage("export")
def export(
    dataset: PathLike,
    *,
    to: PathLike,
    format: Literal["files", "huggingface", "csv", "jsonl", "cldrive"] | None = None,
    n: int | None = None,
    **common: Unpack[Common],
) -> Report:
    """Write the programs of a data set as files, its rows as CSV or JSON Lines, measurements as cldrive has them, or the
    data set to share."""
    return reported("export", [path(dataset)], options(locals(), "dataset"))


@stage("import")
def import_(
    source: PathLike,
    *,
    out: PathLike | None = None,
    force: bool = False,
    schema: str | None = None,
    fill: bool = False,
    column: Mapping[str, str] | None = None,
    ignore_unknown: bool = False,
    **common: Unpack[Common],
) -> Dataset:
    """Read CSV, JSON Lines, Parquet, a folder from Hugging Face or a folder of programs into a data set; `column` maps
    columns of the schema to what the input calls them."""
    given = options(locals(), "source")
    if column is not None:
        given["column"] = [f"{ours}={theirs}" for ours, theirs in column.items()]
    with Inputs() as inputs:
        return made("import", [path(source)], given, inputs)


@stage("features")
def features(
    dataset: Programs,
    *,
    space: Names | None = None,
    out: PathLike | None = None,
    force: bool = False,
    opt: int | None = None,
    language: Language = "opencl",
    **common: Unpack[OnCluster],
) -> Dataset:
    """Feature vectors: `to_pandas()` has one column for each dimension, `grewe.comp`. A program without a vector is a
    row with a verdict; a program of several kernels is several rows."""
    given = options(locals(), "dataset", "language")
    with Inputs(language) as inputs:
        return made("features", [inputs.programs(dataset)], given, inputs)


@stage("project")
def project(
    datasets: Mapping[str, Programs] | PathLike,
    *,
    space: str | None = None,
    targets: PathLike | None = None,
    cells: int | None = None,
    out: PathLike | None = None,
    force: bool = False,
    **common: Unpack[Common],
) -> Report:
    """A 2-D map of a feature space (PCA), and how much of it each data set covers. `out` gets the pictures."""
    given = options(locals(), "datasets")
    with Inputs() as inputs:
        if isinstance(datasets, Mapping):
            named = [f"{name}={inputs.programs(one)}" for name, one in datasets.items()]
        else:
            named = [path(datasets)]
        return reported("project", named, given)


@stage("run")
def run(
    dataset: Programs,
    *,
    out: PathLike | None = None,
    force: bool = False,
    devices: Names | None = None,
    global_sizes: str | int | Sequence[int | str] | None = None,
    suite: Literal["amd-sdk", "npb", "nvidia-sdk", "parboil", "polybench", "rodinia", "shoc"] | None = None,
    local_sizes: str | int | Sequence[int | str] | None = None,
    values: Literal["uniform", "small", "sorted", "ones"] | None = None,
    seed: int | None = None,
    limit: str | None = None,
    budget: str | None = None,
    verify: Literal["none", "oclgrind", "oclgrind-uninitialised"] | None = None,
    time: str | None = None,
    sample: int | None = None,
    licenses: str | None = None,
    **common: Unpack[OnCluster],
) -> Dataset:
    """Run every kernel on every device at every size: check its results, then measure its time."""
    given = options(locals(), "dataset")
    with Inputs() as inputs:
        return made("run", [inputs.programs(dataset)], given, inputs)


@stage("label")
def label(
    labeled: Programs,
    *,
    language: Language = "opencl",
    features: PathLike | None = None,
    task: Literal["cpu-gpu", "size", "mca", "cost", "unroll", "vectorize", "coarsen", "passes", "local-size"] | None = None,
    pipelines: PathLike | None = None,
    transfers: Literal["gpu", "both"] | None = None,
    group: Literal["package", "family", "path"] | None = None,
    out: PathLike | None = None,
    force: bool = False,
    **common: Unpack[Parted],
) -> Dataset:
    """Make a task, the training table of a heuristic, of measured runs or of programs and their exact costs."""
    given = options(locals(), "labeled", "language")
    with Inputs(language) as inputs:
        return made("label", [inputs.programs(labeled)], given, inputs)


@stage("opt")
def opt(
    program: Programs,
    *,
    language: Language = "opencl",
    pipelines: PathLike | None = None,
    out: PathLike | None = None,
    force: bool = False,
    **common: Unpack[Common],
) -> Report:
    """Make the module of one program small: the smallest of a set of pipelines, never larger than -Oz makes it.

    A program that does not compile is a `verdict` and a `detail` in the report, whose exit status is 1."""
    given = options(locals(), "program", "language")
    with Inputs(language) as inputs:
        file = inputs.programs(program)
        if not is_path(program):
            files = sorted(Path(file).iterdir())
            if len(files) != 1:
                raise ValueError(f"opt takes one program, not {len(files)}")
            file = str(files[0])
        return reported("opt", [file], given)


@stage("train")
def train(
    corpus: PathLike,
    *,
    out: PathLike,
    force: bool = False,
    pretrain: PathLike | Sequence[PathLike] | None = None,
    exclude: PathLike | Sequence[PathLike] | None = None,
    task: Literal["kernels", "edits"] | None = None,
    from_: PathLike | None = None,
    lora: int | None = None,
    lora_alpha: float | None = None,
    epochs: int | None = None,
    model: Literal["lstm", "hole", "infill"] | None = None,
    recipe: PathLike | None = None,
    seed: int | None = None,
    device: str | None = None,
    limit: str | None = None,
    prepare_only: bool = False,
    **common: Unpack[Common],
) -> Report:
    """Train a language model on kernels, or fine-tune one on edits. `out` is the checkpoint's folder. Needs
    `torch` and `transformers` (`pip install stampmill[train]`)."""
    return reported("train", [path(corpus)], options(locals(), "corpus"))


@stage("sample")
def sample(
    checkpoint: PathLike,
    *,
    n: int | None = None,
    prompt: PathLike | None = None,
    args: Names | None = None,
    work_group: int | Names | None = None,
    want: str | Mapping[str, object] | None = None,
    tries: int | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    shortest: int | None = None,
    longest: int | None = None,
    unconstrained: bool = False,
    allow_useless: bool = False,
    device: Literal["cpu", "cuda", "cpu-torch"] | None = None,
    precision: Literal["f32", "bf16"] | None = None,
    batch: int | None = None,
    drawn: PathLike | None = None,
    must_run: bool = False,
    allow_races: bool = False,
    exclude: PathLike | Sequence[PathLike] | None = None,
    novel: bool = False,
    most_bits: float | None = None,
    accept_model: bool = False,
    out: PathLike | None = None,
    force: bool = False,
    **common: Unpack[OnCluster],
) -> Dataset:
    """Draw kernels from a language model and judge them."""
    given = options(locals(), "checkpoint")
    with Inputs() as inputs:
        return made("sample", [path(checkpoint)], given, inputs)


@stage("evaluate")
def evaluate(
    checkpoint: PathLike,
    *,
    n: int | None = None,
    prompt: PathLike | None = None,
    args: Names | None = None,
    work_group: int | Names | None = None,
    want: str | Mapping[str, object] | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    shortest: int | None = None,
    longest: int | None = None,
    unconstrained: bool = False,
    allow_useless: bool = False,
    device: Literal["cpu", "cuda", "cpu-torch"] | None = None,
    precision: Literal["f32", "bf16"] | None = None,
    batch: int | None = None,
    drawn: PathLike | None = None,
    space: Names | None = None,
    run: bool = False,
    beside: PathLike | None = None,
    cost: PathLike | None = None,
    likelihood: PathLike | None = None,
    **common: Unpack[Common],
) -> Report:
    """How good a language model's kernels are; with `likelihood` how likely the kernels of a data set are to it."""
    return reported("evaluate", [path(checkpoint)], options(locals(), "checkpoint"))


@stage("steer")
def steer(
    *,
    space: str | None = None,
    target: Target | Sequence[Target] | None = None,
    targets: PathLike | None = None,
    sample: int | None = None,
    budget: str | int | None = None,
    n: int | None = None,
    seed: int | None = None,
    seeds: Programs | None = None,
    archive: PathLike | None = None,
    grow: bool = False,
    no_archive: bool = False,
    features: PathLike | None = None,
    exclude: PathLike | Sequence[PathLike] | None = None,
    allow_leaks: bool = False,
    accept_model: bool = False,
    proposers: Names | None = None,
    model: PathLike | None = None,
    unconstrained: bool = False,
    metric: Literal["standardised", "euclidean", "own"] | None = None,
    depth: int | None = None,
    generation: int | None = None,
    survivors: int | None = None,
    replacement: float | None = None,
    temperature: float | None = None,
    judge_all: bool = False,
    transfer: bool = False,
    trajectory: bool = False,
    must_run: bool = False,
    allow_races: bool = False,
    work_group: int | None = None,
    args: Names | None = None,
    no_dead_code: bool = False,
    faster_on: str | None = None,
    than: str | None = None,
    margin: float | None = None,
    at: int | str | None = None,
    not_near: PathLike | None = None,
    as_found: bool = False,
    natural: PathLike | None = None,
    most_bits: float | None = None,
    out: PathLike | None = None,
    force: bool = False,
    **common: Unpack[OnCluster],
) -> Dataset:
    """Kernels at wanted points of a feature space: `steer(target={"Load": 3, "FMul": 2})`. A list is several targets.

    `budget` is for each target: `"60s"`, `"cpu:30s"`, or a number of candidates. `args` are the parameters of answers:
    `["global float*", "int"]`. An `archive` to start from is made by `command("steer archive build", "kernels", out="archive")`;
    `grow` adds what is found to it."""
    given = options(locals())
    with Inputs() as inputs:
        if seeds is not None:
            given["seeds"] = inputs.programs(seeds)
            inputs.labels = None
        return made("steer", [], given, inputs)


@stage("learn")
def learn(
    *,
    task: str,
    train: Programs,
    test: Programs | None = None,
    limit: int | None = None,
    space: str | None = None,
    committee: Names | None = None,
    strategy: Literal["active", "expected-error", "passive"] | None = None,
    rounds: int | None = None,
    batch: int | None = None,
    candidates: int | None = None,
    global_size: int | None = None,
    measuring: str | None = None,
    seed: int | None = None,
    export_round: PathLike | None = None,
    import_runs: PathLike | None = None,
    experiment: bool = False,
    global_sizes: str | Sequence[int | str] | None = None,
    base: int | None = None,
    added: int | None = None,
    replicates: int | None = None,
    seeds: int | None = None,
    out: PathLike,
    force: bool = False,
    **common: Unpack[Common],
) -> Report:
    """Make the kernels that a heuristic learns most from: query by committee, round after round."""
    given = options(locals())
    with Inputs() as inputs:
        given["train"] = inputs.programs(train)
        given["test"] = None if test is None else inputs.programs(test)
        return reported("learn", [], given)


@stage("report")
def report(
    dir: PathLike, *, out: PathLike | None = None, programs: int | None = None, force: bool = False, **common: Unpack[Common]
) -> Report:
    """An HTML page of the data sets in a folder; without `out` it is `report.html` in that folder (`_report.html` of one data set)."""
    return reported("report", [path(dir)], options(locals(), "dir"))


class Timing(OnCluster, total=False):
    """Options of `time`."""

    out: PathLike
    force: bool
    cpu: PathLike
    source: Literal["qemu", "gem5", "cachegrind", "wall"]
    runs: int
    sample_rate: str
    max_instructions: str | int
    timeout: str
    memory: str
    max_output: str
    compiler: Literal["gcc", "clang"]
    flag: str | Sequence[str]
    no_net: bool


@overload
def time(program: PathLike, *, stdin: PathLike = "", **given: Unpack[Timing]) -> Report: ...  # type: ignore[overload-overlap]
@overload
def time(program: Texts, *, stdin: PathLike | Sequence[PathLike] = "", **given: Unpack[Timing]) -> Dataset: ...
@overload
def time(*, suite: PathLike, **given: Unpack[Timing]) -> Dataset: ...


@stage("time")
def time(
    program: PathLike | Texts | None = None,
    *,
    stdin: PathLike | Sequence[PathLike] = "",
    suite: PathLike | None = None,
    **given: Unpack[Timing],
) -> Report | Dataset:
    """Time native programs deterministically on a simulated CPU.

    A path is one program (C++, C or a static executable): a report. C++ texts, or a `suite` (a folder or .jsonl file),
    are a data set with a row for each. `stdin` is what a program reads: a str is
    the text itself, a `Path` a file; for texts one for all, or a list."""
    words: dict[str, object] = {**given}
    with Inputs() as inputs:
        if suite is not None:
            if program is not None:
                raise TypeError("a program and a suite: give one of them")
            return made("time", [], {**words, "suite": path(suite)}, inputs)
        if program is None:
            raise TypeError("no program: give a path, texts or a suite")
        if isinstance(program, (str, os.PathLike)):
            if isinstance(stdin, os.PathLike):
                words["stdin"] = path(stdin)
            elif not isinstance(stdin, str):
                raise TypeError("one program has one stdin: give a text (str) or a file (Path)")
            elif stdin:
                file = inputs.folder() / "stdin"
                file.write_text(stdin, encoding="utf-8", newline="")
                words["stdin"] = file
            return reported("time", [path(program)], words)
        return made("time", [], {**words, "suite": inputs.suite(program, stdin)}, inputs)
