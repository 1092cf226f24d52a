#!/bin/sh
# Tests the service with real clients and attackers. Prints one line per goal and reports skipped tests.
#
#   tests/harness/run.sh                 the short form, about fifteen minutes
#   LONG=1 tests/harness/run.sh          the long form
#   tests/harness/run.sh -k s1           only the tests selected by pytest
#
# PIDQ_SERVER is the path of a built server, with the command `pidq` in the same directory; else both are built here.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=$target/harness
mkdir -p "$work"

if [ -z "${PIDQ_SERVER:-}" ]; then
    (cd "$root" && cargo build --quiet --workspace --bins --features full)
    PIDQ_SERVER=$target/debug/pidq-server
fi
export PIDQ_SERVER

# Reinstall packages only if the requirements changed.
if ! cmp -s "$here/requirements.txt" "$work/requirements.txt"; then
    rm -rf "$work/venv"
    if ! python3 -m venv "$work/venv" || ! "$work/venv/bin/pip" install --quiet -r "$here/requirements.txt"; then
        rm -rf "$work/venv"
        echo "SKIPPED: the harness needs Python with venv and the packages of requirements.txt; installing them failed"
        exit 0
    fi
    cp "$here/requirements.txt" "$work/requirements.txt"
fi

# Node.js loads packages from the directory of its scripts; copy these to keep the source tree clean.
for clients in clients oidc; do
    mkdir -p "$work/$clients"
    cp "$here/$clients"/*.mjs "$work/$clients/"
    if ! cmp -s "$here/$clients/package.json" "$work/$clients/package.json"; then
        cp "$here/$clients/package.json" "$work/$clients/"
        if ! (cd "$work/$clients" && npm install --silent --no-fund --no-audit); then
            rm -f "$work/$clients/package.json"
            echo "SKIPPED: Node.js clients in $clients; npm install failed"
        fi
    fi
done

# The long form measures, and the short form mostly waits: files of tests run two at a time.
processes=${LONG:+0}
PIDQ_HARNESS=$work exec "$work/venv/bin/python" -m pytest -q -rs --durations=12 -p no:cacheprovider \
    -n "${processes:-2}" --dist loadfile "$here" "$@"
