#!/bin/bash
# Builds the fuzz targets with AddressSanitizer and runs each of them. Stops at the first finding, and names the file
# with the input that caused it.
#
#   tools/fuzz.sh [SECONDS] [TARGET...]    SECONDS for each target (default 60), all targets by default
#
# The flags are those of cargo-fuzz, which therefore need not be installed. The corpus grows in the build directory.
#
# CARGO_TARGET_DIR   build directory (default target)
# SANITIZER          address (default), or none, which runs several times as many inputs a second
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit ;;
    *[!0-9]*) echo "tools/fuzz.sh: invalid number of seconds: $1" >&2; exit 2 ;;
esac
seconds=${1:-60}
targets=("${@:2}")
if ((${#targets[@]} == 0)); then
    for source in fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$source" .rs)"); done
fi

host=$(rustc -vV | sed -n 's/^host: //p')
out=$(realpath -m "${CARGO_TARGET_DIR:-target}")/fuzz
programs=()
case ${SANITIZER:-address} in
    address) flags=-Zsanitizer=address seeds_at=$out/$host/release ;;
    none)
        flags='' out=$out-plain
        seeds_at=$out
        for target in "${targets[@]}"; do programs+=(--bin "$target"); done
        ;;
    *) echo "tools/fuzz.sh: unknown sanitizer: $SANITIZER" >&2; exit 2 ;;
esac
build() { cargo build --locked --release --manifest-path fuzz/Cargo.toml --target "$host" "$@"; }
printf '== building %s\n' "${targets[*]}"
if [ -z "$flags" ]; then
    # Programs without libFuzzer cannot be linked with its counters.
    build --target-dir "$out" --bin store_seeds --bin pipeline_seeds
    cp "$out/$host/release/"*_seeds "$out"
fi
RUSTC_BOOTSTRAP=1 RUSTFLAGS="--cfg fuzzing $flags -Cpasses=sancov-module \
-Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
-Cdebug-assertions -Ccodegen-units=16 -Clto=off" build --target-dir "$out" "${programs[@]}"

for target in "${targets[@]}"; do
    corpus=$out/corpus/$target artifacts=$out/artifacts/$target log=$out/$target.log
    mkdir -p "$corpus" "$artifacts"
    case $target in
        store) "$seeds_at/store_seeds" "$corpus" ;;
        pipelines) "$seeds_at/pipeline_seeds" "$corpus" ;;
    esac
    seeds=()
    if [ -d "fuzz/seeds/$target" ]; then seeds=("fuzz/seeds/$target"); fi
    printf '\n== %s, %s s\n' "$target" "$seconds"
    if ! "$out/$host/release/$target" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=60 -print_final_stats=1 \
        -artifact_prefix="$artifacts/" "$corpus" "${seeds[@]}" >"$log" 2>&1; then
        tail -n 40 "$log"
        echo "tools/fuzz.sh: finding in $target; the input is in $artifacts" >&2
        exit 1
    fi
    grep 'stat::number_of_executed_units' "$log"
done
echo "no finding"
