// The cache behind the two functions that a driver is given.
#pragma once

#include <hobgoblin/program_cache.h>

#include <string>

namespace blob_cache {

/// Whatever the driver wants kept, in the directory that HOB_BLOB_CACHE names. One for the whole process.
class Blobs {
public:
    /// Waits for what is in the directory, HOB_BLOB_CACHE_WAIT_MS milliseconds at most (default 1000): hits come from
    /// memory alone. Without a directory, or without a cache, says so.
    Blobs();
    /// Writes what still waits, and into the file that HOB_BLOB_CACHE_REPORT names a line of what was asked for.
    ~Blobs();
    Blobs(const Blobs&) = delete;
    Blobs& operator=(const Blobs&) = delete;

    /// Whether there is a cache, and so any use in giving away `set` and `get`.
    explicit operator bool() const { return cache != nullptr; }

    /// An EGLSetBlobFuncANDROID and an EGLGetBlobFuncANDROID, which count and do nothing else of their own: where nobody
    /// wants to know, hob_egl_blob_set and hob_egl_blob_get are given as they are.
    static void set(const void* key, ptrdiff_t key_size, const void* value, ptrdiff_t value_size);
    static ptrdiff_t get(const void* key, ptrdiff_t key_size, void* value, ptrdiff_t value_size);

private:
    void open();
    void say_trouble() const;
    void report(const char* trouble) const;

    std::string directory;
    hob_executor* executor = nullptr;
    hob_program_cache* cache = nullptr;
};

/// A line on stderr.
void say(const std::string& sentence);

} // namespace blob_cache
