#!/usr/bin/env python3
"""The experiment of docs/results/made-programs.md: which programs make a cost model of kernels better?

    scripts/cost_arms.py STAMPMILL KERNELS SUITES.jsonl MODEL WORK [--added 100] [--made 140] [--seed 0]

KERNELS is a data set of `prepare` with packages, SUITES.jsonl has lines with `src` (what CLgen's users have). Test: the packages
that scripts/pipelines.py holds out. Base: suite kernels. Arms: mined kernels of the other packages, samples of MODEL, kernels steered to points
between two mined kernels drawn at random, and to points of mined kernels. Everything but the last two steps makes programs; then all are labelled
(`label --task mca`, features of unoptimized code) and `heuristic arms` compares them. Steps that are done are not done again.
"""
import argparse
import json
import pathlib
import random
import subprocess

from pipelines import HELD_OUT

SPACES = "instcount,loops"
TERMINATORS = range(3, 10)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("stampmill", "kernels", "suites", "model", "work"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--added", type=int, default=100)
    parser.add_argument("--made", type=int, default=140, help="programs made for an arm: some have no label")
    parser.add_argument("--candidates", type=int, default=300)
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--make-only", action="store_true", help="make the programs and stop")
    options = parser.parse_args()
    work = options.work
    work.mkdir(parents=True, exist_ok=True)

    def stampmill(*arguments, out=None):
        if out is not None:
            if (work / out).exists():
                return ""
            arguments = (*arguments, "--out", work / out, "--quiet")
        command = [str(options.stampmill), *map(str, arguments)]
        print("+", *command, flush=True)
        # Status 1 is an answer: of these programs none.
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode > 1:
            raise SystemExit(f"ended with {done.returncode}")
        return done.stdout

    held = ", ".join(f"'{name}'" for name in HELD_OUT)
    kernels = f"k={options.kernels}"
    stampmill("query", f"SELECT * FROM k WHERE verdict = 'accepted' AND package IN ({held})", kernels, out="test")
    stampmill("query", f"SELECT * FROM k WHERE verdict = 'accepted' AND package NOT IN ({held}) AND family NOT IN "
              f"(SELECT family FROM k WHERE package IN ({held}))", kernels, out="mined")
    suites = work / "suites"
    if not suites.exists():
        suites.mkdir()
        for number, line in enumerate(options.suites.read_text().splitlines()):
            (suites / f"{number:03}.cl").write_text(json.loads(line)["src"])
    stampmill("features", work / "mined", "--space", "instcount", out="points")
    rows = stampmill("query", "SELECT instcount FROM v WHERE verdict = 'accepted' ORDER BY id", f"v={work / 'points'}", "--format", "jsonl")
    points = [json.loads(line)["instcount"] for line in rows.splitlines()]
    rng = random.Random(options.seed)
    mined = rng.sample(points, options.made)
    between = []
    for _ in range(options.made):
        (one, other), share = rng.sample(points, 2), rng.random()
        point = [round(a + share * (b - a)) for a, b in zip(one, other)]
        point[0] = sum(point[3:])
        point[1] = sum(point[at] for at in TERMINATORS)
        between.append(point)
    for name, targets in (("steered-random", between), ("steered-mined", mined)):
        path = work / f"{name}.jsonl"
        path.write_text("".join(json.dumps({"target": f"t{at:03}", "instcount": point}) + "\n" for at, point in enumerate(targets)))
        stampmill("steer", "--as-found", "--space", "instcount", "--targets", path, "--seeds", work / "mined", "--exclude", work / "test",
                  "--budget", options.candidates, "--seed", options.seed, out=name)
    stampmill("sample", options.model, "--n", 2 * options.made, "--seed", options.seed, out="sampled")
    if options.make_only:
        return
    labels = {}
    for name in ("test", "suites", "mined", "sampled", "steered-random", "steered-mined"):
        stampmill("features", work / name, "--space", SPACES, "--opt", "0", out=f"{name}-vectors")
        stampmill("label", "--task", "mca", work / name, "--features", work / f"{name}-vectors", out=f"{name}-cycles")
        labels[name] = work / f"{name}-cycles"
    arms = [labels[name] for name in ("mined", "sampled", "steered-random", "steered-mined")]
    found = stampmill("heuristic", "arms", *arms, "--base", labels["suites"], "--test", labels["test"], "--base-size", 200,
                      "--added", options.added, "--draws", options.draws, "--seed", options.seed, "--json")
    (work / "arms.json").write_text(found)
    bias = stampmill("heuristic", "diagnose", labels["mined"], *(word for arm in arms[1:] for word in ("--made", arm)), "--seed", options.seed, "--json")
    (work / "bias.json").write_text(bias)
    print(found)
    print(json.dumps(json.loads(bias)["made"]))


if __name__ == "__main__":
    main()
