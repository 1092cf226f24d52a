#!/usr/bin/env bash
# Tests the integrations with engines for many machines; not part of the test command, because of their downloads and builds.
#
#   scripts/integrations.sh                    all integrations
#   scripts/integrations.sh spark [OPTION...]  Apache Spark: a cluster of real processes (850 MB of packages, JDK 17);
#                                              options are those of pytest, such as -k killed
#   scripts/integrations.sh datafusion         DataFusion and Ballista: 400 crates, a cluster of real processes
#   scripts/integrations.sh compare-datafusion [DRAWINGS] [NODES]
#                                              CPU time per drawing, beside DataFusion's JSON functions and Python
#
# With PIDQ_LIBRARY=path/to/libpidq_ffi.so, the Python package is used from its sources with that library; else its wheel
# is built and installed.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")

# The environment of an integration; packages are installed again only if the requirements changed.
environment() { # environment DIRECTORY REQUIREMENTS
    if ! cmp -s "$2" "$1/installed.txt"; then
        rm -rf "$1"
        python3 -m venv "$1"
        "$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2"
        cp "$2" "$1/installed.txt"
    fi
}

# pidq in an environment: the sources with a given library, or the wheel.
install_pidq() { # install_pidq DIRECTORY
    if [ -n "${PIDQ_LIBRARY:-}" ]; then
        PIDQ_LIBRARY=$(realpath "$PIDQ_LIBRARY")
        export PIDQ_LIBRARY PYTHONPATH=$PWD/pidq-ffi/python:$PWD/integrations/spark
        return
    fi
    rm -rf "$1/wheels"
    (cd pidq-ffi/python && PATH="$1/bin:$PATH" CARGO_TARGET_DIR="$target" \
        maturin build --quiet --profile quick --auditwheel skip --out "$1/wheels")
    "$1/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$1/wheels" integrations/spark
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$1"/wheels/*.whl
}

spark() {
    local folder=$target/integrations/spark
    command -v java >/dev/null || { echo "missing: Java 17 (Debian: openjdk-17-jre-headless)" >&2; exit 1; }
    environment "$folder" integrations/spark/requirements-test.txt
    install_pidq "$folder"
    export PYTHONDONTWRITEBYTECODE=1
    local style=(--quiet --no-cache --config integrations/spark/pyproject.toml)
    "$folder/bin/ruff" check "${style[@]}" integrations/spark integrations/*.py
    "$folder/bin/ruff" format --check "${style[@]}" integrations/spark integrations/*.py
    "$folder/bin/python" -m pytest -q -rs -p no:cacheprovider integrations/spark/tests "$@"
}

# All commands build the same targets: with others, Cargo would select other features, and build the dependencies again.
datafusion() {
    local workspace=integrations/datafusion
    cargo fmt --manifest-path "$workspace/Cargo.toml" --all --check
    if command -v cargo-deny >/dev/null; then
        cargo deny --manifest-path "$workspace/Cargo.toml" check --config "$workspace/deny.toml"
    else
        echo "missing: cargo-deny; advisories are not checked" >&2
        scripts/check_licenses.py "$workspace"
    fi
    cargo clippy --manifest-path "$workspace/Cargo.toml" --locked --workspace --all-targets -- -D warnings
    cargo test --manifest-path "$workspace/Cargo.toml" --locked --workspace
}

compare_datafusion() {
    local workspace=integrations/datafusion
    cargo build --manifest-path "$workspace/Cargo.toml" --locked --workspace --all-targets
    "${CARGO_TARGET_DIR:-$workspace/target}/debug/examples/compare" "$@"
}

case ${1:-all} in
all)
    spark
    datafusion
    ;;
spark) spark "${@:2}" ;;
datafusion) datafusion ;;
compare-datafusion) compare_datafusion "${@:2}" ;;
*) sed -n '/^#   /s/^# *//p' "$0" >&2 && exit 2 ;;
esac
