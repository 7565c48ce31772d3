"""Is a cost model of kernels short of programs, and what loop-weighted counts are worth: `label` and `heuristic diagnose` of `size`, `mca` and
`cost`.

Needs kernels=DATASET of `prepare` with several packages (datasets/device-mapping-h200/kernels in the repository). Vectors are of
unoptimized code; errors are of packages that were held out, intervals draw packages."""
import math

from tools import rows, stampmill

SETTINGS = {"kernels": "datasets/device-mapping-h200/kernels", "jobs": "2", "seed": "0"}
SPACES = [("instcount, autophase", "instcount,autophase"), ("and loops", "instcount,autophase,loops")]


def shown(error, digits=3):
    low, high = error["interval"]
    return f"{error['value']:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def percent(change):
    low, high = (100 * end for end in change["interval"])
    return f"{100 * change['value']:+.1f} % [{low:+.1f}, {high:+.1f}]"


def line_error(programs):
    """Root of the mean squared error of one-variable regression of log2(cost), each package held out in turn; programs are (package, x, cost)."""
    losses = []
    for package in {program[0] for program in programs}:
        train = [(math.log2(1 + x), math.log2(cost)) for name, x, cost in programs if name != package]
        mean_x, mean_y = (sum(column) / len(train) for column in zip(*train))
        spread = sum((x - mean_x) ** 2 for x, _ in train)
        slope = sum((x - mean_x) * (y - mean_y) for x, y in train) / spread
        losses += [(mean_y + slope * (math.log2(1 + x) - mean_x) - math.log2(cost)) ** 2 for name, x, cost in programs if name == package]
    return math.sqrt(sum(losses) / len(losses))


def run(program, _, settings, work):
    stampmill(program, "features", settings["kernels"], "--space", SPACES[-1][1], "--opt", "0", "--jobs", settings["jobs"], "--out", work / "vectors", "--force")
    errors, verdicts, labels, points = [], [], [], []
    curves = {}
    for task in ("size", "mca", "cost"):
        made = stampmill(program, "label", "--task", task, settings["kernels"], "--features", work / "vectors", "--jobs", settings["jobs"], "--out", work / task, "--force")
        verdict = ", ".join(f"{count} {word}" for word, count in sorted(made["verdicts"].items(), key=lambda one: -one[1]))
        without = ", ".join(f"{count} {why}" for why, count in sorted(made["undescribed"].items()))
        labels.append([f"`{task}`", str(made["programs"]), verdict, without])
        for title, spaces in SPACES:
            found = stampmill(program, "heuristic", "diagnose", work / task, "--space", spaces, "--seed", settings["seed"])
            models, ceiling = found["regression"]["models"], found["ceiling"]
            over = "{:+.1f} to {:+.1f} %".format(*(100 * end for end in found["doubling_over_splits"]))
            errors.append([f"`{task}`, {title}", *(shown(models[name]) for name in ("lin1", "forest", "boosting")),
                           f"{ceiling['neighbours']:.2f}", shown(ceiling["same_groups"]), percent(found["last_doubling"]), over])
            sizes = tuple(str(point["programs"]) for point in found["curve"])
            curves.setdefault(sizes, []).append([f"`{task}`, {title}", *(f"{point['error']['value']:.2f}" for point in found["curve"])])
            points += [[f"{task}, {title}", str(point["programs"]), f"{point['error']['value']:.4f}", *(f"{end:.4f}" for end in point["error"]["interval"])]
                       for point in found["curve"]]
            verdicts.append([f"`{task}`, {title}", " ".join(one["word"] for one in found["verdicts"])])
    tables = {
        "labels": {"columns": ["task", "programs", "verdicts", "labeled without vectors"], "rows": labels},
        "errors": {"columns": ["task, features", "`lin1`", "forest", "boosting", "nearest neighbors", "same packages in training", "last doubling", "over splits"], "rows": errors},
        "verdicts": {"columns": ["task, features", "verdicts"], "rows": verdicts},
    }
    joined = "SELECT c.package AS package, c.instcount[1] AS count, m.costs[1] AS mca, c.costs[1] AS cost FROM c JOIN m ON c.id = m.id WHERE c.label IS NOT NULL AND m.label IS NOT NULL AND c.instcount IS NOT NULL"
    both = rows(program, joined, c=work / "cost", m=work / "mca")
    tables["lines"] = {
        "columns": ["`cost` predicted by a line on", "error, each package held out in turn"],
        "rows": [[title, f"{line_error([(row['package'], row[key], row['cost']) for row in both]):.3f}"]
                 for title, key in (("the instruction count", "count"), ("what llvm-mca says (`mca`)", "mca"))],
    }
    # What scripts/curves.py draws.
    tables["points"] = {"columns": ["task, features", "real programs", "error", "low", "high"], "rows": points}
    # Tasks of as many programs have their curves in one table.
    for number, (sizes, rows) in enumerate(curves.items()):
        tables["curves" if number == 0 else f"curves-{number + 1}"] = {"columns": ["real programs", *sizes], "rows": rows}
    return tables
