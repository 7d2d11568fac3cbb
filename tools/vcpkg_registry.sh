#!/usr/bin/env bash
# Writes the port of packaging/vcpkg with the present commit as its sources into a git registry of vcpkg, and commits it.
#
#   tools/vcpkg_registry.sh URL REGISTRY
#
#   URL        the git repository that vcpkg clones the sources from; must have the present commit
#   REGISTRY   the folder of the registry's git repository; is created, else its earlier versions are kept
#
# Push the registry anywhere. Its users need this in vcpkg-configuration.json, with the commit that is printed:
#
#   { "registries": [ { "kind": "git", "repository": "<url of the registry>", "baseline": "<commit>", "packages": [ "hobgoblin" ] } ] }
#
# Exit status: 0 if the registry has the version, 1 if not, 2 for wrong usage.
set -euo pipefail
folder=$PWD
cd "$(dirname "$0")/.."

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$0"; }
fail() { echo "tools/vcpkg_registry.sh: $1" >&2; exit "${2:-2}"; }

case ${1:-} in
    -h | --help) usage; exit ;;
    -*) fail "unknown argument $1; see --help" ;;
esac
(($# == 2)) || fail "expected URL and REGISTRY; see --help"
url=$1 registry=$2
case $registry in /*) ;; *) registry=$folder/$registry ;; esac
commit=$(git rev-parse HEAD) || fail "this is not a git repository: the port names its commit" 1
[ ! "$(git status --porcelain)" ] || fail "there are changes that are not committed: commit them first" 1
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

mkdir -p "$registry/ports/hobgoblin" "$registry/versions/h-"
[ -e "$registry/.git" ] || git init -q "$registry"
cp packaging/vcpkg/ports/hobgoblin/* "$registry/ports/hobgoblin/"
cat >"$registry/ports/hobgoblin/source.cmake" <<END
set(HOBGOBLIN_URL "$url")
set(HOBGOBLIN_REF $commit)
END
cd "$registry"
git add ports
tree=$(git write-tree --prefix=ports/hobgoblin/)

# One version is one line of the list, the newest first.
list=versions/h-/hobgoblin.json
lines=("    { \"version\": \"$version\", \"git-tree\": \"$tree\" }")
if [ -e "$list" ]; then
    while IFS= read -r line; do
        case $line in
            *"\"version\": \"$version\""*) ;;
            *'"git-tree"'*) lines+=("${line%,}") ;;
        esac
    done <"$list"
fi
{
    printf '{\n  "versions": [\n%s' "${lines[0]}"
    for line in "${lines[@]:1}"; do printf ',\n%s' "$line"; done
    printf '\n  ]\n}\n'
} >"$list.new"
mv "$list.new" "$list"
printf '{\n  "default": {\n    "hobgoblin": { "baseline": "%s", "port-version": 0 }\n  }\n}\n' "$version" >versions/baseline.json
git add versions
if ! git diff --cached --quiet; then git commit -qm "hobgoblin: Update to version $version"; fi
git rev-parse HEAD
