"""The progress of a command: what it draws on a terminal, shown on ours or as lines in a notebook."""

from __future__ import annotations

import codecs
import re
import sys
import time
from collections.abc import Callable

SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-Z\\-_])")
PIECES = re.compile(r"(\n|\r|\x1b\[2K|\x1b\[0?K|\x1b\[0?J)")
UNFINISHED = re.compile(r"(\r|\x1b(\[[0-9;?]*[ -/]*)?)\Z")
ERROR = re.compile(r"(stampmill|error): ")


class Screen:
    """The last line of a terminal that bytes are written to, and the lines that are done."""

    def __init__(self) -> None:
        self.line = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._unfinished = ""
        self._at_start = False

    def write(self, data: bytes) -> list[str]:
        """Take what was written; the lines that it ended."""
        text = self._unfinished + self._decoder.decode(data)
        cut = UNFINISHED.search(text)
        self._unfinished = cut[0] if cut else ""
        text = text[: cut.start()] if cut else text
        ended: list[str] = []
        for piece in PIECES.split(text.replace("\r\n", "\n")):
            if piece == "\n":
                ended.append(self.line.rstrip())
                self.line, self._at_start = "", False
            elif piece == "\r":
                self._at_start = True
            elif piece.startswith("\x1b[") and PIECES.fullmatch(piece):
                self.line = ""
            elif words := SEQUENCE.sub("", piece):
                self.line = words if self._at_start else self.line + words
                self._at_start = False
        return ended


class Shown:
    """Shows what a command says while it runs, and keeps what it says at last where that is an error."""

    def __init__(self, kind: str, show: Callable[[str], object] | None = None) -> None:
        """`kind`: `terminal` (one line that changes), `lines` (a line from time to time) or `none` (notes alone)."""
        self.kind = kind
        self.error: list[str] = []
        self._screen = Screen()
        self._show = show or self._print
        self._shown = ""
        self._began = self._at = time.monotonic()

    @staticmethod
    def _print(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    def write(self, data: bytes) -> None:
        for line in self._screen.write(data):
            if self.error or ERROR.match(line):
                self.error.append(line)
            elif line.strip():
                self._clear()
                self._show(line + "\n")
        self._draw()

    def _draw(self) -> None:
        line = self._screen.line.strip()
        now = time.monotonic()
        if not line or self.error or line == self._shown or ERROR.match(line):
            return
        if self.kind == "terminal" and now - self._at >= 0.1:
            self._show("\r\x1b[2K" + line)
        elif self.kind == "lines" and now - self._at >= max(2, (now - self._began) / 10):
            # Ever rarer: a run of hours has some hundred lines.
            self._show(re.sub(r"\s{2,}", "  ", line) + "\n")
        else:
            return
        self._shown, self._at = line, now

    def _clear(self) -> None:
        if self.kind == "terminal" and self._shown:
            self._show("\r\x1b[2K")
            self._shown = ""

    def end(self) -> None:
        """Nothing more comes."""
        last = self._screen.line.strip()
        if last and (self.error or ERROR.match(last)):
            self.error.append(last)
        self._clear()


def kind(wanted: bool | None) -> str:
    """How progress is shown here, where the caller wants it, does not want it, or does not say (`None`)."""
    terminal = False
    try:
        terminal = sys.stderr.isatty()
    except (AttributeError, ValueError):
        pass
    notebook = "ipykernel" in sys.modules and not terminal
    if wanted is False:
        return "none"
    if terminal:
        return "terminal"
    return "lines" if wanted or notebook else "none"
