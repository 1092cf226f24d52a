#!/usr/bin/env bash
# Checks that pidq-core compiles without warnings with none of its features and with each alone, and names those that are
# missing.
#
#     scripts/core_features.sh [TARGET]
set -euo pipefail
cd "$(dirname "$0")/.."

options=(--quiet --locked --package pidq-core --no-default-features ${1:+--target "$1"})
for features in "" dates encoding units; do
    cargo clippy "${options[@]}" --features "$features" -- -D warnings
done
# A function that was left out names its feature.
# Without optimization, as one test is run.
[[ -n ${1:-} ]] || cargo test "${options[@]}" --config profile.dev.package.pidq-core.opt-level=0 --lib functions::tests
