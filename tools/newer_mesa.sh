#!/usr/bin/env bash
# newer_mesa.sh DIRECTORY: unpacks Mesa of Debian 12's backports into the directory, beside the installed version, and
# prints the environment that selects it. It has EGL_ANDROID_blob_cache without a graphics card, which the installed one
# does not offer, and is a second driver version for tests:
#
#   eval "$(tools/newer_mesa.sh /tmp/newer_mesa)"
set -euo pipefail
mkdir -p "$1/lists/partial" "$1/archives/partial" "$1/debs" "$1/root"
there=$(cd "$1" && pwd)
packages=(libegl-mesa0 libgl1-mesa-dri mesa-libgallium mesa-vulkan-drivers libgbm1 libdrm2 libdrm-amdgpu1 libdrm-intel1
    libdrm-nouveau2 libdrm-radeon1 libglapi-mesa)

if [ ! -e "$there/unpacked" ]; then
    # Use the package source of this machine.
    mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' | awk '$1 == "bookworm" { print $2; exit }')
    [ "$mirror" ] || { echo "this is no Debian 12, or its package lists were never fetched: apt-get update" >&2; exit 1; }
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    for suite in bookworm bookworm-backports; do
        echo "deb [signed-by=$keys] $mirror $suite main"
    done >"$there/sources.list"
    options=(-qq -o "Dir::Etc::sourcelist=$there/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$there/lists" -o "Dir::Cache=$there" -o "APT::Sandbox::User=$(id -un)"
        -t bookworm-backports)
    apt-get "${options[@]}" update >&2
    (cd "$there/debs" && apt-get "${options[@]}" download "${packages[@]}" >&2)
    for deb in "$there"/debs/*.deb; do dpkg -x "$deb" "$there/root"; done
    touch "$there/unpacked"
fi

libraries=$(dirname "$(find "$there/root" -name libEGL_mesa.so.0)")
cat <<ENVIRONMENT
export LD_LIBRARY_PATH=$libraries
export LIBGL_DRIVERS_PATH=$libraries/dri
export __EGL_VENDOR_LIBRARY_FILENAMES=$there/root/usr/share/glvnd/egl_vendor.d/50_mesa.json
export VK_ICD_FILENAMES=$there/root/usr/share/vulkan/icd.d/lvp_icd.json
ENVIRONMENT
