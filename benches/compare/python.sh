#!/bin/sh
# The comparison in Python: installs the wheel beside the peers and runs python.py on the drawings that are there.
# What one call costs through the C ABI is told first.
set -eu
cd "$(dirname "$0")"
python=.peers/python/bin/python
if ! test -x "$python"; then
    echo "left out: the comparison in Python needs its peers (benches/compare/setup.sh)" >&2
    exit 0
fi
cargo run --quiet --release --manifest-path ../../Cargo.toml -p pidq-ffi --example calls
"$python" -m pip install --quiet --force-reinstall --no-deps ../../pidq-ffi/python
for drawing in data/plant_10000.json data/plant_100000.json; do
    test -f "$drawing" && "$python" python.py "$drawing"
done
