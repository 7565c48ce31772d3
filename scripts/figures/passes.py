"""What `opt`'s fixed set of pipelines saves on packages that it was not chosen on, beside the coreset's oracle.

Needs kernels=DATASET of `prepare` with several packages (those that scripts/pipelines.py holds out are scored,
datasets/device-mapping-h200/kernels in the repository). Every kernel counts the same; gains are over what clang's -Oz leaves, and intervals
draw packages."""
import random
import sys
from pathlib import Path

from tools import rows, stampmill

sys.path.insert(0, str(Path(__file__).parent.parent))
from pipelines import HELD_OUT  # noqa: E402

SETTINGS = {"kernels": "datasets/device-mapping-h200/kernels", "jobs": "2", "seed": "0"}
FOLDER = Path(__file__).parent.parent.parent / "crates" / "cost" / "pipelines"
DRAWS = 2000


def names(file):
    return [line.split()[0] for line in (FOLDER / file).read_text().splitlines() if line and not line.startswith("#")]


def run(program, _, settings, work):
    held = ", ".join(f"'{name}'" for name in HELD_OUT)
    stampmill(program, "query", f"SELECT * FROM k WHERE verdict = 'accepted' AND package IN ({held})", f"k={settings['kernels']}", "--out", work / "held", "--force")
    found = stampmill(program, "label", "--task", "passes", work / "held", "--jobs", settings["jobs"], "--out", work / "labels", "--force")
    coreset, fixed = names("coreset.txt"), names("fixed.txt")
    labelled = rows(program, "SELECT package, costs FROM t WHERE label IS NOT NULL OR verdict = 'choice-failed'", t=work / "labels")
    packages = {}
    for row in labelled:
        costs = dict(zip(coreset, row["costs"]))
        if costs["oz"] is not None:
            packages.setdefault(row["package"], []).append({name: cost for name, cost in costs.items() if cost is not None})

    def gain(programs, tried):
        return 100 * sum(1 - min(costs[name] for name in tried if name in costs) / costs["oz"] for costs in programs) / len(programs)

    everything = [costs for programs in packages.values() for costs in programs]
    rng = random.Random(int(settings["seed"]))
    draws = [[costs for _ in packages for costs in rng.choice(sorted(packages.items()))[1]] for _ in range(DRAWS)]

    def interval(figure):
        values = sorted(figure(drawn) for drawn in draws)
        return f"{values[DRAWS * 25 // 1000]:.1f} to {values[-1 - DRAWS * 25 // 1000]:.1f}"

    def share(programs, tried):
        oracle = gain(programs, coreset)
        return 100 * gain(programs, tried) / oracle if oracle else 100.0

    table = []
    for title, tried in [(f"fixed set, {count} tries", fixed[:count]) for count in range(2, len(fixed) + 1)] + [(f"oracle of the coreset, {len(coreset)} tries", coreset)]:
        table.append([title, f"{gain(everything, tried):.2f}", interval(lambda drawn, tried=tried: gain(drawn, tried)),
                      f"{share(everything, tried):.1f}", interval(lambda drawn, tried=tried: share(drawn, tried))])
    by_package = [[package, len(programs), f"{gain(programs, fixed):.2f}", f"{gain(programs, coreset):.2f}"] for package, programs in sorted(packages.items())]
    verdicts = sorted(found["verdicts"].items())
    return {
        "gain": {"columns": ["tried", "mean gain over -Oz, %", "95 %", "share of the oracle's, %", "95 %"], "rows": table},
        "packages": {"columns": ["package", "kernels", "fixed set, %", "oracle, %"], "rows": by_package},
        "verdicts": {"columns": ["verdict", "kernels"], "rows": [list(item) for item in verdicts]},
    }
