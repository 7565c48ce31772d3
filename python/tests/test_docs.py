"""docs/python.md shows what its programs print, and lists every function. `BLESS=1` writes both anew."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
from pathlib import Path
from typing import Any

import pytest
import stampmill  # noqa: F401
from stampmill import _stage, rewards

SHOWN = re.compile(r"```python\n(.*?)```\n\n```\n(.*?)```", re.S)
TABLE = re.compile(r"(\| function \| command \| gives \|\n\|---\|---\|---\|\n).*?\n\n", re.S)


def check(page: Path, text: str, name: str) -> None:
    if page.read_text() != text:
        if not os.environ.get("BLESS"):
            pytest.fail(f"{page.name} does not show {name}: BLESS=1 writes it anew\n{text}")
        page.write_text(text)


def test_the_page_shows_what_its_programs_print(root: Path) -> None:
    page = root / "docs" / "python.md"
    known: dict[str, Any] = {"stampmill": stampmill}

    def ran(shown: re.Match[str]) -> str:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(shown[1], known)
        return f"```python\n{shown[1]}```\n\n```\n{output.getvalue()}```"

    check(page, SHOWN.sub(ran, page.read_text()), "what its programs print")


def test_the_page_lists_every_function(root: Path) -> None:
    page = root / "docs" / "python.md"
    rows = []
    for command, function in sorted(_stage.COMMANDS.items(), key=lambda one: (" " in one[0], one[0])):
        module = function.__module__.removeprefix("stampmill.").replace("_stages", "")
        name = f"{module}.{function.__name__}" if module else function.__name__
        taken = [
            one.name
            for one in inspect.signature(function).parameters.values()
            if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        ]
        gives = str(inspect.signature(function).return_annotation)
        rows.append(f"| `{name}({', '.join(taken)}, ...)` | `{command}` | {gives.replace('|', 'or')} |".replace("(, ", "("))
    table = TABLE.sub(lambda found: found[1] + "\n".join(rows) + "\n\n", page.read_text())
    check(page, table, "every function")


def test_cheats_are_verdicts_on_edits(root: Path) -> None:
    for heading, cheats in (("Verdict on an edit", rewards.CHEATS), ("Verdict on an edit of a kernel", rewards.KERNEL_CHEATS)):
        words = (root / "docs" / "schemas.md").read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        known = set(re.findall(r"^\| `([a-z-]+)` \|", words, re.M))
        assert "accepted" in known and cheats < known, heading
    page = (root / "docs" / "python.md").read_text().partition("\n## Rewards\n")[2].partition("\n## ")[0]
    assert all(f"`{cheat}`" in page for cheat in rewards.CHEATS | rewards.KERNEL_CHEATS), "docs/python.md does not name every cheat"
