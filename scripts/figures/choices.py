"""Whether a choice of passes, or of a device, is short of programs: `heuristic diagnose` of `passes` and `cpu-gpu`.

Needs kernels=DATASET of `prepare` with several packages and devices=TABLE of `label` (datasets/device-mapping-h200 in the repository). The
choices of `passes` are the five pipelines that `opt` tries; vectors are of unoptimized code. Groups are packages."""
from loops import diagnosed, diagnosis

from tools import stampmill

SETTINGS = {"kernels": "datasets/device-mapping-h200/kernels", "devices": "datasets/device-mapping-h200/task",
            "pipelines": "crates/cost/pipelines/fixed.txt", "jobs": "2", "seed": "0"}


def run(program, _, settings, work):
    stampmill(program, "features", settings["kernels"], "--space", "instcount,loops", "--opt", "0", "--jobs", settings["jobs"], "--out", work / "vectors", "--force")
    stampmill(program, "label", "--task", "passes", settings["kernels"], "--pipelines", settings["pipelines"], "--features", work / "vectors",
              "--jobs", settings["jobs"], "--out", work / "passes", "--force")
    all_rows = ([], [], [], [])
    for task, table in (("passes", work / "passes"), ("cpu-gpu", settings["devices"])):
        found = stampmill(program, "heuristic", "diagnose", table, "--seed", settings["seed"])
        for rows, more in zip(all_rows, diagnosed(found, task)):
            rows += more
    return diagnosis(*all_rows)
