"""A part of the IR data set release: what was built of it, what failed and why, what it cost.

Builds and packs part `part` of the list with `scripts/ir-release.sh` (mmdebstrap, as root; packages come from registries);
`out=FOLDER` resumes, or reads, what a run of it left there."""
import os
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
SETTINGS = {"part": "32/40", "list": "ir.toml", "limit": "8m", "jobs": "2", "out": ""}


def run(program, _, settings, work):
    sys.path.insert(0, str(SCRIPTS))
    from ir_release_report import tables

    out = settings["out"] or work / "ir-release"
    environment = {
        **os.environ, "STAMPMILL": str(program), "PART": settings["part"], "PACK": "yes", "LIST": str(SCRIPTS.parent / settings["list"]),
        "LIMIT": settings["limit"], "JOBS": settings["jobs"],
    }
    subprocess.run([SCRIPTS / "ir-release.sh", out], env=environment, check=True, stdout=sys.stderr)
    part = f"{out}/parts/{settings['part'].replace('/', '-of-')}"
    return tables(program, part, f"{part}.release.work", f"{part}.release", [part])
