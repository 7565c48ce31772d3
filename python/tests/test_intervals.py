"""The intervals of shares that two pages of results print are those of `scripts/figures/tools.py`."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def scripts(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("scripts", "scripts/figures"):
        monkeypatch.syspath_prepend(str(root / folder))


def test_mutants_have_the_intervals_that_their_page_prints(root: Path) -> None:
    wilson = importlib.import_module("mutants").wilson
    checked = 0
    for line in (root / "docs" / "results" / "mutants.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 11 and cells[1].isdigit():
            caught, missed = int(cells[5]) + int(cells[6]), int(cells[8])
            low, high = wilson(caught, caught + missed)
            assert cells[10] == f"{100 * low:.0f} to {100 * high:.0f} %", line
            checked += 1
    assert checked > 0


def test_kinds_of_edits_have_the_intervals_that_their_page_prints(root: Path) -> None:
    interval = importlib.import_module("edit_kinds").interval
    page = (root / "docs" / "results" / "edit-kinds.md").read_text()
    printed = re.findall(r"(\d+) of (\d+) \(\d+ %\) (\[\d+, \d+\])", page)
    assert printed
    for part, whole, said in printed:
        assert said == interval(int(part), int(whole)), (part, whole)


def test_no_interval_leaves_the_shares_that_there_are() -> None:
    wilson = importlib.import_module("tools").wilson
    assert wilson(0, 7)[0] == 0.0 and wilson(7, 7)[1] == 1.0
    assert wilson(0, 7)[1] == pytest.approx(1.0 - wilson(7, 7)[0])
