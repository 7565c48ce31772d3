"""Human or machine: how well a discriminator tells kernels that we make from kernels that people wrote.

2n of people's are drawn from kernels=DATASET of `prepare`, one of a family and cap=N of a package at most; the first n are
compared with ours: samples of a model, and kernels made at the InstCount points of the other n, from nothing, the same with
the second phase that writes them anew by that model, from mined kernels, and by undirected making, which is the control. All have under 100 instructions and went through `prepare`, so that
size, names and layout tell little. A forest sees the vectors of all spaces; a package of people's is never in training and
test at once, nor a tenth of ours. 50 % is chance. Takes 4n searches."""
import csv
import json
import math
import random

from tools import rows, stampmill

SETTINGS = {"kernels": "datasets/device-mapping-h200/kernels", "model": "models/infill", "n": "100", "cap": "30", "budget": "2500", "jobs": "2", "seed": "1"}
SPACES = ["instcount", "autophase", "grewe", "opcodes", "tokens", "ast-depth"]
INSTRUCTIONS = 100
FOREST = "forest:trees=100"


def described(program, dataset, out):
    """Accepted programs with their values in all spaces, as one dictionary of named numbers."""
    stampmill(program, "features", dataset, "--space", ",".join(SPACES), "--out", out)
    names = json.loads((out / "_dataset.json").read_text())["configuration"]["spaces"]
    columns = ", ".join(f'"{space}"' for space in SPACES)
    found = []
    for row in rows(program, f"SELECT id, {columns} FROM v WHERE verdict = 'accepted' ORDER BY id", v=out):
        if any(row.get(space) is None for space in SPACES) or row["instcount"][0] >= INSTRUCTIONS:
            continue
        values = {}
        for space in SPACES:
            of = row[space]
            of = of if isinstance(of, dict) else dict(zip(names[space], of))
            values |= {f"{space}.{name}".replace(",", ";"): value for name, value in of.items()}
        found.append({"id": row["id"], "values": values, "point": row["instcount"]})
    return found


def prepared(program, texts, folder):
    """Texts in the normal form that mined kernels have."""
    programs = folder / "programs"
    programs.mkdir(parents=True)
    for number, text in enumerate(texts):
        (programs / f"{number:05}.cl").write_text(text)
    stampmill(program, "prepare", programs, "--out", folder / "kernels")
    return described(program, folder / "kernels", folder / "vectors")


def people(program, settings, draw, work):
    """Kernels of people, with their package."""
    known = {row["id"]: row for row in rows(program, "SELECT id, package, family FROM k WHERE verdict = 'accepted' ORDER BY id", k=settings["kernels"])}
    everyone = described(program, settings["kernels"], work / "people")
    draw.shuffle(everyone)
    packages, families, found = {}, set(), []
    for kernel in everyone:
        package, family = known[kernel["id"]]["package"], known[kernel["id"]]["family"]
        if family not in families and packages.get(package, 0) < int(settings["cap"]):
            packages[package] = packages.get(package, 0) + 1
            families.add(family)
            found.append({**kernel, "group": package})
    return found


def judged(program, settings, humans, machines, folder):
    """Accuracy of the forest, with Wilson's interval, over as many of one as of the other."""
    count = min(len(humans), len(machines))
    names = list(humans[0]["values"])
    table = folder / "table.csv"
    with open(table, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["program", "group", "human", "machine", *names])
        for number, kernel in enumerate(humans[:count]):
            out.writerow([f"h{number}", kernel["group"], 1, 2, *(kernel["values"][name] for name in names)])
        for number, kernel in enumerate(machines[:count]):
            out.writerow([f"m{number}", kernel.get("group", f"ours-{number % 10}"), 2, 1, *(kernel["values"][name] for name in names)])
    folds = min(10, len({kernel["group"] for kernel in humans}))
    command = ["heuristic", "crossval", table, "--program", "program", "--variant", "", "--group", "group", "--features", ",".join(names)]
    told = stampmill(program, *command, "--costs", "human=human,machine=machine", "--model", FOREST, "--folds", folds, "--seed", settings["seed"])
    right, cases, z = told["accuracy"], told["rows"], 1.96
    middle = (right + z * z / (2 * cases)) / (1 + z * z / cases)
    half = z * math.sqrt(right * (1 - right) / cases + z * z / (4 * cases * cases)) / (1 + z * z / cases)
    return cases, right, middle - half, middle + half


def told_apart(source, cases, right, low, high):
    return [source, cases // 2, f"{100 * right:.1f} %", f"{100 * low:.1f} to {100 * high:.1f} %"]


def run(program, _, settings, work):
    draw = random.Random(int(settings["seed"]))
    n = int(settings["n"])
    both = people(program, settings, draw, work)[: 2 * n]
    humans, others = both[:n], both[n:]
    targets = work / "targets.jsonl"
    targets.write_text("".join(json.dumps({"target": kernel["id"][:12], "instcount": kernel["point"]}) + "\n" for kernel in others))
    stampmill(program, "sample", settings["model"], "--n", 2 * n, "--seed", settings["seed"], "--jobs", settings["jobs"], "--out", work / "samples")
    steer = ["steer", "--space", "instcount", "--targets", targets, "--budget", settings["budget"], "--jobs", settings["jobs"], "--seed", settings["seed"]]
    ways = {
        "steered, from nothing": ["--proposers", "construct,guided,combine"],
        "steered, from nothing, written anew": ["--proposers", "construct,guided,combine", "--natural", settings["model"]],
        "steered, from mined kernels": ["--seeds", settings["kernels"]],
        "undirected making (control)": ["--proposers", "random"],
    }
    sources = {f"samples of {settings['model']}": rows(program, "SELECT text FROM s WHERE verdict = 'accepted' ORDER BY number", s=work / "samples")}
    for number, (way, flags) in enumerate(ways.items()):
        stampmill(program, *steer, *flags, "--out", work / f"steered-{number}")
        sources[way] = rows(program, "SELECT text FROM s WHERE verdict = 'accepted' ORDER BY path", s=work / f"steered-{number}")
    table = []
    for number, (source, found) in enumerate(sources.items()):
        folder = work / f"source-{number}"
        machines = prepared(program, [row["text"] for row in found], folder)
        table.append(told_apart(source, *judged(program, settings, humans, machines[:n], folder)))
    # People's kernels against people's: what the method finds where there is nothing to find.
    table.append(told_apart("people's, against other people's", *judged(program, settings, humans, others, work)))
    return {"accuracy": {"columns": ["source", "kernels of each side", "told apart (50 % is chance)", "95 %"], "rows": table}}
