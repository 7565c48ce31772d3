#!/bin/sh
# The figures of the README and of docs/, each from one build and one run: `scripts/figures.sh --help`.
exec python3 "$(dirname "$0")/figures" "$@"
