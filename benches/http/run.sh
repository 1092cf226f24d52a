#!/bin/sh
# Benchmark of the service against bare hyper and nginx with the same bytes. Needs wrk; skips nginx if not installed.
#
#   benches/http/run.sh                  about six minutes; ROUNDS=5 SECONDS_EACH=4 for longer, ONLY=TLS for some rows
#
# It uses the environment and the accounts of the harness in tests/harness.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
export CARGO_TARGET_DIR="$target"
command -v wrk >/dev/null || { echo "SKIPPED: the comparison over HTTP needs wrk"; exit 0; }
cargo build --quiet --release -p pidq-server -p pidq --features pidq/full
cargo build --quiet --release -p pidq-http --example hyper_baseline
PIDQ_SERVER=$target/release/pidq-server PIDQ_BARE=$target/release/examples/hyper_baseline
export PIDQ_SERVER PIDQ_BARE
# Only sets up the harness; selects no test.
tests/harness/run.sh -k nothing >/dev/null || true
PIDQ_HARNESS=$target/harness exec "$target/harness/venv/bin/python" benches/http/compare.py
