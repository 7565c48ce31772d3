"""Kernels made at points of people's kernels, before and after they are written anew (`steer --natural`), beside the person's.

n points in InstCount, of kernels=DATASET of `prepare` under most=N instructions, one of a family and cap=N of a package at
most, drawn by the seed. Each is searched for from nothing, with budget=N candidates, twice by the same seed: as it is found,
and with what is left of the budget spent on writing it anew. `must_run=yes` accepts kernels alone that pass the checker."""
import json
import random
import re
import statistics

from tools import rows, share, stampmill

SETTINGS = {"kernels": "datasets/device-mapping-h200/kernels", "model": "models/infill", "n": "20", "cap": "3", "most": "60", "budget": "6000", "must_run": "yes", "jobs": "2", "seed": "1"}
# What people hardly write: a work-item function of no plain dimension, a sum with 0, a conversion to int of a sum of ints, an index that is read of a buffer.
ODD = {
    "a work-item function of no plain dimension": r"get_\w+\((?!\d\))",
    "something and 0": r"(?<![\w.])0 \+|\+ 0(?![\w.])",
    "a conversion of a sum": r"\(int\)\(",
    "an index that is read of a buffer": r"\[[^\]]*\w\[",
}


def people(program, settings, work):
    draw = random.Random(int(settings["seed"]))
    known = {row["id"]: row for row in rows(program, "SELECT id, package, family, text FROM k WHERE verdict = 'accepted' ORDER BY id", k=settings["kernels"])}
    stampmill(program, "features", settings["kernels"], "--space", "instcount", "--out", work / "people")
    everyone = rows(program, "SELECT id, instcount FROM v WHERE verdict = 'accepted' ORDER BY id", v=work / "people")
    draw.shuffle(everyone)
    packages, families, found = {}, set(), []
    for one in everyone:
        kernel = known[one["id"]]
        total = list(one["instcount"].values())[0] if isinstance(one["instcount"], dict) else one["instcount"][0]
        if total >= int(settings["most"]) or kernel["family"] in families or packages.get(kernel["package"], 0) >= int(settings["cap"]):
            continue
        packages[kernel["package"]] = packages.get(kernel["package"], 0) + 1
        families.add(kernel["family"])
        found.append({**kernel, "vector": one["instcount"]})
    return found[: int(settings["n"])]


def run(program, _, settings, work):
    chosen = people(program, settings, work)
    targets = work / "targets.jsonl"
    targets.write_text("".join(json.dumps({"target": one["id"][:12], "instcount": one["vector"]}) + "\n" for one in chosen))
    steer = ["steer", "--space", "instcount", "--targets", targets, "--budget", settings["budget"], "--jobs", settings["jobs"], "--seed", settings["seed"]]
    steer += ["--must-run", "--allow-races"] if settings["must_run"] == "yes" else []
    stampmill(program, *steer, "--out", work / "found")
    stampmill(program, *steer, "--natural", settings["model"], "--out", work / "written")
    query = "SELECT target, text, exact, bits_before, bits, bits_per_token FROM s WHERE rank = 1 AND verdict = 'accepted' ORDER BY target"
    before = {row["target"]: row for row in rows(program, query, s=work / "found")}
    after = {row["target"]: row for row in rows(program, query, s=work / "written")}
    person = {one["id"][:12]: one for one in chosen}
    hits = [name for name in after if after[name]["exact"] and before.get(name, {}).get("exact")]
    table = [[name, person[name]["package"], f"{after[name]['bits_before']:.0f}", f"{after[name]['bits']:.0f}", f"{after[name]['bits_per_token']:.2f}"] for name in hits]
    odd = []
    for what, pattern in ODD.items():
        holds = lambda texts: share(sum(bool(re.search(pattern, text)) for text in texts), len(texts))
        odd.append([what, *(holds([of[name]["text"] for name in hits]) for of in (before, after, person))])
    fall = [1 - after[name]["bits"] / after[name]["bits_before"] for name in hits]
    return {
        "odd": {"columns": ["holds", "as found", "written anew", "people's"], "rows": odd},
        "bits": {"columns": ["point of", "package", "bits when found", "bits as written", "a token"], "rows": table},
        "summary": {"columns": ["what", "value"], "rows": [["points hit exactly, both times", share(len(hits), len(chosen))], ["bits less, the median", f"{100 * statistics.median(fall):.0f} %" if fall else "none"]]},
        "kernels": {"programs": [[f"{name}, a kernel of {person[name]['package']}", [["As found", before[name]["text"]], ["Written anew", after[name]["text"]], ["The person's", person[name]["text"]]]] for name in hits]},
    }
