"""Are judgements the same whenever and wherever they are made: `edits judge` again and again on the same candidates, each time with one thing changed and nothing kept.

Needs g++. The candidates are the files of `crates/edits/tests/cheats`, which look for what times and judges them, and what people wrote for the `first` pairs of data=DIR, where it is given, whose problems have samples (docs/results/human-edits.md says what is in it).
Rows are compared column by column with `query`'s EXCEPT, in both directions, with the first run: one job on a machine that does nothing else. other=DATASET is such a first run of another machine: STAMPMILL_FIGURES_WORK=DIR keeps it
in `one-job` there. A run that needs what is not here is named and left out."""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from cheats import line, pair
from tools import rows, stampmill

SETTINGS = {"cheats": "crates/edits/tests/cheats", "data": "", "first": "20", "loops": "8", "other": "", "jobs": "2", "seed": "0"}
KEY = "problem_id, src_id, tgt_id, candidate, candidate_id, method"
# Columns that are compared together. The memory that a program takes is the machine's.
COLUMNS = {
    "verdict": "verdict, tests, passed, hidden_tests, hidden_passed, sanitizer",
    "time": "src_seconds, src_net, seconds, net, speedup, instructions, fastest_seconds, array_to_string(src_times, ',') AS of_slow, array_to_string(times, ',') AS of_it",
    "where it gains": "startup_only, small_only, refuted_by, label, io_only, array_shrunk",
    "detail": "detail",
    "memory": "src_peak_bytes, peak_bytes",
}
AHEAD = ["unshare", "--user", "--map-current-user", "--fork", "--time", "--monotonic", "31536000", "--boottime", "31536000"]


@contextlib.contextmanager
def busy(loops):
    """So many processes that want a core each."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


@contextlib.contextmanager
def environment(**changed):
    before = dict(os.environ)
    os.environ.update(changed)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def candidates(program, settings, work):
    """Lines of pairs and of candidates, and the tests, visible and hidden."""
    files, home = Path(settings["cheats"]), work / "home"
    tests, hidden = work / "tests", work / "hidden"
    for kind, folder in (("tests", tests), ("hidden", hidden)):
        shutil.copytree(files / kind, folder, dirs_exist_ok=True)
        # Some cheats look for the judge's files there.
        shutil.copytree(files / kind, home / kind, dirs_exist_ok=True)
    slow = {path.stem: path.read_text() for path in sorted((files / "slow").glob("*.cpp"))}
    pairs = [pair(name, code) for name, code in slow.items()]
    answers = [line(name, path.stem, path.read_text().replace("@HOME@", str(home))) for name in slow for path in sorted((files / name).glob("*.cpp"))]
    if settings["data"]:
        data = Path(settings["data"])
        known = {one["problem_id"] for one in map(json.loads, (data / "problems.jsonl").read_text().splitlines()) if one["samples"]}
        people = [one for one in map(json.loads, (data / "pairs.jsonl").read_text().splitlines()) if one["problem_id"] in known][: int(settings["first"])]
        (work / "people.jsonl").write_text("".join(json.dumps(one) + "\n" for one in people))
        stampmill(program, "edits", "tests", data / "problems.jsonl", "--pairs", work / "people.jsonl", "--seed", settings["seed"], "--jobs", settings["jobs"], "--cache", work / "cache-tests", "--out", work / "grown", "--force")
        for kind, folder in (("tests", tests), ("hidden-tests", hidden)):
            made = work / f"grown-{kind}"
            stampmill(program, "edits", "export", work / "grown", "--format", kind, "--out", made, "--force")
            shutil.copytree(made, folder, dirs_exist_ok=True)
        for one in people:
            pairs.append(one)
            answers.append({"problem_id": one["problem_id"], "src_id": one.get("src_id") or one["submission_id"], "method": "people", "generated_answers": [one["tgt_code"]]})
    for name, lines in (("pairs", pairs), ("candidates", answers)):
        (work / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    return tests, hidden


def differing(program, columns, first, other):
    """Rows of either that the other has not, by these columns."""
    chosen = f"SELECT {KEY}, {columns} FROM"
    one = f"SELECT count(*) AS n FROM ({chosen} {{}} EXCEPT {chosen} {{}}) AS d"
    return max(rows(program, one.format(*names), a=first, b=other)[0]["n"] for names in (("a", "b"), ("b", "a")))


def run(program, _, settings, work):
    work = work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    tests, hidden = candidates(program, settings, work)
    elsewhere, far = work / "another folder", work / "tmp"
    for folder in (elsewhere, far):
        folder.mkdir(exist_ok=True)
    jobs, left, told = settings["jobs"], [], {}

    def judge(name, jobs="1", folder=work, before=()):
        out, cache = folder / name, work / f"cache-{name}"
        shutil.rmtree(cache, ignore_errors=True)
        words = ["edits", "judge", work / "pairs.jsonl", "--candidates", work / "candidates.jsonl", "--tests", tests, "--hidden", hidden, "--jobs", jobs, "--cache", cache, "--out", out, "--force"]
        begun = time.monotonic()
        summary = stampmill(before[0], *before[1:], program, *words) if before else stampmill(program, *words)
        shutil.rmtree(cache, ignore_errors=True)
        told[name] = (out, summary["candidates"], time.monotonic() - begun)
        return out

    first = judge("one-job")
    judge("again")
    judge(f"{jobs}-jobs", jobs)
    with busy(int(settings["loops"])):
        judge(f"under-load-of-{settings['loops']}", jobs)
    with environment(TMPDIR=str(far), HOME=str(far), LANG="C", LC_ALL="C", TZ="XXX-14", LARGE="x" * 5000):
        judge("other-folders-and-time-zone", jobs, elsewhere)
    if subprocess.run([*AHEAD, "true"], capture_output=True).returncode == 0:
        judge("clocks-a-year-ahead", jobs, work, AHEAD)
    else:
        left.append(["clocks a year ahead", "`unshare --time` is not allowed here"])
    if settings["other"]:
        told["another-machine"] = (Path(settings["other"]), rows(program, "SELECT count(*) AS n FROM o", o=settings["other"])[0]["n"], 0)
    else:
        left.append(["another machine", "no data set of one (other=DATASET)"])

    lines, rows_of = [], []
    for name, (out, count, seconds) in told.items():
        differ = {what: differing(program, columns, first, out) for what, columns in COLUMNS.items()}
        lines.append([name.replace("-", " "), count, *differ.values(), f"{seconds:.0f}" if seconds else "–"])
        if differ["verdict"] or differ["detail"]:
            joined = rows(program, f"SELECT a.problem_id, a.src_id, a.method, a.candidate, a.verdict AS before, b.verdict AS after, b.detail FROM a JOIN b ON {' AND '.join(f'a.{key} = b.{key}' for key in KEY.split(', '))} "
                          "WHERE a.verdict <> b.verdict OR a.detail <> b.detail ORDER BY a.problem_id, a.src_id, a.candidate", a=first, b=out)
            rows_of += [[name.replace("-", " "), f"{row['src_id']}/{row['method']}", row["before"], row["after"], (row["detail"] or "").replace("|", "\\|").replace("\n", " ")[:120]] for row in joined[:20]]
    verdicts = rows(program, "SELECT verdict, count(*) AS n FROM a GROUP BY verdict ORDER BY n DESC, verdict", a=first)
    return {
        "summary": {"columns": ["run", "candidates", *[f"{what} differs" for what in COLUMNS], "seconds"], "rows": lines},
        "differences": {"columns": ["run", "candidate", "first run", "this run", "detail"], "rows": rows_of},
        "verdicts": {"columns": ["verdict of the first run", "candidates"], "rows": [[row["verdict"], row["n"]] for row in verdicts]},
        "left": {"columns": ["left out", "why"], "rows": left},
    }
