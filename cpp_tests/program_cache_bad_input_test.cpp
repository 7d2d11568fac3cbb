// Invalid input for the reports of program caches, for bundles, and for managers.
#include <cstdint>
#include <string>

#include "program_cache_support.h"

using namespace support;

namespace {

constexpr hob_result invalid = HOB_RESULT_INVALID_ARGUMENT;
constexpr uint32_t huge = UINT32_MAX;
constexpr hob_program_cache_measure first = HOB_PROGRAM_CACHE_MEASURE_BINARY_BYTES;

/// Readable memory that is not a handle.
template <class Handle>
Handle* garbage() {
    static const uint64_t bytes[64] = {0x1234567890abcdef};
    return const_cast<Handle*>(reinterpret_cast<const Handle*>(bytes));
}

void refuses(hob_result result, hob_result expected, const char* part) {
    ENSURE(result == expected);
    ENSURE(last_error_has(part));
}

/// A manager whose driver is never called.
struct Manager {
    explicit Manager(const hob_program_cache* cache) {
        hob_program_callbacks driver = HOB_PROGRAM_CALLBACKS_INIT;
        driver.compile = [](void*, void*, uint32_t, const void*, size_t) -> uint32_t { return 0; };
        driver.link = [](void*, void*) -> uint32_t { return 0; };
        driver.load = [](void*, void*, const hob_blob*) -> uint32_t { return 0; };
        ENSURE_OK(hob_program_manager_create(cache, &driver, &manager));
    }
    Manager(const Manager&) = delete;
    ~Manager() { hob_program_manager_destroy(manager); }
    hob_program_manager* manager = nullptr;
};

}  // namespace

TEST("bad_input: invalid program caches are rejected") {
    hob_program_cache* const destroyed = [] {
        hob_program_cache* cache = nullptr;
        ENSURE_OK(hob_program_cache_create(nullptr, &cache));
        return cache;
    }();
    const Cache alive(destroyed);
    hob_program_cache_statistics statistics = HOB_PROGRAM_CACHE_STATISTICS_INIT;
    hob_histogram histogram = HOB_HISTOGRAM_INIT;
    hob_program_miss miss = HOB_PROGRAM_MISS_INIT;
    hob_program_key_desc desc = HOB_PROGRAM_KEY_DESC_INIT;
    const hob_fingerprint name = {};
    size_t count = 77;
    uint32_t number = 77;
    for (hob_program_cache* bad : {static_cast<hob_program_cache*>(nullptr), garbage<hob_program_cache>()}) {
        const char* const part = "hob_program_cache";
        refuses(hob_program_cache_get_statistics(bad, &statistics), invalid, part);
        refuses(hob_program_cache_get_histogram(bad, first, &histogram), invalid, part);
        refuses(hob_program_cache_get_histogram_buckets(bad, first, nullptr, 0, 0, &count), invalid, part);
        refuses(hob_program_cache_add_measurement(bad, first, 1), invalid, part);
        refuses(hob_program_cache_describe(bad, nullptr, &desc), invalid, part);
        refuses(hob_program_cache_explain_miss(bad, &desc, &miss), invalid, part);
        refuses(hob_program_cache_add_bundle(bad, HOB_STR("x")), invalid, part);
        refuses(hob_program_cache_add_bundle_bytes(bad, "x", 1), invalid, part);
        refuses(hob_program_cache_write_bundle(bad, HOB_STR("x"), HOB_BUNDLE_CONTENTS_ALL, nullptr), invalid, part);
        refuses(hob_program_cache_set_memory_limit(bad, 1), invalid, part);
        refuses(hob_program_cache_set_disk_limit(bad, 1), invalid, part);
        refuses(hob_program_cache_get_shader_program_count(bad, &name, &number), invalid, part);
        refuses(hob_program_cache_get_program_status(bad, &name, &number), invalid, part);
    }
    ENSURE(count == 77 && number == 77);
}

TEST("bad_input: invalid program cache calls are rejected") {
    const Cache cache = open(desc_of(""));
    hob_histogram histogram = HOB_HISTOGRAM_INIT;
    hob_histogram_bucket bucket = {7, 7, 7};
    const hob_fingerprint name = {};
    size_t count = 77;
    uint32_t number = 77;
    for (const hob_program_cache_measure bad :
         {unchecked<hob_program_cache_measure>(7), unchecked<hob_program_cache_measure>(huge)}) {
        refuses(hob_program_cache_get_histogram(cache.get(), bad, &histogram), invalid, "measure");
        refuses(hob_program_cache_get_histogram_buckets(cache.get(), bad, nullptr, 0, 0, &count), invalid, "measure");
        refuses(hob_program_cache_add_measurement(cache.get(), bad, 1), invalid, "measure");
    }
    refuses(hob_program_cache_get_statistics(cache.get(), nullptr), invalid, "out_statistics is NULL");
    refuses(hob_program_cache_get_histogram(cache.get(), first, nullptr), invalid, "out_histogram is NULL");
    refuses(hob_program_cache_get_histogram_buckets(cache.get(), first, nullptr, 0, 0, nullptr), invalid, "both NULL");
    refuses(hob_program_cache_get_histogram_buckets(cache.get(), first, &bucket, 8, 1, &count), invalid, "stride of buckets");
    ENSURE(bucket.minimum == 7 && count == 77);
    refuses(hob_program_cache_get_shader_program_count(cache.get(), nullptr, &number), invalid, "shader is NULL");
    refuses(hob_program_cache_get_shader_program_count(cache.get(), &name, nullptr), invalid, "out_count");
    refuses(hob_program_cache_get_program_status(cache.get(), nullptr, &number), invalid, "key is NULL");
    refuses(hob_program_cache_get_program_status(cache.get(), &name, nullptr), invalid, "out_is_known");
    ENSURE(number == 77);
    hob_program program = HOB_PROGRAM_INIT;
    program.reserved = 1;
    refuses(hob_program_cache_put(cache.get(), &name, &program), HOB_RESULT_UNSUPPORTED, "hob_program.reserved is not 0");
    ENSURE(support::statistics(cache.get()).puts == 0);

    hob_program_cache_desc described = desc_of("");
    described.described_keys = 2;
    const Cache describing = open(described);
    hob_program_key_desc desc = HOB_PROGRAM_KEY_DESC_INIT;
    hob_program_miss miss = HOB_PROGRAM_MISS_INIT;
    refuses(hob_program_cache_describe(describing.get(), nullptr, nullptr), invalid, "desc is NULL");
    refuses(hob_program_cache_describe(describing.get(), nullptr, &desc), invalid, "no stage");
    refuses(hob_program_cache_explain_miss(describing.get(), nullptr, &miss), invalid, "desc is NULL");
    refuses(hob_program_cache_explain_miss(describing.get(), &desc, nullptr), invalid, "out_miss is NULL");
    desc.stage_count = 1;
    refuses(hob_program_cache_explain_miss(describing.get(), &desc, &miss), invalid, "NULL");
    desc.stage_count = 1025;
    refuses(hob_program_cache_describe(describing.get(), &name, &desc), HOB_RESULT_LIMIT_EXCEEDED, "1024");
}

TEST("bad_input: invalid bundles are rejected") {
    const Cache cache = open(desc_of(""));
    refuses(hob_program_cache_add_bundle(cache.get(), HOB_STR("")), invalid, "path is empty");
    refuses(hob_program_cache_add_bundle(cache.get(), HOB_STR("a\0b")), invalid, "NUL");
    refuses(hob_program_cache_add_bundle(cache.get(), hob_str_of(nullptr, 5)), invalid, "path");
    refuses(hob_program_cache_add_bundle(cache.get(), HOB_STR("/no/such/file")), HOB_RESULT_IO, "/no/such/file");
    refuses(hob_program_cache_add_bundle_bytes(cache.get(), nullptr, 5), invalid, "data");
    refuses(hob_program_cache_add_bundle_bytes(cache.get(), nullptr, 0), HOB_RESULT_MALFORMED, "invalid bundle");
    refuses(hob_program_cache_add_bundle_bytes(cache.get(), "x", SIZE_MAX), invalid, "impossible");
    ENSURE_OK(put(cache.get(), "a", "b"));
    for (const uint32_t bad : {2u, huge})
        refuses(hob_program_cache_write_bundle(cache.get(), HOB_STR("x"), unchecked<hob_bundle_contents>(bad), nullptr),
                invalid, "hob_bundle_contents");
    refuses(hob_program_cache_write_bundle(cache.get(), HOB_STR(""), HOB_BUNDLE_CONTENTS_ALL, nullptr), invalid, "path is empty");
    refuses(hob_program_cache_write_bundle(cache.get(), HOB_STR("."), HOB_BUNDLE_CONTENTS_ALL, nullptr), HOB_RESULT_IO, "write");
}

TEST("bad_input: invalid managers are rejected") {
    const Cache cache = open(desc_of(""));
    const Manager owner(cache.get());
    hob_program_manager* made = nullptr;
    hob_program_callbacks driver = HOB_PROGRAM_CALLBACKS_INIT;
    refuses(hob_program_manager_create(cache.get(), nullptr, &made), invalid, "callbacks is NULL");
    refuses(hob_program_manager_create(cache.get(), &driver, nullptr), invalid, "out_manager");
    refuses(hob_program_manager_create(cache.get(), &driver, &made), invalid, "compile, link and load");
    refuses(hob_program_manager_create(garbage<hob_program_cache>(), &driver, &made), invalid, "");
    ENSURE(made == nullptr);

    hob_shader_id shader = {7, 7};
    hob_program_link_desc desc = HOB_PROGRAM_LINK_DESC_INIT;
    hob_link_result linked = HOB_LINK_RESULT_INIT;
    for (hob_program_manager* bad : {static_cast<hob_program_manager*>(nullptr), garbage<hob_program_manager>()}) {
        const char* const part = "hob_program_manager";
        refuses(hob_program_manager_add_shader(bad, 0, nullptr, &shader), invalid, part);
        refuses(hob_program_manager_remove_shader(bad, shader), invalid, part);
        refuses(hob_program_manager_set_source(bad, shader, "x", 1), invalid, part);
        refuses(hob_program_manager_compile(bad, shader, nullptr, nullptr), invalid, part);
        refuses(hob_program_manager_link(bad, &desc, &linked), invalid, part);
        hob_program_manager_destroy(bad);
        ENSURE(hob_program_manager_last_error(bad) != nullptr);
    }
    hob_program_manager* const manager = owner.manager;
    refuses(hob_program_manager_add_shader(manager, 14, nullptr, &shader), invalid, "stage 14");
    refuses(hob_program_manager_add_shader(manager, 0, nullptr, nullptr), invalid, "out_shader");
    ENSURE(shader.index1 == 7);
    ENSURE_OK(hob_program_manager_add_shader(manager, HOB_SHADER_STAGE_USER, nullptr, &shader));
    refuses(hob_program_manager_set_source(manager, shader, nullptr, 1), invalid, "source");
    refuses(hob_program_manager_set_source(manager, shader, "x", SIZE_MAX), invalid, "source");
    ENSURE_OK(hob_program_manager_set_source(manager, shader, nullptr, 0));
    refuses(hob_program_manager_link(manager, nullptr, &linked), invalid, "desc is NULL");
    refuses(hob_program_manager_link(manager, &desc, nullptr), invalid, "out_result is NULL");
    refuses(hob_program_manager_link(manager, &desc, &linked), invalid, "no shader");
    desc.shader_count = 1;
    refuses(hob_program_manager_link(manager, &desc, &linked), invalid, "NULL");
    desc.shader_count = SIZE_MAX;
    desc.shaders = &shader;
    refuses(hob_program_manager_link(manager, &desc, &linked), invalid, "address space");
    desc.shader_count = 1;
    refuses(hob_program_manager_link(manager, &desc, &linked), invalid, "shader 0 is not compiled");
    ENSURE_OK(hob_program_manager_compile(manager, shader, nullptr, nullptr));
    hob_program_key_desc key = HOB_PROGRAM_KEY_DESC_INIT;
    key.mode = unchecked<hob_fingerprint_mode>(9);
    desc.key = &key;
    refuses(hob_program_manager_link(manager, &desc, &linked), invalid, "mode 9");
    key.mode = HOB_FINGERPRINT_MODE_SHA1;
    refuses(hob_program_manager_link(manager, &desc, &linked), HOB_RESULT_UNSUPPORTED, "SHA-1");
    desc.key = nullptr;
    ENSURE_OK(hob_program_manager_link(manager, &desc, &linked));
    ENSURE(linked.outcome == HOB_LINK_OUTCOME_BUILT_UNSAVED);
}
