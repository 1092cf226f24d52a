#!/bin/sh
# Runs example queries on the example drawing: each command, then its result.
set -eu
cd "$(dirname "$0")/.."

pidq=${PIDQ:-${CARGO_TARGET_DIR:-target}/quick/pidq}
drawing=examples/data/plant.json

run_query() { # run_query TITLE QUERY [OPTION]
    printf '\n# %s\n$ pidq query%s '\''%s'\'' %s\n' "$1" "${3:+ $3}" "$2" "$drawing"
    "$pidq" query ${3:+"$3"} "$2" "$drawing"
}

run_query 'Number of items by class' \
    '.pid_graph.nodes | filter(.node_type == "pid_component") | groupBy(.node_classification) | mapValues(size())'
run_query 'Control valves by fail action' \
    '.pid_graph.nodes | filter(.node_classification == "piping_component.control_valve") | groupBy(.fail_action) | mapValues(map(.tag))' \
    -c
