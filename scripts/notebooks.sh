#!/bin/sh
# Runs the notebooks of examples/ with the wheel as installed; each has two minutes. Packages of one come from registries.
#   notebooks.sh           runs them
#   notebooks.sh --write   and keeps what they show
#   notebooks.sh --fetch   only fetches what they need
# $CACHE/wheel/dist    the wheel (scripts/wheel.sh)       $CACHE/wheel/notebooks   where they run
set -eu
cd "$(dirname "$0")/.."
: "${CACHE:=${STAMPMILL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stampmill}}"
case ${1-} in
"" | --write | --fetch) ;;
*) echo "usage: notebooks.sh [--write|--fetch]" >&2; exit 2 ;;
esac
[ "${1-}" = --fetch ] || scripts/wheel.sh
home=$CACHE/wheel/notebooks
wanted="nbclient ipykernel pandas pyarrow datasets"
if [ ! -e "$home/ready" ] || [ "$(cat "$home/ready")" != "$wanted" ]; then
    rm -rf "$home"
    python3 -m venv "$home" || { echo "notebooks.sh: python3 makes no virtual environment: apt-get install python3-venv" >&2; exit 2; }
    # shellcheck disable=SC2086
    "$home/bin/python" -m pip install --quiet --disable-pip-version-check --retries 10 $wanted ||
        { echo "notebooks.sh: pip could not fetch $wanted: see above" >&2; exit 2; }
    echo "$wanted" >"$home/ready"
fi
[ "${1-}" != --fetch ] || exit 0
"$home/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$CACHE"/wheel/dist/*.whl
unset STAMPMILL
cd examples
passed=0 failed=0
for notebook in *.ipynb; do
    begun=$(date +%s)
    # The cell that fails is printed by jupyter.
    if PATH=$home/bin:$PATH timeout 120 "$home/bin/jupyter" execute ${1:+--inplace} "$notebook" >"$home/log" 2>&1; then
        passed=$((passed + 1)) said=ok
    else
        failed=$((failed + 1)) said=FAILED
        cat "$home/log" >&2
    fi
    echo "$notebook: $said, $(($(date +%s) - begun)) s"
done
echo "notebooks: $passed passed, $failed failed"
[ -z "${STAMPMILL_OUTCOMES-}" ] || echo "$passed $failed 0" >"$STAMPMILL_OUTCOMES/notebooks"
[ "$failed" = 0 ]
