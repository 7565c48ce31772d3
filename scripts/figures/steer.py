"""How many points of a space `steer` reaches, each target searched independently of all others.

Needs data=DIR with targets/suites.jsonl, kernels/benchmarks.jsonl (which are no seeds, nor copies of them) and the CSV files
of the CLgen paper in cgo17/ (for Grewe's points); seeds=DATASET is of mined kernels (those that the repository ships, unless
said); held-back needs suite=DATASET too, of `prepare` of a suite that nothing was tuned on. parts=N processes share the targets, each with its jobs, workers=N of them
at once (all, unless said): a budget of time is for one target at a time in each. Where there are several, what is known of the seeds before a search
(their vectors, what the leak rule sees) is computed beforehand.

Tables: by size and by suite; how far it is from the goals (InstCount, Autophase); `units`, what misses have too few or too many of and what edits did
about it; `misses`, the same of each target in its own words; and who proposed the hits."""
import csv
import json
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tools import median, rows, share, stampmill

VARIANTS = ["grewe", "instcount", "autophase", "held-back-instcount", "held-back-autophase", "joint"]
SETTINGS = {"data": "../shared/data", "seeds": "datasets/device-mapping-h200/kernels", "suite": "", "budget": "cpu:20s", "jobs": "2", "parts": "1", "workers": "", "seed": "0", "sample": ""}
# Of which the points of `joint` are; nothing was tuned on them, and neither they nor what is of their families are seeds.
HELD_OUT = ["opencv", "bullet", "oclgrind", "pyopencl", "clblast", "erlang-cl", "onednn", "imagemagick"]
JOINT = "instcount,grewe"
COUNTS = ["comp", "rational", "mem", "localmem", "coalesced", "atomic"]
# Shares to be hit exactly of points of so many instructions, and the median proximity of all.
GOALS = {"instcount": ([0.80, 0.40, 0.25], 0.995), "autophase": ([0.60, 0.25, 0.10], 0.985)}
GOAL_BINS = [(0, 100, "under 100"), (100, 200, "100 to 199"), (200, 10**9, "200 and more")]
# What a row asks for: one to a target, the nearest kernel.
FOUND = "SELECT target, verdict, exact, proximity, candidates, seconds, mined_exact, mined_proximity, proposer, detail FROM f WHERE rank = 1"
BINS = [(0, 50, "under 50"), (50, 100, "50 to 99"), (100, 200, "100 to 199"), (200, 10**9, "200 and more")]


def grewe(data):
    """Distinct static vectors of the suites' kernels as measured for the paper; counts over 20,000 are garbage."""
    seen = {}
    for device in ("amd", "nvidia"):
        with open(f"{data}/cgo17/{device}-benchmarks.csv") as file:
            for row in csv.DictReader(file):
                counts = tuple(int(float(row[name])) for name in COUNTS)
                if max(counts) <= 20_000:
                    seen.setdefault(counts, row["benchmark"])
    return [{"target": name, "grewe": dict(zip(COUNTS, counts))} for counts, name in seen.items()]


def suites(data):
    with open(f"{data}/targets/suites.jsonl") as file:
        return [json.loads(line) for line in file]


def held_back(program, suite, space, work):
    """A target for each kernel of a suite that has a vector."""
    stampmill(program, "features", suite, "--space", "instcount,autophase", "--out", work / "vectors", "--force")
    described = rows(program, "SELECT path, id, instcount, autophase FROM v WHERE verdict = 'accepted' ORDER BY path, id", v=work / "vectors")
    return [
        {"target": f"{row['path']}:{row['id'][:8]}", "instcount": row["instcount"], "autophase": row["autophase"]}
        for row in described
        if row["instcount"] and row[space]
    ]


def run(program, variant, settings, work):
    if variant == "joint":
        return joint(program, settings, work)
    space = variant.split("-")[-1]
    if variant == "grewe":
        targets = grewe(settings["data"])
    elif variant.startswith("held-back"):
        targets = held_back(program, settings["suite"], space, work)
    else:
        targets = suites(settings["data"])
    size = {t["target"]: t["instcount"][0] for t in targets if "instcount" in t}
    listed = work / "targets.jsonl"
    listed.write_text("".join(json.dumps(target) + "\n" for target in targets))
    command = ["steer", "--as-found", "--space", space, "--targets", listed, "--budget", settings["budget"], "--jobs", settings["jobs"]]
    command += ["--seed", settings["seed"], "--force"]
    if settings["sample"]:
        command += ["--sample", settings["sample"]]
    if settings["seeds"]:
        command += ["--seeds", settings["seeds"], "--exclude", f"{settings['data']}/kernels/benchmarks.jsonl"]
    if variant.startswith("held-back"):
        command += ["--exclude", settings["suite"]]
    search(program, command, settings, work)
    found = rows(program, FOUND, f=work / "found")
    goals = {"goals": by_goal(found, size, *GOALS[space])} if space in GOALS else {}
    return {"sizes": by_size(found, size), **goals, "suites": by_suite(found), **missed(found, size), "proposers": by_proposer(found)}


def joint(program, settings, work):
    """Points in two spaces at once, of real kernels under 100 instructions, one a family; a hit passes `run`'s checker, too, and no race is found in it."""
    kernels, packages = settings["seeds"], ", ".join(f"'{name}'" for name in HELD_OUT)
    held = f"SELECT family FROM k WHERE package IN ({packages})"
    seeds = f"SELECT * FROM k WHERE verdict = 'accepted' AND family NOT IN ({held})"
    points = f"SELECT * FROM k WHERE verdict = 'accepted' AND package IN ({packages}) AND id = family"
    for name, sql in (("seeds", seeds), ("points", points)):
        stampmill(program, "query", sql, f"k={kernels}", "--out", work / name, "--force")
    stampmill(program, "features", work / "points", "--space", JOINT, "--out", work / "vectors", "--force")
    sql = "SELECT v.id, instcount, grewe FROM v WHERE verdict = 'accepted' AND instcount IS NOT NULL AND grewe IS NOT NULL AND instcount[1] < 100 ORDER BY v.id"
    found = rows(program, sql, v=work / "vectors")
    names = dimensions(work / "vectors", "grewe")
    targets = [{"target": row["id"], "instcount": row["instcount"], "grewe": [row["grewe"][name] for name in names]} for row in found]
    (work / "targets.jsonl").write_text("".join(json.dumps(target) + "\n" for target in targets))
    command = ["steer", "--space", JOINT, "--targets", work / "targets.jsonl", "--sample", settings["sample"] or "40", "--must-run", "--seeds", work / "seeds"]
    command += ["--budget", settings["budget"], "--jobs", settings["jobs"], "--seed", settings["seed"], "--force"]
    search(program, command, settings, work)
    found = rows(program, FOUND, f=work / "found")
    size = {target["target"]: target["instcount"][0] for target in targets}
    return {"sizes": by_size(found, size), **missed(found, size), "proposers": by_proposer(found)}


def dimensions(dataset, space):
    return json.loads((dataset / "_dataset.json").read_text())["configuration"]["spaces"][space]


def search(program, command, settings, work):
    parts = int(settings["parts"])
    if parts == 1:
        stampmill(program, *command, "--out", work / "found")
        return
    # Under a budget in candidates all seeds are described and looked at.
    known = ["96" if before == "--budget" else word for before, word in zip(["", *command], command)]
    stampmill(program, *known, "--part", f"1/{parts}", "--out", work / "known")
    folders = [work / f"found-{part}" for part in range(1, parts + 1)]
    with ThreadPoolExecutor(int(settings["workers"] or parts)) as pool:
        for done in [pool.submit(stampmill, program, *command, "--part", f"{at}/{parts}", "--out", out) for at, out in enumerate(folders, 1)]:
            done.result()
    stampmill(program, "merge", *folders, "--out", work / "found", "--force")


def line(word, group):
    exact = sum(bool(row["exact"]) for row in group)
    near = [row["proximity"] or 0 for row in group]
    mined = [row["mined_proximity"] or 0 for row in group]
    lying = sum((row["mined_exact"] or 0) > 0 for row in group)
    seconds = sum(row["seconds"] or 0 for row in group)
    speed = f"{sum(row['candidates'] or 0 for row in group) / seconds:.0f}" if seconds else "none"
    return [word, share(exact, len(group)), median(near), lying, median(mined), speed]


def table(groups):
    columns = ["targets", "exact", "median proximity", "a mined kernel lies there (set aside)", "nearest mined, median proximity", "candidates a second"]
    return {"columns": columns, "rows": [line(word, group) for word, group in groups if group]}


def by_size(found, size):
    groups = [("all", found)]
    if size:
        for low, high, word in BINS:
            groups.append((f"{word} instructions", [row for row in found if low <= size.get(row["target"], -1) < high]))
    return table(groups)


def by_goal(found, size, shares, near):
    """What is reached of what is wanted."""
    table = []
    for (low, high, word), wanted in zip(GOAL_BINS, shares):
        group = [row for row in found if low <= size.get(row["target"], -1) < high]
        table.append([f"exact, {word} instructions", share(sum(bool(row["exact"]) for row in group), len(group)), f"{100 * wanted:.0f} %"])
    table.append(["median proximity, all", median([row["proximity"] or 0 for row in found]), f"{near:.3f}"])
    return {"columns": ["", "reached", "goal"], "rows": table}


def missed(found, size):
    """What misses lack: the units of all, and each in its own words, the smallest first."""
    misses = [row for row in found if not row["exact"]]
    misses.sort(key=lambda row: (size.get(row["target"], 0), row["target"]))
    columns = ["target", "instructions", "proximity", "what is missing"]
    each = [[row["target"], size.get(row["target"], ""), f"{row['proximity'] or 0:.3f}", (row["detail"] or "").replace("|", "\\|")] for row in misses]
    return {"units": by_unit(misses), "misses": {"columns": columns, "rows": each}}


def by_unit(misses):
    """In how many targets a dimension is too low or too high, in how many of them no edit of the search changed it that way, or none did it alone, and which
    edits took others along. Of a target `steer` names eight dimensions at most, those farthest off, and what edits lack of three."""
    units = {}
    nothing = 0
    for row in misses:
        said = wanting(row["detail"] or "")
        nothing += said is None
        for unit, kind, edit in said or []:
            counts, edits = units.setdefault(unit, (Counter(), Counter()))
            counts[kind] += 1
            if edit:
                edits[edit] += 1
    kinds = ["low", "high", "none", "along"]
    table = []
    for unit, (counts, edits) in units.items():
        often = ", ".join(f"`{edit}` {times}" for edit, times in sorted(edits.items(), key=lambda one: (-one[1], one[0]))[:3])
        table.append([unit, *(counts[kind] for kind in kinds), often])
    table.sort(key=lambda row: (-(row[1] + row[2]), row[0]))
    if nothing:
        table.append(["(no kernel at all)", nothing, 0, 0, 0, ""])
    columns = ["misses by unit", "too few in", "too many in", "no edit did it in", "only with others in", "edits that took others along"]
    return {"columns": columns, "rows": table}


def wanting(detail):
    """Dimension, kind and edit of each thing that the `detail` of a miss says; None where no kernel was found that lacks something."""
    if not detail.startswith("has "):
        return None
    said = []
    for part in detail.removeprefix("has ").split("; "):
        if edit := re.fullmatch(r"in this search no edit (?:raised|lowered) (\S+)", part):
            said.append((edit[1], "none", None))
        elif edit := re.fullmatch(r"to (?:raise|lower) (\S+) takes .+ along \((.+)\)", part):
            said.append((edit[1], "along", edit[2]))
        else:
            for unit, value, least in re.findall(r"([^\s,]+) (-?[\d.]+) for (-?\d+(?:\.\d+)?)", part):
                said.append((unit, "low" if float(value) < float(least) else "high", None))
    return said


def by_suite(found):
    """Suites by the first part of a target's name."""
    groups = {}
    for row in found:
        groups.setdefault(row["target"].split("/")[0].split("-")[0], []).append(row)
    return table(sorted(groups.items()))


def by_proposer(found):
    hits = {}
    for row in found:
        if row["exact"]:
            hits[row["proposer"]] = hits.get(row["proposer"], 0) + 1
    return {"columns": ["proposer", "exact hits"], "rows": sorted(hits.items(), key=lambda hit: -hit[1])}
