"""Is a cost model of kernels short of programs, and what loop-weighted counts are worth: `label` and `heuristic diagnose` of `size` and `mca`.

Needs kernels=DATASET of `prepare` with several packages (datasets/device-mapping-h200/kernels in the repository). Vectors are of
unoptimized code; errors are of packages that were held out, intervals draw packages."""
from tools import stampmill

SETTINGS = {"kernels": "datasets/device-mapping-h200/kernels", "jobs": "2", "seed": "0"}
SPACES = [("instcount, autophase", "instcount,autophase"), ("and loops", "instcount,autophase,loops")]


def shown(error, digits=3):
    low, high = error["interval"]
    return f"{error['value']:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def percent(change):
    low, high = (100 * end for end in change["interval"])
    return f"{100 * change['value']:+.1f} % [{low:+.1f}, {high:+.1f}]"


def run(program, _, settings, work):
    stampmill(program, "features", settings["kernels"], "--space", SPACES[-1][1], "--opt", "0", "--jobs", settings["jobs"], "--out", work / "vectors", "--force")
    errors, curves, verdicts = [], [], []
    for task in ("size", "mca"):
        stampmill(program, "label", "--task", task, settings["kernels"], "--features", work / "vectors", "--jobs", settings["jobs"], "--out", work / task, "--force")
        for title, spaces in SPACES:
            found = stampmill(program, "heuristic", "diagnose", work / task, "--space", spaces, "--seed", settings["seed"])
            models, ceiling = found["regression"]["models"], found["ceiling"]
            errors.append([f"`{task}`, {title}", *(shown(models[name]) for name in ("lin1", "forest", "boosting")),
                           f"{ceiling['neighbours']:.2f}", shown(ceiling["same_groups"]), percent(found["last_doubling"])])
            curves.append([f"`{task}`, {title}", *(f"{point['error']['value']:.2f}" for point in found["curve"])])
            verdicts.append([f"`{task}`, {title}", " ".join(one["word"] for one in found["verdicts"])])
    sizes = [str(point["programs"]) for point in found["curve"]]
    return {
        "errors": {"columns": ["task, features", "`lin1`", "forest", "boosting", "nearest neighbors", "same packages in training", "last doubling"], "rows": errors},
        "curves": {"columns": ["real programs", *sizes], "rows": curves},
        "verdicts": {"columns": ["task, features", "verdicts"], "rows": verdicts},
    }
