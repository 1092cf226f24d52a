#!/usr/bin/env bash
# Builds the Python source distribution: scripts/sdist.sh [DIRECTORY], dist/ by default. Requires maturin (PyPI).
#
# It contains the C library and the two crates that it needs, with a Cargo.lock of only their dependencies: that of the
# workspace, which maturin packs, cannot be used with `--locked`.
set -euo pipefail
cd "$(dirname "$0")/.."

out=${1:-dist}
mkdir -p "$out"
out=$(cd "$out" && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
# All files have the time of the commit; a copy without its history gets a fixed one.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}
export SOURCE_DATE_EPOCH

(cd pidq-ffi/python && maturin sdist --out "$stage" >&2)
archive=$(basename "$stage"/*.tar.gz)
name=${archive%.tar.gz}
tar -C "$stage" -xzf "$stage/$archive"
# The registry may be cached, or not at all.
manifest=$stage/$name/Cargo.toml
cargo update --quiet --workspace --offline --manifest-path "$manifest" 2>/dev/null ||
    cargo update --quiet --workspace --manifest-path "$manifest"
tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r,go-w --mtime="@$SOURCE_DATE_EPOCH" \
    -C "$stage" -c "$name" | gzip -n -9 >"$out/$archive"
echo "$out/$archive"
