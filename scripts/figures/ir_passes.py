"""Which passes of a pipeline change what share of functions, by language and package: `ir build`, `ir dedup`, `ir optimize --after-each`.

Builds the crates and the Debian sources that are named (mmdebstrap, as root); `modules=DATASET` of a run of `ir build` takes their place. A
function is one of a module: of two modules that are alike one counts. Changed is what another structure, or a function that a pass adds or
removes; shares are of the functions that any pass ran on. Seconds are of this machine. `ir-passes-languages` is of a data set in more languages,
which `modules` names; of several one is made by `stampmill query "SELECT * FROM a UNION ALL SELECT * FROM b" a=FOLDER b=FOLDER --out FOLDER`."""
import sys

from tools import rows, share, stampmill

VARIANTS = [None, "languages"]

SETTINGS = {
    "packages": "crate:miniz_oxide@0.9.1 crate:csv-core@0.1.13 crate:semver@1.0.28 crate:httparse@1.10.1 crate:ryu@1.0.23 "
                "deb:bzip2 deb:tree deb:xxhash deb:double-conversion deb:tinyxml2",
    "modules": "", "pipeline": "default<O2>", "jobs": "2",
}
LANGUAGES = ["rust", "c", "c++", "fortran", "d", "swift", "zig"]
SHOWN = 25
SHOWN_PACKAGES = 40


def percent(part, whole):
    return f"{100 * part / whole:.1f}" if whole else "–"


def run(program, variant, settings, work):
    if variant and not settings["modules"]:
        sys.exit("figures: ir-passes-languages is of a data set of modules: name it, modules=FOLDER")
    jobs = ["--jobs", settings["jobs"]]
    modules = settings["modules"] or work / "modules"
    if not settings["modules"]:
        stampmill(program, "ir", "build", *settings["packages"].split(), *jobs, "--out", modules, "--force")
    stampmill(program, "ir", "dedup", modules, *jobs, "--out", work / "unique", "--force")
    stampmill(program, "ir", "optimize", work / "unique", "--pipeline", settings["pipeline"], "--after-each", *jobs, "--out", work / "passes", "--force")

    def found(sql):
        return rows(program, sql, p=work / "passes", m=work / "unique")

    # Names of functions are of one module alone.
    changed = "max(CASE WHEN effect = 'unchanged' THEN 0 ELSE 1 END)"
    functions = f"SELECT language, package, pass, id, function, {changed} AS changed FROM p WHERE step > 0 GROUP BY language, package, pass, id, function"
    all_functions = "SELECT DISTINCT language, package, id, function FROM p WHERE step > 0"
    of_language = {row["language"]: row["n"] for row in found(f"SELECT language, count(*) AS n FROM ({all_functions}) GROUP BY language")}
    languages = [name for name in LANGUAGES if name in of_language] + sorted(set(of_language) - set(LANGUAGES))
    whole = sum(of_language.values())

    by_pass = {}
    for row in found(f"SELECT language, pass, sum(changed) AS changed FROM ({functions}) GROUP BY language, pass"):
        by_pass.setdefault(row["pass"], {})[row["language"]] = row["changed"]
    idle = f"""SELECT language, pass, id, step, {changed} AS changed, sum(seconds) AS seconds FROM p WHERE step > 0 GROUP BY language, pass, id, step"""
    times = found(f"""SELECT language, pass, count(*) AS runs, sum(1 - changed) AS idle, sum(seconds) AS seconds,
        sum(CASE changed WHEN 0 THEN seconds ELSE 0 END) AS idle_seconds FROM ({idle}) GROUP BY language, pass""")

    def total(column, **wanted):
        return sum(row[column] for row in times if all(row[key] == value for key, value in wanted.items()))

    most = sorted(by_pass, key=lambda name: (-sum(by_pass[name].values()), name))
    passes = [
        [f"`{name}`", percent(sum(by_pass[name].values()), whole), *(percent(by_pass[name].get(one, 0), of_language[one]) for one in languages),
         f"{total('runs', **{'pass': name}):,}", percent(total("idle", **{"pass": name}), total("runs", **{"pass": name})), f"{total('seconds', **{'pass': name}):.2f}"]
        for name in most if sum(by_pass[name].values())
    ]
    nothing = [
        [*line, f"{runs:,}", percent(idle_runs, runs), f"{seconds:.2f}", percent(idle_seconds, seconds)]
        for line, wanted in [*(([one], {"language": one}) for one in languages), (["all"], {})]
        for runs, idle_runs, seconds, idle_seconds in [[total(column, **wanted) for column in ("runs", "idle", "seconds", "idle_seconds")]]
    ]
    silent = sorted(name for name in by_pass if not sum(by_pass[name].values()))

    of_package = found(f"SELECT language, package, count(DISTINCT id) AS modules, count(*) AS n FROM ({all_functions}) GROUP BY language, package")
    best = found(f"SELECT language, package, pass, sum(changed) AS changed FROM ({functions}) GROUP BY language, package, pass")
    packages = []
    largest = sorted(of_package, key=lambda row: (-row["n"], row["language"], row["package"]))[:SHOWN_PACKAGES]
    for row in sorted(largest, key=lambda row: (languages.index(row["language"]), row["package"])):
        own = [one for one in best if (one["language"], one["package"]) == (row["language"], row["package"])]
        own.sort(key=lambda one: (-one["changed"], one["pass"]))
        said = ", ".join(f"`{one['pass']}` {100 * one['changed'] / row['n']:.0f}" for one in own[:6])
        packages.append([row["package"], row["language"], str(row["modules"]), f"{row['n']:,}", said])

    by_language = []
    for language in languages:
        own = [row for row in of_package if row["language"] == language]
        order = sorted(by_pass, key=lambda name: (-by_pass[name].get(language, 0), name))
        said = ", ".join(f"`{name}` {100 * by_pass[name][language] / of_language[language]:.0f}" for name in order[:6] if by_pass[name].get(language))
        by_language.append([language, f"{len(own):,}", f"{sum(row['modules'] for row in own):,}", f"{of_language[language]:,}", said])

    failed = found("SELECT verdict, count(*) AS n FROM p WHERE verdict <> 'accepted' GROUP BY verdict ORDER BY verdict")
    kept = found("SELECT kind, verdict, count(*) AS n FROM m WHERE kind <> 'license-text' GROUP BY kind, verdict ORDER BY kind, verdict")
    return {
        "passes": {"columns": ["pass", "functions that it changes, %", *(f"of {name}, %" for name in languages), "runs", "that change nothing, %", "seconds"],
                   "rows": passes[:SHOWN]},
        "others": {"columns": ["passes", "which"], "rows": [
            ["change a function, less often", ", ".join(f"{line[0]} {line[1]}" for line in passes[SHOWN:]) or "none"],
            ["change none", ", ".join(f"`{name}`" for name in silent) or "none"]]},
        "nothing": {"columns": ["language", "runs of passes", "that change nothing, %", "seconds", "of these in runs that change nothing, %"], "rows": nothing},
        "languages": {"columns": ["language", "packages", "modules", "functions", "passes that change most, % of its functions"], "rows": by_language},
        "packages": {"columns": ["package", "language", "modules", "functions", "passes that change most, % of its functions"], "rows": packages},
        "verdicts": {"columns": ["rows", "verdict", "count"], "rows": [[row["kind"], row["verdict"], row["n"]] for row in kept]
                     + [["modules whose passes failed", row["verdict"], row["n"]] for row in failed]
                     + [["passes that change a function", "of all", share(len(passes), len(by_pass))], ["packages that are shown", "of all", share(len(packages), len(of_package))]]},
    }
