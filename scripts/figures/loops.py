"""Which unroll count, and which vectorization width, suits a kernel's loops, and whether a model that chooses is short of programs: `label --task unroll|vectorize`, `heuristic diagnose`.

Needs kernels=DATASET of `prepare` with several packages (datasets/device-mapping-h200/kernels in the repository), of which those are
taken that have a loop in their text and neither a barrier nor an image, `each` of every package at most, by the hash of their text. Vectors are of unoptimized code; errors are of packages that were held out, intervals draw packages."""
from statistics import fmean
from math import log2

from tools import rows, share, stampmill

SETTINGS = {"kernels": "datasets/device-mapping-h200/kernels", "each": "40", "jobs": "2", "seed": "0"}
SPACES = "instcount,loops"
TASKS = {"unroll": ["default", 1, 2, 4, 8], "vectorize": ["default", 1, 4, 8]}


def shown(error, digits=3):
    low, high = error["interval"]
    return f"{error['value']:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def run(program, _, settings, work):
    return tables(program, settings, work, TASKS, "(text LIKE '%for%(%' OR text LIKE '%while%')")


def tables(program, settings, work, tasks, wanted):
    """Labels of these tasks over the kernels that are `wanted`, and what a diagnosis says; `tasks` has the names of the choices, the default first."""
    drawn = f"""SELECT * FROM k WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY package ORDER BY id) AS place
        FROM k WHERE verdict = 'accepted' AND {wanted} AND text NOT LIKE '%barrier(%'
        AND text NOT LIKE '%image%d_t%') WHERE place <= {int(settings['each'])})"""
    stampmill(program, "query", drawn, f"k={settings['kernels']}", "--out", work / "drawn", "--force")
    stampmill(program, "features", work / "drawn", "--space", SPACES, "--opt", "0", "--jobs", settings["jobs"], "--out", work / "vectors", "--force")
    labels, choices, models, sets, curve, verdicts = [], [], [], [], [], []
    for task, names in tasks.items():
        table = work / task
        made = stampmill(program, "label", "--task", task, work / "drawn", "--features", work / "vectors", "--jobs", settings["jobs"], "--out", table, "--force")
        said = ", ".join(f"{count} {word}" for word, count in sorted(made["verdicts"].items(), key=lambda one: -one[1]))
        labels.append([f"`{task}`", str(made["programs"]), said, str(made["described"])])
        page = table.with_suffix(".html")
        found = stampmill(program, "heuristic", "diagnose", table, "--seed", settings["seed"], "--out", page, "--force")
        costs = [row["costs"] for row in rows(program, "SELECT costs FROM t WHERE label IS NOT NULL", t=table)]
        oracle = 2 ** fmean(log2(cost[0] / min(cost)) for cost in costs)
        for place, name in enumerate(names):
            over = 2 ** fmean(log2(cost[0] / cost[place]) for cost in costs)
            least = sum(cost[place] == min(cost) for cost in costs)
            choices.append([f"`{task}` {name}", f"{over:.3f}", share(least, len(costs)), str(sum(cost[place] < 0.95 * cost[0] for cost in costs))])
        choices.append([f"`{task}`, oracle", f"{oracle:.3f}", "all", str(sum(min(cost) < 0.95 * cost[0] for cost in costs))])
        for table, more in zip((models, sets, curve, verdicts), diagnosed(found, task)):
            table += more
    return {
        "labels": {"columns": ["task", "kernels", "verdicts", "labeled with vectors"], "rows": labels},
        "choices": {"columns": ["choice", "default's cycles / its cycles, geometric mean", "cheapest or as cheap", "cheaper than the default by 5 %"], "rows": choices},
        **diagnosis(models, sets, curve, verdicts),
    }


def diagnosed(found, task):
    """Rows of what a diagnosis says: models, fixed sets, the learning curve, verdicts."""
    choice, name = found["choice"], f"`{task}`"
    model = [name, str(found["rows"]), str(found["groups"]), choice["best_single"], shown(found["held_out"]),
             shown(choice["against_single"]), shown(found["ceiling"]["same_groups"]), f"{found['ceiling']['neighbours'] or 0:.3f}"]
    sets = [[f"{name}, {one['tries']}: {', '.join(one['set'])}", f"{100 * one['share_of_oracle']:.0f}", shown(one["error"]), shown(one["model_gain"])]
            for one in choice["fixed"]]
    curve = [[name, str(point["programs"]), shown(point["error"])] for point in found["curve"]]
    return [model], sets, curve, [[name, f"`{one['word']}`", one["text"]] for one in found["verdicts"]]


def diagnosis(models, sets, curve, verdicts):
    return {
        "models": {"columns": ["task", "rows", "groups", "best single choice", "forest's error", "less the single choice's", "same groups in training", "nearest neighbors"], "rows": models},
        "sets": {"columns": ["fixed choices, all tried", "share of what the oracle saves, %", "error", "the model's in the place of the last, less it"], "rows": sets},
        "curve": {"columns": ["task", "real programs", "error"], "rows": curve},
        "verdicts": {"columns": ["task", "verdict", "in words"], "rows": verdicts},
    }
