#!/bin/sh
# The campaign of the API fuzzer (cpp_tests/api/fuzz.cpp): 8,000,000 random calls under AddressSanitizer and
# UndefinedBehaviorSanitizer, then 1,000,000 over four threads under ThreadSanitizer. Stops at the first finding, and
# prints seed, thread and call. The build is that of tools/sanitize.sh.
#
#   tools/fuzz_api.sh [SEED]      both (default seed 1)
#
# HOB_ASAN_CALLS, HOB_TSAN_CALLS   other numbers of calls
set -eu
cd "$(dirname "$0")/.."
export HOB_API_ONLY=1 HOB_FUZZ_SEED="${1:-1}"
HOB_FUZZ_CALLS=${HOB_ASAN_CALLS:-8000000} tools/sanitize.sh asan
HOB_FUZZ_CALLS=${HOB_TSAN_CALLS:-1000000} tools/sanitize.sh tsan
