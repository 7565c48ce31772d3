#!/usr/bin/env python3
"""How fast the judge of edits is: makes a set of problems x candidates x tests, and measures it on two cores.

edits-throughput.py build OUT DATA... [--problems 100] [--candidates 8] [--tests 20] [--instructions 2000000]
    DATA are folders that scripts/edits-proof.sh made: between them `pairs`, `human-same`, `tests`,
    `rules.jsonl` and `rules--no-io.jsonl`. OUT gets exported/ (visible and hidden tests as folders), pairs.jsonl,
    candidates.jsonl, tests/ and set.json, which says what the set is made of.
edits-throughput.py run SET OUT [--cores 0,1 ...] [--seconds 0] [--work DIR]
    Judges the set on the cores given, beginning with nothing kept. Each --cores (several may follow) gets its part
    of the problems; all write into one cache. OUT gets report.json (rewritten every ten seconds: what was done so
    far, and how fast), each part's own report and what it said. --seconds: give up after so long; 0 is never.

The problems are those of the pairs that hold up, with most inputs first; where there are too few, they come again
under another name, every program and every input another text. Inputs are sample, grown and hidden ones, the
largest left out so that a test takes about as many instructions as asked for; a problem with too few gets some of
them again with blank lines at the end, which only programs that read words and numbers take for the same.
Candidates are, in this order: what people wrote, what the rules made, and copies of both and of the slow program
that differ in a string that nobody reads: another executable, the same work. All are right, so that all tests of
all candidates are run and timed: the judge stops at a wrong one's first failure.
"""

import argparse
import collections
import glob
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time

STAMPMILL = os.environ.get("STAMPMILL", "stampmill")
HOLD_UP = ("accepted", "gain-too-small", "slower")
# What reads lines or letters may take blank lines at the end for something.
BY_LETTER = re.compile(r"getline|gets\s*\(|getc|%\s*c|%\[|\.get\s*\(|\.read|\.ignore|fread|read\s*\(|peek|stringstream|\.eof|feof")
LARGEST = 200_000  # bytes of an input or output: the set is to be carried about
FEWEST = 5  # inputs that a problem has of its own


def table(folder, sql):
    command = [STAMPMILL, "query", sql, f"t={folder}", "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["result"]


def found(folders, name):
    for folder in folders:
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    sys.exit(f"edits-throughput.py: none of {', '.join(folders)} holds {name}; scripts/edits-proof.sh makes it")


def exported(folders, out):
    """The visible and the hidden tests of the data set `tests`, as folders."""
    made = []
    for kind in ("tests", "hidden-tests"):
        folder = os.path.join(out, "exported", kind)
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        command = [STAMPMILL, "edits", "export", found(folders, "tests"), "--format", kind, "--out", folder, "--force", "-qq"]
        # 1: there are none.
        if subprocess.run(command).returncode not in (0, 1):
            sys.exit(f"edits-throughput.py: `{' '.join(command)}` failed")
        made.append(folder)
    return made


def tests_of(folder, problem):
    tests = {}
    for path in glob.glob(os.path.join(folder, problem, "input.*.txt")):
        number = int(path.rsplit(".", 2)[1])
        with open(path, "rb") as file, open(path.replace("input.", "output."), "rb") as answer:
            tests[number] = (file.read(), answer.read())
    return tests


def copy_of(code, number):
    """The same program as another executable."""
    return code.rstrip() + f'\n__attribute__((used)) static const char judged_copy[] = "copy {number}";\n'


class Problem:
    def __init__(self, name, pairs, folders, rates):
        self.name, self.pairs = name, pairs
        visible, hidden = (tests_of(folder, name) for folder in folders)
        known = {}  # input -> answer
        guess = []  # bytes of input, instructions
        for pair in pairs:
            rate = rates.get((name, pair["src_id"]))
            for time_ in pair["src_times"] if rate else ():
                if time_["test"] in visible and time_["seconds"]:
                    guess.append((len(visible[time_["test"]][0]), time_["seconds"] * rate))
        for tests in (visible, hidden):
            for given, answer in tests.values():
                if max(len(given), len(answer)) <= LARGEST:
                    known.setdefault(given, answer)

        def cost(given):
            near = sorted(guess, key=lambda one: abs(math.log((one[0] + 1) / (len(given) + 1))))[:3]
            return sum(one[1] for one in near) / max(len(near), 1)

        self.inputs = sorted(((cost(given), given, answer) for given, answer in known.items()), key=lambda one: (one[0], one[1]))
        self.words_only = not any(BY_LETTER.search(pair[side]) for pair in pairs for side in ("src_code", "tgt_code"))
        self.usable = bool(guess) and self.words_only and len(self.inputs) >= FEWEST

    def tests(self, count, largest, again):
        """`count` inputs of at most `largest` instructions; `again`: how often the problem was there before."""
        fit = [one for one in self.inputs if one[0] <= largest] or self.inputs[:1]
        if len(fit) > count:
            fit = [fit[at * len(fit) // count] for at in range(count)]
        chosen, blank = [], again * 100
        while len(chosen) < count:
            # The largest come again first: the small ones are mostly start-up.
            for cost, given, answer in fit[::-1][: count - len(chosen)]:
                chosen.append((cost, given.rstrip(b"\n") + b"\n" * (blank + 1) if blank else given, answer))
            blank += 1
        assert len({given for _, given, _ in chosen}) == count, self.name
        return chosen


def build(arguments):
    data = arguments.data
    pairs = table(found(data, "pairs"), "SELECT problem_id, src_id, tgt_id, user_id, language, src_code, tgt_code, src_times, verdict FROM t")
    rates = {
        (row["problem_id"], row["src_id"]): row["instructions"] / row["seconds"]
        for row in table(found(data, "human-same"), "SELECT problem_id, src_id, instructions, seconds FROM t WHERE seconds > 0 AND instructions > 0")
    }
    by_rules = collections.defaultdict(list)
    for name in ("rules.jsonl", "rules--no-io.jsonl"):
        with open(found(data, name)) as lines:
            for line in map(json.loads, lines):
                by_rules[line["problem_id"], line["src_id"]] += line["generated_answers"]
    of_problem = collections.defaultdict(list)
    for pair in pairs:
        if pair["verdict"] in HOLD_UP:
            of_problem[pair["problem_id"]].append(pair)
    os.makedirs(arguments.out, exist_ok=True)
    folders = exported(data, arguments.out)
    problems = [Problem(name, of, folders, rates) for name, of in sorted(of_problem.items())]
    # A problem of which even the smallest input is long would leave nothing to the others.
    light = [p for p in problems if p.usable and p.inputs[0][0] <= 4 * arguments.instructions]
    usable = sorted(light, key=lambda p: (-len(p.inputs), p.name))
    if not usable:
        sys.exit("edits-throughput.py: no problem has inputs enough")
    entries = [(usable[at % len(usable)], at // len(usable)) for at in range(arguments.problems)]

    def mean(largest):
        costs = [test[0] for p, again in entries for test in p.tests(arguments.tests, largest, again)]
        return sum(costs) / len(costs)

    low, high = 1e4, 1e9
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if mean(middle) < arguments.instructions else (low, middle)

    shutil.rmtree(os.path.join(arguments.out, "tests"), ignore_errors=True)
    origin, own, padded, used = collections.Counter(), 0, 0, set()
    with open(os.path.join(arguments.out, "pairs.jsonl"), "w") as to, open(os.path.join(arguments.out, "candidates.jsonl"), "w") as answers:
        for p, again in entries:
            name = p.name if not again else f"{p.name}-{again + 1}"
            pair = p.pairs[again % len(p.pairs)]
            slow, fast = pair["src_code"], pair["tgt_code"]
            if again:
                slow, fast = copy_of(slow, f"{again} slow"), copy_of(fast, f"{again} fast")
            pool = [("people", fast)]
            alike = [other for other in p.pairs if other["language"] == pair["language"]]
            for other in sorted(alike, key=lambda other: other is not pair):
                pool += [("rules", code) for code in by_rules[p.name, other["src_id"]]]
            pool += [("people", other[side]) for other in alike if other is not pair for side in ("src_code", "tgt_code")]
            chosen = []
            for kind, code in pool:
                if len(chosen) < arguments.candidates and code not in used and code != slow and code not in (c for _, c in chosen):
                    chosen.append((kind, code))
            models = [("people", pair["tgt_code"]), ("slow", pair["src_code"])] + [(kind, code) for kind, code in pool[1:] if kind == "rules"][:6]
            number = 0
            while len(chosen) < arguments.candidates:
                kind, code = models[number % len(models)]
                chosen.append((f"copy of {kind}", copy_of(code, f"{again} {number}")))
                number += 1
            used.update(code for _, code in chosen)
            origin.update(kind for kind, _ in chosen)
            line = {"problem_id": name, "submission_id": pair["src_id"], "user_id": pair["user_id"], "language": pair["language"], "src_code": slow, "tgt_code": fast}
            to.write(json.dumps(line) + "\n")
            line = {"problem_id": name, "src_id": pair["src_id"], "method": "throughput", "generated_answers": [code for _, code in chosen]}
            answers.write(json.dumps(line) + "\n")
            folder = os.path.join(arguments.out, "tests", name)
            os.makedirs(folder)
            tests = p.tests(arguments.tests, high, again)
            known = {given for _, given, _ in p.inputs}
            own += sum(given in known for _, given, _ in tests)
            padded += sum(given not in known for _, given, _ in tests)
            for at, (_, given, answer) in enumerate(tests):
                for kind, content in (("input", given), ("output", answer)):
                    with open(os.path.join(folder, f"{kind}.{at}.txt"), "wb") as file:
                        file.write(content)
    summary = {
        "problems": len(entries), "of_their_own": min(len(usable), len(entries)), "candidates_each": arguments.candidates,
        "tests_each": arguments.tests, "candidates": dict(origin), "inputs": own, "inputs_with_blank_lines": padded,
        "expected_instructions_of_a_slow_program's_test": round(mean(high)), "largest": round(high),
    }
    with open(os.path.join(arguments.out, "set.json"), "w") as file:
        json.dump(summary, file, indent=1)
    print(json.dumps(summary))


def files(folder):
    return sum(len(names) for _, _, names in os.walk(folder))


def run(arguments):
    work = os.path.abspath(arguments.work or os.path.join(arguments.out, "work"))
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    os.makedirs(arguments.out, exist_ok=True)
    given = os.path.abspath(arguments.set)
    with open(os.path.join(given, "pairs.jsonl")) as lines:
        pairs = list(lines)
    with open(os.path.join(given, "candidates.jsonl")) as lines:
        candidates = [json.loads(line) for line in lines]
    with open(os.path.join(given, "set.json")) as file:
        about = json.load(file)
    cache = os.path.join(work, "cache")
    parts = arguments.cores or ["0,1"]
    environment = dict(os.environ, XDG_CACHE_HOME=cache)
    started, running = time.time(), []
    for at, cores in enumerate(parts):
        path = os.path.join(work, f"pairs-{at}.jsonl")
        with open(path, "w") as file:
            file.writelines(pairs[at :: len(parts)])
        command = ["taskset", "-c", cores, STAMPMILL, "edits", "judge", path, "--candidates", os.path.join(given, "candidates.jsonl"),
                   "--tests", os.path.join(given, "tests"), "--out", os.path.join(work, f"judged-{at}"), "--jobs", str(len(cores.split(","))), "--json"]
        out, err = (open(os.path.join(arguments.out, f"judge-{at}.{kind}"), "wb") for kind in ("json", "err"))
        running.append(subprocess.Popen(command, stdout=out, stderr=err, env=environment, start_new_session=True))
    ended, stopped = {}, None
    while len(ended) < len(running):
        for at, one in enumerate(running):
            if at not in ended and one.poll() is not None:
                ended[at] = round(time.time() - started, 2)
        elapsed = time.time() - started
        if arguments.seconds and elapsed > arguments.seconds and stopped is None:
            stopped = elapsed
            for at, one in enumerate(running):
                if at not in ended:
                    os.killpg(one.pid, signal.SIGINT)
        if stopped is not None and elapsed > stopped + 20:
            for at, one in enumerate(running):
                if at not in ended:
                    os.killpg(one.pid, signal.SIGKILL)
        report(arguments, about, cache, parts, ended, running, time.time() - started, stopped)
        for _ in range(50):
            if any(at not in ended and one.poll() is not None for at, one in enumerate(running)) or len(ended) == len(running):
                break
            time.sleep(0.2)
    done = report(arguments, about, cache, parts, ended, running, time.time() - started, stopped)
    for at in range(len(parts)):
        judged = os.path.join(work, f"judged-{at}")
        if os.path.isdir(judged):
            shutil.copytree(judged, os.path.join(arguments.out, f"judged-{at}"), dirs_exist_ok=True)
    print(json.dumps(done, indent=1))


def report(arguments, about, cache, parts, ended, running, elapsed, stopped):
    """What was done so far. The times of parts that go on are those until now."""
    kept = {kind: files(os.path.join(cache, "stampmill", "edits", kind)) for kind in ("programs", "trials", "times", "sanitized", "headers")}
    walls = [ended.get(at, elapsed) for at in range(len(parts))]
    done = {
        "elapsed": round(elapsed, 1), "parts": len(parts), "cores": parts, "ended": ended, "status": [one.poll() for one in running],
        "stopped_after": stopped, "seconds_on_one_part's_cores": round(sum(walls), 1), "kept": kept,
        "timed_program_tests_a_second": round(kept["times"] / max(sum(walls), 1e-9), 2), "set": about,
    }
    totals, verdicts, seconds = collections.Counter(), collections.Counter(), 0.0
    for at in range(len(parts)):
        with open(os.path.join(arguments.out, f"judge-{at}.json")) as file:
            text = file.read()
        if text.strip():
            one = json.loads(text)
            totals.update({key: one[key] for key in ("pairs", "problems", "candidates", "program_tests", "runs", "timed", "instructions")})
            verdicts.update(one["verdicts"])
            seconds += one["seconds"]
    if totals:
        done |= {
            "judged": dict(totals), "verdicts": dict(verdicts), "judge_seconds": round(seconds, 1),
            "program_tests_a_second": round(totals["program_tests"] / seconds, 2),
            "instructions_a_timed_test": round(totals["instructions"] / max(totals["timed"], 1)),
        }
    path = os.path.join(arguments.out, "report.json")
    with open(path + ".new", "w") as file:
        json.dump(done, file, indent=1)
    os.replace(path + ".new", path)
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("build")
    one.set_defaults(go=build)
    one.add_argument("out")
    one.add_argument("data", nargs="+")
    for name, default in (("problems", 100), ("candidates", 8), ("tests", 20), ("instructions", 2_000_000)):
        one.add_argument(f"--{name}", type=int, default=default)
    one = commands.add_parser("run")
    one.set_defaults(go=run)
    one.add_argument("set")
    one.add_argument("out")
    one.add_argument("--cores", action="append", help="as `taskset -c` takes them; 0,1 unless given")
    one.add_argument("--seconds", type=float, default=0)
    one.add_argument("--work", help="where the cache and the data sets go; OUT/work unless given")
    arguments = parser.parse_args()
    arguments.go(arguments)


if __name__ == "__main__":
    main()
