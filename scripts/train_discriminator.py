#!/usr/bin/env python3
"""The discriminator of kernels that `steer --natural` looks at: what people wrote against what was made, by shape.

    scripts/train_discriminator.py STAMPMILL KERNELS MODEL WORK [--cap 60] [--budget 1000] [--seed 0] [--out MODEL/discriminator.json]

A logistic regression on the measures of scripts/shape.py. People's: kernels of KERNELS, a data set of `prepare`, under 100 instructions, one of
a family and --cap of a package at most, of the packages that scripts/pipelines.py does not hold out: figures are tested on those that it does.
Made: kernels steered from nothing to the InstCount points of these, as they are found and as `steer` writes them, and samples of MODEL. In each class of
lengths (tokens, half octaves) the made ones weigh as much as people's. Accuracy is of five folds of whole packages. Steps that are done in WORK are not
done again. Some twenty minutes on two cores.
"""
import argparse
import collections
import json
import math
import pathlib
import random
import subprocess

from pipelines import HELD_OUT
from shape import NAMES, as_mined, shape, tokens

INSTRUCTIONS = 100
# As in crates/synth/src/search/discriminator.rs.
FARTHEST = 3.0
# What a squared weight costs, beside the log-likelihood of all kernels.
RIDGE = 2.0
FOLDS = 5
# Kernels in the file, with what is said of them: no text of people's.
EXAMPLES = 6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("stampmill", "kernels", "model", "work"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--cap", type=int, default=60)
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)

    people = humans(options)
    made = machines(options, people)
    kernels = [{**one, "human": 1} for one in people] + [{**one, "human": 0} for one in made]
    for one in kernels:
        one["shape"], one["class"] = shape(one["text"]), length_class(one["text"])
    kernels = weighed(kernels)
    accuracy = crossed(kernels, options.seed)
    model = fitted(kernels)
    own = sorted((one["text"] for one in kernels if one["source"].startswith("steered")), key=len)
    chosen = [own[at * (len(own) - 1) // (EXAMPLES - 1)] for at in range(EXAMPLES)]
    found = {
        "bias": model["bias"],
        "features": [dict(zip(("name", "mean", "scale", "weight"), one)) for one in zip(NAMES, model["mean"], model["scale"], model["weight"])],
        "examples": [{"text": text, "human": said(model, shape(text))} for text in chosen],
        "packages": sorted({one["package"] for one in people}),
        "kernels": dict(collections.Counter(one["source"] for one in kernels)),
        "accuracy": round(accuracy, 4),
        "seed": options.seed,
    }
    out = options.out or options.model / "discriminator.json"
    out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    print(f"{out}: {len(kernels)} kernels, accuracy {100 * accuracy:.1f} % on packages that it was not trained on (50 % is chance)")
    for name, weight in sorted(zip(NAMES, model["weight"]), key=lambda one: -abs(one[1]))[:12]:
        print(f"  {'made' if weight > 0 else 'people'}: {name} {abs(weight):.2f}")


def run(options, *arguments):
    return subprocess.run([str(options.stampmill), *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=True).stdout


def rows(options, sql, **tables):
    told = run(options, "query", sql, *(f"{name}={path}" for name, path in tables.items()), "--format", "jsonl")
    return [json.loads(line) for line in told.splitlines()]


def once(options, name, *command):
    out = options.work / name
    if not (out / "_dataset.json").exists():
        # 1 is a negative result, which is a result.
        done = subprocess.run([str(options.stampmill), *map(str, command), "--out", str(out), "-qq"])
        if done.returncode not in (0, 1):
            raise SystemExit(f"discriminator: {name} ended with {done.returncode}")
    return out


def humans(options):
    draw = random.Random(options.seed)
    held_out = ", ".join(f"'{name}'" for name in HELD_OUT)
    held = f"SELECT family FROM k WHERE package IN ({held_out})"
    sql = f"SELECT id, package, family, text FROM k WHERE verdict = 'accepted' AND family NOT IN ({held}) ORDER BY id"
    known = {row["id"]: row for row in rows(options, sql, k=options.kernels)}
    vectors = once(options, "people", "features", options.kernels, "--space", "instcount")
    described = rows(options, "SELECT id, instcount FROM v WHERE verdict = 'accepted' ORDER BY id", v=vectors)
    draw.shuffle(described)
    packages, families, found = collections.Counter(), set(), []
    for one in described:
        kernel = known.get(one["id"])
        if kernel is None or one["instcount"] is None or one["instcount"][0] >= INSTRUCTIONS:
            continue
        if kernel["family"] not in families and packages[kernel["package"]] < options.cap:
            packages[kernel["package"]] += 1
            families.add(kernel["family"])
            found.append({**kernel, "point": one["instcount"], "source": "people"})
    return found


def machines(options, people):
    targets = options.work / "targets.jsonl"
    targets.write_text("".join(json.dumps({"target": one["id"][:12], "instcount": one["point"]}) + "\n" for one in people))
    package = {one["id"][:12]: one["package"] for one in people}
    draws = ["--seed", options.seed, "--jobs", options.jobs]
    steer = ["steer", "--space", "instcount", "--targets", targets, "--proposers", "construct,guided,combine", *draws]
    found = []
    # More candidates where some of them are spent on other things than the search.
    for source, flags in (
        ("steered, as found", ["--budget", options.budget, "--as-found"]),
        ("steered, as written", ["--budget", 2 * options.budget]),
    ):
        out = once(options, source.replace(", ", "-").replace(" ", "-"), *steer, *flags)
        for row in rows(options, "SELECT target, text FROM s WHERE verdict = 'accepted' AND rank = 1 ORDER BY target", s=out):
            found.append({"text": as_mined(row["text"]), "package": package[row["target"]], "source": source})
    out = once(options, "samples", "sample", options.model, "--n", 2 * len(people), *draws)
    names = sorted(set(package.values()))
    for number, row in enumerate(rows(options, "SELECT text FROM s WHERE verdict = 'accepted' ORDER BY number", s=out)):
        found.append({"text": as_mined(row["text"]), "package": names[number % len(names)], "source": "samples"})
    return found


def length_class(text):
    return int(2 * math.log2(max(1, len(tokens(text)))))


def weighed(kernels):
    """Those of lengths that both sides have, the made ones weighing as much as people's in each class of lengths."""
    counts = collections.Counter((one["class"], one["human"]) for one in kernels)
    found = []
    for one in kernels:
        humans_there, made_there = counts[one["class"], 1], counts[one["class"], 0]
        if humans_there and made_there:
            found.append({**one, "weight": 1.0 if one["human"] else humans_there / made_there})
    return found


def crossed(kernels, seed):
    """Accuracy on packages that were not trained on, by weight."""
    packages = sorted({one["package"] for one in kernels})
    random.Random(seed).shuffle(packages)
    fold = {package: at % FOLDS for at, package in enumerate(packages)}
    right = every = 0.0
    for at in range(FOLDS):
        learned = [one for one in kernels if fold[one["package"]] != at]
        asked = [one for one in kernels if fold[one["package"]] == at]
        if not asked or len({one["human"] for one in learned}) < 2:
            continue
        model = fitted(learned)
        for one in asked:
            every += one["weight"]
            right += one["weight"] * ((said(model, one["shape"]) > 0.5) == bool(one["human"]))
    return right / every if every else 0.5


def standard(model, values):
    return [max(-FARTHEST, min(FARTHEST, (value - mean) / scale)) for value, mean, scale in zip(values, model["mean"], model["scale"])]


def said(model, values):
    """The probability that a person wrote it."""
    made = model["bias"] + sum(weight * value for weight, value in zip(model["weight"], standard(model, values)))
    return 1 / (1 + math.exp(made))


def fitted(kernels):
    """By Newton's method, with a ridge on all weights but the bias."""
    total = sum(one["weight"] for one in kernels)
    columns = list(zip(*(one["shape"] for one in kernels)))
    weights = [one["weight"] for one in kernels]
    mean = [sum(weight * value for weight, value in zip(weights, column)) / total for column in columns]
    spread = [math.sqrt(sum(weight * (value - middle) ** 2 for weight, value in zip(weights, column)) / total) for column, middle in zip(columns, mean)]
    # What never differs says nothing.
    model = {"mean": mean, "scale": [value if value > 1e-9 else 1.0 for value in spread]}
    inputs = [[1.0, *standard(model, one["shape"])] for one in kernels]
    size = len(NAMES) + 1
    found = [0.0] * size
    for _ in range(25):
        slope = [0.0] + [RIDGE * value for value in found[1:]]
        curve = [[RIDGE if row == column and row else 0.0 for column in range(size)] for row in range(size)]
        for one, values in zip(kernels, inputs):
            made = 1 / (1 + math.exp(-sum(a * b for a, b in zip(found, values))))
            off, steep = one["weight"] * (made - (1 - one["human"])), one["weight"] * made * (1 - made)
            for row, value in enumerate(values):
                slope[row] += off * value
                if value:
                    line, factor = curve[row], steep * value
                    for column in range(row + 1):
                        line[column] += factor * values[column]
        for row in range(size):
            for column in range(row):
                curve[column][row] = curve[row][column]
        step = solved(curve, slope)
        found = [value - by for value, by in zip(found, step)]
        if max(map(abs, step)) < 1e-8:
            break
    return {**model, "bias": found[0], "weight": found[1:]}


def solved(matrix, right):
    """By elimination with the largest pivot."""
    size = len(right)
    lines = [[*line, value] for line, value in zip(matrix, right)]
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(lines[row][at]))
        lines[at], lines[pivot] = lines[pivot], lines[at]
        for row in range(at + 1, size):
            factor = lines[row][at] / lines[at][at]
            if factor:
                for column in range(at, size + 1):
                    lines[row][column] -= factor * lines[at][column]
    found = [0.0] * size
    for at in reversed(range(size)):
        known = sum(lines[at][column] * found[column] for column in range(at + 1, size))
        found[at] = (lines[at][size] - known) / lines[at][at]
    return found


if __name__ == "__main__":
    main()
