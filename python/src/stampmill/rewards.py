"""The judge of performance edits as a reward function: a batch of candidates in, rewards and verdicts out.

`judge` runs it here, on programs, and `judge_kernels` on OpenCL kernels; `Remote` asks the one behind `stampmill serve --judge`.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import statistics
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import edits
from ._error import Error
from ._stage import Common
from ._texts import Inputs, encoded

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["CHEATS", "KERNEL_CHEATS", "Judgement", "KernelRunning", "Problem", "Remote", "judge", "judge_kernels", "reward"]

CHEATS = frozenset(
    {
        "answer-table",
        "differs-when-timed",
        "fails-hidden-tests",
        "gains-on-known-tests",
        "hard-coded-input",
        "implausible-report",
        "output-before-reading",
        "shrunken-array",
        "touches-channel",
    }
)
"""Verdicts on candidates that look right without being so."""

KERNEL_CHEATS = frozenset({"changes-later"})
"""The same of kernels."""

BLOCK = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```[ \t]*$", re.S | re.M)
"""A code block of an answer."""


@dataclass(frozen=True)
class Problem:
    """A slow C++ program, and what shows that a faster one computes the same.

    Attributes:
        slow: the program.
        tests: inputs and expected outputs, known to whoever proposes candidates.
        hidden: those that are not known: a candidate that passes `tests` and fails here is a cheat.
    """

    slow: str
    tests: tuple[tuple[str, str], ...]
    hidden: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Judgement:
    """What was found out about a candidate.

    Attributes:
        reward: what `reward` makes of the rest, or the function that was given.
        verdict: `accepted`, or why not.
        is_cheat: whether the verdict is one of `CHEATS`, or of `KERNEL_CHEATS`.
        speedup: simulated time of the slow program / that of the candidate, summed over the tests; of kernels measured time of the
            slow one / that of the candidate, the geometric mean over devices and sizes. NaN if not accepted, or not timed.
        detail: the first difference, the compiler's first error, ...
    """

    reward: float
    verdict: str
    is_cheat: bool
    speedup: float
    detail: str


def reward(judgement: Judgement) -> float:
    """The speedup of an accepted candidate, -1 for a cheat, 0 for the others, and for what was not timed."""
    if judgement.verdict == "accepted" and not math.isnan(judgement.speedup):
        return judgement.speedup
    return -1.0 if judgement.is_cheat else 0.0


def judge(
    batch: Sequence[tuple[Problem, str]],
    *,
    reward: Callable[[Judgement], float] = reward,
    **running: Unpack[edits.Running],
) -> list[Judgement]:
    """Judge a batch of (problem, candidate): one judgement for each, in the order of the batch.

    Candidates are compiled, tested and timed in a sandbox. Results are cached: the same candidate costs nothing twice.

    Raises:
        Error: this machine failed (disk full, a killed tool); the same call does the rest.
    """
    if not batch:
        return []
    of: dict[Problem, list[int]] = {}
    for place, (problem, _) in enumerate(batch):
        of.setdefault(problem, []).append(place)
    with Inputs() as inputs:
        folder = inputs.folder()
        pairs, answers = [], []
        for number, (problem, places) in enumerate(of.items()):
            name = f"p{number}"
            # A pair has an improved version; where none is known, the slow one stands for it.
            pairs.append({"problem_id": name, "src_id": name, "tgt_id": name, "src_code": problem.slow, "tgt_code": problem.slow})
            answers.append({"src_id": name, "generated_answers": [batch[place][1] for place in places]})
            _write(folder / "tests" / name, problem.tests)
            _write(folder / "hidden" / name, problem.hidden)
        for file, lines in (("pairs.jsonl", pairs), ("answers.jsonl", answers)):
            (folder / file).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        hidden = folder / "hidden" if any(problem.hidden for problem in of) else None
        judged = edits.judge(
            folder / "pairs.jsonl", candidates=folder / "answers.jsonl", tests=folder / "tests", hidden=hidden, **running
        )
        columns = ["src_id", "candidate", "verdict", "detail", "src_seconds", "seconds"]
        rows = judged.to_arrow().select(columns).to_pylist()
    found: dict[int, Judgement] = {}
    all_places = list(of.values())
    for row in rows:
        place = all_places[int(row["src_id"][1:])][row["candidate"]]
        accepted = row["verdict"] == "accepted"
        speedup = row["src_seconds"] / row["seconds"] if accepted and row["seconds"] else math.nan
        found[place] = _rewarded(row["verdict"], row["verdict"] in CHEATS, speedup, row["detail"], reward)
    return [found[place] for place in range(len(batch))]


class KernelRunning(Common, total=False):
    """On what kernels are run, and how they are timed."""

    devices: str | Sequence[str]
    global_sizes: str | int | Sequence[int | str]
    payloads: int
    seed: int
    limit: str
    budget: str


def judge_kernels(
    batch: Sequence[tuple[str, str]],
    *,
    reward: Callable[[Judgement], float] = reward,
    **running: Unpack[KernelRunning],
) -> list[Judgement]:
    """Judge a batch of (slow kernel, candidate): one judgement for each, in the order of the batch.

    Candidates are run and timed beside their slow kernels in a sandbox, as by `edits.judge_kernels`. What a model answers may
    stand for a candidate: its last code block with a kernel is judged. Equal candidates of a batch are judged once, and a slow
    kernel is checked once. Nothing is kept for the next batch: the judge that `Remote` asks keeps it.

    Raises:
        Error: this machine failed or has no device; the same call does the rest.
    """
    if not batch:
        return []
    pairs = [(before, _kernel(after)) for before, after in batch]
    # Candidates for one kernel come one after the other: a worker keeps what it has built.
    of = {pair: str(number) for number, pair in enumerate(sorted(set(pairs)))}
    with Inputs() as inputs:
        file = inputs.folder() / "pairs.jsonl"
        with file.open("w", encoding="utf-8") as lines:
            for (before, after), name in of.items():
                # Payloads are drawn by the name of the slow kernel: they do not depend on the rest of the batch.
                source = hashlib.sha256(encoded(before)).hexdigest()[:32]
                lines.write(json.dumps({"src_id": source, "tgt_id": name, "src_code": before, "tgt_code": after}) + "\n")
        judged = edits.judge_kernels(file, **running)
        rows = judged.to_arrow().select(["tgt_id", "verdict", "detail", "speedup"]).to_pylist()
    rows_of: dict[str, list[dict[str, Any]]] = {name: [] for name in of.values()}
    for row in rows:
        rows_of[row["tgt_id"]].append(row)
    found = {name: _of_rows(rows, reward) for name, rows in rows_of.items()}
    return [found[of[pair]] for pair in pairs]


class Remote:
    """The judge behind `stampmill serve --judge`, which may be on another machine: its trainers share one cache.

    A server whose places are all taken (status 503) is asked again when it says.
    """

    def __init__(self, url: str, *, token: str | None = None, timeout: float = 600.0, tries: int = 10) -> None:
        """Nothing is asked yet.

        Args:
            url: what `stampmill serve --judge` prints, as `http://127.0.0.1:8001/v1`.
            token: what stands in the server's `--token-file`.
            timeout: seconds to wait for an answer.
            tries: times that a busy server is asked.
        """
        self._address = url.rstrip("/").removesuffix("/judge") + "/judge"
        self._headers = {"content-type": "application/json"}
        if token is not None:
            self._headers["authorization"] = f"Bearer {token}"
        self._timeout, self._tries = timeout, max(tries, 1)

    def judge(
        self, batch: Sequence[tuple[Problem, str]], *, reward: Callable[[Judgement], float] = reward
    ) -> list[Judgement]:
        """As `judge`, by the server.

        Raises:
            Error: the server refuses, fails or is not there.
        """
        if not batch:
            return []
        names: dict[Problem, str] = {}
        for problem, _ in batch:
            names.setdefault(problem, f"p{len(names)}")
        problems = {name: {"slow": of.slow, "tests": of.tests, "hidden": of.hidden} for of, name in names.items()}
        candidates = [{"problem": names[problem], "code": code} for problem, code in batch]
        return self._judged(self._address, {"problems": problems, "candidates": candidates}, reward)

    def judge_kernels(
        self, batch: Sequence[tuple[str, str]], *, reward: Callable[[Judgement], float] = reward
    ) -> list[Judgement]:
        """As `judge_kernels`, by the server, on its devices and at its sizes.

        Raises:
            Error: the server refuses, fails, has no device or is not there.
        """
        if not batch:
            return []
        pairs = [{"before": before, "after": _kernel(after)} for before, after in batch]
        return self._judged(self._address + "/kernels", {"pairs": pairs}, reward)

    def _judged(self, address: str, asked: object, reward: Callable[[Judgement], float]) -> list[Judgement]:
        found = []
        for one in self._ask(address, json.dumps(asked).encode())["data"]:
            speedup = math.nan if one["speedup"] is None else float(one["speedup"])
            found.append(_rewarded(one["verdict"], one["is_cheat"], speedup, one["detail"], reward))
        return found

    def _ask(self, address: str, body: bytes) -> dict[str, Any]:
        request = urllib.request.Request(address, data=body, headers=self._headers)
        # The judge is of one's own network: no proxy of the environment is asked.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for left in reversed(range(self._tries)):
            try:
                with opener.open(request, timeout=self._timeout) as answer:
                    told: dict[str, Any] = json.load(answer)
                    return told
            except urllib.error.HTTPError as error:
                if error.code != 503 or not left:
                    raise Error(2, f"{address}: status {error.code}: {_reason(error)}", ["serve", "--judge"]) from None
                time.sleep(min(max(float(error.headers.get("retry-after") or 1), 0.1), 60.0))
            except OSError as error:
                raise Error(2, f"{address}: {error}", ["serve", "--judge"]) from error
        raise AssertionError("the last try returns or raises")


def _rewarded(verdict: str, is_cheat: bool, speedup: float, detail: str, reward: Callable[[Judgement], float]) -> Judgement:
    plain = Judgement(math.nan, verdict, is_cheat, speedup, detail)
    return Judgement(reward(plain), verdict, is_cheat, speedup, detail)


def _of_rows(rows: list[dict[str, Any]], reward: Callable[[Judgement], float]) -> Judgement:
    """A kernel's judgement. Sizes at which the slow kernel itself fails say nothing of it, unless there are no others."""
    told = [row for row in rows if row["verdict"] != "source-fails"] or rows
    wrong = next((row for row in told if row["verdict"] != "accepted"), None)
    if wrong is not None:
        return _rewarded(wrong["verdict"], wrong["verdict"] in KERNEL_CHEATS, math.nan, wrong["detail"], reward)
    times = [row["speedup"] or 0.0 for row in told]
    speedup = statistics.geometric_mean(times) if all(time > 0 for time in times) else math.nan
    return _rewarded("accepted", False, speedup, "", reward)


def _kernel(answer: str) -> str:
    """The kernel in an answer: the last code block with one, without code blocks all of it."""
    if "```" not in answer:
        return answer
    blocks = [block for block in BLOCK.findall(answer) if "kernel" in block]
    return blocks[-1] if blocks else ""


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return str(error.reason)


def _write(folder: Path, tests: Sequence[tuple[str, str]]) -> None:
    folder.mkdir(parents=True)
    for number, (given, wanted) in enumerate(tests):
        (folder / f"input.{number}.txt").write_bytes(encoded(given))
        (folder / f"output.{number}.txt").write_bytes(encoded(wanted))
