"""How many judgements a second `serve --judge` makes on one core: of kernels and of programs, new ones, such that were compiled before, and known ones.

The server has core=N to itself, with one thread. Kernels are drawn from kernels=DATASET of `prepare`, of those that pass `run` on the processor at the sizes
`drawn`; four texts of each, which differ in a comment, are judged in place of one another. A kernel of which the judge does not accept all four is left out: a verdict that comes early would count as a fast one.
Programs differ in a comment, too. Needs an OpenCL device and what `edits judge` needs; takes some ten minutes."""
import collections
import json
import os
import random
import shutil
import subprocess
import time
import urllib.request

from kernel_edits import passing
from tools import rows

SETTINGS = {"kernels": "datasets/device-mapping-h200/kernels", "n": "30", "programs": "24", "drawn": "2^10,2^13", "devices": "cpu", "sizes": "2^10", "budget": "5ms", "payloads": "3", "repeats": "20", "core": "0", "jobs": "2", "seed": "5"}
TEXTS = 4
GOAL = 50
WARM = "kernel void A(global const float* a, global float* b) { int i = get_global_id(0); b[i] = a[i] + 1.0f; }"
SLOW = """#include <cstdio>
int main() { int n; scanf("%d", &n); volatile long s = 0; for (int i = 1; i <= n; i++) s += i; printf("%ld\\n", s); }
"""
FAST = """#include <cstdio>
int main() { int n; scanf("%d", &n); printf("%ld\\n", (long)n * (n + 1) / 2); }
"""
# What is kept of a program beside what was compiled.
COMPILED = {"programs", "headers"}


class Server:
    """A judge on one core."""

    def __init__(self, program, settings, cache):
        words = ["serve", "--judge", "--json", "--jobs", "1", "--slots", "1", "--max-batch", "4096", "--timeout", "1h", "--cache", cache]
        words += ["--devices", settings["devices"], "--global-sizes", settings["sizes"], "--budget", settings["budget"], "--payloads", settings["payloads"]]
        core = int(settings["core"])
        self.process = subprocess.Popen([str(program), *map(str, words)], stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        self.url = json.loads(self.process.stdout.readline())["url"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def ask(self, path, asked):
        """Its answer, and the seconds that it took."""
        request = urllib.request.Request(self.url + path, data=json.dumps(asked).encode(), headers={"content-type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        begun = time.monotonic()
        with opener.open(request, timeout=3600) as answer:
            told = json.load(answer)
        return told, time.monotonic() - begun


class Tally:
    """Candidates of one kind that were judged in one state."""

    def __init__(self, kind, state, goal=""):
        self.kind, self.state, self.goal = kind, state, goal
        self.candidates, self.accepted, self.known, self.seconds = 0, 0, 0, 0.0

    def add(self, told, seconds):
        self.candidates += len(told["data"])
        self.accepted += told["verdicts"].get("accepted", 0)
        self.known += told["known"]
        self.seconds += seconds

    def row(self):
        rate = self.candidates / self.seconds if self.seconds else 0.0
        return [f"{self.kind}, {self.state}", self.candidates, self.accepted, self.known, f"{self.seconds:.1f}", f"{rate:.1f}", self.goal]


def of_kernels(program, settings, work):
    right = set(passing(program, settings, 3 * int(settings["n"]), work))
    source = rows(program, "SELECT id, text FROM k WHERE verdict = 'accepted' ORDER BY id", k=settings["kernels"])
    pool = [row["text"] for row in source if row["id"] in right]
    drawn = random.Random(int(settings["seed"])).sample(pool, min(int(settings["n"]), len(pool)))
    new, compiled, known = (Tally("kernels", state, goal) for state, goal in (("new", ""), ("compiled before", f"≥ {GOAL}"), ("known", "")))
    kernels, left_out = 0, collections.Counter()
    with Server(program, settings, work / "kernels-cache") as server:

        def judged(pairs):
            return server.ask("/judge/kernels", {"pairs": [{"before": one, "after": other} for one, other in pairs]})

        # The device is opened, and what it moves in a second is measured once.
        judged([(WARM, WARM + "\n")])
        for text in drawn:
            texts = [f"// {number}\n{text}" for number in range(TEXTS)]
            ring = [(texts[at], texts[(at + 1) % TEXTS]) for at in range(TEXTS)]
            # Each text is compiled as a slow kernel and as a candidate here, and with all others below.
            told, seconds = judged(ring)
            rejected = [one["verdict"] for one in told["data"] if one["verdict"] != "accepted"]
            if rejected:
                left_out[rejected[0]] += 1
                continue
            new.add(told, seconds)
            kernels += 1
            rest = [(one, other) for one in texts for other in texts if one != other and (one, other) not in ring]
            compiled.add(*judged(rest))
            for _ in range(int(settings["repeats"])):
                known.add(*judged(rest))
    kept = {"columns": ["kernels", "number"], "rows": [["drawn", len(drawn)], ["accepted in each place", kernels], *[[f"left out: {word}", count] for word, count in left_out.most_common()]]}
    return [new, compiled, known], kept


def of_programs(program, settings, work):
    cache = work / "programs-cache"
    tests = [[f"{n}\n", f"{n * (n + 1) // 2}\n"] for n in (1000, 50_000, 100_000, 200_000)]
    problem = {"slow": SLOW, "language": "C++", "tests": tests[:3], "hidden": tests[3:]}
    batch = {"problems": {"sum": problem}, "candidates": [{"problem": "sum", "code": f"// {number}\n{FAST}"} for number in range(int(settings["programs"]))]}
    new, compiled, known = (Tally("programs", state) for state in ("new", "compiled before", "known"))
    with Server(program, settings, cache) as server:
        new.add(*server.ask("/judge", batch))
    for folder in cache.iterdir():
        if folder.name not in COMPILED:
            shutil.rmtree(folder)
    with Server(program, settings, cache) as server:
        compiled.add(*server.ask("/judge", batch))
        for _ in range(int(settings["repeats"])):
            known.add(*server.ask("/judge", batch))
    return [new, compiled, known]


def run(program, _, settings, work):
    tallies, kernels = of_kernels(program, settings, work)
    tallies += of_programs(program, settings, work)
    columns = ["judged on one core", "candidates", "accepted", "known", "seconds", "a second", "goal"]
    return {"rates": {"columns": columns, "rows": [tally.row() for tally in tallies]}, "kernels": kernels}
