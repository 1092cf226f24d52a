#!/usr/bin/env bash
# The web dashboard: `build` writes the files that pidq-dashboard embeds, `check` runs the checks that need no browser,
# `test` tests the built dashboard in Chromium against a running `pidq up --demo`.
set -euo pipefail
cd "$(dirname "$0")/../dashboard"

target=${CARGO_TARGET_DIR:-$PWD/../target}

install() {
    # npm writes this file last.
    if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
        npm ci --no-audit --no-fund --loglevel=error
    fi
}

build() {
    install
    npm run --silent build
}

check() {
    install
    npm run --silent check
    npm test --silent
    # The types of the client are those of the OpenAPI document.
    local generated
    generated=$(mktemp -d)
    npx openapi-typescript openapi.json --output "$generated/schema.ts" --alphabetize >/dev/null
    diff "$generated/schema.ts" src/api/schema.ts >/dev/null || fail "src/api/schema.ts is outdated: npm run generate"
    rm -r "$generated"
}

# build_program: builds the command if PIDQ_PROGRAM does not name it.
build_program() {
    [ -z "${PIDQ_PROGRAM:-}" ] || return 0
    (cd .. && cargo build --locked --features full --bin pidq)
    PIDQ_PROGRAM=$target/debug/pidq
}

# start: a demo with the dashboard and an identity provider on free ports; sets `api`, `PIDQ_DASHBOARD_URL` and the
# demo's credentials.
start() {
    data=$(mktemp -d)
    touch "$data/log"
    local provider_port
    provider_port=$(free_port)
    # The provider has to know this URL.
    PIDQ_DASHBOARD_URL=http://127.0.0.1:$(free_port)
    export PIDQ_DASHBOARD_URL PIDQ_DASHBOARD_SSO_CLIENT_SECRET="provider-$RANDOM-$RANDOM-$RANDOM"
    node tests/browser/provider.mjs "$provider_port" "$PIDQ_DASHBOARD_URL" 2>"$data/provider.log" &
    provider=$!
    export PIDQ_SSO_ISSUER=http://127.0.0.1:$provider_port PIDQ_SSO_AUDIENCE=https://pidq.example \
        PIDQ_SSO_TENANT=claim:plant PIDQ_DASHBOARD_SSO_CLIENT_ID=pidq-dashboard PIDQ_DASHBOARD_SSO_NAME="Plant ID" \
        PIDQ_DASHBOARD_SSO_RESOURCE=https://pidq.example
    # Images of pages and text recognition, where their programs are installed.
    if command -v pdftoppm >/dev/null; then
        PIDQ_PDFTOPPM=$(command -v pdftoppm)
        export PIDQ_PDFTOPPM
        if command -v tesseract >/dev/null; then
            PIDQ_TESSERACT=$(command -v tesseract)
            export PIDQ_TESSERACT
        fi
    fi
    export PIDQ_DEMO_LOGIN=demo PIDQ_DEMO_PASSWORD="demo-$RANDOM-$RANDOM-$RANDOM"
    PIDQ_ADMIN_PASSWORD=$PIDQ_DEMO_PASSWORD PIDQ_APP_SECRET=$(printf "%064d" 1) \
        "$PIDQ_PROGRAM" up --demo --data-dir "$data" --log-format json --rate-limit 0 \
        --listen 127.0.0.1:0 --admin-listen "" --dashboard-listen "${PIDQ_DASHBOARD_URL#http://}" \
        2>"$data/log" >"$data/out" &
    server=$!
    # Both end by the signal, which is no failure.
    trap 'kill $server $provider 2>/dev/null || true; wait $server $provider 2>/dev/null || true; rm -rf "$data"' EXIT
    local attempt
    for attempt in $(seq 100); do
        logged url >/dev/null && api=http://$(logged address) && return
        kill -0 $server 2>/dev/null || break
        sleep 0.2
    done
    cat "$data/log" "$data/provider.log" >&2
    fail "pidq up did not start"
}

# free_port: a port of this machine that nobody uses.
free_port() {
    python3 -c 'import socket; listener = socket.create_server(("127.0.0.1", 0)); print(listener.getsockname()[1])'
}

# logged FIELD: value of the field in the log of the start.
logged() {
    sed -n "s/.*\"message\":\"\(dashboard\|listening\)\".*\"$1\":\"\([^\"]*\)\".*/\2/p" "$data/log" | grep -m1 .
}

browser() {
    install
    build_program
    start
    curl -fsS "$api/openapi.json" | python3 -m json.tool --indent 1 --no-ensure-ascii | diff - openapi.json >/dev/null ||
        fail "openapi.json is outdated: scripts/dashboard.sh openapi"
    npx playwright test "$@"
}

# openapi: updates the OpenAPI document and the types of the client.
openapi() {
    install
    build_program
    start
    curl -fsS "$api/openapi.json" | python3 -m json.tool --indent 1 --no-ensure-ascii >openapi.json
    npm run --silent generate
}

# pictures: takes the pictures of the README.
pictures() {
    build
    PIDQ_PICTURES=$PWD/../docs/images browser pictures.spec
}

# frames: measures the frames per second of a large drawing.
frames() {
    build
    PIDQ_FRAMES=1 browser frames.spec
}

fail() {
    echo "$1" >&2
    exit 1
}

case ${1:-} in
build | check | openapi | pictures | frames) "$1" ;;
test) shift && browser "$@" ;;
*) fail "usage: scripts/dashboard.sh build|check|openapi|pictures|frames|test [PLAYWRIGHT ARGUMENTS]" ;;
esac
