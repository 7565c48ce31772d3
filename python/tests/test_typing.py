"""The module is typed, and a user's program that has a wrong type is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

USER = """
import stampmill
from stampmill import Dataset, Report

vectors: Dataset = stampmill.features(["kernel void a() {}"], space=["grewe"], jobs=1)
one: Report = stampmill.time("a.cpp", cpu="zen4")
many: Dataset = stampmill.time(["int main() {}"], stdin=[""], runs=2)
reveal_type(vectors.to_pandas())
"""
WRONG = [
    'stampmill.features(["a"], spce="grewe")',
    'stampmill.run("k", values="random")',
    'stampmill.prepare(7)',
    'stampmill.features(["a"], jobs="two")',
    'stampmill.edits.judge("p", tests="t", cpus="zen4")',
    'stampmill.edits.propose("p", out="o", top_p="most")',
    'stampmill.edits.self_play("p", tests="t", out="o", model="m", uri="http://localhost")',
]


def mypy(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", *words], cwd=cwd, stdout=subprocess.PIPE, text=True)


def test_the_module_and_its_tests_pass_strict_checks(root: Path) -> None:
    checked = mypy("--cache-dir", "/dev/null", "src", "tests", cwd=root / "python")
    assert checked.returncode == 0, checked.stdout


def test_users_see_types(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(USER)
    checked = mypy("user.py", cwd=tmp_path)
    assert checked.returncode == 0 and "DataFrame" in checked.stdout, checked.stdout
    (tmp_path / "wrong.py").write_text("import stampmill\n" + "\n".join(WRONG) + "\n")
    checked = mypy("wrong.py", cwd=tmp_path)
    for line in range(2, len(WRONG) + 2):
        assert f"wrong.py:{line}: error" in checked.stdout, checked.stdout
