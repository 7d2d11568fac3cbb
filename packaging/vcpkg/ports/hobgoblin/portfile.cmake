# A registry has the place of its sources in source.cmake, which tools/vcpkg_registry.sh writes. Without that file this is
# an overlay port in the sources.
include("${CMAKE_CURRENT_LIST_DIR}/source.cmake" OPTIONAL)
if(HOBGOBLIN_URL)
    vcpkg_from_git(OUT_SOURCE_PATH SOURCE_PATH URL "${HOBGOBLIN_URL}" REF "${HOBGOBLIN_REF}")
else()
    get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)
endif()

set(rooms ${FEATURES})
list(REMOVE_ITEM rooms core default)
string(REPLACE "-" "_" rooms "${rooms}")
if(NOT rooms)
    set(rooms executor)
endif()
string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" "dynamic" is_shared)
string(COMPARE NOTEQUAL "${VCPKG_LIBRARY_LINKAGE}" "dynamic" is_static)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        "-DHOBGOBLIN_SHARED=${is_shared}"
        "-DHOBGOBLIN_STATIC=${is_static}"
        "-DHOBGOBLIN_FEATURES=${rooms}"
        -DHOBGOBLIN_INSTALL=ON
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/hobgoblin)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE-MIT" "${SOURCE_PATH}/LICENSE-APACHE" "${SOURCE_PATH}/NOTICE")
