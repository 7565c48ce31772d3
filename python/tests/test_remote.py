"""The judge over HTTP: `rewards.Remote`, and the reward functions that docs/guide/rewards.md shows for trainers."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
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
SLOW_KERNEL = """kernel void twice(global const float* x, global float* y) {
  int i = get_global_id(0); float s = 0.0f; for (int k = 0; k < 64; k++) s += x[i] * 0.03125f; y[i] = s; }
"""
FAST_KERNEL = "kernel void two(global const float* a, global float* b) { int i = get_global_id(0); b[i] = 2.0f * a[i]; }"
LAZY_KERNEL = FAST_KERNEL.replace("b[i]", "if (i < 100) b[i]")
ON = {"devices": "cpu", "global_sizes": "2^10", "budget": "10ms"}
TOKEN = "correct-horse-battery"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("judge")
    (folder / "token").write_text(TOKEN)
    words = [str(binary()), "serve", "--judge", "--json", "--token-file", str(folder / "token")]
    words += [word for name, value in ON.items() for word in (f"--{name.replace('_', '-')}", value)]
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


def test_kernels_are_judged_as_programs_are(server: str) -> None:
    fenced = f"So:\n```c\n{FAST_KERNEL}\n```\n"
    answers = [LAZY_KERNEL, fenced, "kernel void x( {", "``` no kernel", FAST_KERNEL]
    batch = [(SLOW_KERNEL, answer) for answer in answers]
    far = rewards.Remote(server, token=TOKEN).judge_kernels(batch)
    near = rewards.judge_kernels(batch, devices="cpu", global_sizes="2^10", budget="10ms")
    for found in (far, near):
        verdicts = [one.verdict for one in found]
        assert verdicts == ["wrong-output", "accepted", "does-not-compile", "interface-differs", "accepted"]
        assert all(one.reward == one.speedup > 0 for one in (found[1], found[4]))
        assert found[0].reward == found[2].reward == 0 and math.isnan(found[0].speedup)
        assert not any(one.is_cheat for one in found)
    again = rewards.Remote(server, token=TOKEN).judge_kernels(batch[1:2], reward=lambda one: 2 * one.speedup)
    assert again[0].speedup == far[1].speedup and again[0].reward == 2 * far[1].speedup
    assert rewards.Remote(server, token=TOKEN).judge_kernels([]) == rewards.judge_kernels([]) == []
    checked = rewards.judge_kernels([(SLOW_KERNEL, FAST_KERNEL)], devices="cpu", global_sizes="2^10", budget="0s")
    assert checked[0].verdict == "accepted" and checked[0].reward == 0 and math.isnan(checked[0].speedup)
    failing = rewards.judge_kernels([("kernel void f(", FAST_KERNEL)], devices="cpu", global_sizes="2^10", budget="10ms")
    assert [one.verdict for one in failing] == ["source-fails"]


def test_rows_of_a_kernel_are_joined_as_the_server_joins_them(root: Path) -> None:
    for case in json.loads((root / "crates" / "serve" / "cases" / "kernel_judgements.json").read_text()):
        found, told = rewards._of_rows(case["rows"], rewards.reward), case["told"]
        assert (found.verdict, found.is_cheat, found.detail) == (told["verdict"], told["is_cheat"], told["detail"]), case
        wanted = math.nan if told["speedup"] is None else told["speedup"]
        assert found.speedup == pytest.approx(wanted, nan_ok=True), case


def test_best_of_n_goes_around(root: Path) -> None:
    words = [sys.executable, str(root / "examples" / "best-of-n.py"), "--n", "2", "--rounds", "1", "--kernels", "1"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    assert re.search(r"^copy, round 1: \d of \d are right", done.stdout, re.M) and "times as fast" in done.stdout


def test_what_the_server_refuses_is_an_error(server: str) -> None:
    with pytest.raises(Error, match="status 401.*token"):
        rewards.Remote(server).judge([(PROBLEM, FAST)])
    with pytest.raises(Error, match="127.0.0.1:9"):
        rewards.Remote("http://127.0.0.1:9/v1", tries=1).judge([(PROBLEM, FAST)])


def test_the_reward_functions_of_the_book(server: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (root / "docs" / "guide" / "rewards.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.S | re.M)
    assert len(blocks) == 4
    monkeypatch.setenv("JUDGE_URL", server)
    monkeypatch.setenv("JUDGE_TOKEN", TOKEN)
    known: dict[str, Any] = {}
    for block in blocks:
        exec(block, known)
    said = [f"```cpp\n{FAST}```", [{"role": "assistant", "content": f"Here:\n```cpp\n{CHEAT}```"}], "no program"]
    known["PROBLEMS"]["sum"] = PROBLEM
    found = known["speedup"](prompts=["", "", ""], completions=said, problem=["sum"] * 3)
    assert found[0] > 2 and found[1:] == [-1.0, 0.0]
    known["KERNELS"]["twice"] = SLOW_KERNEL
    judged = known["kernel_speedup"](prompts=["", ""], completions=[f"```c\n{FAST_KERNEL}\n```", LAZY_KERNEL], kernel=["twice"] * 2)
    assert judged[0] > 0 and judged[1] == 0
    truth = json.dumps({"slow": SLOW, "tests": PROBLEM.tests, "hidden": PROBLEM.hidden})
    score = known["compute_score"]("sums", said[0], truth)
    assert score["score"] == pytest.approx(found[0]) and score["is_cheat"] is False and score["verdict"] == "accepted"
