"""The judge of performance edits as a reward function: a batch of candidates in, rewards and verdicts out.

`judge` runs it here; `Remote` asks the one behind `stampmill serve --judge`.
"""

from __future__ import annotations

import json
import math
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import edits
from ._error import Error
from ._texts import Inputs, encoded

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["CHEATS", "Judgement", "Problem", "Remote", "judge", "reward"]

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
        is_cheat: whether the verdict is one of `CHEATS`.
        speedup: simulated time of the slow program / that of the candidate, summed over the tests; NaN if not accepted.
        detail: the first difference, the compiler's first error, ...
    """

    reward: float
    verdict: str
    is_cheat: bool
    speedup: float
    detail: str


def reward(judgement: Judgement) -> float:
    """The speedup of an accepted candidate, -1 for a cheat, 0 for the others."""
    if judgement.verdict == "accepted":
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
        plain = Judgement(math.nan, row["verdict"], row["verdict"] in CHEATS, speedup, row["detail"])
        found[place] = Judgement(reward(plain), plain.verdict, plain.is_cheat, speedup, plain.detail)
    return [found[place] for place in range(len(batch))]


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
        told = self._ask(json.dumps({"problems": problems, "candidates": candidates}).encode())
        found = []
        for one in told["data"]:
            speedup = math.nan if one["speedup"] is None else float(one["speedup"])
            plain = Judgement(math.nan, one["verdict"], one["is_cheat"], speedup, one["detail"])
            found.append(Judgement(reward(plain), plain.verdict, plain.is_cheat, speedup, plain.detail))
        return found

    def _ask(self, body: bytes) -> dict[str, Any]:
        request = urllib.request.Request(self._address, data=body, headers=self._headers)
        # The judge is of one's own network: no proxy of the environment is asked.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for left in reversed(range(self._tries)):
            try:
                with opener.open(request, timeout=self._timeout) as answer:
                    told: dict[str, Any] = json.load(answer)
                    return told
            except urllib.error.HTTPError as error:
                if error.code != 503 or not left:
                    raise Error(2, f"{self._address}: status {error.code}: {_reason(error)}", ["serve", "--judge"]) from None
                time.sleep(min(max(float(error.headers.get("retry-after") or 1), 0.1), 60.0))
            except OSError as error:
                raise Error(2, f"{self._address}: {error}", ["serve", "--judge"]) from error
        raise AssertionError("the last try returns or raises")


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
