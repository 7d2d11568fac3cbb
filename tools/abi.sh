#!/usr/bin/env bash
# Dumps or compares the ABI of the C headers. The tests in tests/abi do the work, so that CI and this script agree.
#   tools/abi.sh dump      write abi/hobgoblin.abi from the current headers (needs Debian's abigail-tools)
#   tools/abi.sh compare   compare the headers with abi/hobgoblin.abi and abi/previous, and run clients that were
#                          compiled with other headers than the library
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in
dump) UPDATE=1 HOB_REQUIRE_ALL=1 cargo test --quiet --test abi abi_dump_matches_the_headers ;;
compare) HOB_REQUIRE_ALL=1 cargo test --quiet --test abi -- --nocapture ;;
*)
    sed -n '2,5s/^# \{0,3\}//p' "$0"
    exit 2
    ;;
esac
