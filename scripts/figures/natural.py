"""Kernels made at points of people's kernels, as a search finds them and written anew (`steer --natural`), beside the nearest person's.

Points are in InstCount, of kernels=DATASET of `prepare` under most=N instructions, one of a family and cap=N of a package at most, drawn by the
seed. Each is searched for from nothing, one after the other, with budget=N candidates, twice by the same seed: with --as-found, and with
--natural. What is hit exactly both times is a hit; hits=N of them are wanted, of n points at most. `must_run=yes` accepts
kernels alone that pass the checker and in which no race is found. Beside each hit stands the person's kernel that is nearest in InstCount of those from other
packages than the point's, each once. sheet=DIR gets sheet.md, all kernels of the hits numbered in random order without a word on whose they are, for a reader who knows nothing of
them, and key.json. Some forty minutes on two cores.

`natural-ratings` makes the table of what readers say of such a sheet: sheet=DIR, and ratings=FILE, for several readers with commas: a line
`NUMBER RATING` for each kernel, from 1 (surely a machine's) to 5 (surely a person's). Intervals draw points."""
import hashlib
import json
import math
import random
import re
import statistics
import sys
from pathlib import Path

from tools import rows, share, stampmill

sys.path.insert(0, str(Path(__file__).parent.parent))
from shape import as_mined  # noqa: E402

VARIANTS = [None, "ratings"]
SETTINGS = {"kernels": "datasets/device-mapping-h200/kernels", "model": "models/infill", "hits": "20", "n": "80", "cap": "5", "most": "60", "budget": "3000", "must_run": "yes",
            "jobs": "2", "seed": "1", "sheet": "figures/natural-sheet", "ratings": ""}
KINDS = ("as found", "written anew", "people's")
# What people hardly write: a work-item function of no plain dimension, a sum with 0, a conversion to int of a sum of ints, an index that is read of a buffer.
ODD = {
    "a work-item function of no plain dimension": r"get_\w+\((?!\d\))",
    "something and 0": r"(?<![\w.])0 \+|\+ 0(?![\w.])",
    "a conversion of a sum": r"\(int\)\(",
    "an index that is read of a buffer": r"\[[^\]]*\w\[",
}
HEAD = """# Who wrote these?

Kernels in OpenCL C. Some were written by people, some made by a program. All have the same names and layout, so these say nothing. Rate each by what it
does and how it reads: 1 surely a machine's, 2 rather a machine's, 3 no idea, 4 rather a person's, 5 surely a person's. Write a line for each: its number, a space, the rating.
"""
# Random draws of points for an interval.
DRAWS = 10_000


def people(program, settings, work):
    """All kernels of people with their vectors, in random order."""
    known = {row["id"]: row for row in rows(program, "SELECT id, package, family, text FROM k WHERE verdict = 'accepted' ORDER BY id", k=settings["kernels"])}
    stampmill(program, "features", settings["kernels"], "--space", "instcount", "--out", work / "people", "--force")
    everyone = rows(program, "SELECT id, instcount FROM v WHERE verdict = 'accepted' ORDER BY id", v=work / "people")
    random.Random(int(settings["seed"])).shuffle(everyone)
    vector = lambda of: list(of.values()) if isinstance(of, dict) else of
    return [{**known[one["id"]], "vector": vector(one["instcount"])} for one in everyone if one["id"] in known and one["instcount"]]


def points(everyone, settings):
    packages, families, found = {}, set(), []
    for kernel in everyone:
        if kernel["vector"][0] >= int(settings["most"]) or kernel["family"] in families or packages.get(kernel["package"], 0) >= int(settings["cap"]):
            continue
        packages[kernel["package"]] = packages.get(kernel["package"], 0) + 1
        families.add(kernel["family"])
        found.append(kernel)
    return found[: int(settings["n"])]


def steered(program, settings, work, point, way, flags):
    """The answer of one search, where it lies at the point."""
    name = point["id"][:12]
    targets = work / f"{name}.jsonl"
    targets.write_text(json.dumps({"target": name, "instcount": point["vector"]}) + "\n")
    command = ["steer", "--space", "instcount", "--targets", targets, "--budget", settings["budget"], "--jobs", settings["jobs"], "--seed", settings["seed"], *flags]
    command += ["--must-run"] if settings["must_run"] == "yes" else []
    stampmill(program, *command, "--out", work / f"{name}-{way}", "--force")
    return next(iter(rows(program, "SELECT text, human_before, human FROM s WHERE rank = 1 AND verdict = 'accepted' AND exact", s=work / f"{name}-{way}")), None)


def nearest(everyone, point, taken):
    """The person's kernel that is nearest to the point, of other packages and families that are not taken."""
    others = (one for one in everyone if one["package"] != point["package"] and one["family"] not in taken)
    return min(((math.dist(one["vector"], point["vector"]), one["id"], one) for one in others), key=lambda one: one[:2], default=None)


def bits(program, settings, texts, folder):
    """Bits, and bits a token, of texts to the model; None of one that it cannot read."""
    folder.mkdir(parents=True)
    for number, text in enumerate(texts):
        (folder / f"k{number:05}.cl").write_text(text)
    told = stampmill(program, "evaluate", settings["model"], "--likelihood", folder, "--jobs", settings["jobs"])
    found = [None] * len(texts)
    for one in told["programs"]:
        if one["bits"] is not None:
            found[int(re.search(r"k(\d{5})", one["id"])[1])] = (one["bits"], one["bits"] / one["tokens"])
    return found


def plain(text):
    """A kernel with the names that all have, and without a line on what it descends from."""
    return as_mined(re.sub(r"(?m)^//.*\n", "", text)).strip() + "\n"


def write_sheet(found, settings):
    """The kernels in random order, and who wrote which."""
    folder = Path(settings["sheet"])
    folder.mkdir(parents=True, exist_ok=True)
    kernels = [(kind, hit["name"], text) for hit in found for kind, text in zip(KINDS, hit["texts"])]
    random.Random(f"sheet {settings['seed']}").shuffle(kernels)
    sheet = HEAD + "".join(f"\n## {number}\n\n```c\n{text.strip()}\n```\n" for number, (_, _, text) in enumerate(kernels, 1))
    (folder / "sheet.md").write_text(sheet)
    key = {"sheet_sha256": hashlib.sha256(sheet.encode()).hexdigest(), "kernels": {str(number): {"kind": kind, "point": name} for number, (kind, name, _) in enumerate(kernels, 1)}}
    (folder / "key.json").write_text(json.dumps(key, indent=1) + "\n")


def run(program, variant, settings, work):
    if variant == "ratings":
        return rated(settings)
    everyone = people(program, settings, work)
    found, tried, taken = [], 0, set()
    for point in points(everyone, settings):
        if len(found) == int(settings["hits"]):
            break
        tried += 1
        before = steered(program, settings, work, point, "found", ["--as-found"])
        after = before and steered(program, settings, work, point, "written", ["--natural", settings["model"]])
        beside = after and nearest(everyone, point, taken)
        if not beside:
            continue
        distance, _, person = beside
        taken.add(person["family"])
        texts = [plain(one["text"]) for one in (before, after, person)]
        found.append({"name": point["id"][:12], "point": point, "person": person, "distance": distance, "texts": texts, "human": (after["human_before"], after["human"])})
    if not found:
        sys.exit("figures: no point was hit: raise budget or n")
    write_sheet(found, settings)
    of = bits(program, settings, [text for hit in found for text in hit["texts"]], work / "texts")
    table, falls = [], []
    for at, hit in enumerate(found):
        three = of[3 * at : 3 * at + 3]
        if three[0] and three[1]:
            falls.append(1 - three[1][0] / three[0][0])
        shown = [f"{one[0]:.0f} ({one[1]:.2f})" if one else "too long" for one in three]
        table.append([hit["name"], hit["point"]["package"], *shown[:2], hit["person"]["package"], f"{hit['distance']:.1f}", shown[2]])
    odd = []
    for what, pattern in ODD.items():
        holds = (share(sum(bool(re.search(pattern, hit["texts"][kind])) for hit in found), len(found)) for kind in range(3))
        odd.append([what, *holds])
    summary = [["points tried", tried], ["hit exactly, both times", share(len(found), tried)], ["bits less, the median", f"{100 * statistics.median(falls):.0f} %" if falls else "none"]]
    summary.append(["distance of the person's kernel beside it, the median", f"{statistics.median(hit['distance'] for hit in found):.1f}"])
    told = [hit["human"] for hit in found if None not in hit["human"]]
    if told:
        before, after = (statistics.median(one[at] for one in told) for at in (0, 1))
        summary.append(["a person's to the discriminator, the median when found by the search with plain edits, and as written", f"{before:.2f}, {after:.2f}"])
    headings = [f"{hit['name']}, a point of {hit['point']['package']}" for hit in found]
    captions = [["As found", "Written anew", f"The nearest person's, of {hit['person']['package']}, {hit['distance']:.1f} away"] for hit in found]
    return {
        "odd": {"columns": ["holds", *KINDS], "rows": odd},
        "bits": {"columns": ["point", "package", "bits as found (a token)", "bits written anew", "nearest person's, of", "its distance", "its bits"], "rows": table},
        "summary": {"columns": ["what", "value"], "rows": summary},
        "kernels": {"programs": [[heading, list(map(list, zip(caption, hit["texts"])))] for heading, caption, hit in zip(headings, captions, found)]},
    }


def read(path, numbers):
    """The ratings of one reader, by number; each kernel has one."""
    found = {}
    for line in Path(path).read_text().splitlines():
        if not line.strip():
            continue
        match = re.fullmatch(r"\s*(\d+)\s*[ :.,)\t]\s*([1-5])\s*", line)
        if not match or match[1] not in numbers or match[1] in found:
            sys.exit(f"figures: {path}: `{line.strip()}` is no line NUMBER RATING of a kernel of the sheet, with a rating from 1 to 5, that is not rated yet")
        found[match[1]] = int(match[2])
    if missing := [number for number in numbers if number not in found]:
        sys.exit(f"figures: {path}: no rating of {', '.join(missing[:10])}: each kernel of the sheet needs one")
    return found


def rated(settings):
    folder = Path(settings["sheet"])
    if not settings["ratings"]:
        sys.exit("figures: ratings=FILE names what a reader wrote of the sheet")
    key = json.loads((folder / "key.json").read_text())
    if hashlib.sha256((folder / "sheet.md").read_bytes()).hexdigest() != key["sheet_sha256"]:
        sys.exit(f"figures: {folder}/sheet.md is not the sheet that {folder}/key.json is of: `scripts/figures.sh natural` writes both")
    readers = [read(path, key["kernels"]) for path in settings["ratings"].split(",")]
    # By point and kind the mean over readers.
    of, every = {}, {kind: [] for kind in KINDS}
    for number, kernel in key["kernels"].items():
        given = [reader[number] for reader in readers]
        every[kernel["kind"]] += given
        of.setdefault(kernel["point"], {})[kernel["kind"]] = statistics.fmean(given)
    triples = [[three[kind] for kind in KINDS] for three in of.values()]
    draw = random.Random(int(settings["seed"]))
    drawn = [[statistics.fmean(column) for column in zip(*draw.choices(triples, k=len(triples)))] for _ in range(DRAWS)]

    def line(what, value):
        ordered = sorted(value(means) for means in drawn)
        middle = value([statistics.fmean(column) for column in zip(*triples)])
        return [what, f"{middle:.2f}", f"{ordered[DRAWS // 40]:.2f} to {ordered[-DRAWS // 40 - 1]:.2f}"]

    table = [line(kind, lambda means, at=at: means[at]) + [len(triples), *(every[kind].count(rating) for rating in range(1, 6))] for at, kind in enumerate(KINDS)]
    apart = [line("written anew less as found", lambda means: means[1] - means[0]), line("people's less written anew", lambda means: means[2] - means[1])]
    better = sum(three[1] > three[0] for three in triples), sum(three[1] < three[0] for three in triples)
    apart += [["rated higher once written anew", share(better[0], len(triples)), ""], ["rated lower", share(better[1], len(triples)), ""], ["readers", len(readers), ""]]
    return {
        "ratings": {"columns": ["kernels", "mean rating", "95 %", "kernels rated", *(f"rated {rating}" for rating in range(1, 6))], "rows": table},
        "differences": {"columns": ["what", "value", "95 %"], "rows": apart},
    }
