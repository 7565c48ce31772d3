"""IR to cycles: programs of packages that run, and how well a model predicts the cycles of functions of packages it has not seen.

Builds the Debian sources that are named (mmdebstrap, as root); `modules=DATASET` of a run of `ir build` takes their place. Every program
reads the same text from its standard input and gets no arguments, so those that want some print what they want. Each is linked as it is
(-O2 of its package where the package says so), with those modules of its package that it lacks. A function's cycles for each call are
predicted from what `features` counts in its module's IR (instructions of the function, bytes of its code, calls of it)."""
import csv
import math

from tools import rows, share, stampmill

SETTINGS = {"packages": "deb:coreutils deb:bzip2 deb:xxhash deb:figlet deb:tree deb:mawk deb:bc", "modules": "", "stdin": "LICENSE-APACHE", "jobs": "2", "seed": "1"}


def run(program, _, settings, work):
    jobs = ["--jobs", settings["jobs"]]
    modules = settings["modules"] or work / "modules"
    if not settings["modules"]:
        stampmill(program, "ir", "build", *settings["packages"].split(), *jobs, "--out", modules)
    stampmill(program, "ir", "run", modules, "--stdin", settings["stdin"], *jobs, "--out", work / "cycles")
    known = rows(program, "SELECT package, verdict, count(*) AS n FROM c WHERE function = '' GROUP BY package, verdict ORDER BY package, verdict", c=work / "cycles")
    packages = sorted({row["package"] for row in known})
    functions = rows(
        program,
        "SELECT c.package, c.path, c.function, c.program, c.ir_instructions, c.code_bytes, c.calls, c.cycles FROM c "
        "WHERE c.function <> '' AND c.calls > 0 AND c.cycles > 0 AND c.verdict = 'accepted' ORDER BY c.package, c.path, c.function, c.program",
        c=work / "cycles",
    )
    of = {}
    for row in functions:
        of.setdefault(row["package"], []).append(row)
    programs = [
        [package, share(sum(row["n"] for row in known if row["package"] == package and row["verdict"] == "accepted"),
                        sum(row["n"] for row in known if row["package"] == package and row["verdict"] != "no-main")), f"{len(of.get(package, [])):,}"]
        for package in packages
    ]
    verdicts = {}
    for row in known:
        verdicts[row["verdict"]] = verdicts.get(row["verdict"], 0) + row["n"]
    # One row for a function of a module, whatever programs hold it: of several programs the first.
    seen, table = set(), work / "functions.csv"
    with open(table, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["program", "package", "instructions", "bytes", "log_instructions", "log_bytes", "log_calls", "cycles"])
        for row in functions:
            name = (row["package"], row["path"], row["function"])
            if name in seen:
                continue
            seen.add(name)
            logs = [f"{math.log2(max(row[key], 1)):.6f}" for key in ("ir_instructions", "code_bytes", "calls")]
            out.writerow(["/".join(name), row["package"], row["ir_instructions"], row["code_bytes"], *logs, row["cycles"] / row["calls"]])
    stampmill(program, "heuristic", "import", table, "--program", "program", "--variant", "", "--group", "package",
              "--features", "instructions,bytes,log_instructions,log_bytes,log_calls", "--costs", "cycles=cycles", "--out", work / "task")
    found = stampmill(program, "heuristic", "diagnose", work / "task", "--seed", settings["seed"])
    models = found["regression"]["models"]
    models = models.items() if isinstance(models, dict) else models
    error = [[name, f"{one['value']:.2f}", f"{one['interval'][0]:.2f} to {one['interval'][1]:.2f}"] for name, one in models]
    return {
        "programs": {"columns": ["package", "programs that ran, of those with a main", "functions executed"], "rows": programs},
        "model": {"columns": ["model", "error on held-out packages (root of the mean squared difference of log2)", "95 %"], "rows": error},
        "verdicts": {"columns": ["verdict", "programs, and modules in none"], "rows": [[name, count] for name, count in sorted(verdicts.items(), key=lambda one: -one[1])]},
        "functions": {"columns": ["what", "count"], "rows": [["functions with cycles", len(seen)], ["rows of functions", len(functions)]]},
    }
