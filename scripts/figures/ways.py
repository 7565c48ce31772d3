"""Which way of choosing programs to label serves a model best: `heuristic next --by` beside programs drawn at random, for `mca` and `passes`.

Needs kernels=DATASET of `prepare` with several packages (datasets/device-mapping-h200/kernels in the repository). Tested on the packages
that scripts/pipelines.py holds out. In each of `draws` the base is three other packages, drawn; the pool is one kernel of each family of the
rest, which all ways and chance choose from, with their own labels. Intervals are paired and draw packages, or families, of the test programs."""
import contextlib
import io
import random
import sys
from collections import defaultdict
from math import log2, sqrt
from pathlib import Path
from statistics import fmean, median

from tools import rows, stampmill

sys.path.insert(0, str(Path(__file__).parent.parent))
from pipelines import HELD_OUT  # noqa: E402

SETTINGS = {"kernels": "datasets/device-mapping-h200/kernels", "added": "50,100,200", "draws": "5",
            "pipelines": "crates/cost/pipelines/fixed.txt", "jobs": "2", "seed": "0"}
SPACES = "instcount,loops"
# Kernels of a package that may be in the base, and packages in it.
BASE, PACKAGES = range(20, 101), 3
DRAWS = 2000
# By task: the model, its ways, how losses become an error.
TASKS = {
    "mca": ("boosting", ("committee", "expected-error", "uncovered"), lambda mean: sqrt(mean)),
    "passes": ("forest", ("regret", "uncovered"), lambda mean: mean),
}
EACH, ALL, CHANCE = "base", "base and the whole pool", "random"


class Table:
    """The labeled kernels of a task, and what models of some of them lose on the test programs."""

    def __init__(self, program, task, settings, work):
        self.program, self.task, self.work, self.settings = program, task, work, settings
        self.model, self.ways, self.figure = TASKS[task]
        more = ["--pipelines", settings["pipelines"]] if task == "passes" else []
        self.labels = work / task
        stampmill(program, "label", "--task", task, settings["kernels"], "--features", work / "vectors", *more, "--jobs", settings["jobs"], "--out", self.labels, "--force")
        found = rows(program, "SELECT id, program, package, family, costs, instcount[1] AS count FROM t WHERE label IS NOT NULL AND instcount IS NOT NULL AND loops IS NOT NULL ORDER BY id", t=self.labels)
        self.row = {row["id"]: row for row in found}
        self.test = {row["program"]: row for row in found if row["package"] in HELD_OUT}
        families = {row["family"] for row in self.test.values()}
        self.rest = [row for row in found if row["package"] not in HELD_OUT and row["family"] not in families]
        self.some("test", [row["id"] for row in self.test.values()])
        self.choices = None
        if task == "passes":
            lines = Path(settings["pipelines"]).read_text().splitlines()
            self.choices = [line.split()[0] for line in lines if line and not line.startswith("#")]

    def some(self, name, ids, table=None):
        """A data set of some rows of the task, or of the vectors."""
        path = self.work / f"{self.task}-{name}"
        listed = ", ".join(f"'{one}'" for one in ids)
        # Too long to be shown.
        with contextlib.redirect_stderr(io.StringIO()):
            stampmill(self.program, "query", f"SELECT * FROM t WHERE id IN ({listed}) ORDER BY id", f"t={table or self.labels}", "--out", path, "--force")
        return path

    def split(self, rng):
        """Ids of a base and of a pool."""
        count = defaultdict(int)
        for row in self.rest:
            count[row["package"]] += 1
        packages = rng.sample(sorted(name for name, kernels in count.items() if kernels in BASE), PACKAGES)
        base = [row["id"] for row in self.rest if row["package"] in packages]
        known = {self.row[one]["family"] for one in base}
        pool = {}
        for row in self.rest:
            if row["family"] not in known:
                pool.setdefault(row["family"], row["id"])
        return packages, base, sorted(pool.values())

    def losses(self, ids, seed, model=None):
        """The loss on each test program of a model of these."""
        path, file = self.some("train", ids), self.work / "model.json"
        stampmill(self.program, "heuristic", "train", path, "--model", model or self.model, "--seed", seed, "--out", file, "--force")
        found = stampmill(self.program, "heuristic", "predict", file, self.work / f"{self.task}-test")
        lost = {}
        for one in found["predictions"]:
            costs = self.test[one["program"]]["costs"]
            if self.choices:
                lost[one["program"]] = log2(costs[self.choices.index(one["choice"])] / min(costs))
            else:
                lost[one["program"]] = (log2(one["predicted"]) - log2(costs[0])) ** 2
        return lost


def interval(table, key, one, other=None):
    """The error of the one, or less the other's, with its interval: groups of test programs are drawn, the same for both."""
    groups = defaultdict(list)
    for name, row in table.test.items():
        groups[row[key] or name].append(name)
    sums = [(sum(one[name] for name in names), sum(other[name] for name in names) if other else 0.0, len(names)) for names in groups.values()]

    def value(drawn):
        mine, its, count = (sum(column) for column in zip(*drawn))
        return table.figure(mine / count) - (table.figure(its / count) if other else 0.0)

    rng = random.Random(0)
    values = sorted(value(rng.choices(sums, k=len(sums))) for _ in range(DRAWS))
    sign = "+" if other else ""
    return value(sums), f"[{values[DRAWS * 25 // 1000]:{sign}.3f}, {values[-1 - DRAWS * 25 // 1000]:{sign}.3f}]"


def measure(table, settings):
    """Losses by what was added: a list over the draws; and what was chosen."""
    found, taken, splits = defaultdict(list), defaultdict(list), []
    for draw in range(int(settings["draws"])):
        seed = int(settings["seed"]) + draw
        rng = random.Random(seed)
        packages, base, pool = table.split(rng)
        splits.append([f"`{table.task}`", str(draw), ", ".join(packages), str(len(base)), str(len(pool))])
        found[EACH, 0].append(table.losses(base, seed))
        found[ALL, len(pool)].append(table.losses(base + pool, seed))
        if table.task == "mca":
            found["base, `lin1`", 0].append(table.losses(base, seed, "lin1"))
        labeled, vectors = table.some("base", base), table.some("pool", pool, table.work / "vectors")
        for added in map(int, settings["added"].split(",")):
            chosen = {CHANCE: rng.sample(pool, added)}
            for way in table.ways:
                said = stampmill(table.program, "heuristic", "next", labeled, vectors, "--n", added, "--by", way, "--seed", seed)
                chosen[f"`{way}`"] = [one["id"] for one in said["programs"]]
            for way, ids in chosen.items():
                found[way, added].append(table.losses(base + ids, seed))
                taken[way, added] += ids
    return found, taken, splits


def mean(losses):
    return {name: fmean(one[name] for one in losses) for name in losses[0]}


def run(program, _, settings, work):
    stampmill(program, "features", settings["kernels"], "--space", SPACES, "--opt", "0", "--jobs", settings["jobs"], "--out", work / "vectors", "--force")
    tables, every = {}, []
    for task in TASKS:
        table = Table(program, task, settings, work)
        found, taken, splits = measure(table, settings)
        every += splits
        errors, chosen = [], []
        # The whole pool is not equally large in all draws.
        merged = defaultdict(list)
        for (way, added), losses in found.items():
            merged[way, added if way != ALL else "all"] += losses
        for (way, added), losses in merged.items():
            error, within = interval(table, "package", mean(losses))
            row = [way, str(added), f"{error:.3f} {within}"]
            chance = merged.get((CHANCE, added))
            if chance and way != CHANCE:
                less, by_package = interval(table, "package", mean(losses), mean(chance))
                _, by_family = interval(table, "family", mean(losses), mean(chance))
                over = sorted(table.figure(fmean(one.values())) - table.figure(fmean(its.values())) for one, its in zip(losses, chance))
                row += [f"{less:+.3f}", by_package, by_family, f"{over[0]:+.3f} to {over[-1]:+.3f}"]
            errors.append(row + [""] * (7 - len(row)))
        for (way, added), ids in [*taken.items(), (("the test programs", ""), [row["id"] for row in table.test.values()])]:
            picked = [table.row[one] for one in ids]
            costs = [log2(max(row["costs"]) / min(row["costs"])) if table.choices else log2(row["costs"][0]) for row in picked]
            share = sum(row["package"] == "piglit" for row in picked) / len(picked)
            chosen.append([way, str(added), str(len(ids) // (int(settings["draws"]) if added else 1)), f"{median(row['count'] for row in picked):.0f}", f"{fmean(costs):.2f}", f"{100 * share:.0f}"])
        tables[task] = {"columns": ["added", "programs", "error", "less random's", "95 % by package", "95 % by family", "least and greatest of the draws"], "rows": errors}
        what = "mean log2 of dearest over cheapest choice" if table.choices else "mean log2 of the cost"
        tables[f"{task}-chosen"] = {"columns": ["chosen by", "wanted", "programs", "median instructions", what, "of piglit, %"], "rows": chosen}
        tables[f"{task}-test"] = {"columns": ["test programs", "packages", "families", "others"],
                                  "rows": [[str(len(table.test)), str(len({row["package"] for row in table.test.values()})), str(len({row["family"] for row in table.test.values()})), str(len(table.rest))]]}
    tables["draws"] = {"columns": ["task", "draw", "packages of the base", "its kernels", "kernels of the pool"], "rows": every}
    return tables
