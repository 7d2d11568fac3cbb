// Drop-in for unmodified EGL programs. Preloaded with LD_PRELOAD, it gives the driver our cache for its compiled
// shaders (EGL_ANDROID_blob_cache).
//
// It waits until the first context is made current on a display: Mesa's llvmpipe creates its cache together with a
// context and forgets functions that were set earlier. Programs that link libEGL find the functions at the end of this
// file. Programs that load libEGL, as SDL and glmark2 do, look them up with dlsym, so this file replaces dlsym too.
// Each libEGL of a process is handled on its own: ANGLE brings its own, which loads the system's.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "blobs.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT unsigned int eglMakeCurrent(void* display, void* draw, void* read, void* context);

namespace blob_cache {

namespace {

// From the Khronos registry.
using EGLDisplay = void*;
using EGLSurface = void*;
using EGLContext = void*;
using EGLBoolean = unsigned int;
using EGLint = std::int32_t;
constexpr EGLint EGL_SUCCESS = 0x3000, EGL_EXTENSIONS = 0x3055;

using Function = void (*)();
using MakeCurrent = EGLBoolean (*)(EGLDisplay, EGLSurface, EGLSurface, EGLContext);
using Terminate = EGLBoolean (*)(EGLDisplay);
using SwapBuffers = EGLBoolean (*)(EGLDisplay, EGLSurface);
using GetProcAddress = Function (*)(const char*);
using QueryString = const char* (*)(EGLDisplay, EGLint);
using GetError = EGLint (*)();
using SetBlobCacheFuncs = void (*)(EGLDisplay, decltype(&Blobs::set), decltype(&Blobs::get));

template <typename To, typename From> To as(From from) {
    static_assert(sizeof(To) == sizeof(From), "POSIX promises that function and object pointers have one size");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

using Dlsym = void* (*)(void*, const char*) noexcept;

/// The C library's dlsym, found without itself. Its symbol version depends on the machine and on the age of glibc.
Dlsym find_dlsym() {
    for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5", "GLIBC_2.27", "GLIBC_2.36", "GLIBC_2.0"})
        if (void* found = dlvsym(RTLD_NEXT, "dlsym", version)) return as<Dlsym>(found);
    return nullptr;
}

std::atomic<Dlsym> known_dlsym{nullptr};

Dlsym real_dlsym() noexcept {
    Dlsym found = known_dlsym.load(std::memory_order_relaxed);
    if (found == nullptr) known_dlsym = found = find_dlsym();
    return found;
}

/// The functions of one libEGL.
struct Egl {
    MakeCurrent make_current = nullptr;
    Terminate terminate = nullptr;
    SwapBuffers swap_buffers = nullptr;
    GetProcAddress get_proc_address = nullptr;
    QueryString query_string = nullptr;
    GetError get_error = nullptr;
    std::vector<EGLDisplay> served; ///< Displays that have had a current context. Guarded by `lock`.

    explicit Egl(void* handle) {
        const Dlsym find = real_dlsym();
        make_current = as<MakeCurrent>(find(handle, "eglMakeCurrent"));
        terminate = as<Terminate>(find(handle, "eglTerminate"));
        swap_buffers = as<SwapBuffers>(find(handle, "eglSwapBuffers"));
        get_proc_address = as<GetProcAddress>(find(handle, "eglGetProcAddress"));
        query_string = as<QueryString>(find(handle, "eglQueryString"));
        get_error = as<GetError>(find(handle, "eglGetError"));
    }
    bool is_whole() const { return make_current && terminate && swap_buffers && get_proc_address && query_string && get_error; }
};

std::mutex lock; // guards `egls` and their `served`; never held while foreign code runs
constexpr std::size_t most_egls = 4;
std::array<Egl*, most_egls> egls; // never freed: other libraries call until the very end of the process

Blobs* blobs = nullptr;
std::once_flag blobs_once;
pid_t blobs_process = 0;

/// Opens the cache at the first current context: LD_PRELOAD also reaches processes that never draw, such as shells.
bool has_blobs() {
    std::call_once(blobs_once, [] {
        blobs_process = getpid();
        blobs = new Blobs;
    });
    return static_cast<bool>(*blobs);
}

/// Skipped in a forked child that exits: it lacks the threads that the destructor waits for.
__attribute__((destructor)) void close_blobs() {
    if (blobs_process == getpid()) delete blobs;
}

bool offers_blob_cache(const Egl& egl, EGLDisplay display) {
    const char* extensions = egl.query_string(display, EGL_EXTENSIONS);
    return extensions != nullptr && (std::string(extensions) + ' ').find("EGL_ANDROID_blob_cache ") != std::string::npos;
}

/// Checks the extension first: Mesa 22 has the function without the extension, and crashes in it.
void give_blobs(const Egl& egl, EGLDisplay display) {
    if (!offers_blob_cache(egl, display)) {
        say("this EGL display does not offer EGL_ANDROID_blob_cache: its driver keeps shaders where it wants");
        return;
    }
    if (!has_blobs()) return;
    const auto give = as<SetBlobCacheFuncs>(egl.get_proc_address("eglSetBlobCacheFuncsANDROID"));
    if (give != nullptr) give(display, Blobs::set, Blobs::get);
    if (give == nullptr || egl.get_error() != EGL_SUCCESS)
        say("this EGL display does not take our functions: the program has given it others");
}

bool is_first_context(Egl& egl, EGLDisplay display) {
    const std::lock_guard<std::mutex> guard(lock);
    if (std::find(egl.served.begin(), egl.served.end(), display) != egl.served.end()) return false;
    egl.served.push_back(display);
    return true;
}

/// Drops a terminated display: it loses its functions, and may be initialised again.
void forget(Egl& egl, EGLDisplay display) {
    const std::lock_guard<std::mutex> guard(lock);
    egl.served.erase(std::remove(egl.served.begin(), egl.served.end(), display), egl.served.end());
}

// The hooks that replace the functions of `egls[which]`.

template <std::size_t which>
EGLBoolean make_current(EGLDisplay display, EGLSurface draw, EGLSurface read, EGLContext context) {
    Egl& egl = *egls[which];
    const EGLBoolean is_current = egl.make_current(display, draw, read, context);
    if (is_current != 0 && context != nullptr && is_first_context(egl, display)) give_blobs(egl, display);
    return is_current;
}

template <std::size_t which> EGLBoolean terminate(EGLDisplay display) {
    forget(*egls[which], display);
    return egls[which]->terminate(display);
}

/// A blob is in use from its load until the frame that needed it was given to the display.
template <std::size_t which> EGLBoolean swap_buffers(EGLDisplay display, EGLSurface surface) {
    const EGLBoolean is_swapped = egls[which]->swap_buffers(display, surface);
    if (blobs != nullptr) blobs->end_frame();
    return is_swapped;
}

template <std::size_t which> Function get_proc_address(const char* name);

struct Hooks {
    Function make_current, terminate, swap_buffers, get_proc_address;

    Function named(const char* name) const {
        if (name == nullptr) return nullptr;
        if (std::strcmp(name, "eglMakeCurrent") == 0) return make_current;
        if (std::strcmp(name, "eglTerminate") == 0) return terminate;
        if (std::strcmp(name, "eglSwapBuffers") == 0) return swap_buffers;
        if (std::strcmp(name, "eglGetProcAddress") == 0) return get_proc_address;
        return nullptr;
    }
};

template <std::size_t... which> constexpr std::array<Hooks, most_egls> make_hooks(std::index_sequence<which...>) {
    return {Hooks{reinterpret_cast<Function>(make_current<which>), reinterpret_cast<Function>(terminate<which>),
                  reinterpret_cast<Function>(swap_buffers<which>),
                  reinterpret_cast<Function>(get_proc_address<which>)}...};
}

const Hooks& hooks_of(std::size_t which) {
    static const std::array<Hooks, most_egls> hooks = make_hooks(std::make_index_sequence<most_egls>{});
    return hooks[which];
}

template <std::size_t which> Function get_proc_address(const char* name) {
    const Function hook = hooks_of(which).named(name);
    return hook != nullptr ? hook : egls[which]->get_proc_address(name);
}

/// The index in `egls` of the libEGL behind a handle; `most_egls` without a libEGL or without a free place.
std::size_t place_of(void* handle) {
    auto egl = std::make_unique<Egl>(handle);
    if (!egl->is_whole() || egl->make_current == eglMakeCurrent) return most_egls;
    const std::lock_guard<std::mutex> guard(lock);
    for (std::size_t place = 0; place < most_egls; ++place) {
        if (egls[place] == nullptr) egls[place] = egl.release();
        else if (egls[place]->make_current != egl->make_current) continue;
        return place;
    }
    return most_egls;
}

/// The replacement for the result of dlsym; NULL: keep the result.
void* hook(void* handle, const char* name) noexcept {
    if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || hooks_of(0).named(name) == nullptr) return nullptr;
    const std::size_t place = place_of(handle);
    return place == most_egls ? nullptr : as<void*>(hooks_of(place).named(name));
}

/// For programs that link libEGL: the hook of a function of the next libEGL, or else the next such function itself.
template <typename F> F linked(const char* name) {
    const std::size_t place = place_of(RTLD_NEXT);
    return as<F>(place == most_egls ? real_dlsym()(RTLD_NEXT, name) : as<void*>(hooks_of(place).named(name)));
}

} // namespace

} // namespace blob_cache

// Without a libEGL these functions return what EGL returns on failure.

EXPORT unsigned int eglMakeCurrent(void* display, void* draw, void* read, void* context) {
    static const auto next = blob_cache::linked<blob_cache::MakeCurrent>("eglMakeCurrent");
    return next == nullptr ? 0 : next(display, draw, read, context);
}

EXPORT unsigned int eglTerminate(void* display) {
    static const auto next = blob_cache::linked<blob_cache::Terminate>("eglTerminate");
    return next == nullptr ? 0 : next(display);
}

EXPORT unsigned int eglSwapBuffers(void* display, void* surface) {
    static const auto next = blob_cache::linked<blob_cache::SwapBuffers>("eglSwapBuffers");
    return next == nullptr ? 0 : next(display, surface);
}

EXPORT void (*eglGetProcAddress(const char* name))() {
    static const auto next = blob_cache::linked<blob_cache::GetProcAddress>("eglGetProcAddress");
    return next == nullptr ? nullptr : next(name);
}

/// Must end in a jump, because the result for RTLD_NEXT depends on the caller. Optimised code jumps where nothing can
/// be thrown.
EXPORT void* dlsym(void* handle, const char* name) noexcept {
    if (void* found = blob_cache::hook(handle, name)) return found;
    return blob_cache::real_dlsym()(handle, name);
}
