"""Human or machine: how well a discriminator tells kernels that we make from kernels that people wrote.

Ours are samples of the model that ships, with and without the constraint, and of models of the other kinds where
lstm=CHECKPOINT and hole=CHECKPOINT name them; and kernels made at the InstCount points of n of people's kernels, of kernels=DATASET of `prepare`, one of a family
and cap=N of a package at most: from nothing as the search finds them, the same with plain edits and the second phase that writes them anew (`--natural`, with written=N candidates), from
mined kernels, and, as controls, by undirected making and by random programs in CLSmith's manner. People's are others of these kernels; where the model has a
discriminator beside it, of packages that it did not learn from. All have under 100 instructions and went through `prepare`, so names and layout tell little. Both sides have equally many kernels in each
class of lengths (tokens, half octaves), so length tells nothing.

A forest sees the vectors of all spaces and the measures of scripts/shape.py, and once more with them the bits a token that a kernel takes to the model: the model learned from many of
people's, so that these bits say what it knows as well as what is natural. A package of people's kernels is never in training and test at once, nor a tenth of ours. 50 % is chance.
Intervals are bootstrap ones: people's kernels are drawn by package, ours one by one.

What gives a source away is said twice. By space: how much of the forest's accuracy goes where the values of a space are shuffled among the kernels that it is asked about. By dimension: those
whose values differ most, each for itself. Takes 5n searches, and some forty minutes on two cores; n=30 written=1000 ten."""
import bisect
import csv
import json
import math
import random
import statistics
import sys
from pathlib import Path

from tools import rows, stampmill

sys.path.insert(0, str(Path(__file__).parent.parent))
from shape import NAMES, as_mined, shape  # noqa: E402

SETTINGS = {"kernels": "datasets/device-mapping-h200/kernels", "model": "models/infill", "lstm": "", "hole": "", "n": "80", "cap": "60", "budget": "500", "written": "2000", "jobs": "2", "seed": "1"}
SPACES = ["instcount", "autophase", "grewe", "opcodes", "tokens", "ast-depth"]
# The measures of scripts/shape.py, beside the spaces.
SHAPE = "shape"
# What the model says of a kernel, beside the spaces.
BITS = "bits"
INSTRUCTIONS = 100
FOREST = "forest:trees=100"
# Fewer kernels of a side say nothing.
FEWEST = 20
# Parts of the kernels that are asked about in turn, and how often each space is shuffled.
PARTS = 5
SHUFFLES = 10
# Random draws for an interval.
DRAWS = 2000
# Dimensions that are named of a source.
NAMED = 5
# How often a source may be told apart at most: what was wanted beforehand. Samples within 10 points of chance, what is written anew within 20.
SAMPLES, WRITTEN = 0.6, 0.7
ANEW = "steered, from nothing, written anew"


def likelihood(program, dataset, settings):
    """Bits a token of each kernel to the model, by id; without those that it cannot read."""
    told = stampmill(program, "evaluate", settings["model"], "--likelihood", dataset, "--jobs", settings["jobs"])
    return {one["id"]: one["bits"] / one["tokens"] for one in told["programs"] if one["bits"] is not None}


def described(program, dataset, settings, out):
    """Accepted programs with their values in all spaces, as one dictionary of named numbers."""
    stampmill(program, "features", dataset, "--space", ",".join(SPACES), "--out", out)
    texts = {row["id"]: row["text"] for row in rows(program, "SELECT id, text FROM k WHERE verdict = 'accepted'", k=dataset)}
    names = json.loads((out / "_dataset.json").read_text())["configuration"]["spaces"]
    columns = ", ".join(f'"{space}"' for space in SPACES)
    bits, found = likelihood(program, dataset, settings), []
    for row in rows(program, f"SELECT id, {columns} FROM v WHERE verdict = 'accepted' ORDER BY id", v=out):
        if any(row.get(space) is None for space in SPACES) or row["id"] not in bits or row["id"] not in texts or row["instcount"][0] >= INSTRUCTIONS:
            continue
        values = {}
        for space in SPACES:
            of = row[space]
            of = of if isinstance(of, dict) else dict(zip(names[space], of))
            values |= {f"{space}.{name}".replace(",", ";"): value for name, value in of.items()}
        values |= dict(zip((f"{SHAPE}.{name}" for name in NAMES), shape(as_mined(texts[row["id"]]))))
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


def length_class(kernel):
    return int(2 * math.log2(max(1, kernel["values"]["tokens.tokens"])))


def sides(humans, machines):
    """In each class of lengths as many of one as of the other, each with its side and its group."""
    classes = {}
    for side, kernels in (("human", humans), ("machine", machines)):
        for number, kernel in enumerate(kernels):
            own = {"group": f"ours-{number % 10}", **kernel, "side": side}
            classes.setdefault(length_class(kernel), {"human": [], "machine": []})[side].append(own)
    found = {"human": [], "machine": []}
    for _, there in sorted(classes.items()):
        count = min(map(len, there.values()))
        for side in found:
            found[side] += there[side][:count]
    return found["human"] + found["machine"]


def write(path, kernels, names):
    """A table of kernels: what tells them apart costs less on its own side."""
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["program", "group", "human", "machine", *names])
        for number, kernel in enumerate(kernels):
            costs = (1, 2) if kernel["side"] == "human" else (2, 1)
            out.writerow([f"k{number}", kernel["group"], *costs, *(kernel["values"][name] for name in names)])
    return ["--program", "program", "--variant", "", "--group", "group", "--features", ",".join(names), "--costs", "human=human,machine=machine"]


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


def asked(program, settings, both, names, spaces, folder):
    """Whether the forest is right about each kernel, trained on the other parts; and by space the accuracy that goes where its values are shuffled among those asked about."""
    draw = random.Random(int(settings["seed"]))
    for number, kernel in enumerate(both):
        kernel["number"] = number
    right, times = {}, {space: [0, 0] for space in spaces}
    folder.mkdir()
    for number, part in enumerate(split := parts(both, draw)):
        learned = [kernel for other in split if other is not part for kernel in other]
        if not part or len({kernel["side"] for kernel in learned}) < 2:
            continue
        table, model = folder / f"learned-{number}.csv", folder / f"forest-{number}.json"
        columns = write(table, learned, names)
        stampmill(program, "heuristic", "train", table, *columns, "--model", FOREST, "--seed", settings["seed"], "--out", model)
        copies = [(None, part)]
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
            is_right = choices[f"k{row}"] == kernel["side"]
            if space is None:
                right[kernel["number"]] = is_right
            else:
                times[space][0] += is_right
                times[space][1] += 1
    whole = sum(right.values()) / max(1, len(right))
    return right, {space: whole - good / max(1, every) for space, (good, every) in times.items()}


def interval(both, right, seed):
    """The mean accuracy of both sides, and a 95 % bootstrap interval of it: people's kernels are drawn by package, ours one by one."""
    packages, ours = {}, []
    for kernel in both:
        if kernel["number"] in right:
            found = ours if kernel["side"] == "machine" else packages.setdefault(kernel["group"], [])
            found.append(right[kernel["number"]])
    groups, draw = list(packages.values()), random.Random(seed)

    def mean(of_groups, of_ours):
        flat = [one for group in of_groups for one in group]
        return (sum(flat) / len(flat) + sum(of_ours) / len(of_ours)) / 2

    drawn = sorted(mean(draw.choices(groups, k=len(groups)), draw.choices(ours, k=len(ours))) for _ in range(DRAWS))
    return mean(groups, ours), drawn[DRAWS // 40], drawn[-DRAWS // 40 - 1]


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
    steer = ["steer", "--space", "instcount", "--targets", targets, *jobs]
    own = ["--proposers", "construct,guided,combine"]
    ways = {
        "steered, from nothing": [*own, "--as-found", "--budget", settings["budget"]],
        # What is left of the budget goes to writing it anew.
        ANEW: [*own, "--natural", settings["model"], "--budget", settings["written"]],
        "steered, from mined kernels": ["--seeds", settings["kernels"], "--as-found", "--budget", settings["budget"]],
        "undirected making (control)": ["--proposers", "random", "--as-found", "--budget", settings["budget"]],
        "random programs in CLSmith's manner (control)": ["--proposers", "smith", "--as-found", "--budget", settings["budget"]],
    }
    for number, (way, flags) in enumerate(ways.items()):
        stampmill(program, *steer, *flags, "--out", work / f"steered-{number}")
        found[way] = rows(program, "SELECT text FROM s WHERE verdict = 'accepted' ORDER BY path", s=work / f"steered-{number}")
    return {source: [row["text"] for row in texts] for source, texts in found.items()}


def learned_from(model):
    """Packages that the discriminator beside a model learned from, where there is one."""
    path = Path(model) / "discriminator.json"
    return set(json.loads(path.read_text())["packages"]) if path.exists() else set()


def goal(source, right):
    """What was wanted of a source, and whether it is so."""
    most = SAMPLES if source.startswith("samples of ") else WRITTEN if source == ANEW else None
    return "" if most is None else f"{100 * most:.0f} % at most: {'met' if right <= most else 'missed'}"


def run(program, _, settings, work):
    draw = random.Random(int(settings["seed"]))
    n, known = int(settings["n"]), learned_from(settings["model"])
    everyone = people(program, settings, draw, work)
    # Points may be of packages that the discriminator learned from.
    others = ([kernel for kernel in everyone if kernel["group"] in known] if known else everyone)[:n]
    points = {kernel["id"] for kernel in others}
    humans = [kernel for kernel in everyone if kernel["id"] not in points and kernel["group"] not in known]
    if len(humans) < 2 * FEWEST:
        sys.exit(f"figures: {len(humans)} kernels of people are too few to compare with: lower n, or raise cap")
    kinds = {source: ("texts", texts) for source, texts in sources(program, settings, others, work).items()}
    # The last row is people's kernels against people's: what the method finds where there is nothing to find.
    kinds["people's, against other people's"] = ("kernels", humans[1::2])
    accuracy, spaces, dimensions = [], [], []
    for number, (source, (kind, of)) in enumerate(kinds.items()):
        folder = work / f"source-{number}"
        folder.mkdir(parents=True)
        machines = prepared(program, of, settings, folder)[:n] if kind == "texts" else of
        pair = sides(humans if kind == "texts" else humans[::2], machines)
        if len(pair) < 2 * FEWEST:
            print(f"figures: {source}: {len(pair) // 2} kernels of lengths that both sides have are too few", file=sys.stderr)
            continue
        names = list(humans[0]["values"])
        plain = [name for name in names if not name.startswith(f"{BITS}.")]
        right, _ = asked(program, settings, pair, plain, [], folder / "plain")
        middle, low, high = interval(pair, right, int(settings["seed"]))
        all_spaces = [*SPACES, SHAPE, BITS]
        right, lost = asked(program, settings, pair, names, all_spaces, folder / "all")
        told, *_ = interval(pair, right, int(settings["seed"]))
        tokens = statistics.median(kernel["values"]["tokens.tokens"] for kernel in pair)
        packages = len({kernel["group"] for kernel in pair if kernel["side"] == "human"})
        accuracy.append([source, len(pair) // 2, packages, f"{tokens:.0f}", f"{100 * middle:.1f} %", f"{100 * low:.1f} to {100 * high:.1f} %", goal(source, middle), f"{100 * told:.1f} %"])
        spaces.append([source, *(f"{100 * lost[space]:.1f}" for space in all_spaces)])
        dimensions += [[source, *one] for one in apart(pair, names)]
    return {
        "accuracy": {"columns": ["source", "kernels of each side", "people's packages", "tokens, median", "told apart (50 % is chance)", "95 %", "goal", "with bits a token"], "rows": accuracy},
        "spaces": {"columns": ["source", *SPACES, SHAPE, "bits a token"], "rows": spaces},
        "dimensions": {"columns": ["source", "dimension", "people's, median", "ours, median", "ours has more (0.50 is chance)"], "rows": dimensions},
    }
