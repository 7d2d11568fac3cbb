#include "egl_blobs.h"

#include <atomic>
#include <stdexcept>

namespace program_cache_gl {

namespace {

// The two functions have no user data, so their counters are global as well. A host without counters gives
// `Cache::egl_set` and `Cache::egl_get` directly to the driver.
std::atomic<std::size_t> sets{0}, gets{0}, hits{0};

void counted_set(const void* key, std::ptrdiff_t key_size, const void* value, std::ptrdiff_t value_size) {
    ++sets;
    Cache::egl_set(key, key_size, value, value_size);
}

/// An answer larger than the buffer is no hit: nothing was copied.
std::ptrdiff_t counted_get(const void* key, std::ptrdiff_t key_size, void* value, std::ptrdiff_t value_size) {
    const std::ptrdiff_t size = Cache::egl_get(key, key_size, value, value_size);
    ++gets;
    if (size > 0 && size <= value_size) ++hits;
    return size;
}

} // namespace

void bind_egl_blobs(Cache& cache, trials::GlContext& context) {
    cache.bind_egl();
    // Mesa's llvmpipe creates its cache together with the first context, and forgets functions that were set earlier.
    if (!context.set_blob_cache(counted_set, counted_get))
        throw std::runtime_error("this EGL does not take the two functions of EGL_ANDROID_blob_cache");
}

void count_egl_blobs(StepResult& result) {
    result.blob_sets = sets;
    result.blob_gets = gets;
    result.blob_hits = hits;
}

} // namespace program_cache_gl
