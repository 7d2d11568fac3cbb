#!/usr/bin/env bash
# Builds the library as packages ship it, and installs it for C and C++: headers, the shared and the static library, and
# what pkg-config and CMake's find_package read. Needs cargo. The installed folder can be moved.
#
#   tools/install.sh [--target TRIPLE] [--features LIST] PREFIX
#
#   PREFIX            the folder to install into, such as /usr/local; is created, files in it are replaced
#   --target TRIPLE   the platform to build for, as rustc names it (default: this machine's)
#   --features LIST   the rooms to build, with commas (default: all); README.md has the list
#
# Exit status: 0 if everything is installed, 1 if the build fails, 2 for wrong usage.
#
# CARGO_TARGET_DIR   build directory (default target); the build is in its folder `packaged`
# RUSTFLAGS          further flags of rustc
set -euo pipefail
folder=$PWD
cd "$(dirname "$0")/.."

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$0"; }
fail() { echo "tools/install.sh: $1" >&2; exit "${2:-2}"; }

target='' features=balance,executor,goblin,program_cache,pipeline,graph,perception prefix=''
while (($#)); do
    case $1 in
        --target | --features) (($# > 1)) || fail "$1 needs a value" ;;&
        --target) target=$2; shift ;;
        --features) features=$2; shift ;;
        -h | --help) usage; exit ;;
        -*) fail "unknown argument $1; see --help" ;;
        *) [ ! "$prefix" ] || fail "expected one PREFIX, got $prefix and $1"; prefix=$1 ;;
    esac
    shift
done
[ "$prefix" ] || fail "expected a PREFIX; see --help"
case $prefix in /*) ;; *) prefix=$folder/$prefix ;; esac
[ ! "$prefix" -ef . ] || fail "PREFIX is the folder of the sources, whose headers would be replaced: choose another one"
command -v cargo >/dev/null || fail "cargo is not installed: get Rust from https://rustup.rs" 1
build=${CARGO_TARGET_DIR:-target}/packaged
case $build in /*) ;; *) build=$PWD/$build ;; esac

target_flags=() output=$build/release
if [ "$target" ]; then target_flags=(--target "$target") output=$build/$target/release; fi
triple=${target:-$(rustc -vV | sed -n 's/^host: //p')}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
major=${version%%.*} minor=${version#*.}
minor=${minor%%.*}

# The system libraries are those that `rustc --print native-static-libs` names, without the compiler's own.
links=() soname='' shared_features=host-allocator import_file='' static_file=libhobgoblin.a
case $triple in
    *-linux-android*) built=libhobgoblin.so shared=libhobgoblin.so private=(dl log m) ;;
    *-linux-*)
        built=libhobgoblin.so soname=libhobgoblin.so.$major shared=libhobgoblin.so.$version private=(m pthread dl)
        links=("$soname" libhobgoblin.so) shared_features+=,no-backtrace ;;
    *-apple-*)
        built=libhobgoblin.dylib soname=@rpath/libhobgoblin.$major.dylib shared=libhobgoblin.$version.dylib private=(m)
        links=("libhobgoblin.$major.dylib" libhobgoblin.dylib) ;;
    *-windows-gnu*)
        built=hobgoblin.dll shared=hobgoblin.dll import_file=libhobgoblin.dll.a
        private=(kernel32 ntdll userenv ws2_32 dbghelp) ;;
    *-windows-msvc)
        built=hobgoblin.dll shared=hobgoblin.dll import_file=hobgoblin.dll.lib static_file=hobgoblin.lib
        private=(kernel32 ntdll userenv ws2_32 dbghelp) ;;
    *) fail "$triple is not supported: see the platforms in README.md" ;;
esac

# Paths of this machine do not belong into a library that others get.
export CARGO_ENCODED_RUSTFLAGS HOB_VERSIONED_SONAME=1
CARGO_ENCODED_RUSTFLAGS=$(printf '%s\n' ${RUSTFLAGS-} "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo" |
    sed '/^$/d' | tr '\n' '\037')
CARGO_ENCODED_RUSTFLAGS=${CARGO_ENCODED_RUSTFLAGS%$'\037'}

# $1 is the crate type, $2 the features.
build() {
    cargo rustc --locked --release --lib --crate-type "$1" --no-default-features --features "$features,$2" \
        --target-dir "$build" ${target_flags[@]+"${target_flags[@]}"} >&2 || fail "the library does not build" 1
}
build cdylib "$shared_features"
build staticlib host-allocator

put() {
    local from=$1 to=$2
    rm -f "$to"
    cp "$from" "$to"
    chmod "${3:-644}" "$to"
}
mkdir -p "$prefix/include/hobgoblin" "$prefix/lib/pkgconfig" "$prefix/lib/cmake/hobgoblin"
for header in include/hobgoblin/*; do put "$header" "$prefix/include/hobgoblin/${header##*/}"; done
if [ "$import_file" ]; then
    mkdir -p "$prefix/bin"
    put "$output/$built" "$prefix/bin/$shared" 755
    put "$output/$import_file" "$prefix/lib/$import_file"
else
    put "$output/$built" "$prefix/lib/$shared" 755
fi
put "$output/$static_file" "$prefix/lib/$static_file"
# libhobgoblin.so -> libhobgoblin.so.0 -> libhobgoblin.so.0.1.0
file=$shared
for link in ${links[@]+"${links[@]}"}; do
    ln -sf "$file" "$prefix/lib/$link"
    file=$link
done

cmake_private=$(IFS=';'; echo "${private[*]}")
fill() {
    sed -e "s|@VERSION@|$version|g; s|@MAJOR@|$major|g; s|@MINOR@|$minor|g; s|@INCLUDEDIR@|include|g; s|@LIBDIR@|lib|g" \
        -e "s|@FROM_PKGCONFIG@|../..|g; s|@FROM_CMAKE@|../../..|g; s|@PRIVATE_LIBS@|${private[*]/#/-l}|g" \
        -e "s|@CMAKE_PRIVATE_LIBS@|$cmake_private|g; s|@SHARED_FILE@|$shared|g; s|@STATIC_FILE@|$static_file|g" \
        -e "s|@SONAME@|$soname|g" "$1" >"$2"
}
for name in hobgoblin.pc hobgoblin-static.pc; do fill "packaging/pkgconfig/$name.in" "$prefix/lib/pkgconfig/$name"; done
for name in hobgoblinConfig.cmake hobgoblinConfigVersion.cmake; do
    fill "packaging/cmake/$name.in" "$prefix/lib/cmake/hobgoblin/$name"
done
echo "installed hobgoblin $version for $triple into $prefix" >&2
