#!/usr/bin/env python3
"""The model that ships in models/cost, and the tables of its card, of the data sets that scripts/chosen_points.py left in WORK.

    scripts/cost_model.py STAMPMILL SUITES.jsonl WORK OUT [--model forest] [--seed 0]

Trained on the mined kernels of the packages that scripts/pipelines.py does not hold out; scored on those that it does, and on the suites'
kernels: for each the root of the mean squared difference of log2, beside one-variable regression on the instruction count and a constant.
"""
import argparse
import collections
import json
import math
import pathlib
import statistics
import subprocess


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("stampmill", "suites", "work", "out"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--model", default="forest")
    parser.add_argument("--seed", default="0")
    options = parser.parse_args()

    def stampmill(*arguments):
        command = [str(options.stampmill), *map(str, arguments)]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout

    mined = options.work / "mined-cycles"
    line = options.work / "lin1.json"
    for kind, path in ((options.model, options.out), ("lin1", line)):
        print(stampmill("heuristic", "train", mined, "--model", kind, "--seed", options.seed, "--out", path, "--force"), end="")
    costs = stampmill("query", "SELECT costs[1] AS cost FROM t WHERE label IS NOT NULL", f"t={mined}", "--format", "jsonl")
    constant = statistics.fmean(math.log2(json.loads(row)["cost"]) for row in costs.splitlines())
    names = [json.loads(text)["benchmark"] for text in options.suites.read_text().splitlines()]
    suite_of = {f"{at:03}.cl": suite(name) for at, name in enumerate(names)}
    for title, table, group_of in (
        ("held-out package", "test-cycles", None),
        ("suite", "suites-cycles", lambda program: suite_of[program.split("@")[0].split("/")[-1]]),
    ):
        told = {}
        for kind, path in ((options.model, options.out), ("lin1", line)):
            told[kind] = json.loads(stampmill("heuristic", "predict", path, options.work / table, "--json", "-q"))["predictions"]
        rows = stampmill("query", 'SELECT program, "group" AS package FROM t', f"t={options.work / table}", "--format", "jsonl")
        packages = {row["program"]: row["package"] for row in map(json.loads, rows.splitlines())}
        group_of = group_of or packages.__getitem__
        off = collections.defaultdict(lambda: collections.defaultdict(list))
        for kind, predictions in told.items():
            for one in predictions:
                true = math.log2(one["cost"])
                for group in (group_of(one["program"]), "all"):
                    off[group][kind].append(math.log2(one["predicted"]) - true)
                    if kind == "lin1":
                        off[group]["constant"].append(constant - true)
        print(f"\n| {title} | kernels | {options.model} | within a factor (median) | lin1 | constant |\n|---|---|---|---|---|---|")
        for group in sorted(off, key=lambda group: (group == "all", -len(off[group]["lin1"]))):
            root = {kind: math.sqrt(statistics.fmean(value**2 for value in values)) for kind, values in off[group].items()}
            factor = 2 ** statistics.median(map(abs, off[group][options.model]))
            print(f"| {group} | {len(off[group]['lin1'])} | {root[options.model]:.2f} | {factor:.2f} | {root['lin1']:.2f} | {root['constant']:.2f} |")


def suite(name):
    """The suite in a benchmark's name: what stands before its version."""
    head = []
    for piece in name.split("-"):
        if piece[:1].isdigit():
            break
        head.append(piece)
    return "-".join(head)


if __name__ == "__main__":
    main()
