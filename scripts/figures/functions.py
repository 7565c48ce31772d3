"""C functions of Debian's packages that models are pre-trained on: how many are found, unique and proved.

Mines list=FILE and prepares it; functions="DATASET..." of runs of `prepare` on parts of the list takes their place.
Unique is by the normal text, over all data sets. A package counts where one of its functions is accepted."""
from tools import rows, stampmill

# Verdicts of what is no C program under a license that is admitted.
NO_PROGRAM = "('license-not-admitted', 'source-unavailable', 'partial-source', 'empty', 'not-utf8', 'license-text', 'includes-too-large')"

SETTINGS = {"list": "functions.toml", "functions": "", "jobs": "2"}


def run(program, _, settings, work):
    sets = settings["functions"].split()
    if not sets:
        jobs = ["--jobs", settings["jobs"]]
        stampmill(program, "mine", f"@{settings['list']}", "--language", "c", "--licenses", "permissive", *jobs, "--out", work / "raw")
        stampmill(program, "prepare", work / "raw", *jobs, "--out", work / "functions")
        sets = [work / "functions"]
    tables = {f"f{number}": path for number, path in enumerate(sets)}
    every = " UNION ALL ".join(f"SELECT package, verdict, id, license FROM {name}" for name in tables)
    found = rows(program, f"SELECT verdict, count(*) AS n FROM ({every}) GROUP BY verdict ORDER BY n DESC", **tables)
    count = {row["verdict"]: row["n"] for row in found}
    accepted = f"SELECT * FROM ({every}) WHERE verdict = 'accepted'"
    # A function that stands in two data sets is of the package whose name comes first.
    once = f"SELECT id, min(package) AS package, min(license) AS license FROM ({accepted}) GROUP BY id"
    packages = rows(program, f"SELECT package, count(*) AS n FROM ({once}) GROUP BY package ORDER BY n DESC", **tables)
    licenses = rows(program, f"SELECT license, count(*) AS n FROM ({once}) GROUP BY license ORDER BY n DESC LIMIT 12", **tables)
    [whole] = rows(program, f"SELECT count(DISTINCT package) AS packages FROM ({every}) WHERE verdict NOT IN {NO_PROGRAM}", **tables)
    unique = sum(row["n"] for row in packages)
    return {
        "whole": {
            "columns": ["what", "count"],
            "rows": [
                ["packages with a C program under a permissive license", f"{whole['packages']:,}"],
                ["of these with an accepted function", f"{len(packages):,}"],
                ["functions accepted, in all programs that include them", f"{count['accepted'] + count.get('duplicate', 0):,}"],
                ["unique functions, each proved", f"{unique:,}"],
            ],
        },
        "verdicts": {"columns": ["verdict", "rows"], "rows": [[row["verdict"], f"{row['n']:,}"] for row in found]},
        "packages": {"columns": ["package", "unique functions"], "rows": [[row["package"], f"{row['n']:,}"] for row in packages[:25]]},
        "licenses": {"columns": ["license", "unique functions"], "rows": [[row["license"], f"{row['n']:,}"] for row in licenses]},
    }
