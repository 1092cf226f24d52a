#!/bin/sh
# Proves the service with real clients and attackers. Prints one line a goal, and says aloud what it skips.
#
#   tests/harness/run.sh                 the short form, about fifteen minutes
#   LONG=1 tests/harness/run.sh          the long form
#   tests/harness/run.sh -k s1           only what pytest selects
#
# PIDQ_SERVER names a server that is built already, with the command `pidq` beside it; else both are built here.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=$target/harness
mkdir -p "$work"

if [ -z "${PIDQ_SERVER:-}" ]; then
    (cd "$root" && cargo build --quiet -p pidq-server -p pidq)
    PIDQ_SERVER=$target/debug/pidq-server
fi
export PIDQ_SERVER

# What stays as it was is not fetched again.
if ! cmp -s "$here/requirements.txt" "$work/requirements.txt"; then
    rm -rf "$work/venv"
    if ! python3 -m venv "$work/venv" || ! "$work/venv/bin/pip" install --quiet -r "$here/requirements.txt"; then
        rm -rf "$work/venv"
        echo "SKIPPED: the harness needs Python with venv, and the packages of requirements.txt: none could be had"
        exit 0
    fi
    cp "$here/requirements.txt" "$work/requirements.txt"
fi

# Node looks for packages beside its scripts, and the source stays clean.
for clients in clients oidc; do
    mkdir -p "$work/$clients"
    cp "$here/$clients"/*.mjs "$work/$clients/"
    if ! cmp -s "$here/$clients/package.json" "$work/$clients/package.json"; then
        cp "$here/$clients/package.json" "$work/$clients/"
        if ! (cd "$work/$clients" && npm install --silent --no-fund --no-audit); then
            rm -f "$work/$clients/package.json"
            echo "SKIPPED: clients of node in $clients: npm could not fetch their packages"
        fi
    fi
done

PIDQ_HARNESS=$work exec "$work/venv/bin/python" -m pytest -q -rs -p no:cacheprovider "$here" "$@"
