#!/usr/bin/env bash
# Writes the reference of the C and C++ headers as HTML, with Debian's doxygen.
#   tools/reference.sh OUT    write OUT/index.html; a public name without documentation is an error
set -euo pipefail
case "${1:-}" in
"" | -*)
    sed -n '2,3s/^# \{0,3\}//p' "$0"
    [ "${1:-}" = --help ]
    exit
    ;;
esac
command -v doxygen >/dev/null || { echo "doxygen is missing: apt-get install doxygen" >&2; exit 1; }
mkdir -p "$1"
HOB_REFERENCE=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
HOB_VERSION=$(sed -n '0,/^version = "\(.*\)"/s//\1/p' Cargo.toml)
export HOB_REFERENCE HOB_VERSION
doxygen docs/reference/Doxyfile
echo "$HOB_REFERENCE/index.html"
