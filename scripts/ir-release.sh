#!/bin/bash
# An IR data set release of a list of sources: built, one module a structure, admitted by license, split by family, packed.
# usage: PART=I/N ir-release.sh [OUT]           build part I of N: a share of the list, drawn by the names of its sources
#        PART=I/N PACK=yes ir-release.sh [OUT]  and pack that part alone, as a sample of the release
#        PARTS=LIST/N ir-release.sh [OUT]       build several parts that are not done: 1-8/40, or 1,2,5-7/40
#        PARTS=LIST/N PACK=yes ir-release.sh [OUT]  and pack them together, as one sample of the release
#        PARTS=N ir-release.sh [OUT]            build all parts that are not done, join them, and pack the release
# A part that is done is not built again, one that was stopped is resumed. Parts may be built on several machines of one
# release of the system: put their folders OUT/parts together, then run the last form on one of them.
#
# LIST=FILE       the list of sources (default: ir.toml of this repository)
# LIMIT=TIME      limit of one package (15m)
# JOBS=N          cores (all); two for each package
# POLICY=NAME     licenses that are admitted (compile: ComPile's rule)
# STAMPMILL=PATH  the binary (default: that of `make build`)
#
# OUT/parts/I-of-N   modules as they were built, with logs of what failed; OUT/parts/I-of-N.seconds what each run took
# OUT/release        compile/: Parquet in ComPile's form, with splits, license texts and a data card; dataset/: the same modules
#                    as a data set, with a card for Hugging Face and a Croissant file; statistics/; tables/: ComPile's Tables 1
#                    and 3 and Figure 1 of these data; README.md: funnel, failures and cost; SHA256SUMS of all files.
# OUT/parts/I-of-N.release, OUT/parts/LIST-of-N.release   the same of a sample; OUT/parts/LIST-of-N: the modules of its parts
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-ir-release}
sources=${LIST:-$root/ir.toml}
cache=${STAMPMILL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stampmill}
stampmill=${STAMPMILL:-${CARGO_TARGET_DIR:-$cache/target}/release/stampmill}
jobs=${JOBS:-$(nproc)}
[ -x "$stampmill" ] || { echo "ir-release: no binary at $stampmill: run \`make build\`, or name one in STAMPMILL" >&2; exit 2; }

# A negative result (status 1) is a result.
run() { # COMMAND...
    echo "+ $*" >&2
    "$stampmill" "$@" --jobs "$jobs" >&2 || { status=$?; [ "$status" = 1 ] || exit "$status"; }
}

build() { # I/N
    part=$out/parts/${1%/*}-of-${1#*/}
    mkdir -p "$out/parts"
    if [ -f "$part/_dataset.json" ]; then
        echo "ir-release: part $1 is done" >&2
        return
    fi
    begun=$(date +%s)
    # What a stopped run took counts, too.
    trap 'echo $(($(date +%s) - begun)) >> "$part.seconds"' EXIT
    run ir build "@$sources" --part "$1" --limit "${LIMIT:-15m}" --out "$part"
    trap - EXIT
    echo $(($(date +%s) - begun)) >> "$part.seconds"
}

pack() { # MODULES RELEASE PART...
    modules=$1 release=$2
    shift 2
    work=$release.work
    if [ -f "$release/SHA256SUMS" ]; then
        echo "ir-release: $release is packed" >&2
        return
    fi
    mkdir -p "$work" "$release"
    there() { [ -f "$1/_dataset.json" ]; }
    there "$work/unique" || run ir dedup "$modules" --out "$work/unique"
    there "$work/admitted" || run ir license "$work/unique" --policy "${POLICY:-compile}" --out "$work/admitted"
    there "$release/statistics" || run ir stats "$work/admitted" --out "$release/statistics"
    # ComPile's Tables 1 and 3 and its Figure 1, of what was built and of what is left.
    tables=$work/tables
    mkdir -p "$tables"
    ln -sfn "$(realpath "$work/unique")" "$tables/unique"
    ln -sfn "$(realpath "$release/statistics")" "$tables/statistics"
    [ -d "$release/tables" ] || run heuristic reproduce --recipe compile --data "$tables" --out "$release/tables"
    run ir export "$work/admitted" --format compile --force --out "$release/compile"
    there "$release/dataset" || run export "$work/admitted" --format huggingface --to "$release/dataset"
    python3 "$root/scripts/ir_release_report.py" "$stampmill" "$modules" "$work" "$release" "$@" > "$release/README.md"
    (cd "$release" && find . -type f ! -name SHA256SUMS -print0 | sort -z | xargs -0 sha256sum > SHA256SUMS)
}

if [ -n "${PART:-}" ]; then
    build "$PART"
    part=$out/parts/${PART%/*}-of-${PART#*/}
    [ -z "${PACK:-}" ] || pack "$part" "$part.release" "$part"
    exit
fi
# The numbers of a list: 1,5-7 is 1 5 6 7.
numbers() { # LIST
    local piece
    for piece in ${1//,/ }; do seq "${piece%-*}" "${piece#*-}"; done | sort -nu
}

# The rows of several parts as one data set. `merge` wants all parts of a job, which these are not.
together() { # MODULES PART...
    local modules=$1 name number=0 sql='' tables=()
    shift
    for part in "$@"; do
        number=$((number + 1)) name=p$number
        sql="$sql${sql:+ UNION ALL }SELECT * FROM $name"
        tables+=("$name=$part")
    done
    run query "$sql ORDER BY package_source, kind, path, target, id" "${tables[@]}" --out "$modules"
}

wanted=${PARTS:?say how many parts there are: PARTS=20, which one: PART=1/20, or which ones: PARTS=1-8/20}
count=${wanted#*/}
list=1-$count
[ "$wanted" = "$count" ] || list=${wanted%/*}
case $list,$count in
*[!0-9,-]* | ,* | *,,* | *-,* | *,-*)
    echo "ir-release: PARTS=$wanted names no parts: PARTS=20 is all of 20, PARTS=1,2,5-7/20 are five of them" >&2
    exit 2
    ;;
esac
parts=()
for number in $(numbers "$list"); do
    build "$number/$count"
    parts+=("$out/parts/$number-of-$count")
done
if [ "$wanted" != "$count" ]; then
    [ -n "${PACK:-}" ] || exit 0
    sample=$out/parts/$list-of-$count
    [ -f "$sample/_dataset.json" ] || together "$sample" "${parts[@]}"
    pack "$sample" "$sample.release" "${parts[@]}"
    exit
fi
[ -f "$out/modules/_dataset.json" ] || run merge "${parts[@]}" --out "$out/modules"
pack "$out/modules" "$out/release" "${parts[@]}"
