"""The judge over HTTP: `rewards.Remote`, and the reward functions that docs/guide/rewards.md shows for trainers."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stampmill import Error, rewards
from stampmill._binary import binary

SLOW = """#include <cstdio>
int main() { int n; scanf("%d", &n); volatile long s = 0;
for (int k = 0; k < 200; k++) { s = 0; for (int i = 1; i <= n; i++) s += i; } printf("%ld\\n", s); }
"""
FAST = """#include <cstdio>
int main() { int n; scanf("%d", &n); printf("%ld\\n", (long)n * (n + 1) / 2); }
"""
CHEAT = """#include <cstdio>
int main() { int n; scanf("%d", &n); puts(n == 1000 ? "500500" : "2001000"); }
"""
PROBLEM = rewards.Problem(SLOW, (("1000\n", "500500\n"), ("2000\n", "2001000\n")), (("3000\n", "4501500\n"),))
TOKEN = "correct-horse-battery"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("judge")
    (folder / "token").write_text(TOKEN)
    words = [str(binary()), "serve", "--judge", "--json", "--token-file", str(folder / "token")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        yield json.loads(child.stdout.readline())["url"]
        child.terminate()
        assert child.wait() == 0


def test_a_server_judges_as_the_module_does(server: str) -> None:
    batch = [(PROBLEM, CHEAT), (PROBLEM, FAST), (PROBLEM, "int main( {")]
    far, near = rewards.Remote(server, token=TOKEN).judge(batch), rewards.judge(batch)
    assert [one.verdict for one in far] == [one.verdict for one in near] == ["answer-table", "accepted", "does-not-compile"]
    assert far[1].reward == pytest.approx(near[1].reward, abs=1e-5) and far[1].reward > 2
    assert [one.is_cheat for one in far] == [True, False, False] and far[0].reward == -1
    flat = rewards.Remote(server + "/judge", token=TOKEN).judge(batch[1:2], reward=lambda one: float(one.verdict == "accepted"))
    assert flat[0].reward == 1
    assert rewards.Remote(server, token=TOKEN).judge([]) == []


def test_what_the_server_refuses_is_an_error(server: str) -> None:
    with pytest.raises(Error, match="status 401.*token"):
        rewards.Remote(server).judge([(PROBLEM, FAST)])
    with pytest.raises(Error, match="127.0.0.1:9"):
        rewards.Remote("http://127.0.0.1:9/v1", tries=1).judge([(PROBLEM, FAST)])


def test_the_reward_functions_of_the_book(server: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (root / "docs" / "guide" / "rewards.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.S | re.M)
    assert len(blocks) == 3
    monkeypatch.setenv("JUDGE_URL", server)
    monkeypatch.setenv("JUDGE_TOKEN", TOKEN)
    known: dict[str, Any] = {}
    for block in blocks:
        exec(block, known)
    said = [f"```cpp\n{FAST}```", [{"role": "assistant", "content": f"Here:\n```cpp\n{CHEAT}```"}], "no program"]
    known["PROBLEMS"]["sum"] = PROBLEM
    found = known["speedup"](prompts=["", "", ""], completions=said, problem=["sum"] * 3)
    assert found[0] > 2 and found[1:] == [-1.0, 0.0]
    truth = json.dumps({"slow": SLOW, "tests": PROBLEM.tests, "hidden": PROBLEM.hidden})
    score = known["compute_score"]("sums", said[0], truth)
    assert score["score"] == pytest.approx(found[0]) and score["is_cheat"] is False and score["verdict"] == "accepted"
