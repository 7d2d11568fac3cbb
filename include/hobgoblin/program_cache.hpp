// hobgoblin/program_cache.hpp: program binaries that are not built twice. Part of hobgoblin.hpp. MIT OR Apache-2.0.
#ifndef HOBGOBLIN_PROGRAM_CACHE_HPP
#define HOBGOBLIN_PROGRAM_CACHE_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor.hpp"
#include "fingerprint.hpp"
#include "program_cache.h"
#include "store.hpp"

HOB_NAMESPACE_BEGIN

/// A program to be kept; see hob_program. Nothing is copied: bytes must stay until the call returns.
struct Program {
    uint32_t format = 0;
    std::string_view data;
    std::string_view reflection;
    std::vector<hob_fingerprint> shaders;
    uint64_t build_us = 0;
    uint32_t group = 0;
};

/// A view of a program in the cache, valid as long as this lives, whatever becomes of the cache; see hob_blob.
class Blob {
public:
    /// None.
    Blob() = default;
    Blob(Blob&& other) noexcept : blob_(std::exchange(other.blob_, none())), is_banned_(other.is_banned_) {}
    Blob& operator=(Blob&& other) noexcept {
        std::swap(blob_, other.blob_);
        std::swap(is_banned_, other.is_banned_);
        return *this;
    }
    ~Blob() { hob_blob_release(&blob_); }

    /// Whether there is one.
    explicit operator bool() const noexcept { return blob_.pin != nullptr; }
    /// Whether there is none because its binary is banned. It is to be built all the same.
    bool is_banned() const noexcept { return is_banned_; }
    uint32_t format() const noexcept { return blob_.format; }
    std::string_view data() const noexcept { return {static_cast<const char*>(blob_.data), blob_.size}; }
    std::string_view reflection() const noexcept {
        return {static_cast<const char*>(blob_.reflection), blob_.reflection_size};
    }
    /// To be filled in by the C API, which lets go of what is there.
    hob_blob* capi() noexcept { return &blob_; }

private:
    friend class ProgramCache;
    static hob_blob none() noexcept { return HOB_BLOB_INIT; }
    hob_blob blob_ = none();
    bool is_banned_ = false;
};

/// A use of a program by the driver; see hob_program_cache_use_begin. It is to be ended after the first frame drawn with
/// the program; one that goes without that, as when something was thrown, was not used. Not beyond its cache.
class ProgramUse {
public:
    /// None: the program is banned, or was built.
    ProgramUse() = default;
    /// Own a C id. One that is all zero is none.
    ProgramUse(const hob_program_cache* cache, hob_use use) noexcept
        : cache_(use.index1 != 0 || use.generation != 0 ? cache : nullptr), use_(use) {}
    ProgramUse(ProgramUse&& other) noexcept : cache_(std::exchange(other.cache_, nullptr)), use_(other.use_) {}
    ProgramUse& operator=(ProgramUse&& other) noexcept {
        std::swap(cache_, other.cache_);
        std::swap(use_, other.use_);
        return *this;
    }
    ~ProgramUse() {
        if (cache_ != nullptr) (void)hob_program_cache_use_end(cache_, use_, HOB_USE_OUTCOME_UNUSED);
    }

    /// Whether there is one.
    explicit operator bool() const noexcept { return cache_ != nullptr; }
    /// It is none after that; to end none does nothing.
    Outcome<void> end(hob_use_outcome outcome = HOB_USE_OUTCOME_OK) {
        const hob_program_cache* const cache = std::exchange(cache_, nullptr);
        if (cache == nullptr) return Outcome<void>();
        return detail::check(hob_program_cache_use_end(cache, use_, static_cast<uint32_t>(outcome)));
    }
    hob_use capi() const noexcept { return use_; }

private:
    const hob_program_cache* cache_ = nullptr;
    hob_use use_ = {0, 0};
};

/// A C++ view of hob_program_cache_desc, for the fields most programs set; for the others start from `desc`.
struct ProgramCacheOptions {
    /// Where programs outlive the process; empty: where `desc` says, else memory alone.
    std::string directory;
    /// What programs are for, unless `desc` says it. Texts must stay until the cache is created.
    hob_environment environment = HOB_ENVIRONMENT_INIT;
    /// Whose background lane reads and writes; NULL: whose `desc` says, if any.
    const Executor* executor = nullptr;
    /// Where the directory and bundles are; none: where `desc` says, else in the operating system's files.
    std::shared_ptr<FileSystem> files;
    /// Everything else.
    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
};

/// How far a cache has come with its directory: of `total` programs, 0 until that was opened, `loaded` were looked at.
struct Loading {
    uint64_t loaded = 0, total = 0;
};

/// Programs in memory and on the disk. All of it may be called from several threads at once.
class ProgramCache {
public:
#if HOB_EXCEPTIONS
    /// In memory alone.
    ProgramCache() : ProgramCache(ProgramCacheOptions()) {}
    explicit ProgramCache(const ProgramCacheOptions& options) : ProgramCache(create(options)) {}
#endif
    static Outcome<ProgramCache> create(const ProgramCacheOptions& options) {
        hob_program_cache_desc desc = options.desc;
        if (!options.directory.empty()) desc.directory = detail::text(options.directory);
        if (desc.environment == nullptr) desc.environment = &options.environment;
        if (options.executor != nullptr) desc.executor = options.executor->capi();
        std::unique_ptr<detail::HostFiles> files;
        hob_file_io io = HOB_FILE_IO_INIT;
        if (options.files != nullptr) {
            files.reset(new detail::HostFiles{options.files});
            io = files->io();
            desc.file_io = &io;
        }
        hob_program_cache* cache = nullptr;
        const hob_result result = hob_program_cache_create(&desc, &cache);
        if (result != HOB_RESULT_OK) return detail::fail<ProgramCache>(result);
        (void)files.release();  // the cache's now; HostFiles::release takes it back
        return ProgramCache(cache);
    }
    /// Own a C handle.
    explicit ProgramCache(hob_program_cache* cache) noexcept : cache_(cache) {}

    /// A program in memory; none: build it. Waits for no file.
    Outcome<Blob> get(const hob_fingerprint& key) const {
        Blob blob;
        const hob_result result = hob_program_cache_get(cache_.get(), &key, blob.capi());
        return found(result, std::move(blob));
    }
    /// The same, and look for it on the disk for a while: for loading screens. None also when the time did not suffice.
    Outcome<Blob> get_wait(const hob_fingerprint& key, uint64_t timeout_us = UINT64_MAX) const {
        Blob blob;
        const hob_result result = hob_program_cache_get_wait(cache_.get(), &key, timeout_us, blob.capi());
        return found(result == HOB_RESULT_BUSY ? HOB_RESULT_NOT_FOUND : result, std::move(blob));
    }
    /// False: it is larger than the limit of memory, and was not kept.
    Outcome<bool> put(const hob_fingerprint& key, const Program& program) const {
        hob_program desc = HOB_PROGRAM_INIT;
        desc.format = program.format;
        desc.data = program.data.data();
        desc.size = program.data.size();
        desc.reflection = program.reflection.data();
        desc.reflection_size = program.reflection.size();
        desc.shaders = program.shaders.data();
        desc.shader_count = program.shaders.size();
        desc.build_us = program.build_us;
        desc.group = program.group;
        return done(hob_program_cache_put(cache_.get(), &key, &desc), HOB_RESULT_LIMIT_EXCEEDED);
    }
    Outcome<void> remove(const hob_fingerprint& key) const {
        return detail::check(hob_program_cache_remove(cache_.get(), &key));
    }
    Outcome<void> clear(bool disk_too = false) const {
        return detail::check(hob_program_cache_clear(cache_.get(), disk_too ? 1 : 0));
    }
    Outcome<void> trim(uint64_t most_bytes) const {
        return detail::check(hob_program_cache_trim(cache_.get(), most_bytes));
    }
    Outcome<void> set_limits(uint64_t memory, uint64_t disk) const {
        return detail::check(hob_program_cache_set_limits(cache_.get(), memory, disk));
    }
    Outcome<void> memory_pressure(hob_memory_pressure pressure) const {
        return detail::check(hob_program_cache_memory_pressure(cache_.get(), static_cast<uint32_t>(pressure)));
    }
    /// Put a key into the start-up set, or take it out.
    Outcome<void> mark_startup(const hob_fingerprint& key, bool marked = true) const {
        return detail::check(hob_program_cache_mark_startup(cache_.get(), &key, marked ? 1 : 0));
    }

    Outcome<void> shader_compiled(const hob_fingerprint& shader) const {
        return detail::check(hob_program_cache_shader_compiled(cache_.get(), &shader));
    }
    /// Whether a shader is known to compile.
    bool knows_shader(const hob_fingerprint& shader) const noexcept {
        uint32_t known = 0;
        return hob_program_cache_shader_status(cache_.get(), &shader, &known) == HOB_RESULT_OK && known != 0;
    }
    /// How many programs in memory vouch for a shader.
    uint32_t shader_programs(const hob_fingerprint& shader) const noexcept {
        uint32_t programs = 0;
        (void)hob_program_cache_shader_programs(cache_.get(), &shader, &programs);
        return programs;
    }
    /// Whether a program is in memory.
    bool knows_program(const hob_fingerprint& key) const noexcept {
        uint32_t known = 0;
        return hob_program_cache_program_status(cache_.get(), &key, &known) == HOB_RESULT_OK && known != 0;
    }

    /// The driver is about to see the program; none if it is banned.
    Outcome<ProgramUse> use(const hob_fingerprint& key) const {
        hob_use use = {0, 0};
        const hob_result result = hob_program_cache_use_begin(cache_.get(), &key, &use);
        if (result == HOB_RESULT_UNSUPPORTED) return ProgramUse();
        if (result != HOB_RESULT_OK) return detail::fail<ProgramUse>(result);
        return ProgramUse(cache_.get(), use);
    }
    uint32_t strikes(const hob_fingerprint& key) const noexcept {
        uint32_t strikes = 0;
        (void)hob_program_cache_strikes(cache_.get(), &key, &strikes);
        return strikes;
    }
    Outcome<void> forgive(const hob_fingerprint& key) const {
        return detail::check(hob_program_cache_forgive(cache_.get(), &key));
    }
    /// Of all keys, of all environments of the directory.
    Outcome<void> forgive_all() const { return detail::check(hob_program_cache_forgive(cache_.get(), nullptr)); }

    /// False: the time did not suffice.
    Outcome<bool> wait_idle(uint64_t timeout_us = UINT64_MAX) const {
        return done(hob_program_cache_wait_idle(cache_.get(), timeout_us), HOB_RESULT_BUSY);
    }
    /// False: the time did not suffice. That something could not be written is a failure.
    Outcome<bool> flush(uint64_t timeout_us = UINT64_MAX) const {
        return done(hob_program_cache_flush(cache_.get(), timeout_us), HOB_RESULT_BUSY);
    }

    /// How far loading has come.
    Loading loading() const noexcept {
        Loading found;
        (void)hob_program_cache_loading(cache_.get(), &found.loaded, &found.total);
        return found;
    }

    Outcome<void> add_bundle(std::string_view path) const {
        return detail::check(hob_program_cache_add_bundle(cache_.get(), detail::text(path)));
    }
    Outcome<void> add_bundle_bytes(std::string_view bytes) const {
        return detail::check(hob_program_cache_add_bundle_bytes(cache_.get(), bytes.data(), bytes.size()));
    }
    /// How many programs it has.
    Outcome<uint64_t> write_bundle(std::string_view path, hob_bundle_contents contents = HOB_BUNDLE_CONTENTS_ALL) const {
        uint64_t programs = 0;
        const hob_result result = hob_program_cache_write_bundle(cache_.get(), detail::text(path),
                                                                 static_cast<uint32_t>(contents), &programs);
        if (result != HOB_RESULT_OK) return detail::fail<uint64_t>(result);
        return programs;
    }

    /// Remember what a program was made from, for why_missed().
    Outcome<void> describe(const ProgramKey& key) const {
        const hob_program_key_desc desc = key.capi();
        return detail::check(hob_program_cache_describe(cache_.get(), nullptr, &desc));
    }
    /// In what a program differs from the nearest one that is described; an empty sentence if none is.
    Outcome<hob_program_miss> why_missed(const ProgramKey& key) const {
        const hob_program_key_desc desc = key.capi();
        hob_program_miss miss = HOB_PROGRAM_MISS_INIT;
        const hob_result result = hob_program_cache_why_missed(cache_.get(), &desc, &miss);
        if (result != HOB_RESULT_OK && result != HOB_RESULT_NOT_FOUND) return detail::fail<hob_program_miss>(result);
        return miss;
    }

    /// What keeps it from reading or writing; empty if nothing does.
    Outcome<std::string> trouble() const { return text(&hob_program_cache_trouble); }
    /// All that was counted and measured, as JSON.
    Outcome<std::string> report() const { return text(&hob_program_cache_report); }
    Outcome<hob_program_cache_statistics> statistics() const {
        hob_program_cache_statistics found = HOB_PROGRAM_CACHE_STATISTICS_INIT;
        const hob_result result = hob_program_cache_get_statistics(cache_.get(), &found);
        if (result != HOB_RESULT_OK) return detail::fail<hob_program_cache_statistics>(result);
        return found;
    }
    Outcome<hob_histogram> histogram(hob_program_cache_measure measure) const {
        hob_histogram found = HOB_HISTOGRAM_INIT;
        const hob_result result = hob_program_cache_histogram(cache_.get(), static_cast<uint32_t>(measure), &found);
        if (result != HOB_RESULT_OK) return detail::fail<hob_histogram>(result);
        return found;
    }
    /// The parts of a histogram that hold something, from low to high.
    Outcome<std::vector<hob_histogram_bucket>> histogram_buckets(hob_program_cache_measure measure) const {
        return filled(std::vector<hob_histogram_bucket>(), [&](hob_histogram_bucket* place, size_t capacity, size_t* count) {
            return hob_program_cache_histogram_buckets(cache_.get(), static_cast<uint32_t>(measure), place, sizeof *place,
                                                       capacity, count);
        });
    }
    /// For hosts that measure links and compiles themselves.
    Outcome<void> record(hob_program_cache_measure measure, uint64_t value) const {
        return detail::check(hob_program_cache_record(cache_.get(), static_cast<uint32_t>(measure), value));
    }

    hob_program_cache* capi() noexcept { return cache_.get(); }
    const hob_program_cache* capi() const noexcept { return cache_.get(); }

private:
    static Outcome<Blob> found(hob_result result, Blob blob) {
        const bool is_answer = result == HOB_RESULT_OK || result == HOB_RESULT_NOT_FOUND || result == HOB_RESULT_UNSUPPORTED;
        if (!is_answer) return detail::fail<Blob>(result);
        blob.is_banned_ = result == HOB_RESULT_UNSUPPORTED;
        return blob;
    }
    /// Whether it was done; `no` says that it was not, and is no failure.
    static Outcome<bool> done(hob_result result, hob_result no) {
        if (result != HOB_RESULT_OK && result != no) return detail::fail<bool>(result);
        return result == HOB_RESULT_OK;
    }
    /// What a function of the two-call protocol writes.
    template <class Container, class Write>
    static Outcome<Container> filled(Container place, const Write& write) {
        for (;;) {  // it may have grown between two calls
            size_t size = 0;
            hob_result result = write(nullptr, 0, &size);
            place.resize(size);
            if (result == HOB_RESULT_OK && size > 0) result = write(place.data(), size, &size);
            if (result == HOB_RESULT_BUFFER_TOO_SMALL) continue;
            if (result != HOB_RESULT_OK) return detail::fail<Container>(result);
            place.resize(size);
            return place;
        }
    }
    Outcome<std::string> text(hob_result (*write)(const hob_program_cache*, char*, size_t, size_t*)) const {
        return filled(std::string(), [&](char* place, size_t capacity, size_t* size) {
            return write(cache_.get(), place, capacity, size);
        });
    }

    struct Destroy {
        void operator()(hob_program_cache* cache) const noexcept { hob_program_cache_destroy(cache); }
    };
    std::unique_ptr<hob_program_cache, Destroy> cache_;
};

/// What a host does for a ProgramManager; see hob_program_driver. 0 is success; what is thrown counts as failure.
struct ProgramDriver {
    std::function<uint32_t(void* shader, uint32_t stage, std::string_view source)> compile;
    std::function<uint32_t(void* program)> link;
    std::function<uint32_t(void* program, const hob_blob& blob)> load;
    /// Fill in format, data and reflection, which must stay until the link has ended. May be empty.
    std::function<uint32_t(void* program, hob_program& binary)> binary;
};

/// How a compile ended.
struct ShaderCompiled {
    hob_shader_state state = HOB_SHADER_STATE_NOT_COMPILED;
    /// What the driver said; 0 unless it failed.
    uint32_t driver_code = 0;
};

/// How a link ended; see hob_program_linked.
struct ProgramLinked {
    hob_link_outcome outcome = HOB_LINK_OUTCOME_NONE;
    /// The program's key; zeros when the link failed.
    Fingerprint key = {};
    /// What the callback said that failed; else 0. Of a program that was built, what `load` said of the one in the cache.
    uint32_t driver_code = 0;
    /// HOB_LINK_OUTCOME_COMPILE_FAILED: which of the shaders.
    uint32_t failed_shader = 0;
    /// HOB_LINK_OUTCOME_LOADED: to be ended after the first frame drawn with the program. Else none.
    ProgramUse use;
};

/// Drives a host's compile, link and load; see hob_program_manager. What a callback throws is thrown on by the call. Not
/// beyond its cache.
class ProgramManager {
public:
#if HOB_EXCEPTIONS
    ProgramManager(const ProgramCache& cache, ProgramDriver driver) : ProgramManager(create(cache, std::move(driver))) {}
#endif
    static Outcome<ProgramManager> create(const ProgramCache& cache, ProgramDriver driver) {
        if (!driver.compile || !driver.link || !driver.load)
            return detail::refuse<ProgramManager>("a driver of programs needs compile, link and load");
        auto pending = std::make_shared<detail::Pending>();
        auto box = std::make_unique<Box>(Box{std::move(driver), pending});
        hob_program_driver desc = HOB_PROGRAM_DRIVER_INIT;
        desc.user_data = box.get();
        desc.compile = &Box::compile;
        desc.link = &Box::link;
        desc.load = &Box::load;
        if (box->driver.binary) desc.binary = &Box::binary;
        desc.release = &Box::release;
        hob_program_manager* manager = nullptr;
        const hob_result result = hob_program_manager_create(cache.capi(), &desc, &manager);
        if (result != HOB_RESULT_OK) return detail::fail<ProgramManager>(result);
        (void)box.release();  // the manager's now; Box::release takes it back
        return ProgramManager(manager, cache.capi(), std::move(pending));
    }

    Outcome<hob_shader> add_shader(uint32_t stage, void* object, std::string_view source) {
        hob_shader shader = {0, 0};
        hob_result result = hob_program_manager_add_shader(manager_.get(), stage, object, &shader);
        if (result != HOB_RESULT_OK) return detail::fail<hob_shader>(result);
        result = hob_program_manager_set_source(manager_.get(), shader, source.data(), source.size());
        if (result == HOB_RESULT_OK) return shader;
        (void)hob_program_manager_remove_shader(manager_.get(), shader);  // which leaves the sentence as it is
        return detail::fail<hob_shader>(result);
    }
    Outcome<void> remove_shader(hob_shader shader) {
        return detail::check(hob_program_manager_remove_shader(manager_.get(), shader));
    }
    Outcome<void> set_source(hob_shader shader, std::string_view source) {
        return detail::check(hob_program_manager_set_source(manager_.get(), shader, source.data(), source.size()));
    }
    /// That the driver did not compile it is an answer, no failure.
    Outcome<ShaderCompiled> compile(hob_shader shader) {
        uint32_t state = HOB_SHADER_STATE_NOT_COMPILED, code = 0;
        const auto pending = pending_;  // a callback may destroy or move this object
        const hob_result result = hob_program_manager_compile(manager_.get(), shader, &state, &code);
        if (pending) pending->rethrow();
        if (result != HOB_RESULT_OK && code == 0) return detail::fail<ShaderCompiled>(result);
        return ShaderCompiled{static_cast<hob_shader_state>(state), code};
    }
    /// That the driver did not link it is an answer, no failure. `key` is what else the program is made from, without
    /// stages.
    Outcome<ProgramLinked> link(void* program, const std::vector<hob_shader>& shaders, const ProgramKey& key = ProgramKey(),
                                uint32_t group = 0) {
        const hob_program_key_desc extra = key.capi();
        hob_program_link_desc desc = HOB_PROGRAM_LINK_DESC_INIT;
        desc.group = group;
        desc.program = program;
        desc.shaders = shaders.data();
        desc.shader_count = shaders.size();
        desc.key = &extra;
        hob_program_linked linked = HOB_PROGRAM_LINKED_INIT;
        const auto pending = pending_;
        const auto* const cache = cache_;
        const hob_result result = hob_program_manager_link(manager_.get(), &desc, &linked);
        ProgramUse use(cache, linked.first_use);
        if (pending) pending->rethrow();
        if (result != HOB_RESULT_OK && linked.driver_code == 0) return detail::fail<ProgramLinked>(result);
        return ProgramLinked{static_cast<hob_link_outcome>(linked.outcome), Fingerprint{linked.key}, linked.driver_code,
                             linked.failed_shader, std::move(use)};
    }

    hob_program_manager* capi() noexcept { return manager_.get(); }
    const hob_program_manager* capi() const noexcept { return manager_.get(); }

private:
    /// What the manager owns.
    struct Box {
        ProgramDriver driver;
        std::shared_ptr<detail::Pending> pending;

        static Box& of(void* user_data) noexcept { return *static_cast<Box*>(user_data); }
        static void release(void* user_data) noexcept { delete static_cast<Box*>(user_data); }
        template <class Call>
        uint32_t guarded(Call&& call) noexcept {
            uint32_t code = UINT32_MAX;  // unless it is thrown over
            pending->guard([&] { code = call(); });
            return code;
        }
        static uint32_t compile(void* user_data, void* shader, uint32_t stage, const void* source, size_t size) noexcept {
            const std::string_view text(static_cast<const char*>(source), size);
            return of(user_data).guarded([&] { return of(user_data).driver.compile(shader, stage, text); });
        }
        static uint32_t link(void* user_data, void* program) noexcept {
            return of(user_data).guarded([&] { return of(user_data).driver.link(program); });
        }
        static uint32_t load(void* user_data, void* program, const hob_blob* blob) noexcept {
            return of(user_data).guarded([&] { return of(user_data).driver.load(program, *blob); });
        }
        static uint32_t binary(void* user_data, void* program, hob_program* binary) noexcept {
            return of(user_data).guarded([&] { return of(user_data).driver.binary(program, *binary); });
        }
    };

    struct Destroy {
        void operator()(hob_program_manager* manager) const noexcept { hob_program_manager_destroy(manager); }
    };
    ProgramManager(hob_program_manager* manager, const hob_program_cache* cache,
                   std::shared_ptr<detail::Pending> pending) noexcept
        : manager_(manager), cache_(cache), pending_(std::move(pending)) {}

    std::unique_ptr<hob_program_manager, Destroy> manager_;
    const hob_program_cache* cache_;
    std::shared_ptr<detail::Pending> pending_;
};

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_PROGRAM_CACHE_HPP
