#!/usr/bin/env bash
# Runs fuzz targets: scripts/fuzz.sh SECONDS [all|TARGET...]. The default is the engine targets; the dependencies of the
# targets of services and documents take long to build.
# Requires cargo-fuzz and a nightly toolchain; without them it prints a message and succeeds. A finding is an error.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"

seconds=$1
shift
engine_targets=(parse json_format load eval graph proteus)
service_targets=(form token parts)
document_targets=(document mail office words)
case "$*" in
"") targets=("${engine_targets[@]}") ;;
all) targets=("${engine_targets[@]}" "${service_targets[@]}" "${document_targets[@]}") ;;
*) targets=("$@") ;;
esac
names=()
for target in "${targets[@]}"; do
    [[ " ${service_targets[*]} " != *" $target "* ]] || names+=(http)
    [[ " ${document_targets[*]} " != *" $target "* ]] || names+=(documents)
done
features=()
[ ${#names[@]} = 0 ] || features=(--features "${names[*]}")

# Documents by other programs, which are seeds as they are.
samples=../pidq-pipeline/extract/tests/data/documents
seeds() { # seeds TARGET: prints the directories with its seeds
    echo "corpus/$1"
    case $1 in
    document | mail) echo "$samples" ;;
    esac
}

if ! cargo fuzz --version >/dev/null 2>&1 || ! rustup run nightly rustc --version >/dev/null 2>&1; then
    echo "SKIPPED: fuzzing needs \`cargo install cargo-fuzz\` and \`rustup toolchain install nightly\`"
    exit 0
fi

stat() { # stat NAME LOG: prints a number of libFuzzer's final statistics
    sed -n "s/^stat::$1: *//p" "$2"
}

# A separate target directory, because sanitizer builds would invalidate the other builds.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
cargo +nightly fuzz build "${features[@]}"
for target in "${targets[@]}"; do
    mkdir -p "grown/$target"
    log=$logs/$target
    mapfile -t folders < <(seeds "$target")
    if ! nice cargo +nightly fuzz run "${features[@]}" "$target" "grown/$target" "${folders[@]}" -- \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 >"$log" 2>&1; then
        tail -n 60 "$log"
        echo "found a failing input: see fuzz/artifacts/$target" >&2
        exit 1
    fi
    printf '%-12s %6s s  %12s executions  slowest unit %s s  peak %s MB\n' "$target" "$seconds" \
        "$(stat number_of_executed_units "$log")" "$(stat slowest_unit_time_sec "$log")" "$(stat peak_rss_mb "$log")"
done
