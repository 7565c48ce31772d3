"""Ctrl-C and what ends a process, and what is shown meanwhile."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import stampmill
from stampmill import _progress

TARGETS = [f"Load={loads},FMul=1,Store=1" for loads in range(1, 13)]
# Where these tests are a shell's job in the background, Ctrl-C is ignored by all that it starts.
STEER = f"""
import signal, stampmill, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    found = stampmill.steer(target={TARGETS!r}, budget=200, seed=2, jobs=1, out=sys.argv[1])
except KeyboardInterrupt:
    print("KeyboardInterrupt")
    sys.exit(9)
print(len(found))
"""


def children(mark: str) -> list[str]:
    """Processes whose command line names `mark`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().decode(errors="replace")
            if mark in line and (folder / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found.append(line)
        except OSError:
            continue
    return found


def gone(mark: str) -> bool:
    """Whether no such process is left. One that was just forked has its parent's command line until it ends, or becomes another."""
    for _ in range(600):
        if not children(mark):
            return True
        time.sleep(0.05)
    return False


def wait_for_rows(out: Path) -> None:
    """Until a part of the data set was done."""
    partial = out.with_name(out.name + ".partial")
    for _ in range(600):
        if any(partial.glob("*.part")):
            return
        assert not out.exists(), "it was done before it could be stopped"
        time.sleep(0.05)
    raise AssertionError(f"nothing is done in {partial}")


def resumes(out: Path, reference: stampmill.Dataset) -> None:
    assert not out.exists() and any(out.with_name(out.name + ".partial").glob("*.part"))
    again = subprocess.run([sys.executable, "-c", STEER, out], stdout=subprocess.PIPE, text=True)
    assert again.stdout == f"{len(TARGETS)}\n"
    assert not out.with_name(out.name + ".partial").exists()
    assert stampmill.Dataset(out).to_arrow().equals(reference.to_arrow())


@pytest.fixture(scope="module")
def reference() -> stampmill.Dataset:
    return stampmill.steer(target=TARGETS, budget=200, seed=2)


def test_an_interrupt_of_this_process_alone_stops_the_command(tmp_path: Path, reference: stampmill.Dataset) -> None:
    # As a notebook's stop button.
    out = tmp_path / "found"
    python = subprocess.Popen([sys.executable, "-c", STEER, out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_rows(out)
    python.send_signal(signal.SIGINT)
    said, notes = python.communicate(timeout=60)
    assert (python.returncode, said) == (9, "KeyboardInterrupt\n")
    assert "stopping; Ctrl-C again" in notes
    assert gone(str(out))
    resumes(out, reference)


def test_ctrl_c_on_a_terminal_stops_the_command(tmp_path: Path, reference: stampmill.Dataset) -> None:
    out = tmp_path / "found"
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", STEER, str(out)])
    wait_for_rows(out)
    os.write(terminal, b"\x03")
    shown = read_terminal(terminal)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 9
    assert "KeyboardInterrupt" in shown and "stopping; Ctrl-C again" in shown
    assert gone(str(out))
    resumes(out, reference)


def test_a_terminal_shows_progress_that_a_pipe_does_not(tmp_path: Path) -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", STEER, str(tmp_path / "found")])
    shown = read_terminal(terminal)
    os.waitpid(child, 0)
    assert f"/{len(TARGETS)}" in shown and "ETA" in shown
    piped = subprocess.run([sys.executable, "-c", STEER, tmp_path / "again"], stderr=subprocess.PIPE, text=True)
    assert piped.stderr == ""


def read_terminal(terminal: int) -> str:
    shown = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    return shown.decode(errors="replace")


def test_termination_ends_the_command_too(tmp_path: Path) -> None:
    out = tmp_path / "found"
    python = subprocess.Popen([sys.executable, "-c", STEER, out], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    wait_for_rows(out)
    python.terminate()
    assert python.wait(timeout=60) == -signal.SIGTERM
    assert gone(str(out))


def test_any_exception_of_a_signal_handler_ends_the_command(tmp_path: Path) -> None:
    def late(*_: object) -> None:
        raise TimeoutError("late")

    out = tmp_path / "found"
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 1.5)
    try:
        with pytest.raises(TimeoutError, match="late"):
            stampmill.steer(target="Load=60,PHI=23,Select=17,TotalInsts=400", budget="60s", out=out)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert gone(str(out))


def test_other_threads_run_meanwhile_and_may_run_commands(texts: list[str]) -> None:
    counted = 0
    found: list[int] = []

    def work() -> None:
        found.append(len(stampmill.features(texts, space="grewe")))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        counted += 1
        time.sleep(0.001)
    assert found == [3, 3] and counted > 10


def test_lines_are_shown_where_a_terminal_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    clock = iter(range(0, 1000, 3))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    lines = _progress.Shown("lines", shown.append)
    for done in range(3):
        lines.write(f"\r\x1b[2Ksteer   \u2588\u2588 {done}/3 ETA 1s".encode())
    lines.write(b"\r\x1b[2Ka note\r\nstampmill: no room; free some\r\nmore of it\r\n")
    lines.end()
    assert shown == [f"steer  \u2588\u2588 {done}/3 ETA 1s\n" for done in range(3)] + ["a note\n"]
    assert lines.error == ["stampmill: no room; free some", "more of it"]


def test_text_that_comes_in_pieces_is_read_as_one() -> None:
    whole = "\r\x1b[2K\x1b[1mprepare\x1b[0m \u2588 1/2\r\n".encode()
    screen = _progress.Screen()
    ended = [line for byte in whole for line in screen.write(bytes([byte]))]
    assert ended == ["prepare \u2588 1/2"]
