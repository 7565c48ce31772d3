"""What samples do: how many pass `run`'s checker, how much of them the optimizer leaves, and how far a model of costs is off on them, with and without the rules of usefulness.

Beside them kernels of people, drawn from kernels=DATASET of `prepare`; of some of these cost=MODEL may have learned. Needs a processor's OpenCL device and llvm-mca;
n=200 takes some half an hour on two cores."""
import collections
import math
import random
import statistics
import time

from tools import rows, stampmill

SETTINGS = {"model": "models/infill", "cost": "models/cost", "kernels": "datasets/device-mapping-h200/kernels", "n": "400", "shortest": "200", "jobs": "2", "seed": "4242", "size": "2^10"}


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "none"


def left(program, dataset, work):
    """Instructions of each kernel as it is, and after -O2."""
    counts = {}
    for level in ("0", "2"):
        out = work / f"{dataset.name}-O{level}"
        stampmill(program, "features", dataset, "--space", "instcount", "--opt", level, "--out", out)
        for row in rows(program, "SELECT path, instcount FROM v WHERE verdict = 'accepted'", v=out):
            counts.setdefault(row["path"], {})[level] = row["instcount"][0]
    return [one for one in counts.values() if len(one) == 2]


def bias(program, settings, dataset, work):
    """Predicted less true log2 of the cost `mca`, the mean."""
    vectors, costs = work / f"{dataset.name}-vectors", work / f"{dataset.name}-costs"
    stampmill(program, "features", dataset, "--space", "instcount,loops", "--opt", "0", "--out", vectors)
    stampmill(program, "label", "--task", "mca", dataset, "--features", vectors, "--out", costs)
    told = stampmill(program, "heuristic", "predict", settings["cost"], costs)
    off = [math.log2(one["predicted"] / one["cost"]) for one in told["predictions"] if one["cost"]]
    return f"{statistics.mean(off):+.2f}" if off else "none"


def measured(program, settings, dataset, drawn, seconds, work):
    """A row of each table, for `drawn` kernels of which those that compile are in a data set or folder."""
    runs = work / f"{dataset.name}-runs"
    stampmill(program, "run", dataset, "--devices", "cpu", "--global-sizes", settings["size"], "--jobs", settings["jobs"], "--out", runs)
    outcomes = collections.Counter(row["outcome"] for row in rows(program, "SELECT outcome FROM r", r=runs))
    counts = left(program, dataset, work)
    before, after = (sum(one[level] for one in counts) for level in ("0", "2"))
    passed = outcomes["pass"]
    told = [drawn, percent(sum(outcomes.values()), drawn), percent(passed, drawn), f"{passed / seconds:.1f}" if seconds else ""]
    length = [statistics.median(one["0"] for one in counts), round(statistics.mean(one["0"] for one in counts), 1), percent(after, before)]
    return told + length + [bias(program, settings, dataset, work)], outcomes


def run(program, _, settings, work):
    n = int(settings["n"])
    ways = {
        "samples": [],
        "samples, `--novel`": ["--novel"],
        f"samples, `--shortest {settings['shortest']}`": ["--shortest", settings["shortest"]],
        "samples, `--allow-useless`": ["--allow-useless"],
    }
    found = {}
    for number, (way, flags) in enumerate(ways.items()):
        out = work / f"samples-{number}"
        begun = time.monotonic()
        stampmill(program, "sample", settings["model"], "--n", n, "--seed", settings["seed"], "--jobs", settings["jobs"], *flags, "--out", out)
        found[way] = measured(program, settings, out, n, time.monotonic() - begun, work)
    texts = rows(program, "SELECT text FROM k WHERE verdict = 'accepted' ORDER BY id", k=settings["kernels"])
    people = work / "people"
    people.mkdir()
    for number, row in enumerate(random.Random(int(settings["seed"])).sample(texts, min(n, len(texts)))):
        (people / f"{number:04}.cl").write_text(row["text"])
    found["kernels of people"] = measured(program, settings, people, len(list(people.iterdir())), None, work)
    names = [name for name, _ in sum((outcomes for _, outcomes in found.values()), collections.Counter()).most_common()]
    return {
        "rates": {"columns": ["", "drawn", "compile", "pass", "that pass, a second of drawing", "instructions at -O0: median", "mean", "of them left by -O2", "predicted less true log2 of the cost"], "rows": [[way, *told] for way, (told, _) in found.items()]},
        "outcomes": {"columns": ["of those that compile", *names], "rows": [[way, *(outcomes[name] for name in names)] for way, (_, outcomes) in found.items()]},
    }
