#!/usr/bin/env bash
# Prepares a release: scripts/release.sh VERSION
#
# Sets the version of all crates, dates the CHANGELOG, runs the tests, commits, tags, and builds the artifacts of this machine
# into dist/. Pushes and publishes nothing: it prints the commands that do. SKIP_TESTS=1 omits the tests.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:?a version, such as 0.2.0}
[ -z "$(git status --porcelain)" ] || { echo "the working tree has uncommitted changes" >&2; exit 2; }
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || { echo "the tag v$version exists" >&2; exit 2; }
grep -q '^## Unreleased' CHANGELOG.md || { echo "CHANGELOG.md has no section \`## Unreleased\`" >&2; exit 2; }
! grep -q "^## $version " CHANGELOG.md || { echo "CHANGELOG.md has a section for $version already" >&2; exit 2; }

scripts/set_version.sh "$version"
sed -i "s/^## Unreleased.*/## Unreleased\n\n## $version - $(date -u +%F)/" CHANGELOG.md
scripts/release_notes.sh "$version" >/dev/null

[ -n "${SKIP_TESTS:-}" ] || make test
git commit --allow-empty -aqm "release: $version"
git tag -a "v$version" -m "pidq $version"
rm -rf dist
if command -v maturin >/dev/null; then
    scripts/sdist.sh
fi
scripts/dist.sh
branch=$(git branch --show-current)
cat <<END

pidq $version is committed, tagged and in dist/. To publish it:

  git push --atomic origin ${branch:-HEAD} v$version    # the release workflow builds all platforms
  cargo publish --workspace --locked
  gh release download v$version --dir dist/python --pattern '*.whl' --pattern 'pidq-$version.tar.gz'
  maturin upload dist/python/*                 # the Python package

To undo it before that: git tag -d v$version && git reset --hard HEAD~1
END
