#!/usr/bin/env bash
# The documentation site: `build` it, `check` links and examples, or `serve` it with changes shown at once.
#
#     scripts/docs.sh build            # into target/site
#     scripts/docs.sh check [PIDQ]     # PIDQ is the program with the services; default: target/debug/pidq
#     scripts/docs.sh serve [ADDRESS]  # default: 127.0.0.1:8001
#     scripts/docs.sh update [PIDQ]    # replaces outputs and pictures in the pages with the actual ones
#
# The site generator comes as a Python package. Without a package index, what needs it is skipped with a message.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
site=$target/site
environment=$target/docs
export PYTHONDONTWRITEBYTECODE=1 NO_MKDOCS_2_WARNING=1

# Pages whose commands run.
pages=(docs/index.md docs/start.md docs/tutorials/*.md)

# Installs the generator; fails if that is not possible.
install() {
    cmp -s scripts/docs/requirements.txt "$environment/installed" && return
    rm -rf "$environment"
    python3 -m venv "$environment" &&
        "$environment/bin/pip" install --quiet --disable-pip-version-check -r scripts/docs/requirements.txt &&
        cp scripts/docs/requirements.txt "$environment/installed"
}

build() {
    if ! install; then
        echo "missing: mkdocs-material (PyPI); the documentation site is not built" >&2
        return
    fi
    "$environment/bin/mkdocs" --quiet build --strict --site-dir "$site"
    echo "$site/index.html"
}

check() {
    rm -rf "$site"
    build
    if [ -d "$site" ]; then
        python3 scripts/docs/check_links.py "$site"
        check_browser
    else
        python3 scripts/docs/check_links.py
    fi
    check_drawings
    python3 scripts/docs/run_examples.py "${1:-$target/debug/pidq}" "${pages[@]}"
}

# Uses the browser tests of the dashboard, which scripts/dashboard.sh installs.
check_browser() {
    if [ -d dashboard/node_modules/@playwright/test ] && command -v "${CHROMIUM:-chromium}" >/dev/null; then
        node scripts/docs/check_browser.mjs "$site"
    else
        echo "missing: chromium or Playwright (npm); the documentation site is not opened in a browser" >&2
    fi
}

# The drawings of the tutorials are those that their program generates.
check_drawings() {
    local folder file
    folder=$(mktemp -d)
    python3 examples/tutorial/glycol.py "$folder"
    for file in "$folder"/*.json; do
        cmp "$file" "examples/tutorial/$(basename "$file")"
    done
    rm -r "$folder"
}

case ${1:-} in
build) build ;;
check) check "${@:2}" ;;
serve) install && exec "$environment/bin/mkdocs" serve --dev-addr "${2:-127.0.0.1:8001}" ;;
update) python3 scripts/docs/run_examples.py --update "${2:-$target/debug/pidq}" "${pages[@]}" ;;
*) sed -n '/^#     /s/^# *//p' "$0" >&2 && exit 2 ;;
esac
