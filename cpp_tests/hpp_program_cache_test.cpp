// hobgoblin.hpp: program caches and managers: views and uses that end automatically, callbacks that may throw.
#include <hobgoblin/program_cache.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "program_cache_support.h"

namespace {

using support::Directory;

struct Thrown : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The code of the hob::Error that the call throws.
template <class Call>
hob_result code_of(const Call& call) {
    try {
        (void)call();
    } catch (const hob::Error& error) {
        return error.code();
    }
    return HOB_RESULT_OK;
}

hob::Program program_of(std::string_view data) {
    hob::Program program;
    program.format = 3;
    program.data = data;
    program.reflection = "map";
    return program;
}

hob::ProgramCache in(const std::string& directory, std::string_view driver = "driver") {
    hob::ProgramCacheOptions options;
    options.directory = directory;
    options.environment.driver = support::str(driver);
    options.desc.described_keys = 10;
    return hob::ProgramCache(options);
}

hob::ProgramKey key_of(std::string_view source) {
    hob::ProgramKey key;
    key.stage(HOB_SHADER_STAGE_COMPUTE, source);
    return key;
}

/// A driver that compiles every source except "bad", and throws on request.
struct Driver {
    std::string log, throws;

    void note(const char* what) {
        log += what;
        if (throws == what) throw Thrown(what);
    }
    hob::ProgramCallbacks callbacks() {
        hob::ProgramCallbacks driver;
        driver.compile = [this](void*, uint32_t, std::string_view source) -> uint32_t {
            note("compile ");
            return source == "bad" ? 7 : 0;
        };
        driver.link = [this](void*) -> uint32_t {
            note("link ");
            return 0;
        };
        driver.load = [this](void*, const hob_blob&) -> uint32_t {
            note("load ");
            return 0;
        };
        driver.get_binary = [this](void*, hob_program& binary) -> uint32_t {
            note("binary ");
            binary.data = "binary";
            binary.size = 6;
            return 0;
        };
        return driver;
    }
};

}  // namespace

TEST("hpp: a shader's key depends on its stage and source") {
    const hob::Fingerprint key = hob::shader_fingerprint(HOB_SHADER_STAGE_VERTEX, "source");
    ENSURE(key == hob::try_shader_fingerprint(HOB_SHADER_STAGE_VERTEX, "source").value());
    ENSURE(key != hob::shader_fingerprint(HOB_SHADER_STAGE_FRAGMENT, "source"));
    ENSURE(key != hob::shader_fingerprint(HOB_SHADER_STAGE_VERTEX, "another source"));
}

TEST("hpp: a cache with a secret serves the programs of that secret alone") {
    const Directory directory;
    const char* const secrets[] = {"", "sixteen bytes 01", "sixteen bytes 02"};
    const auto key = key_of("source").fingerprint();
    for (const char* const written : secrets) {
        hob::ProgramCacheOptions options;
        options.directory = directory.inside(*written != 0 ? written : "none");
        options.secret = written;
        hob::ProgramCache(options).put(key, program_of("binary"));
        for (const char* const read : secrets) {
            options.secret = read;
            const hob::ProgramCache cache(options);
            ENSURE(static_cast<bool>(cache.get_wait(key)) == (std::string_view(read) == written));
        }
    }
}

TEST("hpp: a scoped use ends as accepted, rejected or unused") {
    const auto key = key_of("a").fingerprint();
    const hob::ProgramCache cache;
    cache.put(key, program_of("binary"));
    const auto open_uses = [&] { return cache.statistics().uses_open; };
    {
        const hob::ScopedUse use(cache.begin_use(key));
        ENSURE(use && open_uses() == 1);
    }
    ENSURE(open_uses() == 0 && cache.knows_program(key));
    bool is_thrown = false;
    try {
        const hob::ScopedUse use(cache.begin_use(key));
        throw std::runtime_error("the driver's loader failed");
    } catch (const std::runtime_error&) {
        is_thrown = true;
    }
    ENSURE(is_thrown && open_uses() == 0 && cache.knows_program(key));
    {
        hob::ScopedUse use(cache.begin_use(key));
        use.reject();
        ENSURE(cache.knows_program(key));
    }
    ENSURE(open_uses() == 0 && !cache.knows_program(key));
    ENSURE(!hob::ScopedUse(hob::ProgramUse()));
}

TEST("hpp: a view of a program can be moved and outlives the cache") {
    const auto key = key_of("a").fingerprint();
    hob::Blob kept;
    ENSURE(!kept && kept.data().empty());
    {
        const hob::ProgramCache cache;
        ENSURE(!cache.get(key) && !cache.knows_program(key));
        cache.put(key, program_of("binary"));
        hob::Blob blob = cache.get(key);
        kept = std::move(blob);
        ENSURE(cache.knows_program(key));
        cache.remove(key);
        ENSURE(!cache.get(key));
    }
    const hob::Blob moved = std::move(kept);
    ENSURE(moved && moved.data() == "binary" && moved.reflection() == "map" && moved.format() == 3);
}

TEST("hpp: the next cache loads programs from the directory or a bundle") {
    const Directory directory;
    const std::string path = directory.inside("cache"), bundle = directory.inside("bundle");
    const auto a = key_of("a"), b = key_of("b");
    {
        const auto cache = in(path);
        cache.put(a.fingerprint(), program_of("of a"));
        cache.describe(a);
        cache.mark_startup(a.fingerprint());
        cache.flush();
        ENSURE(cache.problem().empty() && cache.report().find("\"puts\":1,") != std::string::npos);
        ENSURE(cache.statistics().disk_values == 3);  // the program, its description, and the start-up set
        ENSURE(cache.histogram(HOB_PROGRAM_CACHE_MEASURE_BINARY_BYTES).sum == 4);
        ENSURE(cache.write_bundle(bundle, HOB_BUNDLE_CONTENTS_STARTUP_SET) == 1);
    }
    ENSURE(in(path).get_wait(a.fingerprint()).data() == "of a");
    const auto shipped = in("");
    shipped.add_bundle(bundle);
    shipped.wait_idle();
    ENSURE(shipped.get(a.fingerprint()).data() == "of a");
    ENSURE(code_of([&] { return shipped.add_bundle(path + "/none"); }) == HOB_RESULT_IO);
    ENSURE(code_of([&] { return shipped.add_bundle_bytes("no bundle"); }) == HOB_RESULT_MALFORMED);

    const auto updated = in(path, "another driver");
    updated.wait_idle();
    ENSURE(!updated.get(a.fingerprint()));
    const hob_program_miss miss = updated.explain_miss(a);
    ENSURE(miss.difference_count == 1 && std::string(miss.differences[0].label) == "driver");
    ENSURE(std::string(in("").explain_miss(b).sentence).empty());
}

TEST("hpp: a use ends once in its destructor, and a banned program has no use") {
    const Directory directory;
    const auto cache = in(directory.inside("cache"));
    const auto key = key_of("a").fingerprint();
    cache.put(key, program_of("binary"));
    {
        auto use = cache.begin_use(key);
        auto moved = std::move(use);
        ENSURE(moved && !use && cache.statistics().uses_open == 1);
    }
    ENSURE(cache.statistics().uses_open == 0 && cache.get(key));
    auto use = cache.begin_use(key);
    use.end(HOB_USE_OUTCOME_UNUSED);
    ENSURE(!use && cache.statistics().uses_open == 0 && cache.get(key));
    use.end();  // already ended: does nothing
    ENSURE(!hob::ProgramUse(cache.capi(), {0, 0}));
    hob::ProgramUse(cache.capi(), {0, 0}).end();
    ENSURE(code_of([&] { return hob::ProgramUse(cache.capi(), {9, 9}).end(), 0; }) == HOB_RESULT_NOT_FOUND);
    use = cache.begin_use(key);
    use.end(HOB_USE_OUTCOME_REJECTED);
    ENSURE(!use && cache.statistics().uses_open == 0 && !cache.get(key) && cache.strikes(key) == 0);
    cache.clear_strikes(key);
    cache.clear_all_strikes();
}

TEST("hpp: a timeout is an answer, not a failure") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const auto key = key_of("a").fingerprint();
    {
        const auto cache = in(path);
        cache.put(key, program_of("binary"));
        ENSURE(!cache.wait_idle(0) && !cache.flush(0) && cache.statistics().waiting > 0);
        ENSURE(cache.wait_idle() && cache.flush() && cache.statistics().waiting == 0);
    }
    const auto cache = in(path);
    ENSURE(!cache.get_wait(key, 0) && !cache.get_wait(key, 0).is_banned());
    ENSURE(cache.get_wait(key).data() == "binary");
    // Errors are still reported.
    hob::Program impossible;
    impossible.data = std::string_view(nullptr, 5);
    ENSURE(code_of([&] { return cache.put(key, impossible); }) == HOB_RESULT_INVALID_ARGUMENT);
}

TEST("hpp: options of a program cache override only the given desc fields") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const auto key = key_of("a").fingerprint();
    const hob_environment environment = support::environment_of("driver");
    hob::ProgramCacheOptions options;
    options.desc.directory = support::str(path);
    options.desc.environment = &environment;
    hob::ProgramCache(options).put(key, program_of("binary"));
    const auto cache = in(path);
    cache.wait_idle();
    const hob::LoadingProgress loading = cache.loading_progress();
    ENSURE(loading.done == 1 && loading.total == 1 && cache.get(key).data() == "binary");
}

TEST("hpp: a use that ends in its destructor removes no strike") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const auto key = key_of("a").fingerprint();
    const pid_t child = fork();
    ENSURE(child >= 0);
    if (child == 0) {
        const auto cache = in(path);
        const auto use = cache.begin_use(key);
        _exit(0);
    }
    ENSURE(waitpid(child, nullptr, 0) == child);
    const auto cache = in(path);
    ENSURE(cache.begin_use(key) && cache.strikes(key) == 1);
    cache.begin_use(key).end();
    ENSURE(cache.strikes(key) == 0);
}

TEST("hpp: limits, pressure and statuses of a program cache are wrapped") {
    const hob::ProgramCache cache;
    const auto key = key_of("a").fingerprint(), shader = key_of("shader").fingerprint();
    hob::Program program = program_of("binary");
    program.shaders = {shader};
    cache.put(key, program);
    ENSURE(cache.knows_shader(shader) && cache.shader_program_count(shader) == 1);
    cache.clear();
    ENSURE(!cache.knows_shader(shader) && cache.shader_program_count(shader) == 0);
    cache.report_shader_compiled(shader);
    ENSURE(cache.knows_shader(shader));
    ENSURE(cache.put(key, program));
    cache.report_memory_pressure(HOB_MEMORY_PRESSURE_CRITICAL);
    cache.put(key, program);
    cache.trim(0);
    cache.set_memory_limit(10);
    cache.set_disk_limit(256 << 10);
    ENSURE(!cache.put(key, program) && !cache.knows_program(key));
    cache.add_measurement(HOB_PROGRAM_CACHE_MEASURE_HIT_US, 5);
    ENSURE(cache.histogram(HOB_PROGRAM_CACHE_MEASURE_HIT_US).maximum == 5);
    const std::vector<hob_histogram_bucket> buckets = cache.histogram_buckets(HOB_PROGRAM_CACHE_MEASURE_HIT_US);
    ENSURE(buckets.size() == 1 && buckets[0].minimum == 5 && buckets[0].maximum == 5 && buckets[0].count == 1);
    ENSURE(std::vector<hob_histogram_bucket>(cache.histogram_buckets(HOB_PROGRAM_CACHE_MEASURE_MISS_US)).empty());
    hob::ProgramCacheOptions options;
    options.desc.flags = 1u << 31;
    ENSURE(code_of([&] { return hob::ProgramCache(options); }) == HOB_RESULT_UNSUPPORTED);
}

TEST("hpp: a manager calls only the needed driver functions and accepts a refusal") {
    const hob::ProgramCache cache;
    Driver driver;
    hob::ProgramManager manager(cache, driver.callbacks());
    const hob_shader_id shader = manager.add_shader(HOB_SHADER_STAGE_COMPUTE, nullptr, "source");
    ENSURE(manager.compile(shader).state == HOB_SHADER_STATE_COMPILED);
    hob::LinkResult built = manager.link(nullptr, {shader});
    ENSURE(!built.use && cache.statistics().uses_open == 0 && cache.knows_program(built.key));
    built.use.end();
    ENSURE(built.outcome == HOB_LINK_OUTCOME_BUILT && driver.log == "compile link binary ");
    ENSURE(manager.compile(shader).state == HOB_SHADER_STATE_DEFERRED);
    hob::LinkResult loaded = manager.link(nullptr, {shader});
    ENSURE(loaded.outcome == HOB_LINK_OUTCOME_LOADED && driver.log == "compile link binary load ");
    ENSURE(loaded.use && loaded.key == built.key && cache.statistics().uses_open == 1);
    loaded.use.end();
    ENSURE(!loaded.use && cache.statistics().uses_open == 0);
    manager.set_source(shader, "bad");
    const hob::CompileResult no = manager.compile(shader);
    ENSURE(no.state == HOB_SHADER_STATE_NOT_COMPILED && no.driver_code == 7);
    ENSURE(code_of([&] { return manager.link(nullptr, {shader}); }) == HOB_RESULT_INVALID_ARGUMENT);
    manager.remove_shader(shader);
    ENSURE(code_of([&] { return manager.compile(shader); }) == HOB_RESULT_NOT_FOUND);
    // A shader without a valid source is removed again: the next one takes its place.
    const std::string_view impossible(static_cast<const char*>(nullptr), 5);
    const hob_shader_id before = manager.add_shader(HOB_SHADER_STAGE_COMPUTE, nullptr, "source");
    ENSURE(code_of([&] { return manager.add_shader(HOB_SHADER_STAGE_COMPUTE, nullptr, impossible); }) ==
           HOB_RESULT_INVALID_ARGUMENT);
    const hob_shader_id after = manager.add_shader(HOB_SHADER_STAGE_COMPUTE, nullptr, "source");
    ENSURE(after.index1 == before.index1 + 1);
    ENSURE(code_of([&] { return hob::ProgramManager(cache, hob::ProgramCallbacks()); }) == HOB_RESULT_INVALID_ARGUMENT);
}

TEST("hpp: an exception from a driver is rethrown and the manager works on") {
    const hob::ProgramCache cache;
    Driver driver;
    hob::ProgramManager manager(cache, driver.callbacks());
    const hob_shader_id shader = manager.add_shader(HOB_SHADER_STAGE_COMPUTE, nullptr, "source");
    const auto thrown_by = [&](const char* where, const auto& call) {
        driver.throws = where;
        std::string thrown;
        try {
            (void)call();
        } catch (const Thrown& caught) {
            thrown = caught.what();
        }
        driver.throws.clear();
        return thrown == where;
    };
    ENSURE(thrown_by("compile ", [&] { return manager.compile(shader); }));
    ENSURE(manager.compile(shader).state == HOB_SHADER_STATE_COMPILED);
    ENSURE(thrown_by("link ", [&] { return manager.link(nullptr, {shader}); }));
    ENSURE(thrown_by("binary ", [&] { return manager.link(nullptr, {shader}); }));
    ENSURE(cache.statistics().puts == 0);
    ENSURE(manager.link(nullptr, {shader}).outcome == HOB_LINK_OUTCOME_BUILT);
    ENSURE(thrown_by("load ", [&] { return manager.link(nullptr, {shader}); }));
    ENSURE(cache.statistics().uses_open == 0 && cache.statistics().rejected == 1);
    ENSURE(manager.link(nullptr, {shader}).outcome == HOB_LINK_OUTCOME_LOADED);
}
