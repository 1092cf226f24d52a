#!/usr/bin/env bash
# Prints the section of a version in CHANGELOG.md, without its heading: scripts/release_notes.sh VERSION
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:?a version, such as 0.2.0}
notes=$(awk -v version="$version" '/^## / { wanted = $2 == version; next } wanted' CHANGELOG.md)
[ -n "$notes" ] || { echo "CHANGELOG.md has no section \`## $version\`" >&2; exit 1; }
printf '%s\n' "$notes" | sed '1{/^$/d;}'
