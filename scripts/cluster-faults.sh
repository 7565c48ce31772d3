#!/bin/sh
# Faults of clusters at length: executors killed at many drawn moments of five stages and of a query, one stopped for a minute, one
# without room, one cut from the network, the scheduler killed. Each trial says what it counted. Needs root, for mounts and networks.
#   KILLS=50 SEED=1 PAUSE=60 scripts/cluster-faults.sh
set -eu
cd "$(dirname "$0")/.."
make cluster
export STAMPMILL_KILLS="${KILLS:-50}" STAMPMILL_SEED="${SEED:-1}" STAMPMILL_PAUSE="${PAUSE:-60}"
for trouble in query-killed killed stopped full-disk cut no-scheduler; do
    cargo test --release --workspace --test cluster -- --test-threads 1 --nocapture "cluster::$trouble"
done
