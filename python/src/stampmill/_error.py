"""What goes wrong, as an exception."""

from __future__ import annotations

import re
from collections.abc import Sequence


class Error(Exception):
    """The command failed, or was asked for something that it cannot do.

    A *negative result* is no error: a program that does not compile is a row with a verdict.

    Attributes:
        exit_status: 2 for a failure; negative where a signal ended the command.
        message: what the command said, without its name.
        advice: what to do next, where the command said that; otherwise empty.
        command: the arguments of the command.
    """

    exit_status: int
    message: str
    advice: str
    command: tuple[str, ...]

    def __init__(self, exit_status: int, message: str, command: Sequence[str] = ()) -> None:
        self.exit_status = exit_status
        self.message = message
        self.advice = advice(message)
        self.command = tuple(command)
        super().__init__(message)

    def __reduce__(self) -> tuple[type[Error], tuple[int, str, tuple[str, ...]]]:
        return type(self), (self.exit_status, self.message, self.command)


def advice(message: str) -> str:
    """The part of a message that says what to do: its tip, or what stands behind its first semicolon."""
    tips: list[str] = re.findall(r"^\s*tip: (.*)$", message, re.M)
    if tips:
        return "\n".join(tips)
    _, _, after = message.partition("; ")
    return after


def of_output(exit_status: int, lines: Sequence[str], command: Sequence[str]) -> Error:
    """The error of a command that ended with these lines on standard error."""
    message = "\n".join(lines).strip()
    message = re.sub(r"^(stampmill|error): ", "", message)
    # What clap adds for people at a shell.
    message = re.sub(r"\n+Usage: .*", "", message, flags=re.S)
    if not message:
        what = f"signal {-exit_status}" if exit_status < 0 else f"exit status {exit_status}"
        message = f"stampmill {' '.join(command[:1])} ended by {what} without a word"
    return Error(exit_status, message, command)
