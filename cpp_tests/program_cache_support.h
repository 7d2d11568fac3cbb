// Helpers of the program cache tests: owners, short forms of put and get, a directory. MIT OR Apache-2.0.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support.h"

namespace support {

constexpr uint64_t forever = UINT64_MAX;

/// A value that the header's enum may not have, as from a host of another version.
template <class Enum>
Enum unchecked(uint32_t number) {
    static_assert(sizeof(Enum) == sizeof number);
    Enum value;
    std::memcpy(&value, &number, sizeof value);
    return value;
}

struct DestroyCache {
    void operator()(hob_program_cache* cache) const { hob_program_cache_destroy(cache); }
};
using Cache = std::unique_ptr<hob_program_cache, DestroyCache>;

/// A directory that is removed with the test.
class Directory {
public:
    Directory() {
        path_ = scratch_file("program-cache-XXXXXX");
        ENSURE(mkdtemp(&path_[0]) != nullptr);
    }
    ~Directory() {
        const std::string command = "rm -rf '" + path_ + "'";
        if (std::system(command.c_str()) != 0) std::abort();
    }
    std::string inside(const char* name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

inline hob_fingerprint key(std::string_view name) {
    hob_fingerprint fingerprint = {};
    ENSURE_OK(hob_fingerprint_hash_bytes(name.data(), name.size(), &fingerprint));
    return fingerprint;
}

inline hob_environment environment_of(std::string_view driver) {
    hob_environment environment = HOB_ENVIRONMENT_INIT;
    environment.driver = str(driver);
    return environment;
}

inline hob_program_cache_desc desc_of(const std::string& directory) {
    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    desc.directory = str(directory);
    return desc;
}

inline Cache open(const hob_program_cache_desc& desc) {
    hob_program_cache* cache = nullptr;
    ENSURE_OK(hob_program_cache_create(&desc, &cache));
    return Cache(cache);
}

/// Opens a cache and waits until all is loaded.
inline Cache opened(const hob_program_cache_desc& desc) {
    Cache cache = open(desc);
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    return cache;
}

inline hob_result put(hob_program_cache* cache, std::string_view name, std::string_view data, uint64_t build_us = 1000) {
    hob_program program = HOB_PROGRAM_INIT;
    program.format = 7;
    program.data = data.data();
    program.size = data.size();
    program.reflection = "map";
    program.reflection_size = 3;
    program.build_us = build_us;
    const hob_fingerprint fingerprint = key(name);
    return hob_program_cache_put(cache, &fingerprint, &program);
}

struct Blob {
    hob_blob view = HOB_BLOB_INIT;
    Blob() = default;
    Blob(const Blob&) = delete;
    ~Blob() { hob_blob_release(&view); }
    std::string_view data() const { return {static_cast<const char*>(view.data), view.size}; }
};

inline hob_result get(const hob_program_cache* cache, std::string_view name, Blob& blob) {
    const hob_fingerprint fingerprint = key(name);
    return hob_program_cache_get(cache, &fingerprint, &blob.view);
}

inline std::string data_of(const hob_program_cache* cache, std::string_view name) {
    Blob blob;
    return get(cache, name, blob) == HOB_RESULT_OK ? std::string(blob.data()) : std::string("(none)");
}

inline std::string trouble(const hob_program_cache* cache) {
    size_t size = 0;
    ENSURE_OK(hob_program_cache_get_problem(cache, nullptr, 0, &size));
    std::string sentence(size, '\0');
    ENSURE_OK(hob_program_cache_get_problem(cache, sentence.data(), sentence.size(), &size));
    return sentence;
}

inline hob_program_cache_statistics statistics(const hob_program_cache* cache) {
    hob_program_cache_statistics found = HOB_PROGRAM_CACHE_STATISTICS_INIT;
    ENSURE_OK(hob_program_cache_get_statistics(cache, &found));
    return found;
}

inline hob_histogram histogram(const hob_program_cache* cache, hob_program_cache_measure measure) {
    hob_histogram found = HOB_HISTOGRAM_INIT;
    ENSURE_OK(hob_program_cache_get_histogram(cache, measure, &found));
    return found;
}

inline std::string report(const hob_program_cache* cache) {
    size_t size = 0;
    ENSURE_OK(hob_program_cache_get_report(cache, nullptr, 0, &size));
    std::string json(size, '\0');
    ENSURE_OK(hob_program_cache_get_report(cache, json.data(), json.size(), &size));
    return json;
}

/// Whether a shader, or a program, is known.
///
/// The query does not count as a use.
inline bool knows_shader(const hob_program_cache* cache, std::string_view name) {
    const hob_fingerprint fingerprint = key(name);
    uint32_t known = 99;
    ENSURE_OK(hob_program_cache_get_shader_status(cache, &fingerprint, &known));
    return known == 1;
}
inline bool knows_program(const hob_program_cache* cache, std::string_view name) {
    const hob_fingerprint fingerprint = key(name);
    uint32_t known = 99;
    ENSURE_OK(hob_program_cache_get_program_status(cache, &fingerprint, &known));
    return known == 1;
}

}  // namespace support
