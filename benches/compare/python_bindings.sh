#!/bin/sh
# Python benchmark: installs the wheel next to the peers and runs python_bindings.py on the existing drawings.
# Prints the cost of one call through the C ABI first.
set -eu
cd "$(dirname "$0")"
python=.peers/python/bin/python
if ! test -x "$python"; then
    echo "SKIPPED: the Python benchmark needs its peers (benches/compare/setup.sh)" >&2
    exit 0
fi
manifest=../../Cargo.toml
cargo run --quiet --release --manifest-path "$manifest" -p pidq-ffi --example call_overhead
# Rust baseline for the JSON results.
cargo build --quiet --release --manifest-path "$manifest" -p pidq-ffi --example query_baseline
PIDQ_QUERY_BASELINE="${CARGO_TARGET_DIR:-../../target}/release/examples/query_baseline"
export PIDQ_QUERY_BASELINE
"$python" -m pip install --quiet --force-reinstall --no-deps ../../pidq-ffi/python
for drawing in data/plant_10000.json data/plant_100000.json; do
    test -f "$drawing" && "$python" python_bindings.py "$drawing"
done
