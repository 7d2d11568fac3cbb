// The library in use: an executor whose thread writes in the background, a cache in a directory, and bind_egl.
#include "blobs.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace blob_cache {

namespace {

constexpr std::uint64_t memory_limit = std::uint64_t{256} << 20;
constexpr std::uint64_t default_wait_ms = 1000;

std::atomic<std::size_t> sets{0}, gets{0}, hits{0};

const char* variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::uint64_t wait_us() {
    char* end = nullptr;
    const char* text = variable("HOB_BLOB_CACHE_WAIT_MS");
    const unsigned long long given = std::strtoull(text, &end, 10);
    return (end == text || *end != 0 || given > UINT64_MAX / 1000 ? default_wait_ms : given) * 1000;
}

} // namespace

void say(const std::string& sentence) { std::fprintf(stderr, "hobgoblin: %s\n", sentence.c_str()); }

void Blobs::end_frame() {
    if (has_strikes) hob_program_cache_end_blob_uses(cache, HOB_USE_OUTCOME_OK);
}

void Blobs::set(const void* key, ptrdiff_t key_size, const void* value, ptrdiff_t value_size) {
    ++sets;
    hob_egl_blob_set(key, key_size, value, value_size);
}

ptrdiff_t Blobs::get(const void* key, ptrdiff_t key_size, void* value, ptrdiff_t value_size) {
    const ptrdiff_t size = hob_egl_blob_get(key, key_size, value, value_size);
    if (value_size == 0) return size; // the driver only asks for the size
    ++gets;
    if (size > 0) ++hits;
    return size;
}

Blobs::Blobs() : directory(variable("HOB_BLOB_CACHE")) {
    if (directory.empty() || directory[0] != '/') { // a program may change its directory before it draws
        say("HOB_BLOB_CACHE names no directory by its full path: nothing is kept");
        return;
    }
    open();
    if (cache == nullptr) say(hob_last_error());
    else say_trouble();
}

void Blobs::open() {
    if (hob_executor_create_pool(0, &executor) != HOB_RESULT_OK) return;
    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    desc.directory = hob_str_of(directory.data(), directory.size());
    desc.executor = executor;
    desc.memory_limit = memory_limit;
    if (hob_program_cache_create(&desc, &cache) != HOB_RESULT_OK) return;
    if (hob_program_cache_wait_idle(cache, wait_us()) != HOB_RESULT_OK)
        say("not all blobs are loaded yet; the rest comes in the background");
    has_strikes = std::string(variable("HOB_BLOB_CACHE_STRIKES")) == "1";
    hob_program_cache_track_blob_uses(cache, has_strikes);
    hob_program_cache_bind_egl(cache);
}

void Blobs::say_trouble() const {
    char sentence[256];
    size_t size = 0;
    if (hob_program_cache_get_problem(cache, sentence, sizeof sentence, &size) == HOB_RESULT_OK && size > 0)
        say(std::string(sentence, size));
}

Blobs::~Blobs() {
    if (cache != nullptr) {
        hob_program_cache_bind_egl(nullptr);
        const bool is_written = hob_program_cache_flush(cache, wait_us()) == HOB_RESULT_OK;
        report(is_written ? "" : hob_last_error());
        hob_program_cache_destroy(cache);
    }
    hob_executor_destroy(executor);
}

/// Writes to a file: an ending program may have closed stderr.
void Blobs::report(const char* trouble) const {
    const char* name = variable("HOB_BLOB_CACHE_REPORT");
    std::FILE* file = *name == 0 ? nullptr : std::fopen(name, "a");
    if (file == nullptr) return;
    std::fprintf(file, "%zu of %zu blobs found, %zu kept, in %s", hits.load(), gets.load(), sets.load(),
                 directory.c_str());
    if (*trouble != 0) std::fprintf(file, ": %s", trouble);
    std::fputc('\n', file);
    std::fclose(file);
}

} // namespace blob_cache
