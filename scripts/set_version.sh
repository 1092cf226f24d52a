#!/usr/bin/env bash
# Sets the version of all crates: scripts/set_version.sh VERSION [DIRECTORY OF THE REPOSITORY]
#
# Changes every Cargo.toml, every Cargo.lock and the version macros of pidq.h. The Python package, libpidq and the command take
# their version from Cargo.
set -euo pipefail

version=${1:?a version, such as 0.2.0}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || { echo "not a semantic version: $version" >&2; exit 2; }
cd "${2:-$(dirname "$0")/..}"

old=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
quoted=${old//./\\.}

for manifest in Cargo.toml ./*/Cargo.toml pidq-pipeline/*/Cargo.toml benches/*/Cargo.toml; do
    # The crates of the workspace name each other by version as well as by path.
    sed -i -E "s/^version = \"$quoted\"/version = \"$version\"/
        s/^(pidq-[a-z-]+ = \{.*version = )\"$quoted\"/\1\"$version\"/" "$manifest"
done
for header in pidq-ffi/header.toml pidq-ffi/include/pidq.h; do
    IFS=.- read -r major minor patch _ <<<"$version"
    sed -i -E "s/^(#define PIDQ_VERSION) .*/\1 \"$version\"/
        s/^(#define PIDQ_VERSION_MAJOR) .*/\1 $major/
        s/^(#define PIDQ_VERSION_MINOR) .*/\1 $minor/
        s/^(#define PIDQ_VERSION_PATCH) .*/\1 $patch/" "$header"
done
# In a lock file, the version of a crate follows its name. Editing the files needs no registry.
for lock in Cargo.lock */Cargo.lock benches/*/Cargo.lock; do
    sed -i -E "/^name = \"pidq(-[a-z-]+)?\"/{n;s/^version = \"$quoted\"/version = \"$version\"/;}" "$lock"
done
