"""What each proposer of `steer` brings, in each space: all of them, all but one, and what others would do in the same time.

The targets are targets=N of steer.py's for each space, the same for every row; nothing goes from one target to the next. All have budget=TIME of the clock for
each target (or `cpu:TIME`, of processors), of one thread; parts=N targets at once. What is known of the seeds before a search (their vectors, what the leak rule sees) is
computed beforehand, and the search's own plain edits and second phase are left out (--as-found). A language model draws a batch to its end, whatever
the time. data and seeds are as in steer.py. Draws curves for each space into docs/results. Some fifty minutes on two cores; targets=4 budget=5s is done in twelve."""
import json
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from steer import grewe, suites
from tools import median, rows, share, stampmill

SCRIPTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SCRIPTS))
from curves import draw  # noqa: E402

SETTINGS = {"data": "../shared/data", "seeds": "datasets/device-mapping-h200/kernels", "targets": "12", "budget": "10s", "parts": "2", "seed": "0", "model": "models/infill"}
OWN = ["nearest", "construct", "guided", "combine", "compose", "crossover", "mutate"]
ALL = "all of ours"
SPACES = {"grewe": "Grewe", "instcount": "InstCount", "autophase": "Autophase"}
# Shares of the budget at which the best so far is looked at.
SHARES = [0.1, 0.2, 0.35, 0.5, 0.75, 1.0]
# The least proximity that pictures show.
LEAST = 0.5


def arms(settings):
    """Name to whether mined kernels are there, and the flags that say who proposes."""
    yield ALL, True, ["--proposers", ",".join(OWN)]
    for name in OWN:
        yield f"all but `{name}`", True, ["--proposers", ",".join(other for other in OWN if other != name)]
    yield "mined kernels as they are (`nearest`)", True, ["--proposers", "nearest"]
    yield "mined kernels, mutated as SRCIROR does (`nearest,mutate`)", True, ["--proposers", "nearest,mutate"]
    yield "undirected making (`random`)", False, ["--proposers", "random"]
    yield "random programs in CLSmith's manner (`smith`)", False, ["--proposers", "smith"]
    yield f"a language model (`model`, {settings['model']})", False, ["--model", settings["model"], "--accept-model", "--proposers", "model"]


def seconds(budget):
    """Of one target."""
    number = budget.removeprefix("cpu:").removesuffix("s")
    if not budget.endswith("s") or not number.replace(".", "", 1).isdigit() or float(number) <= 0:
        sys.exit(f"figures: budget={budget} is no number of seconds, such as 10s or cpu:10s")
    return float(number)


def listed(settings, work):
    """The targets of each space, as many files as there are parts."""
    files, count, parts = {}, int(settings["targets"]), int(settings["parts"])
    for space in SPACES:
        every = grewe(settings["data"]) if space == "grewe" else suites(settings["data"])
        every = sorted((target for target in every if target.get(space)), key=lambda target: target["target"])
        drawn = random.Random(int(settings["seed"])).sample(every, min(count, len(every)))
        files[space] = []
        for part in range(min(parts, len(drawn))):
            path = work / f"targets-{space}-{part}.jsonl"
            path.write_text("".join(json.dumps({"target": one["target"], space: one[space]}) + "\n" for one in drawn[part::parts]))
            files[space].append(path)
    return files


def command(space, targets, settings, budget, flags):
    return ["steer", "--as-found", "--trajectory", "--space", space, "--targets", targets, "--budget", budget, "--jobs", "1", "--seed", settings["seed"], *flags]


def started(settings):
    """Flags of a search that starts from mined kernels."""
    return ["--seeds", settings["seeds"], "--exclude", f"{settings['data']}/kernels/benchmarks.jsonl"]


def searched(program, space, files, settings, flags, work):
    """The nearest kernel of each target."""

    def part(number):
        out = work / f"found-{number}"
        stampmill(program, *command(space, files[number], settings, settings["budget"], flags), "--out", out, "--force")
        sql = "SELECT target, exact, proximity, candidates, seconds, mined_exact, trajectory FROM f WHERE rank = 1 ORDER BY target"
        return rows(program, sql, f=out)

    with ThreadPoolExecutor(len(files)) as pool:
        return [row for found in pool.map(part, range(len(files))) for row in found]


def is_hit(row, flags):
    """What was mined is set aside, but where it is all that is proposed."""
    return bool(row["exact"]) or flags[-1] == "nearest" and (row["mined_exact"] or 0) > 0


def best(trajectory, until):
    """The proximity of the nearest survivor by then; 0 where there is none yet."""
    return max((one["proximity"] for one in trajectory or [] if one["seconds"] <= until), default=0)


def run(program, _, settings, work):
    whole, files = seconds(settings["budget"]), listed(settings, work)
    times = [whole * part for part in SHARES]
    for space, of_space in files.items():
        # Under a budget in candidates all seeds are described and looked at.
        for path in of_space:
            stampmill(program, *command(space, path, settings, "96", [*started(settings), "--proposers", "nearest"]), "--out", work / "known", "--force")
    table, curves, series = [], [], {space: {} for space in SPACES}
    for name, is_started, flags in arms(settings):
        row = [name]
        for space, of_space in files.items():
            found = searched(program, space, of_space, settings, [*(started(settings) if is_started else []), *flags], work)
            spent = sum(one["seconds"] or 0 for one in found)
            row += [share(sum(is_hit(one, flags) for one in found), len(found)), median([one["proximity"] or 0 for one in found])]
            row.append(f"{sum(one['candidates'] or 0 for one in found) / spent:.0f}" if spent else "none")
            # What is nearest in the end may come of a generation that ended later.
            middle = [median([best(one["trajectory"], until) for one in found]) for until in times]
            curves.append([SPACES[space], name, *middle])
            # Pictures have no room for more than who proposes.
            short = name.replace("`", "") if name.startswith("all") else flags[-1]
            series[space][short] = [(until, *[float(value)] * 3) for until, value in zip(times, middle)]
        table.append(row)
    for space, word in SPACES.items():
        out = SCRIPTS.parent / "docs" / "results" / f"steer-baselines-{space}.svg"
        draw(out, series[space], f"{word}: median proximity of the nearest kernel so far", "seconds", aside="median proximity", scale=(LEAST, 1.0, 0.1))
    columns = ["proposers", *(word for name in SPACES.values() for word in (f"{name}, exact", "median proximity", "candidates a second"))]
    curves.sort(key=lambda one: list(SPACES.values()).index(one[0]))
    return {
        "rows": {"columns": columns, "rows": table},
        "curves": {"columns": ["space", "proposers", *(f"{until:g} s" for until in times)], "rows": curves},
    }
