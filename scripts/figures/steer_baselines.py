"""What each proposer of `steer` brings, in each space: all of them, all but one, and what others would do in the same time.

The targets are some of steer.py's, the same for every row; nothing goes from one target to the next. Time is a processor's,
of the command and its workers. The search's own second phase is left out (--as-found). data, seeds and parts are as in
steer.py; sample=N targets of each space."""
import json

from steer import grewe, search, suites
from tools import median, rows, share

SETTINGS = {"data": "../shared/data", "seeds": "datasets/device-mapping-h200/kernels", "budget": "cpu:10s", "jobs": "1", "parts": "2", "seed": "0", "sample": "16"}
OWN = ["nearest", "construct", "guided", "combine", "compose", "crossover", "mutate"]
MODEL = ["--model", "models/infill", "--proposers", "model"]
BASELINES = {
    "mined kernels as they are (`nearest`)": ["--proposers", "nearest"],
    "mined kernels, mutated as SRCIROR does (`nearest,mutate`)": ["--proposers", "nearest,mutate"],
    "undirected making (`random`)": ["--proposers", "random"],
    "random programs in CLSmith's manner (`smith`)": ["--proposers", "smith"],
    "a language model (`model`, the shipped `infill`)": MODEL,
}
SPACES = ["grewe", "instcount", "autophase"]
# Seconds at which the best so far is looked at.
TIMES = [1, 2, 5, 10]


def arms():
    yield "all of ours", []
    for name in OWN:
        yield f"all but `{name}`", ["--proposers", ",".join(other for other in OWN if other != name)]
    yield from BASELINES.items()


def run(program, variant, settings, work):
    results, curves = [], []
    for name, chosen in arms():
        row, way = [name], [name]
        for space in SPACES:
            found = once(program, space, chosen, settings, work)
            # What was mined is set aside, but where it is all that is proposed.
            is_hit = lambda one: bool(one["exact"]) or "nearest" in chosen and (one["mined_exact"] or 0) > 0
            row += [share(sum(map(is_hit, found)), len(found)), median([one["proximity"] or 0 for one in found])]
            if space == "instcount":
                way += [median([best(one["trajectory"], seconds) for one in found]) for seconds in TIMES]
                rate = sum(one["candidates"] for one in found) / max(1e-9, sum(one["seconds"] for one in found))
        results.append(row + [f"{rate:.0f}"])
        curves.append(way)
    columns = ["proposers"] + [word for space in SPACES for word in (f"{space}, exact", "median proximity")]
    return {
        "rows": {"columns": columns + ["candidates a processor second, instcount"], "rows": results},
        "curves": {"columns": ["proposers", *(f"{seconds} s" for seconds in TIMES)], "rows": curves},
    }


def once(program, space, chosen, settings, work):
    targets = grewe(settings["data"]) if space == "grewe" else suites(settings["data"])
    listed = work / "targets.jsonl"
    listed.write_text("".join(json.dumps(target) + "\n" for target in targets))
    command = ["steer", "--as-found", "--trajectory", "--space", space, "--targets", listed, "--sample", settings["sample"]]
    command += ["--budget", settings["budget"], "--jobs", settings["jobs"], "--seed", settings["seed"], "--force", *chosen]
    command += ["--exclude", f"{settings['data']}/kernels/benchmarks.jsonl"]
    command += ["--accept-model"] if chosen == MODEL else ["--seeds", settings["seeds"]]
    search(program, command, int(settings["parts"]), work)
    sql = "SELECT target, exact, proximity, candidates, seconds, mined_exact, trajectory FROM f WHERE rank = 1"
    return rows(program, sql, f=work / "found")


def best(trajectory, seconds):
    """The proximity of the nearest survivor by then; 0 where there is none yet."""
    return max((one["proximity"] for one in trajectory or [] if one["seconds"] <= seconds), default=0)
