"""Is there anything to learn about sizes of work-groups on a GPU: `label --task local-size` and `heuristic diagnose`.

Needs runs=DATASET of `run --local-sizes`, again=DATASET of the same at another time, and the kernels that ran (all three in the repository).
Vectors are of unoptimized code; errors are of packages that were held out, intervals draw packages."""
from tools import rows, share, stampmill

SETTINGS = {"runs": "datasets/local-size-h100/runs", "again": "datasets/local-size-h100/again", "kernels": "datasets/device-mapping-h200/kernels", "jobs": "2", "seed": "0"}
SPACES = "instcount,loops,grewe"


def slower(error):
    """A mean log2 of a ratio of times, in per cent."""
    value, low, high = (100 * (2**log - 1) for log in (error["value"], *error["interval"]))
    return f"{value:.1f} % [{low:.1f}, {high:.1f}]"


def run(program, _, settings, work):
    stampmill(program, "features", settings["kernels"], "--space", SPACES, "--opt", "0", "--jobs", settings["jobs"], "--out", work / "vectors", "--force")
    made = stampmill(program, "label", "--task", "local-size", settings["runs"], "--features", work / "vectors", "--out", work / "task", "--force")
    stampmill(program, "label", "--task", "local-size", settings["again"], "--out", work / "again", "--force")
    found = stampmill(program, "heuristic", "diagnose", work / "task", "--seed", settings["seed"])
    twice = rows(program, "SELECT a.costs AS a, b.costs AS b, a.label AS x, b.label AS y FROM a JOIN b ON a.id = b.id WHERE a.label IS NOT NULL AND b.label IS NOT NULL",
                 a=work / "task", b=work / "again")
    same = sum(one["x"] == one["y"] for one in twice)
    changes = sorted(abs(before / after - 1) for one in twice for before, after in zip(one["a"], one["b"]))
    labels = made["labels"]
    return {
        "labels": {"columns": ["fastest size of groups", "kernels"], "rows": [[size, str(labels[size])] for size in sorted(labels, key=int)]},
        "verdicts": {"columns": ["verdict", "kernels"], "rows": [[f"`{word}`", str(count)] for word, count in sorted(made["verdicts"].items())]},
        "sets": {
            "columns": ["tries", "sizes", "time over that of the fastest of four", "a model's choice as the last try"],
            "rows": [[str(one["tries"]), ", ".join(one["set"]), slower(one["error"]), slower(one["with_model"])] for one in found["choice"]["fixed"]],
        },
        "curve": {"columns": ["real programs", *(str(point["programs"]) for point in found["curve"])],
                  "rows": [["time over that of the fastest", *(slower(point["error"]) for point in found["curve"])]]},
        "repeats": {"columns": ["measured twice", "the same size is fastest", "times differ by (median)", "(90th percentile)"],
                    "rows": [[str(len(twice)), share(same, len(twice)), f"{100 * changes[len(changes) // 2]:.1f} %", f"{100 * changes[len(changes) * 9 // 10]:.1f} %"]]},
        "diagnosis": {"columns": ["verdict", "in words"], "rows": [[f"`{one['word']}`", one["text"]] for one in found["verdicts"]]},
    }
