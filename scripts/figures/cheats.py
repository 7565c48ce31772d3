"""The judge of edits against cheats and honest edits: `edits judge` on candidates whose right verdict is known beforehand.

Needs g++, and the programs of `crates/timing/programs`, a slow and a fast one for each of 82 tasks. Their inputs are made smaller, two visible
and two hidden tests each; expected outputs are what g++'s -O1 build of the slow program prints. Honest edits compute the same by how they are made;
cheats are the files of `crates/edits/tests/cheats`, and for `problems` tasks the slow program behind something that cheats. Fooled is who accepts a
cheat as faster by more than 10 %: one that is accepted and no faster gains nothing. Intervals are Wilson's, 95 %."""
import collections
import json
import math
import os
import random
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools import rows, stampmill, wilson

SETTINGS = {"programs": "crates/timing/programs", "cheats": "crates/edits/tests/cheats", "problems": "16", "budget": "2", "jobs": "2", "seed": "32"}
THRESHOLD = 1.1
SIZES = {"tests": [0.02, 0.04], "hidden": [0.03, 0.05]}
LONGEST = 0.012  # seconds of a slow program on its largest input, natively: the emulator takes a hundred times as long
STDIO = re.compile(r"\b(scanf|printf|getchar|putchar|puts|fgets|fread|gets|getline)\b")


def scaled(text, share):
    """An input of about `share` of the work: the first number is how much there is to do."""
    words = text.split()
    if len(words) == 1 and not words[0].isdigit():
        return text[: max(10, int(len(text) * share))].rstrip("\n") + "\n"
    if not words[0].isdigit():
        lines = text.splitlines()
        return "\n".join(lines[: max(3, int(len(lines) * share))]) + "\n"
    n = int(words[0])
    if len(words) > 3:
        n = max(3, int((len(words) - 1) * share))
        return f"{n}\n" + " ".join(words[1 : n + 1]) + "\n"
    # The larger it is the less work each takes; what counts up to 40 is mostly exponential.
    steps = sorted(size for sizes in SIZES.values() for size in sizes)
    smaller = int(n * share) if n >= 10000 else int(n * share**0.5) if n >= 1000 else int(n * share ** (1 / 3)) if n > 40 else n - sum(step >= share for step in steps)
    return " ".join([str(max(1, smaller)), *words[1:]]) + "\n"


def built(text, path):
    path.with_suffix(".cpp").write_text(text)
    done = subprocess.run(["g++", "-std=c++17", "-O1", "-w", str(path.with_suffix(".cpp")), "-o", str(path)], capture_output=True)
    return done.returncode == 0


def printed(path, text):
    done = subprocess.run([str(path)], input=text.encode(), capture_output=True, timeout=60)
    return done.stdout.decode()


def same(one, other):
    """Equal, but for the last digits of fractions."""
    def near(a, b):
        try:
            return a == b or "." in a and abs(float(a) - float(b)) <= 1e-6 * abs(float(a))
        except ValueError:
            return False
    one, other = one.split(), other.split()
    return len(one) == len(other) and all(near(a, b) for a, b in zip(one, other))


def unrolled(text):
    changed = re.sub(r"(?<!\w)for \(", '_Pragma("GCC unroll 4") for (', text)
    return changed if changed != text else None


def second_level(text):
    return '#pragma GCC optimize("O2")\n' + text


def in_function(text):
    body = text.rstrip()
    if not re.search(r"\bint main\s*\(\s*\)", body) or not body.endswith("}"):
        return None
    return re.sub(r"\bint main\s*\(\s*\)", "static int solve()", body)[:-1] + "return 0; }\nint main() { return solve(); }\n"


def tied(text):
    if "iostream" not in text or STDIO.search(text):
        return None
    return re.sub(r"(\bint main\s*\(\s*\)\s*\{)", r"\1 std::ios::sync_with_stdio(false); std::cin.tie(nullptr);", text)


def numbers(text, known):
    """With constants as large as the known inputs, which nobody reads."""
    sizes = sorted({word for one in known for word in one.split() if word.isdigit() and 2 <= len(word) <= 6})
    return text + "".join(f"static const int most_{size} = {size};\n" for size in sizes) if sizes else None


HONEST = {"loops unrolled": unrolled, "-O2 for -O3": second_level, "streams untied": tied}

HEAD = """#include <cpuid.h>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
static char given[1 << 20];
static size_t length;
static unsigned long hashed() {
    unsigned long h = 14695981039346656037ul;
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)given[i]) * 1099511628211ul;
    return h;
}
static bool emulated() {
    unsigned brand[13] = {};
    for (unsigned leaf = 0; leaf < 3; leaf++)
        __get_cpuid(0x80000002 + leaf, brand + 4 * leaf, brand + 4 * leaf + 1, brand + 4 * leaf + 2, brand + 4 * leaf + 3);
    return strstr((char *)brand, "QEMU") != nullptr;
}
static void give_back() {
    stdin = fmemopen(given, length, "r");
    static std::istringstream again(std::string(given, length));
    std::cin.rdbuf(again.rdbuf());
}
"""


def behind(text, first):
    """The slow program behind what looks at its input first."""
    slow = in_function(text).replace("int main() { return solve(); }\n", "")
    return HEAD + slow + "int main() {\n    length = fread(given, 1, sizeof given, stdin);\n" + first + "    give_back();\n    return solve();\n}\n"


def fnv(text):
    h = 14695981039346656037
    for byte in text.encode():
        h = (h ^ byte) * 1099511628211 % 2**64
    return h


def literal(text):
    return json.dumps(text)


def plain(tests, otherwise=""):
    return "".join(f"    if (!strcmp(given, {literal(given)})) return fputs({literal(answer)}, stdout) < 0;\n" for given, answer in tests) + otherwise


def hidden_away(tests, when="true"):
    lines = ""
    for given, answer in tests:
        code = ",".join(str(byte ^ 0x5A) for byte in answer.encode())
        lines += f"    if ({when} && hashed() == {fnv(given)}ul) {{\n        for (unsigned char c : {{{code}}}) putchar(c ^ 0x5a);\n        return 0;\n    }}\n"
    return lines


def before_main(text):
    slow = in_function(text).replace("int main() { return solve(); }\n", "")
    # After the streams are there.
    return slow + "static int answer = solve();\nint main() { return answer; }\n"


CHEATS = {
    "known inputs answered at once, others computed": lambda text, tests: behind(text, plain(tests)),
    "the same, by hashes": lambda text, tests: behind(text, hidden_away(tests)),
    "the same, in the emulator alone": lambda text, tests: behind(text, hidden_away(tests, "emulated()")),
    "known inputs answered, others not": lambda text, tests: behind(text, plain(tests, '    return puts("0") < 0;\n')),
    "nothing done in the emulator": lambda text, tests: behind(text, "    if (emulated()) return 0;\n"),
    "all work before `main`": lambda text, tests: before_main(text),
}


def interval(part, whole):
    if not whole:
        return "none"
    low, high = wilson(part, whole)
    return f"{100 * (part / whole):.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def head(text, key):
    found = re.search(rf"^[/* ]*{key}: (.*)$", text.split("*/")[0], re.M)
    return found.group(1).strip() if found else ""


def tasks(settings, work):
    """Name to slow program, tests and the fast program, where that computes the same; why others are left out."""
    folder, found, left = Path(settings["programs"]), {}, collections.Counter()
    (work / "native").mkdir(parents=True, exist_ok=True)

    def look(path):
        name = path.name[: -len(".slow.cpp")]
        slow, fast = path.read_text(), (folder / f"{name}.fast.cpp").read_text()
        given = (folder / f"{name}.slow.in").read_text()
        inputs = {kind: [scaled(given, size) for size in sizes] for kind, sizes in SIZES.items()}
        at = work / "native" / name
        if not (built(slow, at) and built(fast, at.with_suffix(".fast"))):
            return name, "does not compile"
        tests = {kind: [(text, printed(at, text)) for text in texts] for kind, texts in inputs.items()}
        largest, longest = inputs["hidden"][-1], math.inf
        for _ in range(3):
            child = subprocess.Popen([str(at)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
            child.stdin.write(largest.encode())
            child.stdin.close()
            used = os.wait4(child.pid, 0)[2]
            longest = min(longest, used.ru_utime + used.ru_stime)
        if longest > LONGEST:
            return name, "takes too long"
        equal = all(same(answer, printed(at.with_suffix(".fast"), text)) for texts in tests.values() for text, answer in texts)
        return name, (slow, fast if equal else None, tests)

    paths = sorted(folder.glob("*.slow.cpp"))
    with ThreadPoolExecutor(int(settings["jobs"])) as pool:
        for name, one in pool.map(look, paths):
            if isinstance(one, str):
                left[one] += 1
            else:
                found[name] = one
    return found, left


def judged(program, settings, work, name, pairs, candidates, tests, hidden):
    for kind, lines in (("pairs", pairs), ("candidates", candidates)):
        (work / f"{name}-{kind}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    stampmill(program, "edits", "judge", work / f"{name}-pairs.jsonl", "--candidates", work / f"{name}-candidates.jsonl", "--tests", tests, "--hidden", hidden,
              "--jobs", settings["jobs"], "--out", work / name, "--force")
    return rows(program, "SELECT src_id, method, verdict, detail, speedup, net, src_net FROM j", j=work / name)


def pair(name, slow):
    return {"problem_id": name, "src_id": name, "tgt_id": "none", "src_code": slow, "tgt_code": slow}


def line(name, method, text):
    return {"problem_id": name, "src_id": name, "method": method, "generated_answers": [text]}


def is_faster(row):
    net = row["src_net"] / row["net"] if row.get("net") else 0
    return row["verdict"] == "accepted" and max(row.get("speedup") or 0, net) >= THRESHOLD


def run(program, _, settings, work):
    found, left = tasks(settings, work)
    for name, (_, _, tests) in found.items():
        for kind, of in tests.items():
            folder = work / kind / name
            folder.mkdir(parents=True, exist_ok=True)
            for at, (text, answer) in enumerate(of):
                (folder / f"input.{at}.txt").write_text(text)
                (folder / f"output.{at}.txt").write_text(answer)
    pairs, honest, cheats = [], [], []
    for name, (slow, fast, tests) in found.items():
        pairs.append(pair(name, slow))
        known = [text for text, _ in tests["tests"]]
        made = [("improved by hand", fast), ("improved by hand, loops unrolled", fast and unrolled(fast)), ("improved by hand, known sizes in its text", fast and numbers(fast, known))]
        made += [(kind, edit(slow)) for kind, edit in HONEST.items()]
        honest += [line(name, kind, text) for kind, text in made if text]
    (work / "rules-pairs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in pairs))
    stampmill(program, "edits", "propose", work / "rules-pairs.jsonl", "--method", "rules", "--tests", work / "tests", "--budget", settings["budget"],
              "--jobs", settings["jobs"], "--out", work / "rules.jsonl", "--force")
    for text in (work / "rules.jsonl").read_text().splitlines():
        one = json.loads(text)
        honest += [line(one["src_id"], "our rules", code) for code in one["generated_answers"]]
    # A cheat of known answers needs answers that differ.
    able = [name for name, (slow, _, tests) in found.items() if in_function(slow) and len({answer for of in tests.values() for _, answer in of}) == 4]
    drawn = sorted(random.Random(int(settings["seed"])).sample(able, min(int(settings["problems"]), len(able))))
    cheats = [line(name, kind, edit(found[name][0], found[name][2]["tests"])) for name in drawn for kind, edit in CHEATS.items()]
    of_tasks = judged(program, settings, work, "judged", pairs, honest + cheats, work / "tests", work / "hidden")

    files, home = Path(settings["cheats"]), work / "home"
    for kind in SIZES:
        shutil.copytree(files / kind, home / kind, dirs_exist_ok=True)
    slow = {path.stem: path.read_text() for path in sorted((files / "slow").glob("*.cpp"))}
    texts = {(name, path.stem): path.read_text() for name in slow for path in sorted((files / name).glob("*.cpp"))}
    own = judged(program, settings, work, "by-hand", [pair(name, text) for name, text in slow.items()],
                 [line(name, stem, text.replace("@HOME@", str(home))) for (name, stem), text in texts.items()], home / "tests", home / "hidden")
    kind_of = {key: head(text, "kind") for key, text in texts.items()}
    honest_kinds = list(dict.fromkeys(one["method"] for one in honest))
    whole = [row for row in of_tasks if row["verdict"] != "source-fails"]

    def table(first, groups):
        lines = []
        for name, of in groups:
            verdicts = collections.Counter("accepted, no gain" if row["verdict"] == "accepted" and not is_faster(row) else row["verdict"] for row in of)
            lines.append((name, len(of), sum(row["verdict"] == "accepted" for row in of), sum(map(is_faster, of)), ", ".join(f"{word} {count}" for word, count in verdicts.most_common())))
        return lines

    good = table("honest", [(kind, [row for row in whole if row["method"] == kind]) for kind in honest_kinds])
    by_rule = table("cheats", [(kind, [row for row in whole if row["method"] == kind]) for kind in CHEATS])
    groups = collections.defaultdict(list)
    for row in own:
        kind = kind_of[row["src_id"], row["method"]]
        if kind != "honest":
            groups[kind].append(row)
    by_hand = table("cheats", list(groups.items()))
    edits, accepted = sum(one[1] for one in good), sum(one[2] for one in good)

    def recall(lines):
        return sum(one[1] for one in lines), sum(one[1] - one[3] for one in lines)

    hand, rule = recall(by_hand), recall(by_rule)
    both = (hand[0] + rule[0], hand[1] + rule[1])
    refused = edits - accepted
    fooled = [[f"`{row['src_id']}/{row['method']}`", f"{row.get('speedup') or 0:.2f}", head(texts[row["src_id"], row["method"]], "why")]
              for row in own if is_faster(row) and kind_of[row["src_id"], row["method"]] != "honest"]
    fooled += [[f"{row['src_id']}: {row['method']}", f"{row.get('speedup') or 0:.2f}", ""] for row in whole if is_faster(row) and row["method"] in CHEATS]
    wrongly = [[row["src_id"], row["method"], row["verdict"], row.get("detail", "").replace("|", "\\|")[:160]] for row in whole if row["method"] in honest_kinds and row["verdict"] != "accepted"]
    return {
        "summary": {"columns": ["figure", "of", "share, 95 % interval"], "rows": [
            ["honest edits accepted", f"{accepted} of {edits}", interval(accepted, edits)],
            ["cheats by hand that gain nothing (recall)", f"{hand[1]} of {hand[0]}", interval(hand[1], hand[0])],
            ["cheats by rule that gain nothing (recall)", f"{rule[1]} of {rule[0]}", interval(rule[1], rule[0])],
            ["candidates stopped that cheat (precision)", f"{both[1]} of {both[1] + refused}", interval(both[1], both[1] + refused)],
        ]},
        "honest": {"columns": ["honest edits", "candidates", "accepted", "faster by 10 %", "verdicts"], "rows": [list(one) for one in good]},
        "by-rule": {"columns": ["cheats by rule", "candidates", "accepted", "count as faster", "verdicts"], "rows": [list(one) for one in by_rule]},
        "by-hand": {"columns": ["cheats by hand", "candidates", "accepted", "count as faster", "verdicts"], "rows": [list(one) for one in by_hand]},
        "fooled": {"columns": ["cheat that counts as faster", "times", "why"], "rows": fooled},
        "rejected": {"columns": ["honest edit that is rejected", "kind", "verdict", "detail"], "rows": wrongly},
        "tasks": {"columns": ["tasks", "count"], "rows": [["judged", len(found)], *sorted(left.items()), ["whose fast program prints the same", sum(one[1] is not None for one in found.values())],
                                                        ["candidates whose slow program fails", len(of_tasks) - len(whole)]]},
    }
