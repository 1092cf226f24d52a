#!/usr/bin/env bash
# Builds the command without the services and tests the engine and the formats: what runs on every platform.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --locked -p pidq
cargo test --locked -p pidq-core -p pidq-formats
cargo build --locked -p pidq-ffi
