#!/usr/bin/env bash
# Fuzzes each target for so many seconds: scripts/fuzz.sh SECONDS [all|TARGET...]. Without a name those of the engine: what
# those of the service stand on takes long to build.
# Needs cargo-fuzz and a nightly toolchain; without them it says so and is content. Findings end it with an error.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"

seconds=$1
shift
of_engine=(parse json_format load eval graph proteus)
of_service=(form token parts)
case "$*" in
"") targets=("${of_engine[@]}") ;;
all) targets=("${of_engine[@]}" "${of_service[@]}") ;;
*) targets=("$@") ;;
esac
features=()
for target in "${targets[@]}"; do
    [[ " ${of_service[*]} " != *" $target "* ]] || features=(--features http)
done

if ! cargo fuzz --version >/dev/null 2>&1 || ! rustup run nightly rustc --version >/dev/null 2>&1; then
    echo "left out: fuzzing needs \`cargo install cargo-fuzz\` and \`rustup toolchain install nightly\`"
    exit 0
fi

figure() { # figure NAME LOG: a number of libFuzzer's closing report
    sed -n "s/^stat::$1: *//p" "$2"
}

# What is built must not disturb the other builds.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
cargo +nightly fuzz build "${features[@]}"
for target in "${targets[@]}"; do
    mkdir -p "grown/$target"
    log=$logs/$target
    if ! nice cargo +nightly fuzz run "${features[@]}" "$target" "grown/$target" "corpus/$target" -- \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 >"$log" 2>&1; then
        tail -n 60 "$log"
        echo "a finding: see fuzz/artifacts/$target" >&2
        exit 1
    fi
    printf '%-12s %6s s  %12s executions  slowest unit %s s  peak %s MB\n' "$target" "$seconds" \
        "$(figure number_of_executed_units "$log")" "$(figure slowest_unit_time_sec "$log")" "$(figure peak_rss_mb "$log")"
done
