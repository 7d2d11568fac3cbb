#include "driver_cache.h"

#ifndef _WIN32
#include <cstdlib>
#include <filesystem>
#include <unistd.h>
#endif

namespace trials {

void give_driver_empty_cache(const std::string& directory) {
#ifdef _WIN32
    (void)directory;
#else
    const std::string own = directory + "/driver-" + std::to_string(getpid());
    std::filesystem::create_directories(own);
    for (const char* variable : {"MESA_SHADER_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH"})
        setenv(variable, own.c_str(), 1);
    unsetenv("MESA_SHADER_CACHE_DISABLE"); // Mesa 22 gives out no binaries with it
#endif
}

void switch_driver_cache_off() {
#ifndef _WIN32
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
    setenv("MESA_GLSL_CACHE_DISABLE", "true", 1); // its name in older versions
    setenv("__GL_SHADER_DISK_CACHE", "0", 1);
#endif
}

} // namespace trials
