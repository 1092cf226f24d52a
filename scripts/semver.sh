#!/usr/bin/env bash
# Compares the public API of the Rust libraries with the last release: scripts/semver.sh [REVISION]
#
# Removed and changed items are errors, unless the unreleased section of CHANGELOG.md announces them in an item that begins
# with `Breaking:`. Without cargo-semver-checks or an earlier release, nothing is checked.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo semver-checks --version >/dev/null 2>&1; then
    echo "SKIPPED: comparing the public API needs \`cargo install cargo-semver-checks --locked\`"
    exit 0
fi
baseline=${1:-$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)}
if [ -z "$baseline" ]; then
    echo "SKIPPED: there is no release to compare the public API with (no tag v*)"
    exit 0
fi
if awk '/^## / { unreleased = /^## Unreleased/ } unreleased' CHANGELOG.md | grep -q '^- Breaking:'; then
    echo "SKIPPED: CHANGELOG.md announces a breaking change"
    exit 0
fi
# `minor`: new items are allowed, whatever the version in Cargo.toml is.
cargo semver-checks --baseline-rev "$baseline" --release-type minor -p pidq-core -p pidq-formats
