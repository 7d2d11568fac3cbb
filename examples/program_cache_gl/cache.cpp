// The library at work: all that a host has to write. A key per program, `use` around the driver call, `put` after a
// compile.
#include "cache.h"

#include <hobgoblin/fingerprint.h>
#include <hobgoblin/program_cache.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace program_cache_gl {

namespace {

constexpr std::uint64_t memory_limit = std::uint64_t{512} << 20, disk_limit = std::uint64_t{1} << 30;
constexpr std::uint64_t patience_us = 60'000'000; // for the disk, where this program has nothing better to do

hob_str text(const std::string& string) { return {string.data(), string.size()}; }

void check(hob_result result) {
    if (result != HOB_RESULT_OK) throw std::runtime_error(hob_last_error());
}

const hob_fingerprint& fingerprint(const Key& key) {
    static_assert(sizeof(Key) == sizeof(hob_fingerprint), "a key is a fingerprint");
    return reinterpret_cast<const hob_fingerprint&>(key);
}

struct BlobRelease {
    hob_blob& blob;
    ~BlobRelease() { hob_blob_release(&blob); }
};

} // namespace

struct Cache::Handle {
    hob_program_cache* cache = nullptr;
    ~Handle() { hob_program_cache_destroy(cache); }
};

Cache::Cache(const std::string& directory, const Environment& environment) : handle(std::make_unique<Handle>()) {
    hob_environment identity = HOB_ENVIRONMENT_INIT;
    identity.api = environment.is_es ? HOB_GRAPHICS_API_OPENGL_ES : HOB_GRAPHICS_API_OPENGL;
    identity.vendor = text(environment.vendor);
    identity.device = text(environment.device);
    identity.driver = text(environment.driver);
    identity.build = HOB_STR("program_cache_gl 1"); // a host that changes its shaders' meaning changes this

    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    desc.directory = text(directory);
    desc.environment = &identity;
    desc.memory_limit = memory_limit;
    desc.disk_limit = disk_limit;
    check(hob_program_cache_create(&desc, &handle->cache));
}

Cache::~Cache() = default;

void Cache::load() { check(hob_program_cache_wait_idle(handle->cache, patience_us)); }

Key Cache::key_of(const Program& program) const {
    const hob_program_stage stages[] = {
        {HOB_SHADER_STAGE_VERTEX, 0, program.vertex.data(), program.vertex.size()},
        {HOB_SHADER_STAGE_FRAGMENT, 0, program.fragment.data(), program.fragment.size()},
    };
    hob_program_key_desc desc = HOB_PROGRAM_KEY_DESC_INIT;
    desc.stages = stages;
    desc.stage_stride = sizeof stages[0];
    desc.stage_count = 2;
    hob_fingerprint print;
    check(hob_fingerprint_program(&desc, &print));
    Key key;
    std::copy(std::begin(print.bytes), std::end(print.bytes), key.bytes.begin());
    return key;
}

Answer Cache::use(const Key& key, const std::function<bool(const Binary&)>& driver_takes) {
    hob_blob blob = HOB_BLOB_INIT;
    const hob_result found = hob_program_cache_get(handle->cache, &fingerprint(key), &blob);
    if (found == HOB_RESULT_NOT_FOUND) return Answer::miss;
    if (found == HOB_RESULT_UNSUPPORTED) return Answer::banned;
    check(found);
    const BlobRelease release{blob};
    hob_use use = {};
    const hob_result begun = hob_program_cache_use_begin(handle->cache, &fingerprint(key), &use);
    if (begun == HOB_RESULT_UNSUPPORTED) return Answer::banned;
    check(begun);
    const bool taken = driver_takes({blob.format, blob.data, blob.size, blob.reflection, blob.reflection_size});
    check(hob_program_cache_use_end(handle->cache, use, taken ? HOB_USE_OUTCOME_OK : HOB_USE_OUTCOME_REJECTED));
    return taken ? Answer::hit : Answer::rejected;
}

void Cache::put(const Key& key, const Binary& binary, std::uint64_t build_us) {
    hob_program program = HOB_PROGRAM_INIT;
    program.format = binary.format;
    program.data = binary.data;
    program.size = binary.size;
    program.reflection = binary.reflection;
    program.reflection_size = binary.reflection_size;
    program.build_us = build_us;
    check(hob_program_cache_put(handle->cache, &fingerprint(key), &program));
}

void Cache::flush() { check(hob_program_cache_flush(handle->cache, patience_us)); }

void Cache::bind_egl() { check(hob_program_cache_bind_egl(handle->cache)); }
const example::EglSetBlob Cache::egl_set = hob_egl_blob_set;
const example::EglGetBlob Cache::egl_get = hob_egl_blob_get;

} // namespace program_cache_gl
