#!/bin/sh
# Checks that need the package registries; not part of `make test`.
# usage: network.sh STAMPMILL
set -eu
stampmill=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0
expect() { # NAME SOURCE: mining SOURCE finds at least one file
    if "$stampmill" mine "$2" --out "$folder/$1" --json > "$folder/$1.json" &&
        grep -q '"files":[1-9]' "$folder/$1.json"; then
        passed=$((passed + 1))
    else
        echo "failed: mine $2" >&2
        failed=$((failed + 1))
    fi
}
expect debian deb:gegl
expect wheel pypi:silx
expect crate crate:ocl
# IR: a crate is built, exported, and opens in pandas and Hugging Face `datasets`.
ir() {
    "$stampmill" ir build crate:hex@0.4.3 --out "$folder/modules" --json | grep -q '"built":1' &&
        "$stampmill" ir dedup "$folder/modules" --out "$folder/unique" --json > /dev/null &&
        "$stampmill" ir export "$folder/unique" --format compile --validation 0 --test 0 --out "$folder/ir" --json > /dev/null &&
        python3 -m venv "$folder/python" &&
        "$folder/python/bin/pip" install --quiet pandas pyarrow datasets &&
        HF_HOME="$folder/hf" "$folder/python/bin/python" - "$folder/ir" "$folder/unique" <<'P'
import sys, glob
import datasets, pandas
folder, unique = sys.argv[1:]
columns = ["content", "license_expression", "license_source", "license_files", "package_source", "language"]
frame = pandas.read_parquet(folder + "/data")
assert list(frame.columns[:6]) == columns, frame.columns
assert len(frame) == 1 and frame.content[0][:2] == b"BC", frame
assert frame.license_expression[0] == "MIT OR Apache-2.0" and len(frame.license_files[0]) >= 1, frame.iloc[0]
made = datasets.load_dataset(unique, split="train")
assert len(made) >= 1 and "verdict" in made.features, made
data = datasets.load_dataset(folder, split="train")
assert len(data) == 1 and bytes(data[0]["content"]) == frame.content[0]
for text in frame.license_files[0]:
    assert glob.glob(folder + "/licenses/" + text + ".txt"), text
P
}
if ir; then
    passed=$((passed + 1))
else
    echo "failed: ir build crate:hex" >&2
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
