#!/bin/sh
# Runs the C++ harness with detection of memory and thread errors: with AddressSanitizer and UndefinedBehaviorSanitizer,
# with ThreadSanitizer (Rust code is instrumented too), and under valgrind. Heavy tests are scaled down. Stops at the
# first finding.
#
#   tools/sanitize.sh            everything
#   tools/sanitize.sh asan       the first two sanitizers alone
#   tools/sanitize.sh rust       AddressSanitizer over the Rust tests of the C interface and of the store
#   tools/sanitize.sh tsan       ThreadSanitizer alone
#   tools/sanitize.sh valgrind   valgrind alone
#
# Also runs the programs of cpp_tests/api: misuse cases for every function, and a fuzzer.
#
# HOB_TEST_SCALE   divisor of the number of repetitions (default 1000)
# HOB_FUZZ_CALLS   number of the fuzzer's calls (default 30000)
# HOB_FUZZ_SEED    seed of the fuzzer (default 1)
# HOB_API_ONLY     not empty: skip the harness
# CXX              the compiler (default g++)
# CARGO_TARGET_DIR build directory (default target)
set -eu
cd "$(dirname "$0")/.."

what=${1:-all}
cxx=${CXX:-g++}
out=${CARGO_TARGET_DIR:-target}/sanitize
case $out in /*) ;; *) out=$PWD/$out ;; esac
HOB_TEST_SCALE=${HOB_TEST_SCALE:-1000}
HOB_SCRATCH=$out/scratch
export HOB_TEST_SCALE HOB_SCRATCH
mkdir -p "$HOB_SCRATCH"

say() { printf '\n== %s\n' "$*"; }

need() {
    command -v "$1" >/dev/null 2>&1 && return
    echo "$1 is not installed: install the package $2" >&2
    exit 1
}

# Builds the library into $out/$1. The other arguments go to cargo.
library() {
    into=$1
    shift
    cargo build --locked --lib --profile harness --features host-allocator,fault-injection,executor,program_cache,pipeline,graph,perception --target-dir "$out/$into" "$@"
}

# Compiles the other arguments with flags $1 into $out/objects-$2, one object per source, two at a time.
compile() {
    flags=$1 objects=$out/objects-$2
    shift 2
    mkdir -p "$objects"
    printf '%s\n' "$@" | xargs -P 2 -I{} sh -c \
        '"$0" $1 -std=c++17 -g -O1 -fno-omit-frame-pointer -Iinclude -Icpp_tests -I"$2" -c "$4" -o "$3/$(basename "$4").o"' \
        "$cxx" "$flags" "$out/include" "$objects" {}
}

# Compiles, links and runs the programs of cpp_tests/api with the static library in folder $1, flags $2, as $3. $4 is
# the number of the fuzzer's threads. The other arguments are a command prefix for each program.
api() {
    folder=$1 flags=$2 name=$3 threads=$4
    shift 4
    mkdir -p "$out/include/api" "$out/files-$name"
    HOB_API_TABLE=$out/include/api/table.h cargo test --locked --test api -- --quiet function_table_is_written >/dev/null
    [ -f "$out/include/api/table.h" ] || { echo "no test of tests/api.rs has written the table" >&2; exit 1; }
    compile "$flags" "api-$name" cpp_tests/api/*.cpp
    for main in cases fuzz; do
        objects=''
        for object in world arguments $main $([ $main = cases ] || echo spoil); do
            objects="$objects $out/objects-api-$name/$object.cpp.o"
        done
        # shellcheck disable=SC2086
        "$cxx" ${link_flags-$flags} $objects ${more_objects-} "$folder/libhobgoblin.a" -lpthread -ldl -lm -o "$out/${name}_$main"
    done
    say "$name: misuse of every function"
    "$@" "$out/${name}_cases" --directory "$out/files-$name"
    say "$name: random calls, $threads threads"
    "$@" "$out/${name}_fuzz" --directory "$out/files-$name" --threads "$threads" \
        --calls "${HOB_FUZZ_CALLS:-30000}" --seed "${HOB_FUZZ_SEED:-1}"
}

# Compiles the harness with flags $1 into $out/objects-$2, for link_harness.
harness() {
    compile "$1" "$2" cpp_tests/*.cpp
}

# Links the harness for $1 (shared or static) with the library in folder $2, flags $3 and the objects of $4, into
# $out/$4_$1.
link_harness() {
    linkage=$1 folder=$2 flags=$3 name=$4
    if [ "$linkage" = shared ]; then
        linked="$folder/libhobgoblin.so -Wl,--disable-new-dtags,-rpath,$folder"
    else
        linked="$folder/libhobgoblin.a"
        for function in malloc calloc realloc free aligned_alloc posix_memalign; do linked="$linked -Wl,--wrap=$function"; done
    fi
    objects=$(ls "$out/objects-$name"/*.o | grep -v /linked_)
    # shellcheck disable=SC2086
    "$cxx" ${link_flags-$flags} $objects "$out/objects-$name/linked_$linkage.cpp.o" ${more_objects-} $linked \
        -lpthread -ldl -lm -o "$out/${name}_$linkage"
}

asan() {
    need "$cxx" g++
    host=$(rustc -vV | sed -n 's/^host: //p')
    say "AddressSanitizer and UndefinedBehaviorSanitizer: building for $host"
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address -Cforce-frame-pointers=yes" library asan --target "$host"
    folder=$out/asan/$host/harness
    # Tests pass invalid enum values. C and C# callers can do so, and the library must reject them.
    flags="-fsanitize=address,undefined -fno-sanitize=enum -fno-sanitize-recover=all"
    # A failed allocation must return NULL, as without sanitizers: some tests request too much memory on purpose.
    export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1
    export UBSAN_OPTIONS=print_stacktrace=1 HOB_LIBRARY="$folder/libhobgoblin.so"
    api "$folder" "$flags" asan 1
    [ -z "${HOB_API_ONLY:-}" ] || return 0
    harness "$flags" asan
    for linkage in shared static; do
        link_harness $linkage "$folder" "$flags" asan
        say "AddressSanitizer: the program with the $linkage library"
        "$out/asan_$linkage"
    done
}

# Both languages use Rust's sanitizer runtime; see tools/tsan_std.cpp.
tsan() {
    need "$cxx" g++
    host=$(rustc -vV | sed -n 's/^host: //p')
    runtime=$(rustc --print sysroot)/lib/rustlib/$host/lib/librustc-stable_rt.tsan.a
    say "ThreadSanitizer: building for $host"
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer -Cforce-frame-pointers=yes" \
        library tsan --target "$host"
    folder=$out/tsan/$host/harness
    nm -u "$folder/libhobgoblin.a" 2>/dev/null >"$out/tsan/undefined"
    names='' wraps=''
    for lock in LOCK=mutex5futex.*14lock_contended READ=rwlock5futex.*14read_contended \
        WRITE=rwlock5futex.*15write_contended WAIT=condvar5futex.*4wait \
        WAIT_FOR=condvar5futex.*12wait_timeout ONCE=once5futex.*4Once4call; do
        name=$(grep -oE "_R[A-Za-z0-9_]*${lock#*=}\$" "$out/tsan/undefined" | head -1)
        [ "$name" ] || { echo "the standard library has no ${lock#*=}: see tools/tsan_std.cpp" >&2; exit 1; }
        names="$names -D${lock%%=*}=\"$name\"" wraps="$wraps -Wl,--wrap=$name"
    done
    # shellcheck disable=SC2086
    "$cxx" -std=c++17 -g -O1 $names -c tools/tsan_std.cpp -o "$out/tsan/tsan_std.o"
    more_objects="$out/tsan/tsan_std.o $wraps -Wl,--whole-archive $runtime -Wl,--no-whole-archive" link_flags=''
    options="allocator_may_return_null=1:exitcode=66:suppressions=$PWD/tools/tsan_suppressions.txt"
    api "$folder" -fsanitize=thread tsan 4 env -u HOB_LIBRARY TSAN_OPTIONS="$options" setarch -R
    [ -z "${HOB_API_ONLY:-}" ] || return 0
    harness -fsanitize=thread tsan
    link_harness static "$folder" -fsanitize=thread tsan
    unset more_objects link_flags
    say "ThreadSanitizer: the program with the static library"
    # ThreadSanitizer's memory layout does not work with address randomisation.
    # There is no shared library to load and unload.
    env -u HOB_LIBRARY TSAN_OPTIONS="$options" \
        setarch -R "$out/tsan_static" --skip "base: the loaded shared library" --skip "unload: "
}

rust_tests() {
    host=$(rustc -vV | sed -n 's/^host: //p')
    say "AddressSanitizer over the Rust tests of the C interface and of the store"
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address -Cforce-frame-pointers=yes" \
        cargo test --locked --lib -p hobgoblin --target "$host" --target-dir "$out/rust" -- --quiet ffi:: store:: base:: testing:: \
        --skip decompression_bomb_is_refused_with_little_memory `# under a limit of addresses, which ASan needs itself` \
        --skip hostile_directories_cost_little_time_and_memory  # ASan keeps freed memory
}

under_valgrind() {
    need valgrind valgrind
    need "$cxx" g++
    say "valgrind: building"
    library plain
    folder=$out/plain/harness
    export HOB_LIBRARY="$folder/libhobgoblin.so"
    harness "" plain
    link_harness static "$folder" "" plain
    say "valgrind: the program with the static library"
    # Valgrind's processor has no floating-point traps and does not flush denormals, so tests with hostile environments
    # are skipped. It runs one thread at a time, so scheduling must be fair. Child processes are killed on purpose, and
    # their leaks are ignored. The program with the shared library makes the same calls.
    valgrind --quiet --fair-sched=yes --child-silent-after-fork=yes --leak-check=full \
        --show-leak-kinds=definite,indirect,possible --errors-for-leak-kinds=definite,indirect,possible \
        --error-exitcode=9 --num-callers=30 "$out/plain_static" --skip "float: "
}

case $what in
    # One after the other, not joined by &&: `set -e` ignores failures inside an && list.
    all)
        asan
        rust_tests
        tsan
        under_valgrind
        ;;
    asan) asan ;;
    rust) rust_tests ;;
    tsan) tsan ;;
    valgrind) under_valgrind ;;
    *) echo "usage: tools/sanitize.sh [asan|rust|tsan|valgrind]" >&2; exit 2 ;;
esac
say "clean"
