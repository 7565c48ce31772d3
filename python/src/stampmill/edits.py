"""Performance edits, pairs of slow and improved programs: `stampmill edits`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Sequence

from ._dataset import Dataset, Report
from ._stage import Common, OnCluster, Parted, made, options, reported, stage
from ._texts import Inputs, PathLike, Programs, path

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "certify",
    "export",
    "judge",
    "judge_kernels",
    "label",
    "pair_kernels",
    "pairs",
    "propose",
    "propose_kernels",
    "score",
    "self_play",
    "tests",
    "validate",
]


class Running(Common, total=False):
    """How programs are run and timed."""

    on_broken: Literal["stop", "skip"]
    cpu: PathLike
    source: Literal["qemu", "gem5", "cachegrind", "wall"]
    limit: str
    memory: int
    max_instructions: int | str
    cache: PathLike


class Asking(Running, total=False):
    """How a language model is asked."""

    temperature: float
    max_tokens: int
    url: str
    key_variable: str
    timeout: str
    tries: int
    requests_per_minute: int
    price: str
    top_p: float


class RunningParted(Running, Parted, total=False):
    """The same of a stage."""


class RunningOnCluster(Running, OnCluster, total=False):
    """The same of a stage that runs on a cluster, too."""


@stage("edits pairs")
def pairs(
    submissions: PathLike,
    *,
    tests: PathLike,
    out: PathLike | None = None,
    force: bool = False,
    threshold: float | None = None,
    high_quality: bool = False,
    rejected: bool = False,
    split: str | None = None,
    seed: int | None = None,
    **running: Unpack[RunningParted],
) -> Dataset:
    """Make pairs of slow and improved programs from submissions."""
    given = {**options(locals(), "submissions", "running"), **running}
    with Inputs() as inputs:
        return made("edits pairs", [path(submissions)], given, inputs)


@stage("edits tests")
def tests(
    problems: PathLike,
    *,
    pairs: PathLike | None = None,
    submissions: PathLike | None = None,
    out: PathLike | None = None,
    force: bool = False,
    per_problem: int | None = None,
    draws: int | None = None,
    seed: int | None = None,
    **running: Unpack[RunningParted],
) -> Dataset:
    """Generate larger tests from sample inputs, by an inferred grammar."""
    given = {**options(locals(), "problems", "running"), **running}
    with Inputs() as inputs:
        return made("edits tests", [path(problems)], given, inputs)


@stage("edits judge")
def judge(
    pairs: PathLike,
    *,
    tests: PathLike,
    candidates: PathLike | None = None,
    human: Literal["same", "best"] | None = None,
    hidden: PathLike | None = None,
    out: PathLike | None = None,
    force: bool = False,
    threshold: float | None = None,
    sanitize: Literal["faster", "all", "never"] | None = None,
    k: int | None = None,
    split: str | None = None,
    **running: Unpack[RunningOnCluster],
) -> Dataset:
    """Judge candidates: compile, test, time, and detect cheats. For programs in memory see `stampmill.rewards`."""
    given = {**options(locals(), "pairs", "running"), **running}
    with Inputs() as inputs:
        return made("edits judge", [path(pairs)], given, inputs)


@stage("edits certify")
def certify(
    pairs: PathLike,
    *,
    problems: PathLike,
    candidates: PathLike | None = None,
    out: PathLike | None = None,
    force: bool = False,
    inputs: int | None = None,
    draws: int | None = None,
    patience: int | None = None,
    seed: int | None = None,
    split: str | None = None,
    **running: Unpack[RunningParted],
) -> Dataset:
    """Certify edits: exhaustive testing within a bound, then inputs grown by coverage."""
    given = {**options(locals(), "pairs", "running"), **running}
    with Inputs() as texts:
        return made("edits certify", [path(pairs)], given, texts)


@stage("edits judge-kernels")
def judge_kernels(
    pairs: PathLike,
    *,
    out: PathLike | None = None,
    force: bool = False,
    devices: str | Sequence[str] | None = None,
    global_sizes: str | int | Sequence[int | str] | None = None,
    payloads: int | None = None,
    seed: int | None = None,
    limit: str | None = None,
    budget: str | None = None,
    operations: bool = False,
    **common: Unpack[Parted],
) -> Dataset:
    """Judge edits of OpenCL kernels: the same results on the same payloads, then both timed in turn."""
    given = options(locals(), "pairs")
    with Inputs() as inputs:
        return made("edits judge-kernels", [path(pairs)], given, inputs)


@stage("edits score")
def score(
    judged: PathLike,
    *,
    threshold: float | None = None,
    seed: int | None = None,
    plot: PathLike | None = None,
    **common: Unpack[Common],
) -> Report:
    """Score judged candidates: %Opt, Speedup, Correct, Best@k and more."""
    return reported("edits score", [path(judged)], options(locals(), "judged"))


@stage("edits propose")
def propose(
    pairs: PathLike,
    *,
    out: PathLike,
    force: bool = False,
    method: Literal["rules", "instruction", "few-shot", "cot", "retrieval", "perf-conditioned"] | None = None,
    samples: int | None = None,
    seed: int | None = None,
    tests: PathLike | None = None,
    budget: int | None = None,
    no_io: bool = False,
    known: PathLike | None = None,
    k: int | None = None,
    examples: Literal["nearest", "random", "fastest"] | None = None,
    tag: int | None = None,
    encoder: Literal["tokens", "strategy", "endpoint"] | None = None,
    prompt: PathLike | None = None,
    model: str | None = None,
    embedding_model: str | None = None,
    split: str | None = None,
    **asking: Unpack[Asking],
) -> Report:
    """Propose faster versions, by rewrite rules or a language model: the file `out` is what `judge` takes as
    `candidates`."""
    return reported("edits propose", [path(pairs)], {**options(locals(), "pairs", "asking"), **asking})


@stage("edits propose-kernels")
def propose_kernels(
    kernels: Programs,
    *,
    out: PathLike,
    force: bool = False,
    rules: str | Sequence[str] | None = None,
    exact: bool = False,
    **common: Unpack[Common],
) -> Report:
    """Propose faster versions of OpenCL kernels, by rewrite rules: the file `out` is what `judge_kernels` takes."""
    given = options(locals(), "kernels")
    with Inputs() as inputs:
        return reported("edits propose-kernels", [inputs.programs(kernels)], given)


@stage("edits pair-kernels")
def pair_kernels(
    source: Programs,
    *,
    out: PathLike,
    force: bool = False,
    commits: int | None = None,
    variants: PathLike | None = None,
    licenses: str | None = None,
    limit: str | None = None,
    offline: bool = False,
    cache: PathLike | None = None,
    **common: Unpack[Common],
) -> Report:
    """Make pairs of OpenCL kernels from the commits of a repository, or from variants by macros: the file `out` is what
    `judge_kernels` takes. `source` is `"git+URL-OR-PATH"`, or programs where `variants` is given."""
    given = options(locals(), "source")
    with Inputs() as inputs:
        return reported("edits pair-kernels", [inputs.programs(source)], given)


@stage("edits export")
def export(
    pairs: PathLike,
    *,
    out: PathLike,
    format: str,
    force: bool = False,
    method: str | None = None,
    split: str | None = None,
    on_broken: Literal["stop", "skip"] | None = None,
    **common: Unpack[Common],
) -> Report:
    """Export pairs as fine-tuning data or in PIE's formats, or tests as PIE keeps them."""
    return reported("edits export", [path(pairs)], options(locals(), "pairs"))


@stage("edits label")
def label(
    pairs: PathLike,
    *,
    split: str | None = None,
    on_broken: Literal["stop", "skip"] | None = None,
    **common: Unpack[Common],
) -> Report:
    """Say what each pair changes, without running anything: `rows`, in the order of the pairs, each with a `label`."""
    return reported("edits label", [path(pairs)], options(locals(), "pairs"))


@stage("edits validate")
def validate(
    file: PathLike | None = None, *, form: str | None = None, forms: bool = False, **common: Unpack[Common]
) -> Report:
    """Check JSON lines against their form: `broken` names line, field and reason. Without a file, `forms=True` describes
    all forms."""
    return reported("edits validate", [] if file is None else [path(file)], options(locals(), "file"))


@stage("edits self-play")
def self_play(
    pairs: PathLike,
    *,
    tests: PathLike,
    out: PathLike,
    model: str,
    force: bool = False,
    programs: int | None = None,
    samples: int | None = None,
    least: float | None = None,
    per_group: int | None = None,
    editor: str | None = None,
    editor_url: str | None = None,
    editor_key_variable: str | None = None,
    editor_price: str | None = None,
    invent: PathLike | None = None,
    prompt: PathLike | None = None,
    seed: int | None = None,
    **asking: Unpack[Asking],
) -> Report:
    """Have a language model write programs, and it or `editor` make them faster: `out` is a folder with the pairs that the
    judge finds much faster, as the data set `pairs`."""
    return reported("edits self-play", [path(pairs)], {**options(locals(), "pairs", "asking"), **asking})
