"""What every stage's function is made of: its options, checked, and the run of its command."""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar, cast

from . import _run
from ._dataset import MANIFEST, Dataset, Report
from ._error import Error
from ._texts import Inputs, PathLike, path


class Common(TypedDict, total=False):
    """Options of every command."""

    quiet: bool
    verbose: int
    jobs: int
    allow_weak_sandbox: bool
    verify_hashes: bool
    config: PathLike


class Parted(Common, total=False):
    """Options of every stage: a share of its items alone."""

    part: str


class OnCluster(Parted, total=False):
    """Options of a stage that runs on a cluster, too."""

    cluster: str
    cluster_parts: int
    token_file: PathLike


Function = TypeVar("Function", bound=Callable[..., Any])

COMMANDS: dict[str, Callable[..., Any]] = {}
"""Function of each command."""


def stage(command: str) -> Callable[[Function], Function]:
    """Say which command a function runs, and have unknown keywords refused before it does."""

    def named(function: Function) -> Function:
        @functools.wraps(function)
        def checked(*given: Any, **named: Any) -> Any:
            if unknown := named.keys() - names:
                name = min(unknown)
                near = difflib.get_close_matches(name, names, 1)
                advice = f"; did you mean {near[0]}?" if near else f": there are {', '.join(sorted(names))}"
                raise TypeError(f"{function.__name__}() has no option {name}{advice}")
            return function(*given, **named)

        names = keywords(function) | set(inspect.signature(function).parameters)
        COMMANDS[command] = checked
        return cast(Function, checked)

    return named


def keywords(function: Callable[..., Any]) -> set[str]:
    """The names of a function's keyword arguments, those that a `TypedDict` names too."""
    found: set[str] = set()
    for one in inspect.signature(function).parameters.values():
        if one.kind is inspect.Parameter.KEYWORD_ONLY:
            found.add(one.name)
        elif one.kind is inspect.Parameter.VAR_KEYWORD:
            # The annotation is `Unpack[Common]`, as text: `Unpack` is not in every Python's `typing`.
            kind = inspect.unwrap(function).__globals__[str(one.annotation).removeprefix("Unpack[").removesuffix("]")]
            found |= kind.__optional_keys__
    return found


def options(given: Mapping[str, Any], *others: str) -> dict[str, object]:
    """The options among a function's arguments: all but `others`."""
    found = {name: value for name, value in given.items() if name not in (*others, "common")}
    return {**found, **given.get("common", {})}


def made(command: str, positional: Sequence[str], given: dict[str, object], inputs: Inputs) -> Dataset:
    """Run a command that makes a data set at `out`, or in a temporary folder."""
    temporary = None if given.get("out") is not None else Path(tempfile.mkdtemp(prefix="stampmill-"))
    out = Path(os.fspath(given["out"])) if temporary is None else temporary / "data"  # type: ignore[call-overload]
    try:
        finished = _run.run(command, positional, {**given, "out": out})
        if not (out / MANIFEST).is_file():
            said = f"{command}: no data set was made: {finished.summary}"
            raise Error(finished.exit_status, said, [command], finished.summary)
        return Dataset._made(out, finished.summary, finished.exit_status, inputs.labels, temporary)
    except BaseException:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        raise


def reported(command: str, positional: Sequence[str], given: Mapping[str, object]) -> Report:
    """Run a command whose summary is its result."""
    finished = _run.run(command, positional, given)
    return Report(finished.summary, finished.exit_status)


def command(name: str, *arguments: PathLike, **given: Any) -> Report:
    """Any command: `command("time calibrate", out="host.toml")`. Options have underscores; `--json` is added."""
    return reported(name, [path(argument) for argument in arguments], given)


def paths(value: PathLike | Sequence[PathLike]) -> list[str]:
    """One path or several."""
    return [path(value)] if isinstance(value, (str, os.PathLike)) else [path(one) for one in value]
