"""Human or machine: how well a discriminator tells kernels that we make from kernels that people wrote.

2n of people's are drawn from kernels=DATASET of `prepare`, one of a family and cap=N of a package at most; the first n are
compared with ours: samples of the model that ships, with and without the constraint, and of models of the other kinds where
lstm=CHECKPOINT and hole=CHECKPOINT name them; and kernels made at the InstCount points of the other n, from nothing, the same with
the second phase that writes them anew by that model, from mined kernels, and, as controls, by undirected making and by random
programs in CLSmith's manner. All have under 100 instructions and went through `prepare`, so that
size, names and layout tell little. A forest sees the vectors of all spaces, and once more with them the bits a token that a kernel takes to the model: the model learned from many of
people's, so that these bits say what it knows as well as what is natural. A package of people's kernels is never in training and test at once, nor a tenth of ours. 50 % is chance.

What gives a source away is said twice. By space: how much of the forest's accuracy goes where the values of a space are shuffled among the kernels that it is asked about. By dimension: those
whose values differ most, each for itself. Takes 5n searches, and some ten minutes on two cores."""
import bisect
import csv
import json
import math
import random
import statistics
import sys

from tools import rows, stampmill

SETTINGS = {"kernels": "datasets/device-mapping-h200/kernels", "model": "models/infill", "lstm": "", "hole": "", "n": "80", "cap": "30", "budget": "500", "jobs": "2", "seed": "1"}
SPACES = ["instcount", "autophase", "grewe", "opcodes", "tokens", "ast-depth"]
# What the model says of a kernel, beside the spaces.
BITS = "bits"
INSTRUCTIONS = 100
FOREST = "forest:trees=100"
# Fewer kernels of a side say nothing.
FEWEST = 20
# For what shuffled values cost: parts of the kernels that are asked about in turn, and how often each space is shuffled.
PARTS = 4
SHUFFLES = 10
# Dimensions that are named of a source.
NAMED = 3


def likelihood(program, dataset, settings):
    """Bits a token of each kernel to the model, by id; without those that it cannot read."""
    told = stampmill(program, "evaluate", settings["model"], "--likelihood", dataset, "--jobs", settings["jobs"])
    return {one["id"]: one["bits"] / one["tokens"] for one in told["programs"] if one["bits"] is not None}


def described(program, dataset, settings, out):
    """Accepted programs with their values in all spaces, as one dictionary of named numbers."""
    stampmill(program, "features", dataset, "--space", ",".join(SPACES), "--out", out)
    names = json.loads((out / "_dataset.json").read_text())["configuration"]["spaces"]
    columns = ", ".join(f'"{space}"' for space in SPACES)
    bits, found = likelihood(program, dataset, settings), []
    for row in rows(program, f"SELECT id, {columns} FROM v WHERE verdict = 'accepted' ORDER BY id", v=out):
        if any(row.get(space) is None for space in SPACES) or row["id"] not in bits or row["instcount"][0] >= INSTRUCTIONS:
            continue
        values = {}
        for space in SPACES:
            of = row[space]
            of = of if isinstance(of, dict) else dict(zip(names[space], of))
            values |= {f"{space}.{name}".replace(",", ";"): value for name, value in of.items()}
        values[f"{BITS}.a token"] = bits[row["id"]]
        found.append({"id": row["id"], "values": values, "point": row["instcount"]})
    return found


def prepared(program, texts, settings, folder):
    """Texts in the normal form that mined kernels have."""
    programs = folder / "programs"
    programs.mkdir(parents=True)
    for number, text in enumerate(texts):
        (programs / f"{number:05}.cl").write_text(text)
    stampmill(program, "prepare", programs, "--out", folder / "kernels")
    return described(program, folder / "kernels", settings, folder / "vectors")


def people(program, settings, draw, work):
    """Kernels of people, with their package."""
    known = {row["id"]: row for row in rows(program, "SELECT id, package, family FROM k WHERE verdict = 'accepted' ORDER BY id", k=settings["kernels"])}
    everyone = described(program, settings["kernels"], settings, work / "people")
    draw.shuffle(everyone)
    packages, families, found = {}, set(), []
    for kernel in everyone:
        package, family = known[kernel["id"]]["package"], known[kernel["id"]]["family"]
        if family not in families and packages.get(package, 0) < int(settings["cap"]):
            packages[package] = packages.get(package, 0) + 1
            families.add(family)
            found.append({**kernel, "group": package})
    return found


def sides(humans, machines):
    """As many of one as of the other, each with its side and its group."""
    count = min(len(humans), len(machines))
    of_humans = [{**kernel, "side": "human"} for kernel in humans[:count]]
    return of_humans + [{"group": f"ours-{number % 10}", **kernel, "side": "machine"} for number, kernel in enumerate(machines[:count])]


def write(path, kernels, names):
    """A table of kernels: what tells them apart costs less on its own side."""
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["program", "group", "human", "machine", *names])
        for number, kernel in enumerate(kernels):
            costs = (1, 2) if kernel["side"] == "human" else (2, 1)
            out.writerow([f"k{number}", kernel["group"], *costs, *(kernel["values"][name] for name in names)])
    return ["--program", "program", "--variant", "", "--group", "group", "--features", ",".join(names), "--costs", "human=human,machine=machine"]


def judged(program, settings, both, names, table):
    """Accuracy of the forest on these dimensions, with Wilson's interval."""
    columns = write(table, both, names)
    folds = min(10, len({kernel["group"] for kernel in both if kernel["side"] == "human"}))
    told = stampmill(program, "heuristic", "crossval", table, *columns, "--model", FOREST, "--folds", folds, "--seed", settings["seed"])
    right, cases, z = told["accuracy"], told["rows"], 1.96
    middle = (right + z * z / (2 * cases)) / (1 + z * z / cases)
    half = z * math.sqrt(right * (1 - right) / cases + z * z / (4 * cases * cases)) / (1 + z * z / cases)
    return right, middle - half, middle + half


def parts(both, draw):
    """The kernels in parts of about one size; those of a group are together."""
    groups = {}
    for kernel in both:
        groups.setdefault(kernel["group"], []).append(kernel)
    names = sorted(groups)
    draw.shuffle(names)
    found = [[] for _ in range(PARTS)]
    for name in sorted(names, key=lambda name: -len(groups[name])):
        min(found, key=len).extend(groups[name])
    return found


def lost(program, settings, both, names, folder):
    """By space: accuracy that goes where its values are shuffled among the kernels that are asked about."""
    draw = random.Random(int(settings["seed"]))
    spaces = [*SPACES, BITS]
    right, asked = {space: 0 for space in ["", *spaces]}, {space: 0 for space in ["", *spaces]}
    for number, part in enumerate(split := parts(both, draw)):
        learned = [kernel for other in split if other is not part for kernel in other]
        if not part or len({kernel["side"] for kernel in learned}) < 2:
            continue
        table, model = folder / f"learned-{number}.csv", folder / f"forest-{number}.json"
        columns = write(table, learned, names)
        stampmill(program, "heuristic", "train", table, *columns, "--model", FOREST, "--seed", settings["seed"], "--out", model)
        copies = [("", part)]
        for space in spaces:
            own = [name for name in names if name.startswith(f"{space}.")]
            for _ in range(SHUFFLES):
                others = draw.sample(part, len(part))
                copies.append((space, [{**kernel, "values": kernel["values"] | {name: other["values"][name] for name in own}} for kernel, other in zip(part, others)]))
        table = folder / f"asked-{number}.csv"
        columns = write(table, [kernel for _, copy in copies for kernel in copy], names)
        told = stampmill(program, "heuristic", "predict", model, table, *columns)
        choices = {one["program"]: one["choice"] for one in told["predictions"]}
        which = [(space, kernel) for space, copy in copies for kernel in copy]
        for row, (space, kernel) in enumerate(which):
            asked[space] += 1
            right[space] += choices[f"k{row}"] == kernel["side"]
    share = {space: right[space] / asked[space] if asked[space] else 0 for space in right}
    return [f"{100 * (share[''] - share[space]):.1f}" for space in spaces]


def apart(both, names):
    """The dimensions that differ most: chance that one of ours has more than one of people's, ties as halves."""
    found = []
    for name in names:
        humans, machines = (sorted(kernel["values"][name] for kernel in both if kernel["side"] == side) for side in ("human", "machine"))
        more = sum((bisect.bisect_left(humans, value) + bisect.bisect_right(humans, value)) / 2 for value in machines) / (len(humans) * len(machines))
        found.append((abs(more - 0.5), name, statistics.median(humans), statistics.median(machines), more))
    found.sort(key=lambda one: (-one[0], one[1]))
    return [[name, f"{person:.3g}", f"{ours:.3g}", f"{more:.2f}"] for _, name, person, ours, more in found[:NAMED]]


def sources(program, settings, others, work):
    """Texts of ours by where they are from."""
    n, jobs = int(settings["n"]), ["--jobs", settings["jobs"], "--seed", settings["seed"]]
    draws = {
        f"samples of {settings['model']}": (settings["model"], 2 * n, []),
        # Fewer than half of these compile.
        f"samples of {settings['model']}, unconstrained": (settings["model"], 5 * n, ["--unconstrained"]),
    }
    for kind in ("lstm", "hole"):
        if settings[kind]:
            draws[f"samples of {settings[kind]} ({kind})"] = (settings[kind], 2 * n, [])
        else:
            print(f"figures: no samples of kind {kind}: {kind}=CHECKPOINT names a model", file=sys.stderr)
    found = {}
    for number, (source, (model, count, flags)) in enumerate(draws.items()):
        stampmill(program, "sample", model, "--n", count, *flags, *jobs, "--out", work / f"samples-{number}")
        found[source] = rows(program, "SELECT text FROM s WHERE verdict = 'accepted' ORDER BY number", s=work / f"samples-{number}")
    targets = work / "targets.jsonl"
    targets.write_text("".join(json.dumps({"target": kernel["id"][:12], "instcount": kernel["point"]}) + "\n" for kernel in others))
    steer = ["steer", "--space", "instcount", "--targets", targets, "--budget", settings["budget"], *jobs]
    ways = {
        "steered, from nothing": ["--proposers", "construct,guided,combine"],
        "steered, from nothing, written anew": ["--proposers", "construct,guided,combine", "--natural", settings["model"]],
        "steered, from mined kernels": ["--seeds", settings["kernels"]],
        "undirected making (control)": ["--proposers", "random"],
        "random programs in CLSmith's manner (control)": ["--proposers", "smith"],
    }
    for number, (way, flags) in enumerate(ways.items()):
        stampmill(program, *steer, *flags, "--out", work / f"steered-{number}")
        found[way] = rows(program, "SELECT text FROM s WHERE verdict = 'accepted' ORDER BY path", s=work / f"steered-{number}")
    return {source: [row["text"] for row in texts] for source, texts in found.items()}


def run(program, _, settings, work):
    draw = random.Random(int(settings["seed"]))
    n = int(settings["n"])
    both = people(program, settings, draw, work)[: 2 * n]
    humans, others = both[:n], both[n:]
    # The last row is people's kernels against people's: what the method finds where there is nothing to find.
    kinds = {source: ("texts", texts) for source, texts in sources(program, settings, others, work).items()}
    kinds["people's, against other people's"] = ("kernels", others)
    accuracy, spaces, dimensions = [], [], []
    for number, (source, (kind, of)) in enumerate(kinds.items()):
        folder = work / f"source-{number}"
        folder.mkdir(parents=True)
        machines = (prepared(program, of, settings, folder) if kind == "texts" else of)[:n]
        pair = sides(humans, machines)
        if len(pair) < 2 * FEWEST:
            print(f"figures: {source}: {len(machines)} kernels are too few", file=sys.stderr)
            continue
        names = list(humans[0]["values"])
        plain = [name for name in names if not name.startswith(f"{BITS}.")]
        right, low, high = judged(program, settings, pair, plain, folder / "plain.csv")
        told, *_ = judged(program, settings, pair, names, folder / "all.csv")
        accuracy.append([source, len(pair) // 2, f"{100 * right:.1f} %", f"{100 * low:.1f} to {100 * high:.1f} %", f"{100 * told:.1f} %"])
        spaces.append([source, *lost(program, settings, pair, names, folder)])
        dimensions += [[source, *one] for one in apart(pair, names)]
    return {
        "accuracy": {"columns": ["source", "kernels of each side", "told apart (50 % is chance)", "95 %", "with bits a token"], "rows": accuracy},
        "spaces": {"columns": ["source", *SPACES, "bits a token"], "rows": spaces},
        "dimensions": {"columns": ["source", "dimension", "people's, median", "ours, median", "ours has more (0.50 is chance)"], "rows": dimensions},
    }
