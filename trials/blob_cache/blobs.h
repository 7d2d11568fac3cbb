// The cache behind a driver's two blob functions.
#pragma once

#include <hobgoblin/program_cache.h>

#include <string>

namespace blob_cache {

/// The driver's blobs, in the directory that HOB_BLOB_CACHE names.
/// One instance for the whole process.
class Blobs {
public:
    /// Opens the cache and loads the directory, so that hits come from memory alone.
    /// Waits at most HOB_BLOB_CACHE_WAIT_MS milliseconds (default 1000). Reports a missing directory or cache on
    /// stderr.
    Blobs();
    /// Writes pending blobs, and appends the counts to the file that HOB_BLOB_CACHE_REPORT names.
    ~Blobs();
    Blobs(const Blobs&) = delete;
    Blobs& operator=(const Blobs&) = delete;

    /// Whether there is a cache: without one, `set` and `get` are not worth giving to a driver.
    explicit operator bool() const { return cache != nullptr; }

    /// Ends the uses of all blobs that were loaded until now, if HOB_BLOB_CACHE_STRIKES is 1.
    void end_frame();

    /// An EGLSetBlobFuncANDROID and an EGLGetBlobFuncANDROID that count calls and forward them.
    /// A host without counters gives hob_egl_blob_set and hob_egl_blob_get directly to the driver.
    static void set(const void* key, ptrdiff_t key_size, const void* value, ptrdiff_t value_size);
    static ptrdiff_t get(const void* key, ptrdiff_t key_size, void* value, ptrdiff_t value_size);

private:
    void open();
    void say_trouble() const;
    void report(const char* trouble) const;

    std::string directory;
    hob_executor* executor = nullptr;
    hob_program_cache* cache = nullptr;
    bool has_strikes = false;
};

/// Prints a line on stderr.
void say(const std::string& sentence);

} // namespace blob_cache
