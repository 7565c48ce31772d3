"""Tests of the wheel as installed: `scripts/wheel.sh --test` runs them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

SCALE = "kernel void scale(global float* x, const float y) { int i = get_global_id(0); x[i] = x[i] * y + 1.0f; }"
BROKEN = "kernel void broken(global float* x { x[0] = 1; }"
BUMP = "kernel void bump(global int* x) { x[get_global_id(0)] += 3; }"


@pytest.fixture
def texts() -> list[str]:
    return [SCALE, BROKEN, BUMP]


@pytest.fixture(scope="session")
def wheel() -> Path:
    named = os.environ.get("STAMPMILL_WHEEL")
    if not named:
        pytest.fail("no wheel: `scripts/wheel.sh --test` names it in STAMPMILL_WHEEL")
    return Path(named)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return Path(__file__).resolve().parent.parent.parent


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Note the outcomes where the repository's other tests note theirs."""
    folder = os.environ.get("STAMPMILL_OUTCOMES")
    if not folder:
        return
    stats = terminalreporter.stats
    passed, skipped = len(stats.get("passed", [])), stats.get("skipped", [])
    failed = len(stats.get("failed", [])) + len(stats.get("error", []))
    lines = [f"{one.nodeid}\t{one.longrepr[2]}" for one in skipped]
    (Path(folder) / "python").write_text("\n".join([f"{passed} {failed} {len(skipped)}", *lines]) + "\n")
