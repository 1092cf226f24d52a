#!/usr/bin/env bash
# Prepares a release: scripts/release.sh VERSION
#
# Sets the version of all crates, dates the CHANGELOG, runs the tests, commits, tags, and builds the artifacts of this machine
# into dist/. Pushes and publishes nothing: it prints the commands that do.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:?a version, such as 0.2.0}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || { echo "not a semantic version: $version" >&2; exit 2; }
[ -z "$(git status --porcelain)" ] || { echo "the working tree has uncommitted changes" >&2; exit 2; }
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || { echo "the tag v$version exists" >&2; exit 2; }
grep -q '^## Unreleased' CHANGELOG.md || { echo "CHANGELOG.md has no section \`## Unreleased\`" >&2; exit 2; }

old=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
sed -i "s/^version = \"$old\"/version = \"$version\"/" Cargo.toml
# The workspace's crates name each other by version as well as by path.
sed -i -E "s/(pidq-[a-z]+ = \{.*version = )\"$old\"/\1\"$version\"/" Cargo.toml ./*/Cargo.toml
sed -i "s/^## Unreleased.*/## Unreleased\n\n## $version - $(date -u +%F)/" CHANGELOG.md
cargo update --workspace --offline --quiet
(cd fuzz && cargo update --workspace --offline --quiet) || true

[ -n "${SKIP_TESTS:-}" ] || make test
git commit -aqm "release: $version"
git tag -a "v$version" -m "pidq $version"
scripts/dist.sh
cat <<END

pidq $version is committed, tagged and in dist/. To publish it:

  git push origin main v$version     # the release workflow builds all platforms
  for crate in pidq-core pidq-formats pidq-http pidq-server pidq-extract pidq-text pidq-store pidq-pipeline pidq-ffi pidq; do cargo publish -p \$crate; done
END
