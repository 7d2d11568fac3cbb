# Runs a port without vcpkg: the functions below do what vcpkg's do, for one build without its debug half.
#
#   cmake -D PORT_DIR=... -D WORK=... -D LINKAGE=dynamic|static -D FEATURES="core;goblin" -P port.cmake
set(PORT hobgoblin)
set(VCPKG_LIBRARY_LINKAGE "${LINKAGE}")
set(CURRENT_PACKAGES_DIR "${WORK}/packages")
set(build_dir "${WORK}/build")

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
    if(result)
        message(FATAL_ERROR "${ARGN} failed: ${result}")
    endif()
endfunction()

function(vcpkg_from_git)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_SOURCE_PATH;URL;REF" "")
    if(NOT arg_REF MATCHES "^[0-9a-f]+$" OR NOT arg_URL)
        message(FATAL_ERROR "vcpkg wants a URL and a commit, not ${arg_URL} and ${arg_REF}")
    endif()
    get_filename_component(path "${WORK}/../sources" ABSOLUTE)
    if(NOT EXISTS "${path}")
        run(git clone -q "${arg_URL}" "${path}")
        run(git -C "${path}" checkout -q "${arg_REF}")
    endif()
    set(${arg_OUT_SOURCE_PATH} "${path}" PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    run("${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${build_dir}" -G Ninja "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}"
        -DCMAKE_INSTALL_LIBDIR:STRING=lib -DHOBGOBLIN_CARGO_PROFILE=dev ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
    run("${CMAKE_COMMAND}" --build "${build_dir}" --target install)
endfunction()

function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
    set(share "${CURRENT_PACKAGES_DIR}/share/${PORT}")
    file(GLOB files "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/*")
    file(COPY ${files} DESTINATION "${share}")
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib/cmake")
    file(GLOB files "${share}/*.cmake")
    foreach(file IN LISTS files)
        file(READ "${file}" text)
        # The expression of vcpkg.
        string(REGEX REPLACE [[get_filename_component\(PACKAGE_PREFIX_DIR "\${CMAKE_CURRENT_LIST_DIR}/\.\./(\.\./)*" ABSOLUTE\)]]
            [[get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../" ABSOLUTE)]] text "${text}")
        file(WRITE "${file}" "${text}")
    endforeach()
endfunction()

function(vcpkg_fixup_pkgconfig)
    file(GLOB files "${CURRENT_PACKAGES_DIR}/lib/pkgconfig/*.pc")
    if(NOT files)
        message(FATAL_ERROR "the port has no pkg-config file")
    endif()
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    set(text "")
    foreach(file IN LISTS arg_FILE_LIST)
        file(READ "${file}" one)
        string(APPEND text "${one}\n")
    endforeach()
    file(WRITE "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright" "${text}")
endfunction()

include("${PORT_DIR}/portfile.cmake")
