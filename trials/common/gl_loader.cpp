// EGL and GL without linking to either: the loader opens libEGL at run time, chooses a device, and looks up every
// function by name. No window system is involved. This works over ssh, in a container, and on a machine whose GPU has
// no display.
#include "gl_api.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

#ifndef _WIN32
#include <dlfcn.h>
#endif

namespace trials {

#ifdef _WIN32

std::unique_ptr<GlContext> make_gl_context(const std::string&, bool, std::string& reason) {
    reason = "EGL is not looked for on Windows";
    return nullptr;
}
std::vector<std::string> list_gl_devices() { return {}; }

#else

namespace {

using EGLDisplay = void*;
using EGLConfig = void*;
using EGLContext = void*;
using EGLSurface = void*;
using EGLDeviceEXT = void*;
using EGLint = std::int32_t;
using EGLBoolean = unsigned int;
using EGLenum = unsigned int;

constexpr EGLint EGL_SUCCESS = 0x3000, EGL_EXTENSIONS = 0x3055, EGL_NONE = 0x3038, EGL_RENDERABLE_TYPE = 0x3040,
                 EGL_SURFACE_TYPE = 0x3033,
                 EGL_PBUFFER_BIT = 0x0001, EGL_OPENGL_BIT = 0x0008, EGL_OPENGL_ES3_BIT = 0x0040, EGL_WIDTH = 0x3057,
                 EGL_HEIGHT = 0x3056, EGL_CONTEXT_MAJOR_VERSION = 0x3098, EGL_CONTEXT_MINOR_VERSION = 0x30FB,
                 EGL_CONTEXT_OPENGL_PROFILE_MASK = 0x30FD, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT = 0x0001;
constexpr EGLenum EGL_OPENGL_API = 0x30A2, EGL_OPENGL_ES_API = 0x30A0, EGL_PLATFORM_SURFACELESS_MESA = 0x31DD,
                  EGL_PLATFORM_DEVICE_EXT = 0x313F;

#define TRIALS_EGL_FUNCTIONS(X)                                                     \
    X(EGLint, GetError, ())                                                               \
    X(const char*, QueryString, (EGLDisplay, EGLint))                                     \
    X(EGLBoolean, Initialize, (EGLDisplay, EGLint*, EGLint*))                             \
    X(EGLBoolean, Terminate, (EGLDisplay))                                                \
    X(EGLBoolean, BindAPI, (EGLenum))                                                     \
    X(EGLBoolean, ChooseConfig, (EGLDisplay, const EGLint*, EGLConfig*, EGLint, EGLint*)) \
    X(EGLContext, CreateContext, (EGLDisplay, EGLConfig, EGLContext, const EGLint*))      \
    X(EGLBoolean, DestroyContext, (EGLDisplay, EGLContext))                               \
    X(EGLSurface, CreatePbufferSurface, (EGLDisplay, EGLConfig, const EGLint*))           \
    X(EGLBoolean, DestroySurface, (EGLDisplay, EGLSurface))                               \
    X(EGLBoolean, MakeCurrent, (EGLDisplay, EGLSurface, EGLSurface, EGLContext))          \
    X(void*, GetProcAddress, (const char*))

// Extensions: a missing function is not an error.
#define TRIALS_EGL_EXTENSION_FUNCTIONS(X)                           \
    X(EGLDisplay, GetPlatformDisplayEXT, (EGLenum, void*, const EGLint*)) \
    X(EGLBoolean, QueryDevicesEXT, (EGLint, EGLDeviceEXT*, EGLint*))      \
    X(const char*, QueryDeviceStringEXT, (EGLDeviceEXT, EGLint))          \
    X(void, SetBlobCacheFuncsANDROID, (EGLDisplay, EglSetBlob, EglGetBlob))

struct Egl {
    void* library = nullptr;
#define TRIALS_DECLARE(result, name, arguments) result(*name) arguments = nullptr;
    TRIALS_EGL_FUNCTIONS(TRIALS_DECLARE)
    TRIALS_EGL_EXTENSION_FUNCTIONS(TRIALS_DECLARE)
#undef TRIALS_DECLARE
};

template <typename Function> void assign(Function& function, void* address) {
    static_assert(sizeof function == sizeof address, "POSIX promises that function and object pointers have one size");
    std::memcpy(&function, &address, sizeof address);
}

bool has_word(const char* words, const char* word) {
    if (words == nullptr) return false;
    const std::size_t size = std::strlen(word);
    for (const char* at = std::strstr(words, word); at != nullptr; at = std::strstr(at + 1, word))
        if ((at == words || at[-1] == ' ') && (at[size] == ' ' || at[size] == 0)) return true;
    return false;
}

bool load_egl(Egl& egl, std::string& reason) {
    for (const char* name : {"libEGL.so.1", "libEGL.so", "libEGL.dylib"})
        if (egl.library == nullptr) egl.library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (egl.library == nullptr) {
        reason = "libEGL could not be loaded (on Debian: apt-get install libegl1 libgl1-mesa-dri)";
        return false;
    }
    bool complete = true;
#define TRIALS_LOAD(result, name, arguments)     \
    assign(egl.name, dlsym(egl.library, "egl" #name)); \
    complete = complete && egl.name != nullptr;
    TRIALS_EGL_FUNCTIONS(TRIALS_LOAD)
#undef TRIALS_LOAD
    if (!complete) {
        reason = "libEGL lacks functions of EGL 1.4";
        return false;
    }
    const char* extensions = egl.QueryString(nullptr, EGL_EXTENSIONS);
#define TRIALS_LOAD(result, name, arguments) assign(egl.name, egl.GetProcAddress("egl" #name));
    TRIALS_EGL_EXTENSION_FUNCTIONS(TRIALS_LOAD)
#undef TRIALS_LOAD
    // GetProcAddress may return stubs for missing functions. Only the list of extensions is reliable.
    if (!has_word(extensions, "EGL_EXT_platform_base")) egl.GetPlatformDisplayEXT = nullptr;
    if (!has_word(extensions, "EGL_EXT_device_base") && !has_word(extensions, "EGL_EXT_device_enumeration"))
        egl.QueryDevicesEXT = nullptr;
    return true;
}

struct Device {
    EGLDeviceEXT handle = nullptr;
    bool is_software = false;
    std::string description;
};

std::vector<Device> devices_of(const Egl& egl) {
    std::vector<Device> devices;
    if (egl.QueryDevicesEXT == nullptr || egl.QueryDeviceStringEXT == nullptr) return devices;
    EGLint count = 0;
    if (egl.QueryDevicesEXT(0, nullptr, &count) == 0 || count <= 0) return devices;
    std::vector<EGLDeviceEXT> handles(static_cast<std::size_t>(count));
    if (egl.QueryDevicesEXT(count, handles.data(), &count) == 0) return devices;
    handles.resize(static_cast<std::size_t>(count));
    for (EGLDeviceEXT handle : handles) {
        const char* extensions = egl.QueryDeviceStringEXT(handle, EGL_EXTENSIONS);
        const bool is_software = has_word(extensions, "EGL_MESA_device_software");
        devices.push_back({handle, is_software,
                           (is_software ? "software: " : "hardware: ") + std::string(extensions ? extensions : "")});
    }
    return devices;
}

class EglContext final : public GlContext {
public:
    explicit EglContext(const Egl& loaded) : egl(loaded) {}
    ~EglContext() override {
        if (display != nullptr) {
            egl.MakeCurrent(display, nullptr, nullptr, nullptr);
            if (context != nullptr) egl.DestroyContext(display, context);
            if (surface != nullptr) egl.DestroySurface(display, surface);
            egl.Terminate(display);
        }
        // libEGL stays loaded: drivers leave thread-local destructors whose code must stay in memory.
    }
    EglContext(const EglContext&) = delete;
    EglContext& operator=(const EglContext&) = delete;

    bool open(EGLenum platform, EGLDeviceEXT device, bool only_es, std::string& reason);
    bool offers_blob_cache() const override;
    bool set_blob_cache(EglSetBlob set, EglGetBlob get) override;

private:
    bool create(EGLenum api, EGLint major, EGLint minor);
    bool load_functions();
    bool has_extension(const char* name) const;

    Egl egl;
    EGLDisplay display = nullptr;
    EGLContext context = nullptr;
    EGLSurface surface = nullptr;
};

bool EglContext::create(EGLenum api, EGLint major, EGLint minor) {
    is_es = api == EGL_OPENGL_ES_API;
    if (egl.BindAPI(api) == 0) return false;
    const char* extensions = egl.QueryString(display, EGL_EXTENSIONS);
    const bool surfaceless = has_word(extensions, "EGL_KHR_surfaceless_context");
    const std::vector<EGLint> config_attributes{EGL_RENDERABLE_TYPE, is_es ? EGL_OPENGL_ES3_BIT : EGL_OPENGL_BIT,
                                                EGL_SURFACE_TYPE, surfaceless ? 0 : EGL_PBUFFER_BIT, EGL_NONE};
    EGLConfig config = nullptr; // EGL_NO_CONFIG_KHR, unless there is one
    EGLint config_count = 0;
    const bool has_config =
        egl.ChooseConfig(display, config_attributes.data(), &config, 1, &config_count) != 0 && config_count > 0;
    if (!has_config && !has_word(extensions, "EGL_KHR_no_config_context")) return false;
    std::vector<EGLint> attributes{EGL_CONTEXT_MAJOR_VERSION, major, EGL_CONTEXT_MINOR_VERSION, minor};
    if (!is_es)
        attributes.insert(attributes.end(), {EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT});
    attributes.push_back(EGL_NONE);
    context = egl.CreateContext(display, has_config ? config : nullptr, nullptr, attributes.data());
    if (context == nullptr) return false;
    if (!surfaceless) {
        const EGLint size[] = {EGL_WIDTH, 16, EGL_HEIGHT, 16, EGL_NONE};
        surface = egl.CreatePbufferSurface(display, config, size);
    }
    if (egl.MakeCurrent(display, surface, surface, context) != 0) return true;
    egl.DestroyContext(display, context);
    context = nullptr;
    return false;
}

bool EglContext::load_functions() {
    const auto address = [this](const char* name) { return egl.GetProcAddress(name); };
    bool complete = true;
#define TRIALS_LOAD(result, name, arguments) \
    assign(gl.name, address("gl" #name));     \
    complete = complete && gl.name != nullptr;
    TRIALS_GL_FUNCTIONS(TRIALS_LOAD)
#undef TRIALS_LOAD
    if (!complete) return false;

    has_timers = !is_es || has_extension("GL_EXT_disjoint_timer_query");
#define TRIALS_LOAD(result, name, arguments)                        \
    assign(gl.name, address(is_es ? "gl" #name "EXT" : "gl" #name)); \
    has_timers = has_timers && gl.name != nullptr;
    TRIALS_GL_TIMER_FUNCTIONS(TRIALS_LOAD)
#undef TRIALS_LOAD

    GLint formats = 0;
    gl.GetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &formats); // an error before OpenGL 4.1: `formats` stays 0
    gl.GetError();
    has_program_binaries = formats > 0;
#define TRIALS_LOAD(result, name, arguments) \
    assign(gl.name, address("gl" #name));     \
    has_program_binaries = has_program_binaries && gl.name != nullptr;
    TRIALS_GL_BINARY_FUNCTIONS(TRIALS_LOAD)
#undef TRIALS_LOAD
    return true;
}

bool EglContext::has_extension(const char* name) const {
    GLint count = 0;
    gl.GetIntegerv(GL_NUM_EXTENSIONS, &count);
    for (GLuint i = 0; i < static_cast<GLuint>(count); ++i)
        if (std::strcmp(reinterpret_cast<const char*>(gl.GetStringi(GL_EXTENSIONS, i)), name) == 0) return true;
    return false;
}

bool EglContext::offers_blob_cache() const {
    return has_word(egl.QueryString(display, EGL_EXTENSIONS), "EGL_ANDROID_blob_cache");
}

bool EglContext::set_blob_cache(EglSetBlob set, EglGetBlob get) {
    if (!offers_blob_cache()) return false; // Mesa 22 has the function without the extension, and crashes in it
    egl.SetBlobCacheFuncsANDROID(display, set, get);
    return egl.GetError() == EGL_SUCCESS;
}

bool EglContext::open(EGLenum platform, EGLDeviceEXT device, bool only_es, std::string& reason) {
    display = egl.GetPlatformDisplayEXT(platform, device, nullptr);
    if (display == nullptr || egl.Initialize(display, nullptr, nullptr) == 0) {
        display = nullptr;
        reason = "EGL could not open this display";
        return false;
    }
    const bool has_desktop = !only_es && (create(EGL_OPENGL_API, 4, 5) || create(EGL_OPENGL_API, 3, 3));
    if (!has_desktop && !create(EGL_OPENGL_ES_API, 3, 2)) {
        reason = "the EGL driver offers neither OpenGL 3.3 nor OpenGL ES 3.2";
        return false;
    }
    if (!load_functions()) {
        reason = "the GL driver lacks functions of OpenGL 3.3";
        return false;
    }
    const std::string renderer = reinterpret_cast<const char*>(gl.GetString(GL_RENDERER));
    const std::string version = reinterpret_cast<const char*>(gl.GetString(GL_VERSION));
    for (const char* name : {"llvmpipe", "softpipe", "SwiftShader", "swrast"})
        is_software = is_software || renderer.find(name) != std::string::npos;
    description = (is_es ? "" : "OpenGL ") + version + ", " + renderer + ", through EGL " +
                  (platform == EGL_PLATFORM_DEVICE_EXT ? "device platform" : "surfaceless platform");
    return true;
}

} // namespace

std::unique_ptr<GlContext> make_gl_context(const std::string& wanted, bool only_es, std::string& reason) {
    Egl egl;
    if (!load_egl(egl, reason)) return nullptr;
    if (egl.GetPlatformDisplayEXT == nullptr) {
        reason = "this EGL cannot open a display without a window system (no EGL_EXT_platform_base)";
        return nullptr;
    }
    const std::vector<Device> devices = devices_of(egl);
    const auto try_open = [&](EGLenum platform, EGLDeviceEXT device) {
        auto context = std::make_unique<EglContext>(egl);
        return context->open(platform, device, only_es, reason) ? std::move(context) : nullptr;
    };
    if (wanted != "auto" && wanted != "surfaceless") {
        const bool is_number =
            !wanted.empty() && wanted.find_first_not_of("0123456789") == std::string::npos && wanted.size() < 4;
        const std::size_t index = is_number ? std::stoul(wanted) : devices.size();
        if (index >= devices.size()) {
            reason = "there is no EGL device \"" + wanted + "\" (" + std::to_string(devices.size()) +
                     " found; see --list-devices)";
            return nullptr;
        }
        return try_open(EGL_PLATFORM_DEVICE_EXT, devices[index].handle);
    }
    if (wanted == "auto")
        for (const Device& device : devices)
            if (!device.is_software)
                if (auto context = try_open(EGL_PLATFORM_DEVICE_EXT, device.handle)) return context;
    if (has_word(egl.QueryString(nullptr, EGL_EXTENSIONS), "EGL_MESA_platform_surfaceless"))
        if (auto context = try_open(EGL_PLATFORM_SURFACELESS_MESA, nullptr)) return context;
    for (const Device& device : devices)
        if (wanted == "auto" && device.is_software)
            if (auto context = try_open(EGL_PLATFORM_DEVICE_EXT, device.handle)) return context;
    if (reason.empty()) reason = "EGL offers neither a device nor the surfaceless platform";
    return nullptr;
}

std::vector<std::string> list_gl_devices() {
    Egl egl;
    std::string reason;
    std::vector<std::string> lines;
    if (!load_egl(egl, reason)) return {reason};
    for (const Device& device : devices_of(egl))
        lines.push_back(std::to_string(lines.size()) + "  " + device.description);
    return lines;
}

#endif

} // namespace trials
