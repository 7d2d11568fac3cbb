#!/bin/bash
# The long campaigns: millions of calls, a thousand killed writers, a million damages, minutes of fuzzing. Stops at the
# first failure. `.ci/run` has a short form of each.
#
#   tools/campaign.sh [--quick] [--json] [NAME...]
#
#   --quick   a few seconds of each, to see whether it works
#   --json    one line of JSON for each campaign on standard output; what it prints goes to standard error
#   NAME      one or more of: api random kills evictions damage peers fuzz memory (default: all of them)
#
# HOB_FUZZ_SEED   seed of the API fuzzer (default 1)
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; }

quick= json= names=()
for word in "$@"; do
    case $word in
        --quick) quick=1 ;;
        --json) json=1 ;;
        -h | --help) usage; exit ;;
        api | random | kills | evictions | damage | peers | fuzz | memory) names+=("$word") ;;
        *) echo "tools/campaign.sh: unknown argument $word" >&2; usage >&2; exit 2 ;;
    esac
done
if ((${#names[@]} == 0)); then names=(api random kills evictions damage peers fuzz memory); fi
if [ "$json" ]; then exec 3>&1 1>&2; else exec 3>/dev/null; fi

# The first number, or the second one with --quick.
amount() { if [ "$quick" ]; then echo "$2"; else echo "$1"; fi; }

# Random calls through the C API with the sanitizers: one thread, then four.
api() { HOB_ASAN_CALLS=$(amount 8000000 20000) HOB_TSAN_CALLS=$(amount 1000000 20000) tools/fuzz_api.sh "${HOB_FUZZ_SEED:-1}"; }

rust_tests() { cargo test --locked --lib -p hobgoblin --target-dir target/campaign -- "$@"; }
# All random tests in Rust, against their models and brute force.
random() { HOB_TEST_EFFORT=$(amount 30 1) rust_tests --quiet; }
kills() { HOB_STORE_KILLS=$(amount 1000 20) rust_tests --nocapture store::tests::processes::kills; }
# The same with a limit of half of a small file system, and on a full one.
evictions() { HOB_STORE_KILLS=$(amount 1000 20) rust_tests --nocapture store::tests::processes::evictions; }
damage() { HOB_STORE_DAMAGES=$(amount 1000000 3000) rust_tests --nocapture store::tests::lived_in; }
peers() { HOB_STORE_SECONDS=$(amount 60 2) rust_tests --nocapture store::tests::processes::peers; }
fuzz() { tools/fuzz.sh "$(amount 600 5)"; }
memory() {
    HOB_MEMORY_STRIDE=$(amount 1 50) cargo test --locked -p hobgoblin-tests --test no_memory -- --nocapture
    HOB_TEST_EFFORT=$(amount 35 1) cargo test --locked -p hobgoblin --lib store::tests::memory
}

for number in "${!names[@]}"; do
    name=${names[number]} began=$SECONDS
    printf '\n== campaign %d of %d: %s\n' "$((number + 1))" "${#names[@]}" "$name"
    if ! "$name"; then
        printf '{"campaign":"%s","passed":false,"seconds":%d}\n' "$name" "$((SECONDS - began))" >&3
        echo "tools/campaign.sh: $name failed" >&2
        exit 1
    fi
    printf '{"campaign":"%s","passed":true,"seconds":%d}\n' "$name" "$((SECONDS - began))" >&3
done
printf '\n== no failure in: %s\n' "${names[*]}"
