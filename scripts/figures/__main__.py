"""usage: figures.sh NAME [SETTING=VALUE...]   run a figure; writes figures/NAME.json
       figures.sh --list                      what figures there are, their settings and what they need
       figures.sh --tables                    write the tables in README.md and docs/ anew from figures/*.json
       figures.sh --check                     fail where a table is not what its figure says

A figure is one run of one build. Its file holds the rows and where they are from: commit, command, machine, random
seed, date and time taken. A tree with changes that are not committed is refused.

STAMPMILL=PATH         the binary (default: that of `make build`)
STAMPMILL_COMMIT=HASH  its commit, where there is no checkout
"""
import datetime
import hashlib
import importlib
import inspect
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FIGURES = ROOT / "figures"
MARKED = re.compile(r"(<!-- figure: (\S+?)(?: (\S+))? -->\n).*?(<!-- /figure -->)", re.S)


def binary():
    cache = os.environ.get("STAMPMILL_CACHE") or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stampmill"
    target = os.environ.get("CARGO_TARGET_DIR") or Path(cache) / "target"
    path = Path(os.environ.get("STAMPMILL") or Path(target) / "release" / "stampmill")
    if not path.exists():
        sys.exit(f"figures: no binary at {path}: run `make build`, or name one in STAMPMILL")
    return path


def commit(program):
    """The commit of the checkout, which must be that of the binary."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    built = next((line.split()[1] for line in said.splitlines() if line.startswith("commit ")), "unknown")
    whole = os.environ.get("STAMPMILL_COMMIT") or checked_out()
    if built != "unknown" and not whole.startswith(built):
        sys.exit(f"figures: {program} was built of {built}, and this is {whole[:12]}: run `make build`")
    return whole


def checked_out():
    git = ["git", "-C", str(ROOT)]
    changed = subprocess.run(git + ["status", "--porcelain", "--untracked-files=no"], capture_output=True, text=True, check=True)
    if any(not line[3:].startswith("figures/") for line in changed.stdout.splitlines()):
        sys.exit("figures: the tree has changes that are not committed: a figure names the commit that it is of")
    return subprocess.run(git + ["rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()


def machine():
    models = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    memory = int(next(line for line in open("/proc/meminfo") if line.startswith("MemTotal")).split()[1])
    return {
        "processor": models[0] if models else "unknown",
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**20),
        "load_before": os.getloadavg()[0],
    }


def inputs(settings):
    """What the settings that name a data set named: its rows, and the hash of its manifest, which has those of its parts."""
    found = {}
    for key, value in settings.items():
        manifest = Path(value) / "_dataset.json"
        # A text that is no path may be too long for one.
        if value and os.path.exists(manifest):
            text = manifest.read_bytes()
            found[key] = {"rows": json.loads(text)["rows"], "manifest_sha256": hashlib.sha256(text).hexdigest()}
    return found


def modules():
    return {path.stem.replace("_", "-"): path.stem for path in sorted(HERE.glob("*.py")) if path.stem not in ("__main__", "tools")}


def figures():
    """Name to (module, variant): a module with VARIANTS holds several figures."""
    found = {}
    for name, stem in modules().items():
        module = importlib.import_module(stem)
        for variant in getattr(module, "VARIANTS", [None]):
            found[name if variant is None else f"{name}-{variant}"] = (module, variant)
    return found


def run(name, given):
    known = figures()
    if name not in known:
        sys.exit(f"figures: no figure {name}; there are: {', '.join(known)}")
    module, variant = known[name]
    settings = dict(module.SETTINGS)
    for setting in given:
        key, found, value = setting.partition("=")
        if not found or key not in settings:
            sys.exit(f"figures: {setting} is no setting of {name}; there are: {', '.join(settings)}")
        settings[key] = value
    program = binary()
    record = {
        "figure": name,
        "commit": commit(program),
        "binary_sha256": hashlib.sha256(program.read_bytes()).hexdigest(),
        "command": " ".join(["scripts/figures.sh", name, *given]),
        "settings": settings,
        "inputs": inputs(settings),
        "machine": machine(),
        "begun": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        keep = os.environ.get("STAMPMILL_FIGURES_WORK")
        record["tables"] = module.run(program, variant, settings, Path(keep or work))
    record["seconds"] = round(time.monotonic() - begun, 1)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    record["processor_seconds"] = round(used.ru_utime + used.ru_stime, 1)
    FIGURES.mkdir(exist_ok=True)
    path = FIGURES / f"{name}.json"
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    print(f"{path}: {record['seconds']} s")
    for key, table in record["tables"].items():
        print(f"\n{key}\n{markdown(table)}")


def markdown(table):
    # Programs side by side: a heading, and each under its caption.
    if "programs" in table:
        parts = [f"**{heading}**\n\n" + "".join(f"{caption}:\n\n```c\n{text.strip()}\n```\n\n" for caption, text in texts) for heading, texts in table["programs"]]
        return "".join(parts)
    rows = [table["columns"], ["---"] + ["---:"] * (len(table["columns"]) - 1), *table["rows"]]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows) + "\n"


def block(name, key):
    path = FIGURES / f"{name}.json"
    if not path.exists():
        sys.exit(f"figures: a document names the figure {name}, and there is no {path}")
    record = json.loads(path.read_text())
    tables = record["tables"]
    key = key or next(iter(tables))
    host = record["machine"]
    where = f"{host['cores']} cores, {host['processor']}"
    return (
        f"{markdown(tables[key])}\n"
        f"One run: `{record['command']}`, commit {record['commit'][:10]}, seed {record['settings'].get('seed', 'none')}, {where}, "
        f"{record['begun'][:10]}, {record['seconds']:,.0f} s ([all of it](FIGURES/{name}.json)).\n"
    )


def tables(check):
    wrong = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]:
        text = path.read_text()
        up = os.path.relpath(FIGURES, path.parent)

        def fill(found):
            return found[1] + block(found[2], found[3]).replace("FIGURES/", f"{up}/") + found[4]

        new = MARKED.sub(fill, text)
        if new != text:
            wrong.append(str(path.relative_to(ROOT)))
            if not check:
                path.write_text(new)
    if check and wrong:
        sys.exit(f"figures: {', '.join(wrong)}: not what figures/ says; run `scripts/figures.sh --tables`")


def main():
    sys.path.insert(0, str(HERE))
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
    elif arguments[0] == "--list":
        for name, (module, _) in figures().items():
            print(f"{name}\n    {inspect.getdoc(module)}\n    settings: " + " ".join(f"{k}={v}" for k, v in module.SETTINGS.items()) + "\n")
    elif arguments[0] in ("--tables", "--check"):
        tables(arguments[0] == "--check")
    elif arguments[0].startswith("-"):
        sys.exit(__doc__.strip())
    else:
        run(arguments[0], arguments[1:])


main()
