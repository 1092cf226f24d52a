#!/usr/bin/env bash
# Tests what is in deploy/: the image, Compose, the Helm chart and the systemd units, without a container engine or a cluster.
#
#   scripts/deploy_test.sh                  all tests; builds the command if PIDQ_PROGRAM does not name it
#   scripts/deploy_test.sh -k chart         only the tests selected by pytest
#
# What cannot be had here (Python packages, root, servers) is named, and the tests that need it are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
work=$target/deploy-tests
python=$work/venv/bin/python
requirements=tests/deploy/requirements.txt
mkdir -p "$work"

if [ -z "${PIDQ_PROGRAM:-}" ]; then
    cargo build --locked --quiet --features full --bin pidq
    PIDQ_PROGRAM=$target/debug/pidq
fi
export PIDQ_PROGRAM

# Packages are installed again only if the requirements changed.
if ! cmp -s "$requirements" "$work/requirements.txt"; then
    rm -rf "$work/venv"
    if ! python3 -m venv "$work/venv" || ! "$python" -m pip install --quiet --disable-pip-version-check -r "$requirements"; then
        rm -rf "$work/venv"
        echo "SKIPPED: tests of the deployment: Python with venv, or the packages of $requirements, cannot be installed"
        exit 0
    fi
    cp "$requirements" "$work/requirements.txt"
fi

# The schema of Compose files is a file of a Python package, which itself is not installed.
schema=$work/compose/config/compose_spec.json
if [ ! -e "$schema" ]; then
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$work" docker-compose==1.29.2 &&
        "$python" -m zipfile -e "$work"/docker_compose-*.whl "$work" && rm "$work"/docker_compose-*.whl ||
        echo "missing: docker-compose (PyPI); the Compose file is not validated" >&2
fi
[ ! -e "$schema" ] || export PIDQ_COMPOSE_SCHEMA=$schema

# The compiler of the program that renders the chart compiles its own library only once.
export GOCACHE=$work/go-cache

# A network namespace of its own, in which the ports of the services are free.
isolate=()
if [ "$(id -u)" = 0 ] && unshare --mount --net true 2>/dev/null; then
    isolate=(unshare --mount --net --propagation private)
    export PIDQ_TEST_NAMESPACE=yes
fi

"${isolate[@]}" "$python" -m pytest -q -rs -p no:cacheprovider tests/deploy "$@"
