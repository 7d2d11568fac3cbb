// program_cache.h: a manager between a host and its driver: its calls to the driver and to the cache.
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "program_cache_support.h"

using namespace support;

namespace {

constexpr uint32_t vs = HOB_SHADER_STAGE_VERTEX, fs = HOB_SHADER_STAGE_FRAGMENT;

/// A driver that refuses sources with "bad", and logs its calls.
struct FakeDriver {
    std::vector<std::string> log;
    std::map<uint32_t, std::string> compiled;
    std::string linked;
    bool refuses_binaries = false, refuses_links = false, has_no_binaries = false;
    int releases = 0;
    /// Called inside a callback.
    std::function<void()> inside;

    static FakeDriver& of(void* user_data) { return *static_cast<FakeDriver*>(user_data); }
    void note(std::string what) {
        log.push_back(std::move(what));
        if (inside) inside();
    }
    static uint32_t compile(void* user_data, void* shader, uint32_t stage, const void* source, size_t size) {
        FakeDriver& driver = of(user_data);
        const std::string text(static_cast<const char*>(source), size);
        driver.note("compile " + text);
        EXPECT(shader == reinterpret_cast<void*>(uintptr_t{100} + stage));
        if (text.find("bad") != std::string::npos) return 7;
        driver.compiled[stage] = text;
        return 0;
    }
    static uint32_t link(void* user_data, void* program) {
        FakeDriver& driver = of(user_data);
        driver.note("link");
        EXPECT(program == &driver);
        return driver.refuses_links ? 8 : 0;
    }
    static uint32_t load(void* user_data, void* program, const hob_blob* blob) {
        FakeDriver& driver = of(user_data);
        driver.note("load " + std::string(static_cast<const char*>(blob->data), blob->size));
        EXPECT(program == &driver && blob->format == 5 && blob->pin == nullptr);
        return driver.refuses_binaries ? 9 : 0;
    }
    static uint32_t binary(void* user_data, void*, hob_program* binary) {
        FakeDriver& driver = of(user_data);
        if (driver.has_no_binaries) return 1;
        driver.linked.clear();
        for (const auto& [stage, source] : driver.compiled) driver.linked += (driver.linked.empty() ? "" : "+") + source;
        binary->format = 5;
        binary->data = driver.linked.data();
        binary->size = driver.linked.size();
        return 0;
    }
    static void release(void* user_data) { ++of(user_data).releases; }

    hob_program_callbacks desc() {
        hob_program_callbacks driver = HOB_PROGRAM_CALLBACKS_INIT;
        driver.user_data = this;
        driver.compile = &compile;
        driver.link = &link;
        driver.load = &load;
        driver.get_binary = &binary;
        driver.release = &release;
        return driver;
    }
};

struct DestroyManager {
    void operator()(hob_program_manager* manager) const { hob_program_manager_destroy(manager); }
};

/// A manager with its own driver.
class Host {
public:
    explicit Host(const hob_program_cache* cache) {
        hob_program_manager* manager = nullptr;
        const hob_program_callbacks desc = driver.desc();
        ENSURE_OK(hob_program_manager_create(cache, &desc, &manager));
        manager_.reset(manager);
    }
    hob_program_manager* get() const { return manager_.get(); }
    void reset() { manager_.reset(); }

    hob_shader_id add(uint32_t stage, std::string_view source) const {
        hob_shader_id shader = {0, 0};
        ENSURE_OK(hob_program_manager_add_shader(get(), stage, reinterpret_cast<void*>(uintptr_t{100} + stage), &shader));
        set(shader, source);
        return shader;
    }
    void set(hob_shader_id shader, std::string_view source) const {
        ENSURE_OK(hob_program_manager_set_source(get(), shader, source.data(), source.size()));
    }
    hob_shader_state compile(hob_shader_id shader) const {
        hob_shader_state state = HOB_SHADER_STATE_NOT_COMPILED;
        uint32_t code = 99;
        ENSURE_OK(hob_program_manager_compile(get(), shader, &state, &code));
        ENSURE(code == 0);
        return state;
    }
    hob_result link(const std::vector<hob_shader_id>& shaders, hob_link_result& linked,
                    const hob_program_key_desc* key = nullptr) {
        hob_program_link_desc desc = HOB_PROGRAM_LINK_DESC_INIT;
        desc.program = &driver;
        desc.shaders = shaders.data();
        desc.shader_count = shaders.size();
        desc.key = key;
        linked = HOB_LINK_RESULT_INIT;
        return hob_program_manager_link(get(), &desc, &linked);
    }
    /// Compiles both shaders and links them.
    hob_result run(std::string_view vertex, std::string_view fragment, hob_link_result& linked,
                   const hob_program_key_desc* key = nullptr) {
        const std::vector<hob_shader_id> shaders = {add(vs, vertex), add(fs, fragment)};
        for (const hob_shader_id shader : shaders) (void)compile(shader);
        const hob_result result = link(shaders, linked, key);
        for (const hob_shader_id shader : shaders) ENSURE_OK(hob_program_manager_remove_shader(get(), shader));
        return result;
    }

    FakeDriver driver;

private:
    std::unique_ptr<hob_program_manager, DestroyManager> manager_;
};

using Log = std::vector<std::string>;

/// The calls to a driver that works.
Log asked(const hob_program_cache* cache, std::string_view vertex, std::string_view fragment,
          const hob_program_key_desc* key = nullptr) {
    Host host(cache);
    hob_link_result linked = HOB_LINK_RESULT_INIT;
    ENSURE_OK(host.run(vertex, fragment, linked, key));
    if (linked.outcome == HOB_LINK_OUTCOME_LOADED)
        ENSURE_OK(hob_program_cache_end_use(cache, linked.first_use, HOB_USE_OUTCOME_OK));
    return host.driver.log;
}

const Log built = {"compile vs", "compile fs", "link"};
const Log loaded = {"load vs+fs"};

uint64_t fake_now(void* user_data) {
    uint64_t& now = *static_cast<uint64_t*>(user_data);
    return now += 1000 * 10;  // every read of the clock takes 10 us
}

}  // namespace

TEST("program_cache: a manager records successful compiles only") {
    const Cache cache = open(desc_of(""));
    Host host(cache.get());
    const hob_shader_id good = host.add(vs, "vs"), bad = host.add(vs, "bad vs");
    ENSURE(host.compile(good) == HOB_SHADER_STATE_COMPILED && host.compile(good) == HOB_SHADER_STATE_DEFERRED);
    hob_shader_state state = HOB_SHADER_STATE_COMPILED;
    uint32_t code = 99;
    for (int n = 0; n < 2; ++n) {
        ENSURE(hob_program_manager_compile(host.get(), bad, &state, &code) == HOB_RESULT_BUILD_FAILED);
        ENSURE(state == HOB_SHADER_STATE_NOT_COMPILED && code == 7 && last_error_has("driver code 7"));
    }
    ENSURE((host.driver.log == Log{"compile vs", "compile bad vs", "compile bad vs"}));
    ENSURE(statistics(cache.get()).shaders == 1);
    ENSURE(std::strstr(hob_program_manager_last_error(host.get()), "driver code 7") != nullptr);
    // The same source in another stage is another shader.
    ENSURE(host.compile(host.add(fs, "vs")) == HOB_SHADER_STATE_COMPILED);
}

TEST("program_cache: a cached program is loaded without any compile or link, and not saved again") {
    const Cache cache = open(desc_of(""));
    ENSURE(asked(cache.get(), "vs", "fs") == built);
    ENSURE(asked(cache.get(), "vs", "fs") == loaded);
    ENSURE(statistics(cache.get()).puts == 1 && statistics(cache.get()).uses_open == 0);
}

TEST("program_cache: a program miss compiles only deferred shaders") {
    const Cache cache = open(desc_of(""));
    (void)asked(cache.get(), "vs", "fs");
    ENSURE((asked(cache.get(), "vs", "other fs") == Log{"compile other fs", "compile vs", "link"}));
    hob_program_key_desc key = HOB_PROGRAM_KEY_DESC_INIT;
    const hob_attribute_binding attribute = {HOB_STR("test"), 512, 0}, other = {HOB_STR("different!"), 59, 0};
    key.attributes = &attribute;
    key.attribute_count = 1;
    ENSURE(asked(cache.get(), "vs", "fs", &key) == built && asked(cache.get(), "vs", "fs", &key) == loaded);
    key.attributes = &other;
    ENSURE(asked(cache.get(), "vs", "fs", &key) == built);
    ENSURE(statistics(cache.get()).puts == 4);
}

TEST("program_cache: a rejected load compiles both shaders, links, and saves once") {
    const Cache cache = open(desc_of(""));
    (void)asked(cache.get(), "vs", "fs");
    Host host(cache.get());
    host.driver.refuses_binaries = true;
    hob_link_result linked = HOB_LINK_RESULT_INIT;
    ENSURE_OK(host.run("vs", "fs", linked));
    ENSURE(linked.outcome == HOB_LINK_OUTCOME_BUILT && linked.driver_code == 9 && linked.first_use.index1 == 0);
    ENSURE((host.driver.log == Log{"load vs+fs", "compile vs", "compile fs", "link"}));
    const hob_program_cache_statistics found = statistics(cache.get());
    ENSURE(found.puts == 2 && found.rejected == 1 && found.programs == 1 && found.uses_open == 0);
    ENSURE(asked(cache.get(), "vs", "fs") == loaded);
    ENSURE_OK(host.run("vs", "fs that nobody has seen", linked));
    ENSURE(linked.outcome == HOB_LINK_OUTCOME_BUILT && linked.driver_code == 0);
}

TEST("program_cache: a failed build after a rejected load returns its error and saves nothing") {
    const Cache cache = open(desc_of(""));
    (void)asked(cache.get(), "vs", "fs");
    {
        Host host(cache.get());
        host.driver.refuses_binaries = host.driver.refuses_links = true;
        hob_link_result linked = HOB_LINK_RESULT_INIT;
        ENSURE(host.run("vs", "fs", linked) == HOB_RESULT_BUILD_FAILED && last_error_has("driver code 8"));
        ENSURE(linked.outcome == HOB_LINK_OUTCOME_LINK_FAILED && linked.driver_code == 8);
    }
    ENSURE(statistics(cache.get()).puts == 1 && statistics(cache.get()).programs == 0);
    // An earlier driver accepted a shader that this one refuses. The deferred shader fails to compile.
    Host host(cache.get());
    const std::vector<hob_shader_id> shaders = {host.add(vs, "vs"), host.add(fs, "bad fs")};
    hob_shader_state state = HOB_SHADER_STATE_COMPILED;
    ENSURE(hob_program_manager_compile(host.get(), shaders[1], &state, nullptr) == HOB_RESULT_BUILD_FAILED);
    hob_link_result linked = HOB_LINK_RESULT_INIT;
    (void)host.compile(shaders[0]);
    ENSURE(host.link(shaders, linked) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("shader 1 failed to compile"));
    const hob_shader_id fresh = host.add(fs, "fs");
    ENSURE(host.link({shaders[0], fresh}, linked) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("shader 1 is not compiled"));
    ENSURE(linked.outcome == HOB_LINK_OUTCOME_NONE && statistics(cache.get()).puts == 1);
}

TEST("program_cache: a deferred shader that fails to compile fails its link") {
    const Cache cache = open(desc_of(""));
    Host host(cache.get());
    hob_shader_id shaders[] = {host.add(vs, "vs"), host.add(fs, "fs")};
    for (const hob_shader_id shader : shaders) (void)host.compile(shader);
    for (const hob_shader_id shader : shaders) ENSURE(host.compile(shader) == HOB_SHADER_STATE_DEFERRED);
    // This driver refuses fragment shaders.
    hob_program_manager* other = nullptr;
    hob_program_callbacks refusing = host.driver.desc();
    refusing.release = nullptr;
    refusing.compile = [](void*, void*, uint32_t stage, const void*, size_t) -> uint32_t { return stage == fs ? 3 : 0; };
    ENSURE_OK(hob_program_manager_create(cache.get(), &refusing, &other));
    const std::unique_ptr<hob_program_manager, DestroyManager> owner(other);
    uint32_t n = 0;
    for (hob_shader_id& shader : shaders) {
        const uint32_t stage = n == 0 ? vs : fs;
        ENSURE_OK(hob_program_manager_add_shader(other, stage, nullptr, &shader));
        ENSURE_OK(hob_program_manager_set_source(other, shader, n == 0 ? "vs" : "fs", 2));
        ENSURE_OK(hob_program_manager_compile(other, shader, nullptr, nullptr));
        ++n;
    }
    hob_program_link_desc desc = HOB_PROGRAM_LINK_DESC_INIT;
    desc.shaders = shaders;
    desc.shader_count = 2;
    hob_link_result linked = HOB_LINK_RESULT_INIT;
    ENSURE(hob_program_manager_link(other, &desc, &linked) == HOB_RESULT_BUILD_FAILED);
    ENSURE(last_error_has("shader 1 failed to compile: driver code 3"));
    ENSURE(linked.outcome == HOB_LINK_OUTCOME_COMPILE_FAILED && linked.failed_shader == 1 && linked.driver_code == 3);
    ENSURE(hob_program_manager_link(other, &desc, &linked) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("shader 1 failed to compile: set another source"));
    ENSURE(statistics(cache.get()).puts == 0);
}

TEST("program_cache: a link uses the source of the compile, not a later one") {
    const Cache cache = open(desc_of(""));
    (void)asked(cache.get(), "vs", "fs");
    Host host(cache.get());
    const hob_shader_id vertex = host.add(vs, "vs"), fragment = host.add(fs, "fs");
    (void)host.compile(vertex);
    (void)host.compile(fragment);
    host.set(vertex, "never compiled");
    hob_link_result linked = HOB_LINK_RESULT_INIT;
    ENSURE_OK(host.link({vertex, fragment}, linked));
    ENSURE(linked.outcome == HOB_LINK_OUTCOME_LOADED);
    ENSURE_OK(hob_program_cache_end_use(cache.get(), linked.first_use, HOB_USE_OUTCOME_OK));
    ENSURE_OK(hob_program_cache_clear(cache.get(), 0));
    ENSURE_OK(host.link({vertex, fragment}, linked));
    ENSURE((host.driver.log == Log{"load vs+fs", "compile vs", "compile fs", "link"}));
    ENSURE(host.compile(vertex) == HOB_SHADER_STATE_COMPILED && host.driver.log.back() == "compile never compiled");
}

TEST("program_cache: the status of a manager's shaders can be asked by hob_fingerprint_hash_shader") {
    const Cache cache = open(desc_of(""));
    Host host(cache.get());
    const auto is_known = [&](uint32_t stage, const char* source) {
        hob_fingerprint shader = {};
        ENSURE_OK(hob_fingerprint_hash_shader(stage, source, std::strlen(source), &shader));
        uint32_t known = 9;
        ENSURE_OK(hob_program_cache_get_shader_status(cache.get(), &shader, &known));
        return known;
    };
    ENSURE(is_known(vs, "source") == 0);
    const hob_shader_id shader = host.add(vs, "source");
    ENSURE(is_known(vs, "source") == 0);
    (void)host.compile(shader);
    ENSURE(is_known(vs, "source") == 1 && is_known(fs, "source") == 0 && is_known(vs, "other source") == 0);
}

TEST("program_cache: a manager's keys equal hob_fingerprint_hash_program") {
    const Cache cache = open(desc_of(""));
    const hob_program_stage stages[] = {{vs, 0, "vs", 2}, {fs, 0, "fs", 2}};
    const hob_attribute_binding attribute = {HOB_STR("position"), 3, 0};
    hob_program_key_desc key = HOB_PROGRAM_KEY_DESC_INIT;
    key.attributes = &attribute;
    key.attribute_count = 1;
    for (const hob_fingerprint_mode mode : {HOB_FINGERPRINT_MODE_BLAKE3, HOB_FINGERPRINT_MODE_SHA1}) {
        key.mode = mode;
        Host host(cache.get());
        hob_link_result linked = HOB_LINK_RESULT_INIT;
        ENSURE_OK(host.run("vs", "fs", linked, &key));
        ENSURE(linked.outcome == HOB_LINK_OUTCOME_BUILT);
        hob_program_key_desc whole = key;
        whole.stages = stages;
        whole.stage_stride = sizeof stages[0];
        whole.stage_count = 2;
        hob_fingerprint expected = {};
        ENSURE_OK(hob_fingerprint_hash_program(&whole, &expected));
        ENSURE(hob_fingerprint_equal(&linked.key, &expected) == 1);
        Blob blob;
        ENSURE_OK(hob_program_cache_get(cache.get(), &expected, &blob.view));
        ENSURE(blob.data() == "vs+fs");
        ENSURE(host.run("vs", "fs", linked, &whole) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("key has stages"));
    }
}

TEST("program_cache: a driver without binaries or with invalid ones links and saves nothing") {
    const Cache cache = open(desc_of(""));
    Host host(cache.get());
    host.driver.has_no_binaries = true;
    hob_link_result linked = HOB_LINK_RESULT_INIT;
    ENSURE_OK(host.run("vs", "fs", linked));
    ENSURE(linked.outcome == HOB_LINK_OUTCOME_BUILT_UNSAVED);
    hob_program_callbacks driver = host.driver.desc();
    driver.release = nullptr;
    for (const int kind : {0, 1}) {
        driver.get_binary = nullptr;
        if (kind == 1) {
            driver.get_binary = [](void*, void*, hob_program* binary) -> uint32_t {
                binary->data = nullptr;
                binary->size = 5;
                return 0;
            };
        }
        hob_program_manager* manager = nullptr;
        ENSURE_OK(hob_program_manager_create(cache.get(), &driver, &manager));
        const std::unique_ptr<hob_program_manager, DestroyManager> owner(manager);
        hob_shader_id shader = {0, 0};
        ENSURE_OK(hob_program_manager_add_shader(manager, vs, reinterpret_cast<void*>(uintptr_t{100}), &shader));
        ENSURE_OK(hob_program_manager_compile(manager, shader, nullptr, nullptr));
        hob_program_link_desc desc = HOB_PROGRAM_LINK_DESC_INIT;
        desc.program = &host.driver;
        desc.shaders = &shader;
        desc.shader_count = 1;
        ENSURE_OK(hob_program_manager_link(manager, &desc, &linked));
        ENSURE(linked.outcome == HOB_LINK_OUTCOME_BUILT_UNSAVED);
    }
    ENSURE(statistics(cache.get()).puts == 0);
}

TEST("program_cache: links and compiles are timed by the clock hook and stored as build costs") {
    const Hooks cleared_at_the_end;
    uint64_t now = 0;
    hob_clock_hook clock = HOB_CLOCK_HOOK_INIT;
    clock.user_data = &now;
    clock.now_ns = &fake_now;
    ENSURE_OK(hob_set_clock_hook(&clock));
    const Cache cache = open(desc_of(""));
    (void)asked(cache.get(), "vs", "fs");
    (void)asked(cache.get(), "vs", "fs");
    (void)asked(cache.get(), "vs", "other fs");
    const auto count = [&](hob_program_cache_measure measure) { return histogram(cache.get(), measure).count; };
    ENSURE(count(HOB_PROGRAM_CACHE_MEASURE_HIT_US) == 1 && count(HOB_PROGRAM_CACHE_MEASURE_MISS_US) == 2);
    ENSURE(count(HOB_PROGRAM_CACHE_MEASURE_STATUS_HIT_US) == 3 && count(HOB_PROGRAM_CACHE_MEASURE_STATUS_MISS_US) == 3);
    // Two reads of the clock are 10 us apart. A compile that was not deferred reads it twice in between.
    ENSURE(histogram(cache.get(), HOB_PROGRAM_CACHE_MEASURE_STATUS_HIT_US).maximum == 10);
    ENSURE(histogram(cache.get(), HOB_PROGRAM_CACHE_MEASURE_STATUS_MISS_US).minimum == 30);
    ENSURE(histogram(cache.get(), HOB_PROGRAM_CACHE_MEASURE_HIT_US).sum == 10);
    ENSURE(histogram(cache.get(), HOB_PROGRAM_CACHE_MEASURE_MISS_US).sum == 30 + 50);

    // Failed builds are not counted: no cache could have saved them.
    Host host(cache.get());
    hob_link_result linked = HOB_LINK_RESULT_INIT;
    const hob_shader_id bad = host.add(fs, "bad fs"), good = host.add(vs, "vs");
    ENSURE(hob_program_manager_compile(host.get(), bad, nullptr, nullptr) == HOB_RESULT_BUILD_FAILED);
    host.driver.refuses_links = true;
    ENSURE(host.compile(good) == HOB_SHADER_STATE_DEFERRED);
    ENSURE(host.link({good}, linked) == HOB_RESULT_BUILD_FAILED && linked.outcome == HOB_LINK_OUTCOME_LINK_FAILED);
    ENSURE(count(HOB_PROGRAM_CACHE_MEASURE_STATUS_MISS_US) == 3 && count(HOB_PROGRAM_CACHE_MEASURE_MISS_US) == 2);
}

TEST("program_cache: a manager describes its builds and explains its misses") {
    const Hooks cleared_at_the_end;
    std::vector<std::string> lines;
    hob_log_hook log = HOB_LOG_HOOK_INIT;
    log.user_data = &lines;
    log.write = [](void* user_data, hob_log_level, hob_str line) {
        static_cast<std::vector<std::string>*>(user_data)->push_back(text(line));
    };
    ENSURE_OK(hob_set_log_hook(&log));
    hob_program_cache_desc desc = desc_of("");
    desc.described_keys = 10;
    const Cache cache = open(desc);
    (void)asked(cache.get(), "vs", "fs");
    ENSURE(lines.empty());
    (void)asked(cache.get(), "vs", "fs 2");
    ENSURE(lines.size() == 1 && lines[0].find("differs in fragment stage (was 'fs', is 'fs 2')") != std::string::npos);
}

TEST("program_cache: inside a callback the cache works and the manager is busy") {
    const Cache cache = open(desc_of(""));
    Host host(cache.get());
    int calls = 0;
    host.driver.inside = [&] {
        ++calls;
        EXPECT(put(cache.get(), "inside", "a callback") == HOB_RESULT_OK);
        EXPECT(data_of(cache.get(), "inside") == "a callback");
        hob_shader_id shader = {0, 0};
        EXPECT(hob_program_manager_add_shader(host.get(), vs, nullptr, &shader) == HOB_RESULT_BUSY);
        EXPECT(hob_program_manager_compile(host.get(), shader, nullptr, nullptr) == HOB_RESULT_BUSY);
    };
    hob_link_result linked = HOB_LINK_RESULT_INIT;
    ENSURE_OK(host.run("vs", "fs", linked));
    ENSURE(calls == 3 && linked.outcome == HOB_LINK_OUTCOME_BUILT);
}

TEST("program_cache: a manager destroyed inside a callback is freed at return and releases its driver once") {
    const Cache cache = open(desc_of(""));
    FakeDriver driver;
    const hob_program_callbacks desc = driver.desc();
    hob_program_manager* manager = nullptr;
    ENSURE_OK(hob_program_manager_create(cache.get(), &desc, &manager));
    hob_shader_id shader = {0, 0};
    ENSURE_OK(hob_program_manager_add_shader(manager, vs, reinterpret_cast<void*>(uintptr_t{100}), &shader));
    driver.inside = [&] {
        hob_program_manager_destroy(manager);
        EXPECT(driver.releases == 0);
    };
    ENSURE_OK(hob_program_manager_compile(manager, shader, nullptr, nullptr));
    ENSURE(driver.releases == 1);
    hob_program_callbacks incomplete = driver.desc();
    incomplete.load = nullptr;
    ENSURE(hob_program_manager_create(cache.get(), &incomplete, &manager) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_program_manager_create(nullptr, &desc, &manager) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(driver.releases == 1);
    hob_program_manager_destroy(nullptr);
}

TEST("program_cache: a manager outlives its cache, in memory") {
    Cache cache = open(desc_of(""));
    Host host(cache.get());
    cache.reset();
    hob_link_result linked = HOB_LINK_RESULT_INIT;
    ENSURE_OK(host.run("vs", "fs", linked));
    ENSURE_OK(host.run("vs", "fs", linked));
    ENSURE(linked.outcome == HOB_LINK_OUTCOME_LOADED);
}

TEST("program_cache: stale, duplicate and unknown shaders are rejected") {
    const Cache cache = open(desc_of(""));
    Host host(cache.get()), other(cache.get());
    const hob_shader_id shader = host.add(vs, "vs"), removed = host.add(fs, "fs"), others = other.add(vs, "vs");
    (void)host.compile(shader);
    ENSURE_OK(hob_program_manager_remove_shader(host.get(), removed));
    for (const hob_shader_id bad : {removed, others, hob_shader_id{0, 0}, hob_shader_id{99, 1}, hob_shader_id{UINT32_MAX, UINT32_MAX}}) {
        ENSURE(hob_program_manager_remove_shader(host.get(), bad) == HOB_RESULT_NOT_FOUND);
        ENSURE(hob_program_manager_set_source(host.get(), bad, "x", 1) == HOB_RESULT_NOT_FOUND);
        ENSURE(hob_program_manager_compile(host.get(), bad, nullptr, nullptr) == HOB_RESULT_NOT_FOUND);
        hob_link_result linked = HOB_LINK_RESULT_INIT;
        ENSURE(host.link({shader, bad}, linked) == HOB_RESULT_NOT_FOUND && last_error_has("unknown shader"));
    }
    hob_link_result linked = HOB_LINK_RESULT_INIT;
    ENSURE(host.link({shader, shader}, linked) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("twice"));
    ENSURE(host.link({}, linked) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("no shader"));
    // The valid shader still works.
    ENSURE_OK(host.link({shader}, linked));
    ENSURE(linked.outcome == HOB_LINK_OUTCOME_BUILT);
}

TEST("program_cache: a panic below a callback poisons only the manager") {
    const Cache cache = open(desc_of(""));
    Host host(cache.get());
    const hob_shader_id shader = host.add(vs, "vs");
    ENSURE_OK(hob_fault_arm(HOB_STR("program_manager.compile"), 0));
    ENSURE(hob_program_manager_compile(host.get(), shader, nullptr, nullptr) == HOB_RESULT_PANIC);
    ENSURE(hob_program_manager_compile(host.get(), shader, nullptr, nullptr) == HOB_RESULT_POISONED);
    host.reset();
    ENSURE(host.driver.releases == 1);
    ENSURE(asked(cache.get(), "vs", "fs") == built);
}
