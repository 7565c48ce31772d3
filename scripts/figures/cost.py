"""A learned model of what a kernel's work-item costs, beside the instruction count and llvm-mca: `label --task cost`, `heuristic diagnose`.

Needs kernels=DATASET of `prepare` with several packages (datasets/device-mapping-h200/kernels in the repository). Vectors are of
unoptimized code; errors are of packages that were held out, intervals draw packages."""
import math

from tools import rows, stampmill

SETTINGS = {"kernels": "datasets/device-mapping-h200/kernels", "jobs": "2", "seed": "0", "splits": "5"}
SPACES = "instcount,loops"
# Features of kernels that ran, which `dynamic` describes.
RAN = [SPACES, "dynamic", f"{SPACES},dynamic"]


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
    stampmill(program, "features", settings["kernels"], "--space", RAN[-1], "--opt", "0", "--jobs", settings["jobs"], "--out", work / "vectors", "--force")
    labels = []
    for task in ("mca", "cost"):
        made = stampmill(program, "label", "--task", task, settings["kernels"], "--features", work / "vectors", "--jobs", settings["jobs"], "--out", work / task, "--force")
        verdict = ", ".join(f"{count} {word}" for word, count in sorted(made["verdicts"].items(), key=lambda one: -one[1]))
        without = ", ".join(f"{count} {why}" for why, count in sorted(made["undescribed"].items()))
        labels.append([f"`{task}`", str(made["programs"]), verdict, without])
    found = stampmill(program, "heuristic", "diagnose", work / "cost", "--space", SPACES, "--seed", settings["seed"], "--splits", settings["splits"])
    stampmill(program, "query", "SELECT * FROM c WHERE dynamic IS NOT NULL AND instcount IS NOT NULL AND loops IS NOT NULL", f"c={work / 'cost'}", "--out", work / "ran", "--force")
    ran = []
    for spaces in RAN:
        one = stampmill(program, "heuristic", "diagnose", work / "ran", "--space", spaces, "--seed", settings["seed"], "--splits", settings["splits"])
        of = one["regression"]["models"]
        ran.append([", ".join(f"`{space}`" for space in spaces.split(",")), str(one["rows"]), *(shown(of[name]) for name in ("forest", "boosting")),
                    shown(one["ceiling"]["same_groups"]), percent(one["last_doubling"]), " ".join(word["word"] for word in one["verdicts"])])
    models, ceiling = found["regression"]["models"], found["ceiling"]
    over = "{:+.1f} to {:+.1f} %".format(*(100 * end for end in found["doubling_over_splits"]))
    joined = "SELECT c.package AS package, c.instcount[1] AS count, m.costs[1] AS mca, c.costs[1] AS cost FROM c JOIN m ON c.id = m.id WHERE c.label IS NOT NULL AND m.label IS NOT NULL AND c.instcount IS NOT NULL"
    both = rows(program, joined, c=work / "cost", m=work / "mca")
    lines = [[title, f"{line_error([(row['package'], row[key], row['cost']) for row in both]):.3f}"]
             for title, key in (("the instruction count", "count"), ("what llvm-mca says (`mca`)", "mca"))]
    lacking = "SELECT regexp_replace(detail, '[0-9]+', 'N') AS what, count(*) AS n FROM c WHERE verdict = 'unsupported' GROUP BY what ORDER BY n DESC, what LIMIT 8"
    return {
        "labels": {"columns": ["task", "programs", "verdicts", "labeled without vectors"], "rows": labels},
        "lacking": {"columns": ["`unsupported`", "kernels"], "rows": [[f"`{row['what']}`", str(row["n"])] for row in rows(program, lacking, c=work / "cost")]},
        "errors": {
            "columns": ["packages held out", "error"],
            "rows": [*([f"`{name}`", shown(models[name])] for name in ("mean", "lin1", "forest", "boosting")),
                     ["the best less `lin1`", shown(found["regression"]["against_lin1"])],
                     ["the same packages in training", shown(ceiling["same_groups"])],
                     ["half of the difference of nearest neighbors", f"{ceiling['neighbours']:.2f}"],
                     ["last doubling of the programs", f"{percent(found['last_doubling'])}, over splits {over}"]],
        },
        "ran": {"columns": ["features", "kernels", "forest", "boosting", "same packages in training", "last doubling", "verdicts"], "rows": ran},
        "lines": {"columns": ["a line on", "error, each package held out in turn"], "rows": lines},
        "curve": {"columns": ["real programs", "error"], "rows": [[str(point["programs"]), shown(point["error"], 2)] for point in found["curve"]]},
        "verdicts": {"columns": ["verdict", "in words"], "rows": [[f"`{one['word']}`", one["text"]] for one in found["verdicts"]]},
        # What scripts/curves.py draws.
        "points": {"columns": ["task", "real programs", "error", "low", "high"],
                   "rows": [["cost", str(point["programs"]), f"{point['error']['value']:.4f}", *(f"{end:.4f}" for end in point["error"]["interval"])]
                            for point in found["curve"]]},
    }
