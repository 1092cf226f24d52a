#!/usr/bin/env bash
# Builds each crate with the Rust version that its Cargo.toml promises; rustup fetches the toolchains.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo metadata --no-deps --format-version 1 |
    python3 -c 'import json, sys
for package in json.load(sys.stdin)["packages"]:
    print(package["name"], package["rust_version"])' |
    while read -r crate version; do
        echo "== $crate with Rust $version"
        rustup toolchain install "$version" --profile minimal --no-self-update </dev/null
        cargo "+$version" check --locked -p "$crate" </dev/null
    done
