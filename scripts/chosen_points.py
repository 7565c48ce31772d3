#!/usr/bin/env python3
"""The experiments of docs/results/chosen-points.md and docs/results/arms-at-scale.md: are kernels steered to chosen points worth more than others?

    scripts/chosen_points.py STAMPMILL KERNELS SUITES.jsonl MODEL WORK [--small | --large] [--choose-only | --make-only] [--jobs 2]

KERNELS is a data set of `prepare` with packages, SUITES.jsonl has lines with `src` (what CLgen's users have), MODEL draws the
samples. Test: the packages that scripts/pipelines.py holds out. Base: the suites' kernels, labelled. Every arm adds as many
programs: mined kernels of the other packages, samples, and kernels steered (InstCount) to points between two mined kernels, to points of mined
kernels drawn at random, and to points of mined kernels that `heuristic next` takes (one kernel a family), which knows the labels of the suites
alone. --large has the points of each way of `heuristic next`, and ten thousand undirected kernels beside more samples. Each arm is made several times, with points, samples and searches of their own. A made program that is a mined kernel as it is does not count: the next of its target does.

In the order of the steps: points are chosen, programs made, then all are labelled (`label --task mca`, features of unoptimized code), and `heuristic arms` compares them.
A step whose data set is in WORK is not done again, and a stopped one goes on where it was.
"""
import argparse
import json
import pathlib
import random
import subprocess

from curves import draw
from pipelines import HELD_OUT

SPACES = "instcount,loops"
TERMINATORS = range(3, 10)
KEPT = 4
# A search about larger points takes minutes.
LARGEST = 2000
# Ways of `heuristic next` that a cost has.
WAYS = ("committee", "expected-error", "uncovered")
# By size: steered arms; made for an arm (of one kind more) and seed, seeds, candidates of a search, undirected kernels and samples, programs
# added, draws.
SIZES = {
    "small": {"arms": ("random", "mined", "committee"), "made": 12, "seeds": 2, "candidates": 60, "undirected": 60, "added": "5,10,20", "curve": "40,80", "draws": 4},
    "usual": {"arms": ("random", "mined", "committee"), "made": 110, "seeds": 3, "candidates": 150, "added": "25,50,100,200,300", "curve": "12,400,600,800", "draws": 16},
    "large": {"arms": ("random", *WAYS), "made": 165, "more": {"random": 550}, "seeds": 2, "candidates": 150, "undirected": 16_500, "sampled": 3_300,
              "added": "50,100,200,300,1000,3000,10000", "curve": "400,800", "draws": 6},
}


class Work:
    """The folder of the run, and the program that fills it."""

    def __init__(self, options):
        self.folder, self.program, self.jobs = options.work, options.stampmill, options.jobs
        self.folder.mkdir(parents=True, exist_ok=True)

    def __truediv__(self, name):
        return self.folder / name

    def run(self, *arguments, out=None):
        """What the command says; with `out` a data set or file that is made once."""
        if out is not None:
            done = self / f"{out}.done"
            if done.exists():
                return ""
            resume = (self / out).exists() and arguments[0] not in ("steer", "features", "label", "sample")
            arguments = (*arguments, "--out", self / out, "--quiet", *(["--force"] if resume else []))
        command = [str(self.program), *map(str, arguments), "--jobs", str(self.jobs)]
        print("+", *command, flush=True)
        # Status 1 is an answer: of these programs none.
        found = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if found.returncode > 1:
            raise SystemExit(f"ended with {found.returncode}")
        if out is not None:
            done.touch()
        return found.stdout

    def rows(self, query, *tables):
        lines = self.run("query", query, *tables, "--format", "jsonl").splitlines()
        return [json.loads(line) for line in lines]

    def label(self, name):
        self.run("features", self / name, "--space", SPACES, "--opt", "0", out=f"{name}-vectors")
        self.run("label", "--task", "mca", self / name, "--features", self / f"{name}-vectors", out=f"{name}-cycles")
        return self / f"{name}-cycles"


def real(work, options):
    """The real programs: test, mined, suites, and the points of the mined ones at the level that `steer` counts at."""
    held = ", ".join(f"'{name}'" for name in HELD_OUT)
    kernels = f"k={options.kernels}"
    work.run("query", f"SELECT * FROM k WHERE verdict = 'accepted' AND package IN ({held})", kernels, out="test")
    work.run("query", f"SELECT * FROM k WHERE verdict = 'accepted' AND package NOT IN ({held}) AND family NOT IN "
             f"(SELECT family FROM k WHERE package IN ({held}))", kernels, out="mined")
    suites = work / "suites"
    if not suites.exists():
        suites.mkdir()
        for number, line in enumerate(options.suites.read_text().splitlines()):
            (suites / f"{number:03}.cl").write_text(json.loads(line)["src"])
    work.run("features", work / "mined", "--space", "instcount", out="points")
    work.run("features", work / "mined", "--space", SPACES, "--opt", "0", out="mined-vectors")
    rows = work.rows("SELECT id, instcount FROM v WHERE verdict = 'accepted' ORDER BY id", f"v={work / 'points'}")
    return {row["id"]: row["instcount"] for row in rows}


def between(points, count, rng):
    """Points on the way from one mined kernel to another, whole and with right sums."""
    found = []
    for _ in range(count):
        (one, other), share = rng.sample(points, 2), rng.random()
        point = [round(a + share * (b - a)) for a, b in zip(one, other)]
        point[0] = sum(point[3:])
        point[1] = sum(point[at] for at in TERMINATORS)
        found.append(point)
    return found


def targets(work, points, size):
    """A file of targets for each steered arm and seed."""
    files, every = {}, list(points.values())
    for seed in range(size["seeds"]):
        rng = random.Random(seed)
        for arm in size["arms"]:
            made = size.get("more", {}).get(arm, size["made"])
            vectors = {"mined": lambda: rng.sample(every, made), "random": lambda: between(every, made, rng)}.get(arm, lambda: chosen(work, points, made, seed, arm))()
            path = work / f"steered-{arm}-{seed}.jsonl"
            path.write_text("".join(json.dumps({"target": f"{arm}{seed}-{at:03}", "instcount": point}) + "\n" for at, point in enumerate(vectors)))
            files[arm, seed] = path
    return files


def chosen(work, points, count, seed, way):
    """The points of the mined kernels that a way takes, which knows the labels of the suites."""
    suites = work.label("suites")
    work.run("query", "SELECT * FROM v WHERE verdict = 'accepted' AND id IN (SELECT MIN(id) FROM k GROUP BY family)",
             f"v={work / 'mined-vectors'}", f"k={work / 'mined'}", out="pool")
    path = work / f"next-{way}-{seed}.json"
    if not path.exists():
        # Some have no point at the level of `steer`, or one that is too large.
        path.write_text(work.run("heuristic", "next", suites, work / "pool", "--n", count + 20, "--by", way, "--seed", seed, "--json"))
    programs = json.loads(path.read_text())["programs"]
    found = [points[program["id"]] for program in programs if program["id"] in points]
    return [point for point in found if point[0] <= LARGEST][:count]


def make(work, options, size, files):
    """The programs of each arm, as data sets of programs."""
    for (arm, seed), path in files.items():
        name = f"steered-{arm}-{seed}"
        work.run("steer", "--as-found", "--space", "instcount", "--targets", path, "--seeds", work / "mined", "--exclude", work / "test",
                 "--budget", size["candidates"], "--n", KEPT, "--seed", seed, out=f"{name}-all")
    samples = size.get("sampled", size["seeds"] * size["made"] * 5 // 4)
    for seed in range(size["seeds"]):
        work.run("sample", options.model, "--n", samples // size["seeds"], "--seed", seed, out=f"sampled-{seed}-all")
    if "undirected" in size:
        # One candidate each of a proposer that does not look at the target.
        path = work / "undirected.jsonl"
        path.write_text("".join(json.dumps({"target": f"u{at:05}", "instcount": {"TotalInsts": 30}}) + "\n" for at in range(size["undirected"])))
        work.run("steer", "--as-found", "--space", "instcount", "--targets", path, "--proposers", "random", "--generation", 1, "--budget", 1, out="undirected-all")
        work.run("query", "SELECT * FROM t WHERE verdict = 'accepted' AND target IN (SELECT MIN(target) FROM t WHERE verdict = 'accepted' GROUP BY text)", f"t={work / 'undirected-all'}", out="undirected")
    for arm in size["arms"]:
        # Of each target the nearest kernel that nobody wrote.
        tables = [f"s{seed}={work / f'steered-{arm}-{seed}-all'}" for seed in range(size["seeds"])]
        union = " UNION ALL ".join(f"SELECT * FROM s{seed}" for seed in range(size["seeds"]))
        work.run("query", f"WITH a AS ({union}), b AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY target ORDER BY rank) AS at FROM a "
                 "WHERE verdict = 'accepted' AND text NOT IN (SELECT text FROM k WHERE text IS NOT NULL)) SELECT * EXCEPT (at) FROM b WHERE at = 1",
                 *tables, f"k={options.kernels}", out=f"steered-{arm}")
    tables = [f"s{seed}={work / f'sampled-{seed}-all'}" for seed in range(size["seeds"])]
    union = " UNION ALL ".join(f"SELECT *, {seed} AS seed FROM s{seed}" for seed in range(size["seeds"]))
    work.run("query", f"SELECT * FROM ({union}) WHERE verdict = 'accepted'", *tables, out="sampled")


def curves(found, path):
    """The errors by number of added programs as a picture."""
    series = {}
    base = found["arms"][0]["error"]
    for arm in found["arms"][1:]:
        name = pathlib.Path(arm["arm"]).name.removesuffix("-cycles").replace("steered-", "steered: ")
        series.setdefault(name, []).append((arm["added"], arm["error"]["value"], *arm["error"]["interval"]))
    for points in series.values():
        points.sort()
    draw(path, series, "Error on held-out packages by number of programs added to the suites' kernels", "programs added to the suites' kernels",
         {"the suites alone": base["value"]})


def compare(work, size):
    """Labels of all, and what they say."""
    made = ["sampled", *(["undirected"] if "undirected" in size else [])]
    steered = [f"steered-{arm}" for arm in size["arms"]]
    names = ["mined", *made, *steered]
    test, base = work.label("test"), work.label("suites")
    arms = [work.label(name) for name in names]
    report = ["heuristic", "arms", *arms[1:], "--base", base, "--test", test, "--base-size", "300", "--added", size["added"],
              "--ceiling", arms[0], "--curve", size["curve"], "--draws", size["draws"], "--seed", "0"]
    found = work.run(*report, "--json")
    (work / "arms.json").write_text(found)
    curves(json.loads(found), work / "arms.svg")
    # How much the seed of steering does: the halves of each arm by themselves.
    halves = []
    for arm, label in zip(steered, arms[1 + len(made):]):
        for seed in range(size["seeds"]):
            half = f"{label.name}-{seed}"
            work.run("query", f"SELECT * FROM t WHERE program LIKE '{arm.removeprefix('steered-')}{seed}-%'", f"t={label}", out=half)
            halves.append(work / half)
    few = [count for count in size["added"].split(",") if int(count) < size["made"]][-1]
    found = work.run("heuristic", "arms", *halves, "--base", base, "--test", test, "--base-size", "300", "--added", few, "--draws", size["draws"], "--json")
    (work / "halves.json").write_text(found)
    bias = work.run("heuristic", "diagnose", arms[0], *(word for arm in arms[1:] for word in ("--made", arm)), "--splits", "1", "--json")
    (work / "bias.json").write_text(bias)
    print(work.run(*report))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("stampmill", "kernels", "suites", "model", "work"):
        parser.add_argument(name, type=pathlib.Path)
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--small", action="store_true", help="a dozen programs an arm and seed: minutes, and says nothing but that it runs")
    sizes.add_argument("--large", action="store_true", help="each way of `heuristic next`, a thousand kernels at random points, ten thousand undirected ones")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--choose-only", action="store_true", help="choose the points and stop")
    parser.add_argument("--make-only", action="store_true", help="make the programs and stop: none is labelled")
    options = parser.parse_args()
    size = SIZES["small" if options.small else "large" if options.large else "usual"]
    work = Work(options)
    files = targets(work, real(work, options), size)
    if options.choose_only:
        return
    make(work, options, size, files)
    if not options.make_only:
        compare(work, size)


if __name__ == "__main__":
    main()
