"""How many edits hold beyond their tests: `edits certify` on pairs by people and on the cheats written by hand.

Needs g++, and for people's pairs in `data` `pairs.jsonl` and `problems.jsonl` (docs/results/human-edits.md says what they are). Certified with a cache of its
own, so that the seconds are those of a first run, builds included, or of the `first` so many pairs whose problem has samples; for pairs that differ, tests are grown and the improved program is judged by them. Cheats are
the files of `crates/edits/tests/cheats`, with their tests as samples."""
import collections
import json
import shutil
from pathlib import Path

from cheats import head, line, pair
from tools import rows, share, stampmill

SETTINGS = {"data": "", "first": "", "cheats": "crates/edits/tests/cheats", "inputs": "10000", "draws": "1000", "patience": "200", "jobs": "2", "seed": "0"}
VARIANTS = ["people", "cheats"]
ORDER = ["exhaustive", "covered", "doubtful", "counterexample", "none"]


def certify(program, settings, work, name, pairs, problems, *more):
    summary = stampmill(program, "edits", "certify", pairs, "--problems", problems, *more, "--inputs", settings["inputs"], "--draws", settings["draws"], "--patience", settings["patience"],
                        "--seed", settings["seed"], "--jobs", settings["jobs"], "--cache", work / f"{name}-cache", "--out", work / name, "--force")
    found = rows(program, "SELECT problem_id, src_id, method, verdict, certificate, detail, bound, bound_of_two, inputs, enumerated, left_out, kept, blocks, reached, steps, grammar, found_by, "
                 "encode(counterexample, 'hex') AS input, encode(wanted, 'hex') AS wanted FROM c ORDER BY problem_id, src_id", c=work / name)
    return summary, found


def text(hexadecimal, most=120):
    shown = bytes.fromhex(hexadecimal or "").decode(errors="replace")
    return "`" + (shown if len(shown) <= most else shown[:most] + "...").replace("\n", "⏎").replace("|", "\\|").replace("`", "'") + "`"


def median(values):
    values = sorted(values)
    return values[len(values) // 2] if values else 0


def lines_of(found):
    lines = []
    for word in ORDER:
        of = [row for row in found if row["certificate"] == word]
        reached, blocks = sum(row["reached"] for row in of), sum(row["blocks"] for row in of)
        lines.append([word, share(len(of), len(found)), f"{median([row['bound'] for row in of])}", f"{sum(row['enumerated'] for row in of):,}",
                      f"{sum(row['inputs'] - row['enumerated'] for row in of):,}", share(reached, blocks)])
    return lines


def people(program, settings, work):
    data = Path(settings["data"])
    problems = data / "problems.jsonl"
    known = {one["problem_id"] for one in map(json.loads, problems.read_text().splitlines()) if one["samples"]}
    of_known = [one for one in (data / "pairs.jsonl").read_text().splitlines() if json.loads(one)["problem_id"] in known]
    pairs = work / "pairs.jsonl"
    pairs.write_text("".join(one + "\n" for one in of_known[: int(settings["first"] or len(of_known))]))
    summary, found = certify(program, settings, work, "certified", pairs, problems)
    compared = [row for row in found if row["verdict"] in ("accepted", "fails-hidden-tests")]
    certificates = collections.Counter(row["certificate"] for row in compared)
    differing = [row for row in found if row["certificate"] in ("counterexample", "doubtful")]
    judged = {}
    if differing:
        wanted = {row["problem_id"] for row in differing}
        (work / "differing.jsonl").write_text("".join(one + "\n" for one in pairs.read_text().splitlines() if json.loads(one)["problem_id"] in wanted))
        stampmill(program, "edits", "tests", problems, "--pairs", work / "differing.jsonl", "--seed", settings["seed"], "--jobs", settings["jobs"], "--out", work / "tests", "--force")
        stampmill(program, "edits", "judge", work / "differing.jsonl", "--human", "same", "--tests", work / "tests", "--jobs", settings["jobs"], "--out", work / "judged", "--force")
        judged = {row["problem_id"]: row["verdict"] for row in rows(program, "SELECT problem_id, verdict FROM j", j=work / "judged")}
    bounds = collections.Counter(min(row["bound"], 10) for row in compared if row["certificate"] == "exhaustive")
    left = collections.Counter(row["verdict"] for row in found if row["verdict"] not in ("accepted", "fails-hidden-tests"))
    return {
        "summary": {"columns": ["certificate", "pairs", "bound (median)", "inputs within bounds", "grown inputs", "blocks reached"], "rows": lines_of(compared)},
        "share": {"columns": ["figure", "of"], "rows": [
            ["pairs whose programs were compared", share(len(compared), len(found))],
            *[[f"not compared: {word}", share(count, len(found))] for word, count in sorted(left.items())],
            ["equal wherever it was looked (`exhaustive` or `covered`)", share(certificates["exhaustive"] + certificates["covered"], len(compared))],
            ["inputs compared", f"{summary['inputs']:,}"],
            ["blocks executed", f"{sum(row['steps'] for row in found):,}"],
            ["seconds, builds included", f"{summary['seconds']:.0f}"]]},
        "bounds": {"columns": ["bound (10: or more)", "exhaustive pairs"], "rows": [[bound, bounds[bound]] for bound in sorted(bounds)]},
        "differences": {"columns": ["problem", "judged by grown tests", "certificate", "found by", "input", "slow program prints", "difference"], "rows": [
            [row["problem_id"], judged.get(row["problem_id"], "none"), row["certificate"], row["found_by"], text(row["input"]), text(row["wanted"], 40),
             row["detail"].replace("|", "\\|")[:120]] for row in differing]},
        "left": {"columns": ["problem without certificate", "verdict", "bound", "inputs", "left out", "detail"], "rows": [
            [row["problem_id"], row["verdict"], row["bound"], row["inputs"], row["left_out"], row["detail"].replace("|", "\\|")[:120]]
            for row in found if row["certificate"] == "none" and row["verdict"] != "no-tests"]},
    }


def by_hand(program, settings, work):
    files, home = Path(settings["cheats"]), work / "home"
    for kind in ("tests", "hidden"):
        shutil.copytree(files / kind, home / kind, dirs_exist_ok=True)
    slow = {path.stem: path.read_text() for path in sorted((files / "slow").glob("*.cpp"))}
    texts = {(name, path.stem): path.read_text() for name in slow for path in sorted((files / name).glob("*.cpp"))}
    tests = {name: [{"input": path.read_text(), "output": path.with_name(path.name.replace("input", "output")).read_text()}
                    for path in sorted((files / "tests" / name).glob("input.*.txt"))] for name in slow}
    written = {
        "pairs": [pair(name, code) for name, code in slow.items()],
        "problems": [{"problem_id": name, "samples": samples} for name, samples in tests.items()],
        "candidates": [line(name, stem, code.replace("@HOME@", str(home))) for (name, stem), code in texts.items()],
    }
    for name, lines in written.items():
        (work / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    summary, found = certify(program, settings, work, "cheats", work / "pairs.jsonl", work / "problems.jsonl", "--candidates", work / "candidates.jsonl")
    kinds = collections.defaultdict(collections.Counter)
    for row in found:
        word = row["certificate"] if row["verdict"] in ("accepted", "fails-hidden-tests") else "rejected on the samples"
        kinds[head(texts[row["src_id"], row["method"]], "kind")][word] += 1
    words = [*ORDER, "rejected on the samples"]
    return {
        "cheats": {"columns": ["kind", "edits", *words], "rows": [[kind, sum(of.values()), *[of[word] for word in words]] for kind, of in sorted(kinds.items())]},
        "cost": {"columns": ["cost", "all edits"], "rows": [["seconds, builds included", f"{summary['seconds']:.0f}"], ["inputs compared", f"{summary['inputs']:,}"],
                                                         ["blocks executed", f"{sum(row['steps'] for row in found):,}"]]},
        "each": {"columns": ["edit", "certificate", "verdict", "input", "difference"], "rows": [
            [f"{row['src_id']}/{row['method']}", row["certificate"], row["verdict"], text(row["input"]), row["detail"].replace("|", "\\|")[:120]] for row in found]},
    }


def run(program, variant, settings, work):
    return {"people": people, "cheats": by_hand}[variant](program, settings, work)
