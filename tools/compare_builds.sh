#!/bin/bash
# Compares the speed of two builds of the library: calls both through the C API, in turn, in one process.
#
#   tools/compare_builds.sh OLD [NEW] [--rounds N] [--only NAME] [--json]
#
#   OLD, NEW     a git revision or the path of a shared library. NEW by default: the working tree
#   --rounds N   rounds, each of which runs every workload with both builds (default 41)
#   --only NAME  only workloads whose names contain NAME, such as solve, warm, resources, goblin, cache
#   --json       one line of JSON for each workload on standard output; everything else goes to standard error
#
# A row has the median microseconds of a call with each build, and the median and quartiles of the ratio NEW/OLD. A
# ratio below 1 means that NEW is faster. Builds of revisions are kept in the build directory under `compare`.
#
# Exit status: 0 if both builds compute the same results, 1 if results differ, 2 for an error.
#
# CXX                the compiler (default g++)
# CARGO_TARGET_DIR   build directory (default target)
set -euo pipefail
folder=$PWD
cd "$(dirname "$0")/.."

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; }
fail() { echo "tools/compare_builds.sh: $1" >&2; exit 2; }

builds=() rounds=41 only= format=text
while (($#)); do
    case $1 in
        --rounds | --only) (($# > 1)) || fail "$1 needs a value" ;;&
        --rounds) rounds=$2; shift ;;
        --only) only=$2; shift ;;
        --json) format=json ;;
        -h | --help) usage; exit ;;
        -*) fail "unknown argument $1" ;;
        *) builds+=("$1") ;;
    esac
    shift
done
((${#builds[@]} == 1 || ${#builds[@]} == 2)) || fail "expected OLD and perhaps NEW; see --help"
[[ $rounds =~ ^[1-9][0-9]{0,4}$ ]] || fail "invalid number of rounds: $rounds"

out=$(realpath -m "${CARGO_TARGET_DIR:-target}")/compare
scratch=$(mktemp -d)
clean_up() {
    if [ -d "$scratch/source" ]; then git worktree remove --force --force "$scratch/source" || true; fi
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Builds the source in folder $1 into folder $2.
build() {
    (cd "$1" && cargo rustc --locked --release --lib --package hobgoblin --crate-type cdylib \
        --features host-allocator,no-backtrace --target-dir "$2") >&2
}

# Builds revision $1 into folder $2 from a temporary worktree, unless the same compiler built it before.
build_revision() {
    local compiler
    compiler=$(rustc -vV; echo "flags: ${RUSTFLAGS-}")
    if [ "$(cat "$2/compiler" 2>/dev/null)" = "$compiler" ]; then return; fi
    git worktree add --quiet --detach "$scratch/source" "$1" >&2
    build "$scratch/source" "$2" || fail "revision $1 does not build"
    git worktree remove --force "$scratch/source"
    echo "$compiler" >"$2/compiler"
}

# Copies the library that $1 names (a path, a revision, or nothing for the working tree) to $2. Two copies of one file
# are loaded as two libraries.
provide() {
    local path revision
    path=$(cd "$folder" && realpath -m "${1:-.}")
    if [ ! "$1" ]; then
        build . "$out/working-tree" || fail "the working tree does not build"
        path=$out/working-tree/release/libhobgoblin.so
    elif [ ! -f "$path" ]; then
        revision=$(git rev-parse --verify --quiet "$1^{commit}") || fail "$1 is neither a file nor a git revision"
        build_revision "$revision" "$out/$revision"
        path=$out/$revision/release/libhobgoblin.so
    fi
    cp "$path" "$2" || fail "cannot read $path"
}

"${CXX:-g++}" -std=c++17 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Iinclude tools/compare_builds/main.cpp \
    -o "$scratch/compare" -ldl || fail "tools/compare_builds/main.cpp does not compile"
provide "${builds[0]}" "$scratch/old.so"
provide "${builds[1]-}" "$scratch/new.so"
"$scratch/compare" "$scratch/old.so" "$scratch/new.so" "$rounds" "$only" "$format"
