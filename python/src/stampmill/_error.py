"""What goes wrong, as an exception."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

GOOD = frozenset({"accepted", "pass"})
"""Words of programs that nothing is wrong with."""
COUNTS = ("verdicts", "rejected", "outcomes")
"""Under which of these a summary counts programs by verdict."""


class Error(Exception):
    """The command failed, or was asked for something that it cannot do.

    A *negative result* is no error: a program that does not compile is a row with a verdict. `check()` of a result makes
    one of it.

    Attributes:
        exit_status: 2 for a failure, 1 for a negative result; negative where a signal ended the command.
        message: what the command said, without its name.
        advice: what to do next, where the command said that; otherwise empty.
        command: the arguments of the command.
        verdict: what is wrong with the program; of several programs, what is wrong with most. `None`: no program is at fault.
        verdicts: programs by verdict, those that nothing is wrong with too; empty where the command counted none.
        summary: what the command printed for `--json`; empty where it printed nothing.
    """

    exit_status: int
    message: str
    advice: str
    command: tuple[str, ...]
    verdict: str | None
    verdicts: dict[str, int]
    summary: dict[str, Any]

    def __init__(
        self, exit_status: int, message: str, command: Sequence[str] = (), summary: Mapping[str, Any] | None = None
    ) -> None:
        self.exit_status = exit_status
        self.message = message
        self.advice = advice(message)
        self.command = tuple(command)
        self.summary = dict(summary or {})
        self.verdicts = verdicts(self.summary)
        self.verdict = worst(self.verdicts)
        super().__init__(message)

    def __reduce__(self) -> tuple[type[Error], tuple[int, str, tuple[str, ...], dict[str, Any]]]:
        return type(self), (self.exit_status, self.message, self.command, self.summary)


def verdicts(summary: Mapping[str, Any]) -> dict[str, int]:
    """How many programs have which verdict, as far as a summary says."""
    one = summary.get("verdict")
    if isinstance(one, str):
        return {one: 1}
    for name in COUNTS:
        counts = summary.get(name)
        if isinstance(counts, Mapping):
            return {str(verdict): count for verdict, count in counts.items() if isinstance(count, int)}
    return {}


def worst(counts: Mapping[str, int]) -> str | None:
    """The verdict that most of the programs have with which something is wrong."""
    wrong = [verdict for verdict in counts if verdict not in GOOD and counts[verdict]]
    return min(wrong, key=lambda verdict: (-counts[verdict], verdict), default=None)


def negative(exit_status: int, summary: Mapping[str, Any]) -> Error:
    """The error that a negative result is where it is asked for."""
    counts = verdicts(summary)
    detail = summary.get("detail")
    if worst(counts) is None:
        said = "the command calls its result negative"
    elif isinstance(detail, str) and len(counts) == 1:
        said = f"{worst(counts)}: {detail}"
    else:
        said = ", ".join(f"{verdict} {count}" for verdict, count in sorted(counts.items()))
    return Error(exit_status, said, (), summary)


def printed(output: bytes) -> dict[str, Any]:
    """The summary that a command printed before it failed, if it did."""
    try:
        summary = json.loads(output)
    except ValueError:
        return {}
    return summary if isinstance(summary, dict) else {}


def advice(message: str) -> str:
    """The part of a message that says what to do: its tip, or what stands behind its first semicolon."""
    tips: list[str] = re.findall(r"^\s*tip: (.*)$", message, re.M)
    if tips:
        return "\n".join(tips)
    _, _, after = message.partition("; ")
    return after


def of_output(exit_status: int, lines: Sequence[str], command: Sequence[str], output: bytes = b"") -> Error:
    """The error of a command that ended with these lines on standard error."""
    message = "\n".join(lines).strip()
    message = re.sub(r"^(stampmill|error): ", "", message)
    # What clap adds for people at a shell.
    message = re.sub(r"\n+Usage: .*", "", message, flags=re.S)
    if not message:
        what = f"signal {-exit_status}" if exit_status < 0 else f"exit status {exit_status}"
        message = f"stampmill {' '.join(command[:1])} ended by {what} without a word"
    return Error(exit_status, message, command, printed(output))
