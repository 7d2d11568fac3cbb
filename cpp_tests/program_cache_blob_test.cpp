// program_cache.h, the functions with signatures of other libraries, and hobgoblin_skia.hpp.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <hobgoblin/hobgoblin_skia.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "program_cache_support.h"

using namespace support;

namespace {

// Dawn's webgpu.h, from 2022 on: the function types of WGPUDawnCacheDeviceDescriptor, which also has functionUserdata.
typedef size_t (*WGPUDawnLoadCacheDataFunction)(void const* key, size_t keySize, void* value, size_t valueSize,
                                                void* userdata);
typedef void (*WGPUDawnStoreCacheDataFunction)(void const* key, size_t keySize, void const* value, size_t valueSize,
                                               void* userdata);
static_assert(std::is_same<decltype(&hob_dawn_blob_load), WGPUDawnLoadCacheDataFunction>::value,
              "the function has the type that Dawn declares");
static_assert(std::is_same<decltype(&hob_dawn_blob_store), WGPUDawnStoreCacheDataFunction>::value,
              "the function has the type that Dawn declares");

// EGL_ANDROID_blob_cache: EGLsizeiANDROID is khronos_ssize_t, which is a long except on 64-bit Windows.
#ifdef _WIN64
typedef signed long long int EGLsizeiANDROID;
#else
typedef signed long int EGLsizeiANDROID;
#endif
typedef void (*EGLSetBlobFuncANDROID)(const void* key, EGLsizeiANDROID keySize, const void* value,
                                      EGLsizeiANDROID valueSize);
typedef EGLsizeiANDROID (*EGLGetBlobFuncANDROID)(const void* key, EGLsizeiANDROID keySize, void* value,
                                                 EGLsizeiANDROID valueSize);
static_assert(std::is_same<decltype(&hob_egl_blob_set), EGLSetBlobFuncANDROID>::value, "the function has the type that EGL declares");
static_assert(std::is_same<decltype(&hob_egl_blob_get), EGLGetBlobFuncANDROID>::value, "the function has the type that EGL declares");

// Skia's declaration of GrContextOptions::PersistentCache, and the parts of its types that hobgoblin_skia.hpp uses.
struct SkString {};
template <class T> using sk_sp = std::shared_ptr<T>;
class SkData {
public:
    static sk_sp<SkData> MakeUninitialized(size_t size) {
        return std::make_shared<SkData>(std::string(size, '?'));
    }
    explicit SkData(std::string bytes) : bytes_(std::move(bytes)) {}
    const void* data() const { return bytes_.data(); }
    void* writable_data() { return &bytes_[0]; }
    size_t size() const { return bytes_.size(); }
    bool equals(std::string_view text) const { return bytes_ == text; }

private:
    std::string bytes_;
};
struct GrContextOptions {
    class PersistentCache {
    public:
        virtual ~PersistentCache() = default;
        virtual sk_sp<SkData> load(const SkData& key) = 0;
        virtual void store(const SkData&, const SkData&) { std::abort(); }
        virtual void store(const SkData& key, const SkData& data, const SkString&) { store(key, data); }

    protected:
        PersistentCache() = default;
        PersistentCache(const PersistentCache&) = delete;
        PersistentCache& operator=(const PersistentCache&) = delete;
    };
};
using SkiaCache = hob::SkiaCache<GrContextOptions::PersistentCache, SkData, SkString>;

Cache limited(uint64_t memory_limit = uint64_t{1} << 20, const std::string& directory = {}) {
    hob_program_cache_desc desc = desc_of(directory);
    desc.memory_limit = memory_limit;
    return opened(desc);
}

void store(const Cache& cache, std::string_view key, std::string_view value) {
    hob_dawn_blob_store(key.data(), key.size(), value.data(), value.size(), cache.get());
}

size_t size_of(const Cache& cache, std::string_view key) {
    return hob_dawn_blob_load(key.data(), key.size(), nullptr, 0, cache.get());
}

/// The bytes that a get copies into `room` bytes.
std::string copy_of(const Cache& cache, std::string_view key, size_t room) {
    std::string value(room + 1, '#');
    const size_t size = hob_dawn_blob_load(key.data(), key.size(), &value[0], room, cache.get());
    ENSURE(size <= room);
    ENSURE(value.substr(size) == std::string(room + 1 - size, '#'));
    return value.substr(0, size);
}

} // namespace

TEST("program_cache: blob functions with user data serve a renderer's blob cache") {
    const Cache cache = limited();
    store(cache, "key", "value");
    ENSURE(size_of(cache, "key") == 5);
    ENSURE(copy_of(cache, "key", 5) == "value");
    ENSURE(copy_of(cache, "key", 16) == "value");
    ENSURE(size_of(cache, "ke") == 0);
    ENSURE(copy_of(cache, "ke", 16).empty());
    store(cache, "key", "another");
    ENSURE(copy_of(cache, "key", 16) == "another");
    store(cache, "", "of no key");
    ENSURE(copy_of(cache, "", 16) == "of no key");
}

TEST("program_cache: a blob larger than the buffer is a miss and the buffer is unchanged") {
    const Cache cache = limited();
    store(cache, "key", "value");
    ENSURE(copy_of(cache, "key", 4).empty());
    ENSURE(size_of(cache, "key") == 5);
    ENSURE(copy_of(cache, "key", 4).empty());
}

TEST("program_cache: a measured blob stays pinned until it is fetched") {
    const Cache cache = limited(100);
    store(cache, "one", std::string(40, '1'));
    ENSURE(size_of(cache, "one") == 40);
    store(cache, "two", std::string(40, '2')); // with its key, only one of them fits
    ENSURE(copy_of(cache, "one", 40) == std::string(40, '1'));
    ENSURE(copy_of(cache, "one", 40).empty());

    ENSURE(size_of(cache, "two") == 40);
    ENSURE(size_of(cache, "two") == 40); // measuring again keeps the same blob
    ENSURE(copy_of(cache, "two", 64) == std::string(40, '2'));
}

/// The bytes that a copy into a buffer of '#' leaves there.
std::string left_by(const Cache& cache, std::string_view key, size_t room, size_t expected_size) {
    std::string value(room, '#');
    ENSURE(hob_dawn_blob_load(key.data(), key.size(), &value[0], room, cache.get()) == expected_size);
    return value;
}

TEST("program_cache: a blob that was measured before a store, removal or clear is not served afterwards") {
    const Cache cache = limited();
    const auto measured = [&] {
        store(cache, "key", "old");
        ENSURE(size_of(cache, "key") == 3);
    };
    measured();
    store(cache, "key", "new");
    ENSURE(left_by(cache, "key", 3, 3) == "new");
    measured();
    store(cache, "key", "longer");
    ENSURE(left_by(cache, "key", 3, 0) == std::string(3, '\0')); // a renderer that ignores the 0 finds zeros
    measured();
    store(cache, "key", "x");
    ENSURE(left_by(cache, "key", 3, 0) == std::string(3, '\0'));
    ENSURE(left_by(cache, "key", 3, 1) == "x##"); // that answer was for the measurement alone
    measured();
    ENSURE_OK(hob_program_cache_clear(cache.get(), 0));
    ENSURE(left_by(cache, "key", 3, 0) == std::string(3, '\0'));
    measured();
    std::thread([&] { store(cache, "key", "longer"); }).join();
    ENSURE(left_by(cache, "key", 3, 0) == std::string(3, '\0'));
    measured();
    store(cache, "another key", "value");
    ENSURE(left_by(cache, "key", 3, 3) == "old");
}

TEST("program_cache: measured blobs count as memory and yield to memory pressure") {
    const Cache cache = limited(100);
    const auto used = [&] {
        hob_program_cache_statistics statistics = HOB_PROGRAM_CACHE_STATISTICS_INIT;
        ENSURE_OK(hob_program_cache_get_statistics(cache.get(), &statistics));
        return statistics.memory_used;
    };
    for (const hob_memory_pressure pressure :
         {HOB_MEMORY_PRESSURE_NONE, HOB_MEMORY_PRESSURE_MODERATE, HOB_MEMORY_PRESSURE_CRITICAL}) {
        store(cache, "one", std::string(40, '1'));
        const uint64_t before = used();
        ENSURE(size_of(cache, "one") == 40);
        ENSURE(used() == before); // memory counts it already
        store(cache, "two", std::string(40, '2')); // evicts "one", which stays for this thread
        ENSURE(used() >= before + 40);
        ENSURE_OK(hob_program_cache_report_memory_pressure(cache.get(), pressure));
        const bool is_kept = pressure == HOB_MEMORY_PRESSURE_NONE;
        ENSURE(left_by(cache, "one", 40, is_kept ? 40 : 0) == std::string(40, is_kept ? '1' : '\0'));
        ENSURE_OK(hob_program_cache_report_memory_pressure(cache.get(), HOB_MEMORY_PRESSURE_NONE));
    }
}

TEST("program_cache: measured blobs that are never fetched evict no other value") {
    const Cache one = limited(), two = limited();
    for (int i = 0; i < 100; ++i) {
        const std::string name = std::to_string(i);
        store(one, name, "of one " + name);
        store(two, name, "of two " + name);
        ENSURE(size_of(one, name) == 7 + name.size());
        ENSURE(size_of(two, name) == 7 + name.size());
    }
    for (int i = 0; i < 100; ++i) {
        const std::string name = std::to_string(i);
        ENSURE(copy_of(one, name, 16) == "of one " + name);
        ENSURE(copy_of(two, name, 16) == "of two " + name);
    }
}

TEST("program_cache: threads that fetch concurrently replaced blobs get whole values") {
    const Cache cache = limited();
    std::atomic<bool> stop{false};
    std::atomic<int> torn{0};
    store(cache, "key", "x");
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i)
        readers.emplace_back([&] {
            while (!stop) {
                const size_t size = size_of(cache, "key");
                std::string value(size, '#');
                const size_t got = hob_dawn_blob_load("key", 3, &value[0], size, cache.get());
                // 0: it was replaced since by a value of another size.
                const std::string whole(size, got == 0 ? '\0' : value[0]);
                if (size == 0 || (got != 0 && got != size) || value[0] == '#' || value != whole) ++torn;
                std::this_thread::yield();
            }
        });
    const int stores = harness::scaled(20000);
    for (int i = 0; i < stores; ++i)
        store(cache, "key", std::string(static_cast<size_t>(1 + i % 37), static_cast<char>('a' + i % 26)));
    stop = true;
    for (std::thread& reader : readers) reader.join();
    ENSURE(torn == 0);
}

TEST("program_cache: invalid blob calls are misses") {
    const Cache cache = limited();
    char value[16];
    hob_dawn_blob_store(nullptr, 3, "value", 5, cache.get());
    hob_dawn_blob_store("key", 3, nullptr, 5, cache.get());
    hob_dawn_blob_store("key", 3, "value", SIZE_MAX, cache.get());
    hob_dawn_blob_store("key", 3, "value", 5, nullptr);
    ENSURE(hob_dawn_blob_load("key", 3, value, 16, cache.get()) == 0);
    ENSURE(hob_dawn_blob_load(nullptr, 3, value, 16, cache.get()) == 0);
    ENSURE(hob_dawn_blob_load("key", 3, value, 16, nullptr) == 0);
    ENSURE(hob_dawn_blob_load("key", 3, nullptr, 16, cache.get()) == 0);
    store(cache, "key", std::string(2 << 20, '.')); // more than the cache may hold
    ENSURE(size_of(cache, "key") == 0);
}

TEST("program_cache: EGL_ANDROID_blob_cache blobs persist to the next process") {
    const Directory directory;
    char value[16] = "untouched";
    {
        const Cache cache = limited(1 << 20, directory.inside("cache"));
        hob_egl_blob_set("unbound", 7, "x", 1);
        ENSURE_OK(hob_program_cache_bind_egl(cache.get()));
        hob_egl_blob_set("egl", 3, "blob", 4);
        hob_egl_blob_set("egl", -3, "blob", 4);
        hob_egl_blob_set("egl", 3, nullptr, 4);
        hob_egl_blob_set("egl", 3, "blob", -4);
        ENSURE(hob_egl_blob_get("egl", 3, nullptr, 0) == 4);
        ENSURE(hob_egl_blob_get("egl", 3, value, 0) == 4);
        ENSURE(hob_egl_blob_get("egl", 3, value, -1) == 4);
        ENSURE(hob_egl_blob_get("egl", 3, value, 3) == 0);
        ENSURE(hob_egl_blob_get("egl", -3, value, 16) == 0);
        ENSURE(std::string_view(value) == "untouched");
    }
    ENSURE(hob_egl_blob_get("egl", 3, value, 16) == 0); // destroying the cache removed the binding
    {
        const Cache cache = limited(1 << 20, directory.inside("cache"));
        ENSURE_OK(hob_program_cache_bind_egl(cache.get()));
        ENSURE(hob_egl_blob_get("egl", 3, value, 16) == 4 && std::memcmp(value, "blob", 4) == 0);
        ENSURE(hob_egl_blob_get("unbound", 7, value, 16) == 0);
        ENSURE_OK(hob_program_cache_bind_egl(nullptr));
        ENSURE(hob_egl_blob_get("egl", 3, value, 16) == 0);
        ENSURE(copy_of(cache, "egl", 4) == "blob");
    }
}

TEST("program_cache: Skia's persistent cache stores its shaders") {
    const Cache cache = limited();
    SkiaCache shaders(cache.get());
    GrContextOptions::PersistentCache& skia = shaders;
    ENSURE(skia.load(SkData("key")) == nullptr);
    skia.store(SkData("key"), SkData("shader"), SkString());
    const sk_sp<SkData> found = skia.load(SkData("key"));
    ENSURE(found != nullptr && found->equals("shader"));
    ENSURE(skia.load(SkData("other")) == nullptr);
}

TEST("program_cache: EGL gets no blob that was measured before a store or a clear") {
    const Cache cache = limited();
    ENSURE_OK(hob_program_cache_bind_egl(cache.get()));
    const auto measured = [] {
        hob_egl_blob_set("egl", 3, "first", 5);
        return hob_egl_blob_get("egl", 3, nullptr, 0) == 5;
    };
    char value[8] = "#######";
    ENSURE(measured());
    hob_egl_blob_set("egl", 3, "other", 5);
    ENSURE(hob_egl_blob_get("egl", 3, value, 5) == 5 && std::memcmp(value, "other##", 8) == 0);
    ENSURE(measured());
    hob_egl_blob_set("egl", 3, "longer", 6);
    ENSURE(hob_egl_blob_get("egl", 3, value, 5) == 0 && std::memcmp(value, "\0\0\0\0\0##", 8) == 0);
    ENSURE(measured());
    ENSURE_OK(hob_program_cache_clear(cache.get(), 0));
    std::memset(value, '#', 7);
    ENSURE(hob_egl_blob_get("egl", 3, value, 5) == 0 && std::memcmp(value, "\0\0\0\0\0##", 8) == 0);
    ENSURE_OK(hob_program_cache_bind_egl(nullptr));
}
