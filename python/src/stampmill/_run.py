"""The one place that starts the command: arguments, progress, Ctrl-C, errors."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import queue
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from . import _error, _progress
from ._binary import binary

progress: bool | None = None
"""Whether progress is shown: `None` for where a person looks (a terminal or a notebook)."""

REPEATED = frozenset({"target", "exclude", "flag", "made", "pretrain", "column", "define"})
"""Options that are given once for each value; those of other options are joined with commas."""

FLAGS_FOLLOW = frozenset({"opt"})
"""Commands that hand on to a compiler what stands behind `--`."""

STOPPED = 130


class Finished:
    """How the command ended: its exit status (0, or 1 for a negative result) and its summary."""

    def __init__(self, exit_status: int, summary: dict[str, Any]) -> None:
        self.exit_status = exit_status
        self.summary = summary


def _environment() -> dict[str, str]:
    """The variables of the command: this Python is the one to train with, where it can."""
    own = {} if any(find_spec(name) is None for name in ("torch", "transformers")) else {"STAMPMILL_PYTHON": sys.executable}
    return own | dict(os.environ)


def _word(value: object) -> str:
    """A value as the command reads it."""
    if isinstance(value, Mapping):
        return ",".join(f"{_word(key)}={_word(of)}" for key, of in value.items())
    if isinstance(value, os.PathLike):
        return os.fsdecode(os.fspath(value))
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, Sequence):
        return ",".join(map(_word, value))
    raise TypeError(f"an option cannot be a {type(value).__name__}: give a string, a number, a path, a mapping or a list")


def arguments(options: Mapping[str, object]) -> list[str]:
    """Options as arguments: `None` and `False` are left out, `True` is a switch, `local_sizes` is `--local-sizes`."""
    words: list[str] = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif name == "verbose" and isinstance(value, int):
            words += [flag] * value
        elif name in REPEATED and isinstance(value, Sequence) and not isinstance(value, str):
            words += [f"{flag}={_word(one)}" for one in value]
        else:
            words.append(f"{flag}={_word(value)}")
    return words


def run(command: str, positional: Sequence[str], options: Mapping[str, object]) -> Finished:
    """Run `command` (`"edits judge"`) to its end.

    The interpreter is free meanwhile: other threads run. Ctrl-C, and any exception that a signal handler raises, stops
    the command where nothing is lost, and then goes on as what it was.

    Raises:
        Error: the command failed.
        KeyboardInterrupt: it was stopped.
    """
    words = [*command.split(), *arguments({**options, "json": True})]
    if command in FLAGS_FOLLOW:
        words += [f"./{word}" if word.startswith("-") else word for word in positional]
    elif positional:
        words += ["--", *positional]
    status, output, shown = _process([str(binary()), *words])
    if status == STOPPED:
        raise KeyboardInterrupt
    if status not in (0, 1):
        raise _error.of_output(status, shown.error, words, output)
    try:
        summary = json.loads(output)
    except ValueError:
        if status == 0:
            # A command whose result is a text, such as `time cpu`.
            return Finished(status, {"output": output.decode(errors="replace")})
        # A negative result without a summary: what the command said is all there is.
        raise _error.of_output(status, shown.error, words) from None
    return Finished(status, summary if isinstance(summary, dict) else {"result": summary})


def _process(words: Sequence[str]) -> tuple[int, bytes, _progress.Shown]:
    shown = _progress.Shown(_progress.kind(progress))
    # In a session of its own the command does not get a terminal's Ctrl-C: it gets ours, once; twice would end it
    # at once. Another thread than the main one is not told of Ctrl-C, so there the terminal tells the command.
    alone = threading.current_thread() is threading.main_thread()
    screen, end = _terminal() if shown.kind != "none" else os.pipe()
    try:
        child = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=end, start_new_session=alone, env=_environment()
        )
    except BaseException:
        os.close(screen)
        raise
    finally:
        os.close(end)
    assert child.stdout is not None
    said: queue.SimpleQueue[tuple[str, bytes]] = queue.SimpleQueue()
    for name, descriptor in (("output", os.dup(child.stdout.fileno())), ("error", screen)):
        threading.Thread(target=_read, args=(name, descriptor, said), daemon=True).start()
    output = bytearray()
    with child, _passed_on(child, alone):
        asked = 0
        raised: BaseException | None = None
        while True:
            try:
                _listen(child, said, output, shown)
                break
            except BaseException as error:
                raised = raised if isinstance(raised, KeyboardInterrupt) else error
                asked += 1
                # Asked to stop; asked to stop at once; ended.
                child.send_signal(signal.SIGINT if asked < 3 else signal.SIGKILL)
        shown.end()
        if raised is not None:
            raise raised
    return child.wait(), bytes(output), shown


def _listen(
    child: subprocess.Popen[bytes], said: queue.SimpleQueue[tuple[str, bytes]], output: bytearray, shown: _progress.Shown
) -> None:
    """Take what the command says until it has ended and everything was read."""
    over = 0
    while over < 2:
        try:
            name, data = said.get(timeout=1)
        except queue.Empty:
            # What it started may outlive it and hold its streams.
            if child.poll() is not None:
                return
            continue
        if not data:
            over += 1
        elif name == "output":
            output += data
        else:
            shown.write(data)
    child.wait()


def _read(name: str, descriptor: int, said: queue.SimpleQueue[tuple[str, bytes]]) -> None:
    while True:
        try:
            data = os.read(descriptor, 1 << 16)
        except OSError:
            # A terminal's other side was closed.
            data = b""
        said.put((name, data))
        if not data:
            os.close(descriptor)
            return


def _terminal() -> tuple[int, int]:
    """A terminal for the command to draw on: our side and its."""
    ours, its = pty.openpty()
    columns = shutil.get_terminal_size((100, 24)).columns
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return ours, its


@contextmanager
def _passed_on(child: subprocess.Popen[bytes], alone: bool) -> Iterator[None]:
    """Pass on what would end this process: the command, in a session of its own, would stay behind."""
    if not alone:
        yield
        return
    came: list[int] = []

    def pass_on(number: int, _: object) -> None:
        came.append(number)
        child.send_signal(signal.SIGTERM)

    before = {
        number: signal.signal(number, pass_on)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_DFL
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])
