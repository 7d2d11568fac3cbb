#!/usr/bin/env bash
# Makes the release archive hobgoblin-VERSION-TARGET.tar.gz in the folder OUT, and prints its SHA-256. The same commit and
# compiler give the same bytes. Needs cargo, git and GNU tar.
#
#   tools/release.sh [--target TRIPLE] [--allow-dirty] OUT
#
#   OUT               the folder of the archive; is created, an archive of the same name is replaced
#   --target TRIPLE   the platform to build for, as rustc names it (default: this machine's)
#   --allow-dirty     also with changes that are not committed
#
# The archive has one folder:
#
#   include/ lib/ bin/           as tools/install.sh installs them, stripped; bin/ on Windows alone
#   abi/hobgoblin-api.json       all functions, structs and enums as data
#   bindings/csharp/             the C# sources
#   README.md CHANGELOG.md docs/
#   reference/                   the reference of the headers as HTML, if doxygen is installed
#   LICENSE-APACHE LICENSE-MIT NOTICE
#   meta/                        git-commit, rustc-version, features, target
#   SHA256SUMS                   of all files
#
# Exit status: 0 if the archive is made, 1 if not, 2 for wrong usage.
#
# SOURCE_DATE_EPOCH   the time of all files (default: the commit's)
# STRIP               the program that strips libraries (default: the target's)
# CARGO_TARGET_DIR    build directory (default target)
set -euo pipefail
folder=$PWD
cd "$(dirname "$0")/.."

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$0"; }
fail() { echo "tools/release.sh: $1" >&2; exit "${2:-2}"; }
step() { echo "[$1/4] $2" >&2; }

target='' out='' allow_dirty=''
while (($#)); do
    case $1 in
        --target) (($# > 1)) || fail "$1 needs a value"; target=$2; shift ;;
        --allow-dirty) allow_dirty=1 ;;
        -h | --help) usage; exit ;;
        -*) fail "unknown argument $1; see --help" ;;
        *) [ ! "$out" ] || fail "expected one OUT, got $out and $1"; out=$1 ;;
    esac
    shift
done
[ "$out" ] || fail "expected a folder OUT; see --help"
case $out in /*) ;; *) out=$folder/$out ;; esac
commit=$(git rev-parse HEAD) || fail "this is not a git repository: the archive names its commit" 1
if [ "$(git status --porcelain)" ]; then
    [ "$allow_dirty" ] || fail "there are changes that are not committed: commit them, or pass --allow-dirty" 1
    commit="$commit with changes"
fi
date=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
tar=tar
if command -v gtar >/dev/null; then tar=gtar; fi
"$tar" --version | grep -q GNU || fail "GNU tar is needed, which macOS packages as gtar" 1

target_flags=()
if [ "$target" ]; then target_flags=(--target "$target"); fi
triple=${target:-$(rustc -vV | sed -n 's/^host: //p')}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
name=hobgoblin-$version-$triple
case $triple in
    x86_64-pc-windows-gnu) strip=${STRIP:-x86_64-w64-mingw32-strip} ;;
    *-android*) strip=${STRIP:-llvm-strip} ;;
    *) strip=${STRIP:-strip} ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
stage=$scratch/$name

step 1 "building $name"
features=balance,executor,goblin,program_cache,pipeline,graph,perception
tools/install.sh ${target_flags[@]+"${target_flags[@]}"} --features "$features" "$stage"

step 2 "stripping the libraries"
for library in "$stage"/lib/*.so* "$stage"/lib/*.dylib "$stage"/lib/libhobgoblin.a "$stage"/bin/*.dll; do
    if [ ! -f "$library" ] || [ -L "$library" ]; then continue; fi
    case $library in
        *.a)
            # Objects of debug information alone, which strip refuses as empty.
            "${strip%strip}ar" t "$library" | { grep '\.dwo$' || true; } | xargs -r "${strip%strip}ar" dD "$library"
            "$strip" -S "$library" ;;
        *.dylib) "$strip" -x "$library" ;;
        *) "$strip" "$library" ;;
    esac
done

step 3 "adding documents and licences"
# Files of git alone, so that nothing comes along that lies around.
git ls-files -z -- README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT NOTICE docs bindings abi/hobgoblin-api.json |
    while IFS= read -r -d '' file; do
        mkdir -p "$stage/$(dirname "$file")"
        cp "$file" "$stage/$file"
    done
if command -v doxygen >/dev/null; then
    tools/reference.sh "$stage/reference" >/dev/null
else
    echo "tools/release.sh: doxygen is not installed, so the archive has no reference/" >&2
fi
mkdir "$stage/meta"
echo "$commit" >"$stage/meta/git-commit"
rustc -V >"$stage/meta/rustc-version"
echo "$features,host-allocator; no-backtrace in the shared library on Linux" >"$stage/meta/features"
echo "$triple" >"$stage/meta/target"
(cd "$stage" && find . -type f ! -name SHA256SUMS | LC_ALL=C sort | sed 's|^\./||' | tr '\n' '\0' | xargs -0 sha256sum >SHA256SUMS)

step 4 "packing"
mkdir -p "$out"
"$tar" --create --format=ustar --sort=name --mtime="@$date" --owner=0 --group=0 --numeric-owner --mode=a+rX,u+w,go-w \
    --directory="$scratch" "$name" | gzip -9n >"$scratch/archive"
mv "$scratch/archive" "$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz")
