#!/usr/bin/env bash
# Long-running tests with statistics: about four hours, or MINUTES per fuzz target.
set -euo pipefail
cd "$(dirname "$0")/.."

step() {
    printf '\n== %s\n' "$*"
    "$@"
}

# Uses the optimized build that users run; scripts/test.sh uses the debug build.
step env PIDQ_HOSTILE="${PIDQ_HOSTILE:-1000000}" PIDQ_SEED="${PIDQ_SEED:-$(date +%s)}" \
    cargo test --release --test it -- --nocapture hostile
step env PIDQ_CYCLES="${PIDQ_CYCLES:-1000000}" cargo test --release --test it -- --nocapture c::misuse_is_reported
step env PROPTEST_CASES="${PROPTEST_CASES:-100000}" cargo test --release --test it -- --nocapture properties::
step env PIDQ_TEST_CUTS="${PIDQ_TEST_CUTS:-100000}" PIDQ_TEST_KILLS="${PIDQ_TEST_KILLS:-10000}" \
    cargo test --release -p pidq-server --test store -- --nocapture
cargo build --release -p pidq-server -p pidq
step env LONG=1 PIDQ_SERVER="${CARGO_TARGET_DIR:-$PWD/target}/release/pidq-server" tests/harness/run.sh
step scripts/fuzz.sh $((60 * ${MINUTES:-30})) all

printf '\nall tests passed\n'
