#!/bin/sh
# The whole way once: fetch real packages, find their kernels, judge, describe and show them.
# usage: demo.sh STAMPMILL FOLDER [COMMAND]
# COMMAND builds what is needed once kernels are on the screen: SQL, devices.
set -eu
stampmill=$1
folder=$2
build=${3:-true}
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
run() { say "stampmill $*"; "$stampmill" "$@"; }
rm -rf "$folder"
mkdir -p "$folder"
run mine deb:gegl pypi:silx crate:ocl --out "$folder/raw"
run prepare "$folder/raw" --out "$folder/kernels"
run show "$folder/kernels" --programs 2
$build
run query "SELECT package, count(*) AS kernels, count(DISTINCT family) AS families FROM k WHERE verdict = 'accepted' GROUP BY package ORDER BY kernels DESC" "k=$folder/kernels"
run features "$folder/kernels" --space grewe,instcount,autophase --out "$folder/features"
run project "$folder/features" --space instcount --out "$folder/map"
run steer --space instcount --target Load=3,FMul=2,Store=1..2 --seeds "$folder/kernels" --must-run --seed 1 --budget 20s --out "$folder/found"
run show "$folder/found" --programs 1
run report "$folder"
printf '\nThe data set opens as it is:\n  python3 -c "import pandas; print(pandas.read_parquet(%s))"\n' "'$folder/kernels'"
