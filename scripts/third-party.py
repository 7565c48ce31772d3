#!/usr/bin/env python3
"""usage: third-party.py FILE

Writes the notices of all crates that the binaries of the wheel hold: name, version, license, where it is from, and the
texts of licenses and notices that come with it, each text once. Of `cargo metadata`, which may fetch crates of other
platforms.
"""
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRIPLE = "x86_64-unknown-linux-gnu"
WORKSPACES = ("Cargo.toml", "engines/objects/Cargo.toml")
# Members of these of which nothing is in the wheel.
NOT_SHIPPED = {"xtask", "stampmill-cases", "stampmill-trials", "stampmill-stand-in"}
NOTICE = re.compile(r"(LICEN[SC]E|COPYING|NOTICE|UNLICENSE|COPYRIGHT)", re.I)


def shipped():
    found = {}
    for workspace in WORKSPACES:
        found.update({(package["name"], package["version"]): package for package in shipped_of(workspace)})
    return [found[key] for key in sorted(found)]


def shipped_of(workspace):
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", TRIPLE, "--manifest-path", workspace]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    ours = set(metadata["workspace_members"])
    seen = set()
    waiting = [one for one in ours if packages[one]["name"] not in NOT_SHIPPED]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        for dependency in nodes[one]["deps"]:
            is_macro = any("proc-macro" in target["kind"] for target in packages[dependency["pkg"]]["targets"])
            if not is_macro and any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    # Crates of ours that another workspace uses stand in a folder of the checkout.
    return [packages[one] for one in seen - ours if packages[one]["source"]]


def notices(package):
    folder = Path(package["manifest_path"]).parent
    found = [path for path in sorted(folder.iterdir()) if path.is_file() and NOTICE.match(path.name) and path.suffix != ".html"]
    named = package.get("license_file")
    if named and (folder / named).is_file() and folder / named not in found:
        found.append(folder / named)
    return [path.read_text(errors="replace").strip() for path in found]


def main():
    (out,) = sys.argv[1:] if len(sys.argv) == 2 else sys.exit(__doc__.strip())
    packages = shipped()
    texts, lines = {}, []
    for package in packages:
        numbers = []
        for text in notices(package):
            key = hashlib.sha256(re.sub(r"\s+", " ", text).encode()).digest()
            numbers.append(texts.setdefault(key, (len(texts) + 1, text))[0])
        license = package["license"] or "see its text"
        where = f"texts {', '.join(map(str, numbers))}" if numbers else "no text comes with it"
        source = package["repository"] or package["homepage"] or ""
        lines.append(f"{package['name']} {package['version']}: {license}; {where}{'; ' + source if source else ''}")
    bar = "\n\n" + "=" * 100 + "\n"
    head = f"The programs in this wheel hold these {len(packages)} crates, each under its own license.\n\n"
    body = "".join(f"{bar}Text {number}\n\n{text}\n" for number, text in texts.values())
    Path(out).write_text(head + "\n".join(lines) + "\n" + body)
    bare = [package["name"] for package in packages if not notices(package)]
    print(f"{out}: {len(packages)} crates, {len(texts)} texts; without a text of their own: {', '.join(bare) or 'none'}")


main()
