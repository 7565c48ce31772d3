"""Is the judge of edits right, by an online judge: answers of models with its verdicts, judged here by tests that grow from samples.

Needs g++, and git where answers=DIR is a repository without files. DIR holds `predictions/SET/SITE/PROBLEM/SUBMISSION/` with `original.*`, `improved.*`, answers, and `NAME_verdict.json` beside each, as the repository of
Supersonic (Chen, Fang and Monperrus, TSE 2024) has them. data=DIR holds `problems.jsonl`, with samples, and `pairs.jsonl`, whose problems the judge was tuned on. problems=FILE has more problems, ours or as lines of CodeContests,
of which the public tests are the samples; those of Codeforces are told by contest and letter. Tests grow from samples and from people's programs that the online judge accepts: the answers have no part in it.

n problems are drawn by a hash, those that nothing was tuned on first, and of each slow program `each` answers that are right there and `each` that are not. What does not compile there is left out: it was another compiler. A
problem is held out by a hash, too: of those that are not, each answer that is judged otherwise here is listed."""
import collections
import hashlib
import json
import re
import subprocess
import tarfile
from pathlib import Path

from cheats import wilson
from tools import rows, share, stampmill

SETTINGS = {"answers": "", "data": "", "problems": "", "n": "20", "each": "6", "jobs": "2", "seed": "0"}
# What online judges say, by how it begins, and what it comes to.
SAID = [
    ("STATE_ACCEPTED", "right"), ("Accepted", "right"), ("Perfect result", "right"), ("STATE_WRONGANSWER", "wrong answer"), ("Wrong answer", "wrong answer"), ("Partial result", "wrong answer"),
    ("STATE_RUNTIMEERROR", "crash"), ("Runtime error", "crash"), ("STATE_TIMELIMIT", "limit"), ("STATE_MEMORYLIMIT", "limit"), ("STATE_OUTPUTLIMIT", "limit"), ("Time limit", "limit"), ("Memory limit", "limit"),
    ("Idleness limit", "limit"), ("STATE_PRESENTATIONERROR", "presentation error"), ("STATE_COMPILEERROR", "compile error"), ("Compilation error", "compile error"),
]
ONLINE = ["right", "wrong answer", "crash", "limit", "presentation error"]
# Our verdicts by what they come to; others, `undefined-behaviour` say, are rejected for another reason.
HERE = {
    "accepted": "accepted", "wrong-output": "wrong", "fails-hidden-tests": "wrong on hidden tests", "answer-table": "wrong on hidden tests", "hard-coded-input": "wrong on hidden tests", "shrunken-array": "wrong on hidden tests",
    "crashes": "crash", "timeout": "limit", "cpu-limit": "limit", "memory-limit": "limit", "output-limit": "limit", "process-limit": "limit", "instruction-limit": "limit", "does-not-compile": "does not compile",
}
WORDS = ["accepted", "wrong", "wrong on hidden tests", "crash", "limit", "does not compile", "other"]
UNJUDGED = ("no-tests", "source-fails")
PROGRAM = re.compile(r"^(original|improved|(?:response_)?\d+)\.(c|cc|cpp|gnu\w+|c\w*)$")
# The least time there that tells something, and how many times faster counts.
SECONDS, GAIN = 0.1, 1.1
LISTED = 60


class Answers:
    """Files of a folder, or of the last commit of a repository without files."""

    def __init__(self, root, work):
        self.root, self.git = Path(root), None
        if not (self.root / "predictions").is_dir():
            self.git = ["git", "-C", str(self.root)]
            self.work = work / "answers"
            listed = subprocess.run([*self.git, "ls-tree", "-r", "-z", "--name-only", "HEAD", "predictions"], stdout=subprocess.PIPE, check=True).stdout
            self.names = listed.decode().split("\0")[:-1]
        else:
            self.names = [str(path.relative_to(self.root)) for path in sorted((self.root / "predictions").rglob("*")) if path.is_file()]

    def texts(self, names):
        """Name to text, of many files at once."""
        if not names:
            return {}
        if self.git is None:
            return {name: (self.root / name).read_text(errors="replace") for name in names}
        found, folders = {}, sorted({name.rsplit("/", 1)[0] for name in names})
        wanted = set(names)
        for at in range(0, len(folders), 500):
            packed = subprocess.Popen([*self.git, "archive", "HEAD", "--", *folders[at : at + 500]], stdout=subprocess.PIPE)
            with tarfile.open(fileobj=packed.stdout, mode="r|") as archive:
                for entry in archive:
                    if entry.isfile() and entry.name in wanted:
                        found[entry.name] = archive.extractfile(entry).read().decode(errors="replace")
            if packed.wait() != 0:
                raise SystemExit("figures: git archive ended badly")
        return found


def drawn(*words):
    return hashlib.sha256(" ".join(words).encode()).digest()


def held_out(problem):
    return drawn("held out", problem)[0] >= 0x80


def online(text):
    """What the online judge says, and its seconds where it gives them."""
    said = json.loads(text)
    word = next((word for begin, word in SAID if str(said.get("status", "")).startswith(begin)), None)
    time = said.get("cpu_time")
    if isinstance(time, str):
        number = re.match(r"([\d.]+) *(ms|s)\b", time)
        seconds = float(number[1]) / (1000 if number[2] == "ms" else 1) if number else None
    else:
        # Hundredths of a second.
        seconds = time / 100 if isinstance(time, (int, float)) and time >= 0 else None
    return word, seconds


def language(name):
    return "C" if name.endswith(".c") else "C++"


def known_problems(settings):
    """Samples by name, first ours; problems of Codeforces are called CONTEST_LETTER."""
    found = {}
    paths = [Path(settings["data"]) / "problems.jsonl", *map(Path, filter(None, settings["problems"].split(",")))]
    for path in paths:
        for one in map(json.loads, path.read_text().splitlines()):
            name = one.get("problem_id") or one.get("name")
            samples = one.get("samples")
            if samples is None:
                public = one.get("public_tests", {})
                samples = [{"input": given, "output": due} for given, due in zip(public.get("input", []), public.get("output", []))]
            contest = re.match(r"^(\d+)[_/]?([A-Za-z]\d?)\b", name)
            name = f"{contest[1]}_{contest[2].upper()}" if contest else name
            if samples:
                found.setdefault(name, {"problem_id": name, "samples": samples, **{key: one[key] for key in ("limits", "description") if key in one}})
    return found


def submissions(answers):
    """Problem to submissions, each a path's middle to the names of its files by set."""
    folders = collections.defaultdict(lambda: collections.defaultdict(list))
    for name in answers.names:
        parts = name.split("/")
        if len(parts) == 6:
            folders["/".join(parts[2:5])][parts[1]].append(name)
    contests = {}
    for middle, sets in folders.items():
        if middle.startswith("Codeforces/"):
            contests[middle] = next((name for of in sets.values() for name in of if name.endswith("/original_verdict.json")), None)
    letters = {name: json.loads(text).get("problem_sub_id", "") for name, text in answers.texts([name for name in contests.values() if name]).items()}
    found = collections.defaultdict(dict)
    for middle, sets in sorted(folders.items()):
        site, problem, submission = middle.split("/")
        if site == "Codeforces":
            problem = f"{problem}_{letters.get(contests[middle], '').upper()}"
        found[problem][submission] = [name for of in sets.values() for name in of]
    return found


class Slow:
    """A slow program, and the answers to it: name to text, what the online judge says and its seconds."""

    def __init__(self, problem, submission, names, texts, each, seed):
        self.problem, self.submission, self.answers = problem, submission, {}
        self.people, self.code, self.language, self.seconds = [], None, "C++", None
        seen, found = set(), []
        for name in sorted(names):
            of = PROGRAM.match(name.rsplit("/", 1)[1])
            verdict = texts.get(name.rsplit(".", 1)[0] + "_verdict.json")
            if not of or verdict is None:
                continue
            word, seconds = online(verdict)
            text = texts[name]
            if of[1] in ("original", "improved") and word == "right" and text not in self.people:
                self.people.append(text)
            if of[1] == "original":
                if word == "right" and self.code is None:
                    self.code, self.language, self.seconds = text, language(name), seconds
            elif word in ONLINE and text.strip() and text not in seen:
                seen.add(text)
                called = "improved" if of[1] == "improved" else f"{name.split('/')[1]}/{of[1]}"
                found.append((called, text, word, seconds))
        # What people wrote is what tests were made with: it says nothing of them, and its gains alone are looked at.
        found = [one for one in found if one[0] == "improved" or one[1] not in self.people]
        found.sort(key=lambda one: (one[0] != "improved", drawn(seed, submission, one[0])))
        for right in (True, False):
            kind = [one for one in found if (one[2] == "right") == right]
            self.answers.update({called: (text, word, seconds) for called, text, word, seconds in kind[:each]})


def choose(settings, work):
    """The slow programs of the problems that are drawn, the problems' lines, and which problems the judge was tuned on."""
    known, answers = known_problems(settings), Answers(settings["answers"], work)
    found = submissions(answers)
    tuned = {json.loads(line)["problem_id"] for line in (Path(settings["data"]) / "pairs.jsonl").read_text().splitlines()}
    names = sorted((name for name in found if name in known), key=lambda name: (name in tuned, drawn(settings["seed"], name)))
    chosen, slow = [], []
    for name in names:
        if len(chosen) >= int(settings["n"]):
            break
        texts = answers.texts([file for of in found[name].values() for file in of])
        of = [Slow(name, submission, files, texts, int(settings["each"]), settings["seed"]) for submission, files in sorted(found[name].items())]
        of = [one for one in of if one.code is not None and one.answers]
        if of:
            chosen.append(name)
            slow += of
    counts = [["problems with answers and verdicts", len(found)], ["of these with samples", len(names)], ["of these problems that the judge was not tuned on", sum(name not in tuned for name in names)], ["drawn", len(chosen)]]
    return slow, [known[name] for name in chosen], tuned, counts


def group(problem, tuned):
    return ("tuned on" if problem in tuned else "others") + (", held out" if held_out(problem) else ", looked at")


GROUPS = ["tuned on, looked at", "tuned on, held out", "others, looked at", "others, held out"]


def rate(of, judged, wanted):
    """How many of the judged answers are `wanted` here, with an interval, and of how many problems those are."""
    hit = [row for row in judged if wanted(row)]
    problems = {row["problem_id"] for row in judged}
    return [of, f"{len(hit)} of {len(judged)}", wilson(len(hit), len(judged)), f"{len({row['problem_id'] for row in hit})} of {len(problems)}"]


def gain(row):
    """What our judge says of a gain that the online judge has."""
    if row["verdict"] != "accepted":
        return "rejected"
    if row["speedup"] is None:
        return "no time"
    if row["speedup"] < GAIN:
        return "no gain"
    return "on small inputs alone" if row["small_only"] else "before `main` alone" if row["startup_only"] else "confirmed"


GAINS = ["confirmed", "on small inputs alone", "before `main` alone", "no gain", "no time", "rejected"]


def cell(text, most=120):
    return (text or "").replace("\n", "⏎").replace("|", "\\|").replace("`", "'")[:most]


def run(program, _, settings, work):
    work.mkdir(parents=True, exist_ok=True)
    slow, problems, tuned, counts = choose(settings, work)
    files = {name: work / f"{name}.jsonl" for name in ("problems", "pairs", "known", "candidates")}
    lines = collections.defaultdict(list)
    lines["problems"] = problems
    for one in slow:
        about = {"problem_id": one.problem, "src_id": one.submission, "tgt_id": f"{one.submission}+", "language": one.language, "src_code": one.code}
        fast = next((text for text in one.people if text != one.code), one.code)
        lines["known"].append({**about, "tgt_code": fast})
        # The slow program beside itself: `edits judge` times both sides, and an answer must not be one of them.
        lines["pairs"].append({**about, "tgt_code": one.code})
        lines["candidates"].append({"problem_id": one.problem, "src_id": one.submission, "method": "online", "id": list(one.answers), "generated_answers": [text for text, _, _ in one.answers.values()]})
    for name, path in files.items():
        path.write_text("".join(json.dumps(line) + "\n" for line in lines[name]))
    common = ["--jobs", settings["jobs"], "--cache", work / "cache"]
    grown = stampmill(program, "edits", "tests", files["problems"], "--pairs", files["known"], "--seed", settings["seed"], *common, "--out", work / "tests", "--force")
    judged = stampmill(program, "edits", "judge", files["pairs"], "--candidates", files["candidates"], "--tests", work / "tests", *common, "--out", work / "judged", "--force")
    tests = rows(program, "SELECT problem_id, max(verdict) AS verdict, count(number) AS tests, sum(CASE WHEN number IS NOT NULL AND source <> 'sample' THEN 1 ELSE 0 END) AS grown, sum(CASE WHEN hidden THEN 1 ELSE 0 END) AS hidden, "
                 "bool_or(mostly_startup) AS startup FROM t GROUP BY problem_id", t=work / "tests")
    found = rows(program, "SELECT problem_id, src_id, candidate_id, verdict, detail, speedup, startup_only, small_only, refuted_by FROM j ORDER BY problem_id, src_id, candidate", j=work / "judged")
    by_slow = {(one.problem, one.submission): one for one in slow}
    for row in found:
        of = by_slow[row["problem_id"], row["src_id"]]
        _, row["online"], row["seconds"] = of.answers[row["candidate_id"]]
        row["slow"], row["group"], row["here"] = of.seconds, group(row["problem_id"], tuned), HERE.get(row["verdict"], "other")
    usable = [row for row in found if row["verdict"] not in UNJUDGED]
    groups = [name for name in GROUPS if any(row["group"] == name for row in found)]
    rates, verdicts, gains, made = [], [], [], []
    for name in groups:
        of = [row for row in usable if row["group"] == name]
        models = [row for row in of if row["candidate_id"] != "improved"]
        right = [row for row in models if row["online"] == "right"]
        wrong = [row for row in models if row["online"] in ("wrong answer", "crash")]
        rates += [[name, *rate("wrong there (wrong answer, crash), accepted here", wrong, lambda row: row["verdict"] == "accepted")],
                  [name, *rate("right there, rejected here", right, lambda row: row["verdict"] != "accepted")],
                  [name, *rate("over a limit there, accepted here", [row for row in models if row["online"] == "limit"], lambda row: row["verdict"] == "accepted")]]
        for word in ONLINE:
            here = collections.Counter(row["here"] for row in models if row["online"] == word)
            verdicts.append([name, word, sum(here.values()), *[here[kind] for kind in WORDS]])
        with_times = [row for row in of if row["online"] == "right" and row["slow"] and row["seconds"] is not None and row["slow"] >= SECONDS]
        faster = [row for row in with_times if row["slow"] >= GAIN * max(row["seconds"], 1e-9)]
        told = collections.Counter(map(gain, faster))
        slower = [row for row in with_times if row["slow"] * GAIN <= row["seconds"]]
        gains.append([name, len(faster), *[told[kind] for kind in GAINS], share(sum(gain(row) == "confirmed" for row in slower), len(slower))])
        own = [row for row in tests if group(row["problem_id"], tuned) == name]
        made.append([name, len(own), sum(row["tests"] > 0 for row in own), sum(row["grown"] or 0 for row in own), sum(row["hidden"] or 0 for row in own), sum(bool(row["startup"]) for row in own),
                     len({(row["problem_id"], row["src_id"]) for row in found if row["group"] == name}), len(models), sum(row["group"] == name and row["verdict"] in UNJUDGED for row in found)])
    differ = [row for row in usable if row["candidate_id"] != "improved" and not held_out(row["problem_id"]) and (row["verdict"] == "accepted") != (row["online"] == "right") and row["online"] in ("right", "wrong answer", "crash")]
    reasons = collections.Counter(row["verdict"] for row in tests)
    return {
        "rates": {"columns": ["problems", "answers", "of", "share, 95 % interval", "in so many problems"], "rows": rates},
        "verdicts": {"columns": ["problems", "online judge", "judged here", *WORDS], "rows": verdicts},
        "gains": {"columns": ["problems", f"{GAIN} times as fast there, from {SECONDS} s", *GAINS, "slower there, faster here"], "rows": gains},
        "tests": {"columns": ["problems", "drawn", "with tests", "grown tests", "hidden tests", "mostly start-up", "slow programs", "answers judged", "answers without a judgement"], "rows": made},
        "summary": {"columns": ["figure", "value"], "rows": [*counts, *[[f"problems: {word}", count] for word, count in sorted(reasons.items())],
                                                              ["seconds to grow tests", f"{grown['seconds']:.0f}"], ["seconds to judge", f"{judged['seconds']:.0f}"]]},
        "misjudged": {"columns": ["problem, looked at", "answer", "online judge", "here", "detail"], "rows": [
            [row["problem_id"], f"{row['src_id']}: {row['candidate_id']}", row["online"], row["verdict"], cell(row["detail"])] for row in differ[:LISTED]]},
    }
