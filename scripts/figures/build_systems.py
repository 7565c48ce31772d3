"""Packages that Spack, Meson and dub build, and the modules that they give.

`spack=FOLDER` is a folder with `spack.yaml`, its mirror and its recipes; `sources=FOLDER` holds archives of packages that Meson or dub build.
Programs of these build systems are on the search path; no build has the network. `modules=FOLDER` keeps the data sets, or reads them."""
from pathlib import Path

from tools import rows, share, stampmill

SETTINGS = {"spack": "environment", "sources": "sources", "limit": "45m", "jobs": "2", "modules": ""}
COUNTS = (
    "sum(CASE WHEN kind = 'module' AND verdict = 'accepted' THEN 1 ELSE 0 END) AS modules, "
    "sum(CASE WHEN verdict = 'no-bitcode' THEN 1 ELSE 0 END) AS lost, "
    "sum(CASE WHEN kind = 'module' AND verdict = 'accepted' THEN functions ELSE 0 END) AS functions, "
    "sum(CASE WHEN kind = 'module' AND verdict = 'accepted' THEN instructions ELSE 0 END) AS instructions"
)
COLUMNS = ["modules", "without bitcode", "functions", "instructions"]


def run(program, _, settings, work):
    kept = Path(settings["modules"] or work)
    archives = sorted(str(path) for path in Path(settings["sources"]).iterdir())
    sources = {"spack": [f"dir:{settings['spack']}"], "others": archives}
    for name, given in sources.items():
        if not (kept / name).exists():
            stampmill(program, "ir", "build", *given, "--limit", settings["limit"], "--jobs", settings["jobs"], "--out", kept / name)
    numbers = lambda row: [f"{row[name]:,}" for name in ("modules", "lost", "functions", "instructions")]
    of_spack = rows(
        program,
        f"SELECT package, version, {COUNTS} FROM m WHERE kind = 'module' OR verdict = 'no-bitcode' GROUP BY package, version ORDER BY package",
        m=kept / "spack",
    )
    verdicts = [row["verdict"] for row in rows(program, "SELECT verdict FROM m WHERE kind = 'package'", m=kept / "spack")]
    others = rows(
        program,
        "SELECT package, max(CASE WHEN kind = 'package' THEN verdict ELSE '' END) AS verdict, "
        f"max(CASE WHEN kind = 'module' THEN language ELSE '' END) AS language, {COUNTS} FROM m WHERE package <> '' GROUP BY package ORDER BY package",
        m=kept / "others",
    )
    built = sum(1 for row in others if row["verdict"] == "built")
    total = [
        ["packages of the Spack environment with modules", f"{sum(1 for row in of_spack if row['modules'])}"],
        ["the environment as a whole", ", ".join(verdicts)],
        ["packages of Meson and dub that are built", share(built, len(others))],
        ["modules", f"{sum(row['modules'] for row in of_spack + others):,}"],
    ]
    return {
        "total": {"columns": ["what", "count"], "rows": total},
        "spack": {"columns": ["package", "version", *COLUMNS], "rows": [[row["package"], row["version"], *numbers(row)] for row in of_spack]},
        "others": {"columns": ["package", "verdict", "language", *COLUMNS], "rows": [[row["package"], row["verdict"], row["language"], *numbers(row)] for row in others]},
    }
