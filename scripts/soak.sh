#!/usr/bin/env bash
# Load on the graph service for MINUTES (120), with its memory over time as target/soak/memory.csv and memory.svg. Fails if
# memory grows by more than MAX_SLOPE (1) MiB an hour in the last half, or if a response is not as expected.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
if [ -z "${PIDQ_SERVER:-}" ]; then
    cargo build --quiet --profile quick -p pidq-server -p pidq --features pidq/server
    PIDQ_SERVER=$target/quick/pidq-server
fi
export PIDQ_SERVER
mkdir -p "$target/soak"
if ! [ -x "$target/soak/venv/bin/python" ]; then
    python3 -m venv "$target/soak/venv"
    "$target/soak/venv/bin/pip" install --quiet requests
fi
PIDQ_HARNESS=$target/soak exec "$target/soak/venv/bin/python" tests/harness/soak.py \
    --minutes "${MINUTES:-120}" --max-slope "${MAX_SLOPE:-1}" --output "$target/soak/memory"
