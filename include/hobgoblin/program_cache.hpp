// hobgoblin/program_cache.hpp: program binaries in memory and on the disk. Part of hobgoblin.hpp. MIT OR Apache-2.0.
//
//     cache.wait_idle();                                        // after create: loads the programs
//
//     const hob::Blob binary = cache.get(key);                  // from memory: never waits for a file
//     hob::ProgramUse use = binary ? cache.begin_use(key) : hob::ProgramUse();
//     const bool loaded = use && load(binary.format(), binary.data());
//     if (use && !loaded) use.end(HOB_USE_OUTCOME_REJECTED);    // before the put
//     if (!loaded) cache.put(key, build());
//     use.end();                                                // when the GPU has finished the first frame
#ifndef HOBGOBLIN_PROGRAM_CACHE_HPP
#define HOBGOBLIN_PROGRAM_CACHE_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
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

/// A program for ProgramCache::put; see hob_program.
/// Its bytes must stay valid until the call returns.
struct Program {
    /// The driver's number of the format.
    uint32_t format = 0;
    /// The binary.
    std::string_view data;
    /// Bytes of the host, such as uniform locations. May be empty.
    std::string_view reflection;
    /// The shaders that it was linked from. May be empty.
    std::vector<hob_fingerprint> shaders;
    /// How long the build took, in microseconds. 0: unknown.
    uint64_t build_us = 0;
    /// The page, level or material that it belongs to. 0: none.
    uint32_t group = 0;
};

/// A view of a cached program; see hob_blob.
/// Valid as long as this object lives, even after the cache is destroyed.
class Blob {
public:
    /// No program.
    Blob() = default;
    Blob(Blob&& other) noexcept : blob_(std::exchange(other.blob_, empty())), is_banned_(other.is_banned_) {}
    Blob& operator=(Blob&& other) noexcept {
        std::swap(blob_, other.blob_);
        std::swap(is_banned_, other.is_banned_);
        return *this;
    }
    ~Blob() {
        if (blob_.pin != nullptr) hob_blob_release(&blob_);
    }

    /// Whether there is a program.
    explicit operator bool() const noexcept { return blob_.pin != nullptr; }
    /// Whether the binary is banned. Then build the program, and neither load nor put its binary.
    bool is_banned() const noexcept { return is_banned_; }
    /// The driver's number of the format.
    uint32_t format() const noexcept { return blob_.format; }
    /// The binary.
    std::string_view data() const noexcept { return {static_cast<const char*>(blob_.data), blob_.size}; }
    /// The bytes of the host that were put with it.
    std::string_view reflection() const noexcept {
        return {static_cast<const char*>(blob_.reflection), blob_.reflection_size};
    }
    /// For a C function that fills it in. That function releases the old view.
    hob_blob* capi() noexcept { return &blob_; }

private:
    friend class ProgramCache;
    static hob_blob empty() noexcept { return detail::sized<hob_blob>(); }
    hob_blob blob_ = empty();
    bool is_banned_ = false;
};

/// A use of a program by the driver; see hob_program_cache_begin_use.
/// End it when the GPU has finished the first frame drawn with the program.
///
/// The destructor ends it as HOB_USE_OUTCOME_UNUSED. It must not outlive its cache.
class ProgramUse {
public:
    /// No use: the program is banned, or was built.
    ProgramUse() = default;
    /// Takes ownership of a C id. An id of zeros is no use.
    ProgramUse(const hob_program_cache* cache, hob_use_id use) noexcept
        : cache_(use.index1 != 0 || use.generation != 0 ? cache : nullptr), use_(use) {}
    ProgramUse(ProgramUse&& other) noexcept : cache_(std::exchange(other.cache_, nullptr)), use_(other.use_) {}
    ProgramUse& operator=(ProgramUse&& other) noexcept {
        std::swap(cache_, other.cache_);
        std::swap(use_, other.use_);
        return *this;
    }
    ~ProgramUse() {
        if (cache_ != nullptr) (void)hob_program_cache_end_use(cache_, use_, HOB_USE_OUTCOME_UNUSED);
    }

    /// Whether there is a use.
    explicit operator bool() const noexcept { return cache_ != nullptr; }
    /// Ends the use. Does nothing without a use.
    Result<void> try_end(hob_use_outcome outcome = HOB_USE_OUTCOME_OK) {
        const hob_program_cache* const cache = std::exchange(cache_, nullptr);
        if (cache == nullptr) return {};
        return detail::result_of(hob_program_cache_end_use(cache, use_, outcome));
    }
#if HOB_EXCEPTIONS
    void end(hob_use_outcome outcome = HOB_USE_OUTCOME_OK) { try_end(outcome).value(); }
#endif
    hob_use_id capi() const noexcept { return use_; }

private:
    const hob_program_cache* cache_ = nullptr;
    hob_use_id use_ = {0, 0};
};

/// A use that ends with its scope.
/// For drivers that have finished with a program when their call returns, such as an offline compiler or a loader that
/// waits. Others need a ProgramUse, which lasts until a frame is finished. Without a call of reject(), the use ends as
/// HOB_USE_OUTCOME_OK, or as HOB_USE_OUTCOME_UNUSED if an exception leaves the scope.
///
///     hob::ScopedUse use(cache.begin_use(key));
///     if (use && !driver.load(binary)) use.reject();
class ScopedUse {
public:
    /// Takes over a use.
    explicit ScopedUse(ProgramUse use) noexcept : use_(std::move(use)) {}
    ScopedUse(const ScopedUse&) = delete;
    ScopedUse& operator=(const ScopedUse&) = delete;
    ~ScopedUse() {
        if (outcome_ == HOB_USE_OUTCOME_OK && is_unwinding()) outcome_ = HOB_USE_OUTCOME_UNUSED;
        (void)use_.try_end(outcome_);
    }

    /// Whether there is a use.
    explicit operator bool() const noexcept { return static_cast<bool>(use_); }
    /// The driver refused the program: it is removed when the scope ends.
    void reject() noexcept { outcome_ = HOB_USE_OUTCOME_REJECTED; }

private:
    bool is_unwinding() const noexcept {
#if HOB_EXCEPTIONS
        return std::uncaught_exceptions() > exceptions_;
#else
        return false;
#endif
    }

    ProgramUse use_;
    hob_use_outcome outcome_ = HOB_USE_OUTCOME_OK;
#if HOB_EXCEPTIONS
    int exceptions_ = std::uncaught_exceptions();
#endif
};

/// The parameters that most programs set.
/// All others are fields of `desc`; see hob_program_cache_desc.
struct ProgramCacheOptions {
    /// The directory. Empty: as in `desc`, which keeps programs in memory only by default.
    std::string directory;
    /// The driver, device and build, unless `desc` has an environment. Its text must stay valid until the cache is
    /// created.
    hob_environment environment = HOB_ENVIRONMENT_INIT;
    /// The executor that reads and writes in the background. NULL: as in `desc`.
    const Executor* executor = nullptr;
    /// The file system of the directory and of bundles. NULL: as in `desc`, by default the operating system's.
    std::shared_ptr<FileSystem> files;
    /// A secret of at least 16 bytes, which authenticates the directory. Empty: as in `desc`, by default none.
    std::string secret;
    /// All other parameters.
    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
};

/// The progress of loading a directory: `done` of `total` programs.
/// `total` is 0 until the directory is open.
struct LoadingProgress {
    /// Programs that are loaded.
    uint64_t done = 0;
    /// Programs to load. 0 until the directory is open.
    uint64_t total = 0;
};

/// Program binaries in memory and on the disk; see hob_program_cache.
/// Threads: any, several at once.
class ProgramCache {
public:
#if HOB_EXCEPTIONS
    /// In memory only.
    ProgramCache() : ProgramCache(ProgramCacheOptions()) {}
    explicit ProgramCache(const ProgramCacheOptions& options) : ProgramCache(try_create(options).value()) {}
#endif
    static Result<ProgramCache> try_create(const ProgramCacheOptions& options = ProgramCacheOptions()) {
        hob_program_cache_desc desc = options.desc;
        if (!options.directory.empty()) desc.directory = detail::text(options.directory);
        if (desc.environment == nullptr) desc.environment = &options.environment;
        if (options.executor != nullptr) desc.executor = options.executor->capi();
        if (!options.secret.empty()) desc.secret = detail::text(options.secret);
        std::unique_ptr<detail::HostFiles> files;
        hob_file_io io = HOB_FILE_IO_INIT;
        if (options.files != nullptr) {
            files.reset(new detail::HostFiles{options.files});
            io = files->io();
            desc.file_io = &io;
        }
        hob_program_cache* cache = nullptr;
        const hob_result code = hob_program_cache_create(&desc, &cache);
        if (code == HOB_RESULT_OK) (void)files.release();  // the cache owns it and calls HostFiles::release
        return detail::result_of(code, ProgramCache(cache));
    }
    /// Takes ownership of a C handle.
    explicit ProgramCache(hob_program_cache* cache) noexcept : cache_(cache) {}

    // Programs.

    /// A program from memory. Empty: build it. Never waits for a file, and a hit allocates nothing.
    Result<Blob> try_get(const hob_fingerprint& key) const {
        Blob blob;
        const hob_result code = hob_program_cache_get(cache_.get(), &key, blob.capi());
        return found(code, std::move(blob));
    }
    /// The same for a page, level or material: the program moves to its group.
    Result<Blob> try_get_for_group(const hob_fingerprint& key, uint32_t group) const {
        Blob blob;
        const hob_result code = hob_program_cache_get_for_group(cache_.get(), &key, group, blob.capi());
        return found(code, std::move(blob));
    }
    /// The same, and waits up to `timeout_us` microseconds for the disk. Empty after a timeout, too.
    Result<Blob> try_get_wait(const hob_fingerprint& key, uint64_t timeout_us = UINT64_MAX) const {
        Blob blob;
        const hob_result code = hob_program_cache_get_wait(cache_.get(), &key, timeout_us, blob.capi());
        return found(code == HOB_RESULT_TIMEOUT ? HOB_RESULT_NOT_FOUND : code, std::move(blob));
    }
    /// Stores a copy of a program. False: it is larger than the memory limit.
    Result<bool> try_put(const hob_fingerprint& key, const Program& program) const {
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
        return unless(HOB_RESULT_LIMIT_EXCEEDED, hob_program_cache_put(cache_.get(), &key, &desc));
    }
    /// Removes a program from memory and disk.
    Result<void> try_remove(const hob_fingerprint& key) const {
        return detail::result_of(hob_program_cache_remove(cache_.get(), &key));
    }
    /// Removes all programs and compile statuses from memory, and with `disk_too` from the disk.
    Result<void> try_clear(bool disk_too = false) const {
        return detail::result_of(hob_program_cache_clear(cache_.get(), disk_too ? 1 : 0));
    }
    /// Removes all programs of all environments from memory and disk.
    Result<void> try_clear_directory() const {
        return detail::result_of(hob_program_cache_clear_directory(cache_.get()));
    }
    /// Evicts programs until memory holds at most `most_bytes`.
    Result<void> try_trim(uint64_t most_bytes) const {
        return detail::result_of(hob_program_cache_trim(cache_.get(), most_bytes));
    }
    /// Sets the limit of memory, in bytes.
    Result<void> try_set_memory_limit(uint64_t limit) const {
        return detail::result_of(hob_program_cache_set_memory_limit(cache_.get(), limit));
    }
    /// Sets the limit of the disk, in bytes.
    Result<void> try_set_disk_limit(uint64_t limit) const {
        return detail::result_of(hob_program_cache_set_disk_limit(cache_.get(), limit));
    }
    /// Binds the cache to hob_egl_blob_set and hob_egl_blob_get; see hob_program_cache_bind_egl.
    Result<void> try_bind_egl() const { return detail::result_of(hob_program_cache_bind_egl(cache_.get())); }
    /// Turns uses of blobs on or off; see hob_program_cache_track_blob_uses.
    Result<void> try_track_blob_uses(bool is_on) const {
        return detail::result_of(hob_program_cache_track_blob_uses(cache_.get(), is_on));
    }
    /// Ends all uses that blobs have begun.
    Result<void> try_end_blob_uses(hob_use_outcome outcome = HOB_USE_OUTCOME_OK) const {
        return detail::result_of(hob_program_cache_end_blob_uses(cache_.get(), outcome));
    }
    /// Reports that the machine is short of memory.
    Result<void> try_report_memory_pressure(hob_memory_pressure pressure) const {
        return detail::result_of(hob_program_cache_report_memory_pressure(cache_.get(), pressure));
    }
    /// Adds a key to the start-up set, or removes it.
    Result<void> try_mark_startup(const hob_fingerprint& key, bool marked = true) const {
        return detail::result_of(hob_program_cache_mark_startup(cache_.get(), &key, marked ? 1 : 0));
    }
    /// Whether a program is in memory.
    bool knows_program(const hob_fingerprint& key) const noexcept {
        uint32_t known = 0;
        return hob_program_cache_get_program_status(cache_.get(), &key, &known) == HOB_RESULT_OK && known != 0;
    }

    // Shaders.

    /// Reports that a shader has compiled.
    Result<void> try_report_shader_compiled(const hob_fingerprint& shader) const {
        return detail::result_of(hob_program_cache_report_shader_compiled(cache_.get(), &shader));
    }
    /// Whether a shader is known to compile.
    bool knows_shader(const hob_fingerprint& shader) const noexcept {
        uint32_t known = 0;
        return hob_program_cache_get_shader_status(cache_.get(), &shader, &known) == HOB_RESULT_OK && known != 0;
    }
    /// The number of programs in memory that were linked from a shader.
    uint32_t shader_program_count(const hob_fingerprint& shader) const noexcept {
        uint32_t programs = 0;
        (void)hob_program_cache_get_shader_program_count(cache_.get(), &shader, &programs);
        return programs;
    }

    // Crash protection.

    /// Begins a use of a program by the driver. Empty if the program is banned.
    Result<ProgramUse> try_begin_use(const hob_fingerprint& key) const {
        hob_use_id use = {0, 0};
        const hob_result code = hob_program_cache_begin_use(cache_.get(), &key, &use);
        if (code == HOB_RESULT_BANNED) return ProgramUse();
        return detail::result_of(code, ProgramUse(cache_.get(), use));
    }
    /// The number of strikes of a program.
    uint32_t strikes(const hob_fingerprint& key) const noexcept {
        uint32_t strikes = 0;
        (void)hob_program_cache_get_strikes(cache_.get(), &key, &strikes);
        return strikes;
    }
    /// Removes the strikes of a program.
    Result<void> try_clear_strikes(const hob_fingerprint& key) const {
        return detail::result_of(hob_program_cache_clear_strikes(cache_.get(), &key));
    }
    /// Removes the strikes of all programs, in all environments of the directory.
    Result<void> try_clear_all_strikes() const {
        return detail::result_of(hob_program_cache_clear_strikes(cache_.get(), nullptr));
    }

    // Disk.

    /// Reads and writes until all work is done. False after a timeout.
    Result<bool> try_wait_idle(uint64_t timeout_us = UINT64_MAX) const {
        return unless(HOB_RESULT_TIMEOUT, hob_program_cache_wait_idle(cache_.get(), timeout_us));
    }
    /// Writes programs that wait for the disk. False after a timeout. A failed write is a failure.
    Result<bool> try_flush(uint64_t timeout_us = UINT64_MAX) const {
        return unless(HOB_RESULT_TIMEOUT, hob_program_cache_flush(cache_.get(), timeout_us));
    }
    /// Where a program is: HOB_PROGRAM_IN_MEMORY and the like. 0: nowhere.
    Result<uint32_t> try_contains(const hob_fingerprint& key, uint64_t timeout_us = UINT64_MAX) const {
        return detail::filled_by(uint32_t{0}, [&](uint32_t* places) {
            return hob_program_cache_contains(cache_.get(), &key, timeout_us, places);
        });
    }
    /// Up to `most` programs in the order of their keys, after the key `after`. Empty: the end.
    Result<std::vector<hob_program_info>> try_list(const hob_fingerprint* after = nullptr, std::size_t most = 256,
                                                   uint64_t timeout_us = UINT64_MAX) const {
        std::vector<hob_program_info> page(most);
        std::size_t count = 0;
        const hob_result code = hob_program_cache_list(cache_.get(), after, timeout_us, page.data(),
                                                       sizeof(hob_program_info), page.size(), &count);
        if (code == HOB_RESULT_OK) page.resize(count);
        return detail::result_of(code, std::move(page));
    }
    /// The progress of loading.
    LoadingProgress loading_progress() const noexcept {
        LoadingProgress progress;
        (void)hob_program_cache_get_loading_progress(cache_.get(), &progress.done, &progress.total);
        return progress;
    }
    /// Adds the programs of a bundle file.
    Result<void> try_add_bundle(std::string_view path) const {
        return detail::result_of(hob_program_cache_add_bundle(cache_.get(), detail::text(path)));
    }
    /// Adds the programs of a bundle in memory.
    Result<void> try_add_bundle_bytes(std::string_view bytes) const {
        return detail::result_of(hob_program_cache_add_bundle_bytes(cache_.get(), bytes.data(), bytes.size()));
    }
    /// Writes a bundle file. Returns its number of programs.
    Result<uint64_t> try_write_bundle(std::string_view path,
                                      hob_bundle_contents contents = HOB_BUNDLE_CONTENTS_ALL) const {
        return detail::filled_by(uint64_t{0}, [&](uint64_t* programs) {
            return hob_program_cache_write_bundle(cache_.get(), detail::text(path), contents, programs);
        });
    }

    // Diagnosis.

    /// Stores the inputs of a program, for explain_miss().
    Result<void> try_describe(const ProgramKey& key) const {
        const hob_program_key_desc desc = key.capi();
        return detail::result_of(hob_program_cache_describe(cache_.get(), nullptr, &desc));
    }
    /// Explains a miss: which inputs differ from the closest described program. Empty sentence: no program is
    /// described.
    Result<hob_program_miss> try_explain_miss(const ProgramKey& key) const {
        const hob_program_key_desc desc = key.capi();
        auto miss = detail::sized<hob_program_miss>();
        const hob_result code = hob_program_cache_explain_miss(cache_.get(), &desc, &miss);
        return detail::result_of(code == HOB_RESULT_NOT_FOUND ? HOB_RESULT_OK : code, miss);
    }
    /// The reason why the cache cannot read or write its directory. Empty if it can.
    Result<std::string> try_problem() const { return text(&hob_program_cache_get_problem); }
    /// Calls `observer` with each new problem, and with an empty text when it is over. An empty function removes it.
    ///
    /// It runs on the thread that notices the problem, also in the background. Its exceptions are dropped.
    Result<void> try_observe_problems(std::function<void(std::string_view)> observer) const {
        if (!observer) return detail::result_of(hob_program_cache_set_problem_callback(cache_.get(), nullptr));
        auto box = std::make_unique<std::function<void(std::string_view)>>(std::move(observer));
        hob_problem_callback callback = HOB_PROBLEM_CALLBACK_INIT;
        callback.user_data = box.get();
        callback.report = &report_problem;
        callback.release = &release_observer;
        const hob_result code = hob_program_cache_set_problem_callback(cache_.get(), &callback);
        if (code == HOB_RESULT_OK) (void)box.release();  // the cache owns it and calls release_observer
        return detail::result_of(code);
    }
    /// All counters and measurements as JSON.
    Result<std::string> try_report() const { return text(&hob_program_cache_get_report); }
    /// All counters.
    Result<hob_program_cache_statistics> try_statistics() const {
        using Statistics = hob_program_cache_statistics;
        return detail::filled_by(detail::sized<Statistics>(), [&](Statistics* statistics) {
            return hob_program_cache_get_statistics(cache_.get(), statistics);
        });
    }
    /// The distribution of a measure.
    Result<hob_histogram> try_histogram(hob_program_cache_measure measure) const {
        return detail::filled_by(detail::sized<hob_histogram>(), [&](hob_histogram* histogram) {
            return hob_program_cache_get_histogram(cache_.get(), measure, histogram);
        });
    }
    /// The buckets of a histogram that are not empty, in ascending order.
    Result<std::vector<hob_histogram_bucket>> try_histogram_buckets(hob_program_cache_measure measure) const {
        return detail::read_all<std::vector<hob_histogram_bucket>>(
            [&](hob_histogram_bucket* buckets, std::size_t capacity, std::size_t* count) {
                return hob_program_cache_get_histogram_buckets(cache_.get(), measure, buckets, sizeof *buckets, capacity,
                                                           count);
            });
    }
    /// Adds a measurement, for hosts that measure links and compiles themselves.
    Result<void> try_add_measurement(hob_program_cache_measure measure, uint64_t value) const {
        return detail::result_of(hob_program_cache_add_measurement(cache_.get(), measure, value));
    }

#if HOB_EXCEPTIONS
    // The throwing forms.
    Blob get(const hob_fingerprint& key) const { return try_get(key).value(); }
    Blob get_for_group(const hob_fingerprint& key, uint32_t group) const {
        return try_get_for_group(key, group).value();
    }
    Blob get_wait(const hob_fingerprint& key, uint64_t timeout_us = UINT64_MAX) const {
        return try_get_wait(key, timeout_us).value();
    }
    bool put(const hob_fingerprint& key, const Program& program) const { return try_put(key, program).value(); }
    void remove(const hob_fingerprint& key) const { try_remove(key).value(); }
    void clear(bool disk_too = false) const { try_clear(disk_too).value(); }
    void clear_directory() const { try_clear_directory().value(); }
    void trim(uint64_t most_bytes) const { try_trim(most_bytes).value(); }
    void set_memory_limit(uint64_t limit) const { try_set_memory_limit(limit).value(); }
    void set_disk_limit(uint64_t limit) const { try_set_disk_limit(limit).value(); }
    void bind_egl() const { try_bind_egl().value(); }
    void track_blob_uses(bool is_on) const { try_track_blob_uses(is_on).value(); }
    void end_blob_uses(hob_use_outcome outcome = HOB_USE_OUTCOME_OK) const { try_end_blob_uses(outcome).value(); }
    void report_memory_pressure(hob_memory_pressure pressure) const { try_report_memory_pressure(pressure).value(); }
    void mark_startup(const hob_fingerprint& key, bool marked = true) const { try_mark_startup(key, marked).value(); }
    void report_shader_compiled(const hob_fingerprint& shader) const { try_report_shader_compiled(shader).value(); }
    ProgramUse begin_use(const hob_fingerprint& key) const { return try_begin_use(key).value(); }
    void clear_strikes(const hob_fingerprint& key) const { try_clear_strikes(key).value(); }
    void clear_all_strikes() const { try_clear_all_strikes().value(); }
    bool wait_idle(uint64_t timeout_us = UINT64_MAX) const { return try_wait_idle(timeout_us).value(); }
    bool flush(uint64_t timeout_us = UINT64_MAX) const { return try_flush(timeout_us).value(); }
    void add_bundle(std::string_view path) const { try_add_bundle(path).value(); }
    void add_bundle_bytes(std::string_view bytes) const { try_add_bundle_bytes(bytes).value(); }
    uint64_t write_bundle(std::string_view path, hob_bundle_contents contents = HOB_BUNDLE_CONTENTS_ALL) const {
        return try_write_bundle(path, contents).value();
    }
    void describe(const ProgramKey& key) const { try_describe(key).value(); }
    hob_program_miss explain_miss(const ProgramKey& key) const { return try_explain_miss(key).value(); }
    uint32_t contains(const hob_fingerprint& key, uint64_t timeout_us = UINT64_MAX) const {
        return try_contains(key, timeout_us).value();
    }
    std::vector<hob_program_info> list(const hob_fingerprint* after = nullptr, std::size_t most = 256,
                                       uint64_t timeout_us = UINT64_MAX) const {
        return try_list(after, most, timeout_us).value();
    }
    void observe_problems(std::function<void(std::string_view)> observer) const {
        try_observe_problems(std::move(observer)).value();
    }
    std::string problem() const { return try_problem().value(); }
    std::string report() const { return try_report().value(); }
    hob_program_cache_statistics statistics() const { return try_statistics().value(); }
    hob_histogram histogram(hob_program_cache_measure measure) const { return try_histogram(measure).value(); }
    std::vector<hob_histogram_bucket> histogram_buckets(hob_program_cache_measure measure) const {
        return try_histogram_buckets(measure).value();
    }
    void add_measurement(hob_program_cache_measure measure, uint64_t value) const {
        try_add_measurement(measure, value).value();
    }
#endif

    hob_program_cache* capi() noexcept { return cache_.get(); }
    const hob_program_cache* capi() const noexcept { return cache_.get(); }

private:
    static void report_problem(void* user_data, hob_str sentence) noexcept {
        detail::Pending dropped;
        dropped.guard([&] {
            (*static_cast<std::function<void(std::string_view)>*>(user_data))(detail::view(sentence));
        });
    }
    static void release_observer(void* user_data) noexcept {
        delete static_cast<std::function<void(std::string_view)>*>(user_data);
    }
    /// The result of a get: a miss and a ban are not failures.
    static Result<Blob> found(hob_result code, Blob blob) {
        blob.is_banned_ = code == HOB_RESULT_BANNED;
        const bool is_miss = code == HOB_RESULT_NOT_FOUND || code == HOB_RESULT_BANNED;
        return detail::result_of(is_miss ? HOB_RESULT_OK : code, std::move(blob));
    }
    /// True after success, false after the code `no`.
    static Result<bool> unless(hob_result no, hob_result code) {
        return detail::result_of(code == no ? HOB_RESULT_OK : code, code == HOB_RESULT_OK);
    }
    Result<std::string> text(hob_result (*write)(const hob_program_cache*, char*, std::size_t, std::size_t*)) const {
        return detail::read_all<std::string>([&](char* buffer, std::size_t capacity, std::size_t* size) {
            return write(cache_.get(), buffer, capacity, size);
        });
    }

    struct Destroy {
        void operator()(hob_program_cache* cache) const noexcept { hob_program_cache_destroy(cache); }
    };
    std::unique_ptr<hob_program_cache, Destroy> cache_;
};

/// The host's driver calls for a ProgramManager; see hob_program_callbacks.
/// Each returns 0 for success. An exception counts as failure.
struct ProgramCallbacks {
    /// Compiles a shader. Returns 0, or the driver's number of an error.
    std::function<uint32_t(void* shader, uint32_t stage, std::string_view source)> compile;
    /// Links a program. Returns 0, or the driver's number of an error.
    std::function<uint32_t(void* program)> link;
    /// Loads a binary. Returns 0, or a number if the driver refuses it.
    std::function<uint32_t(void* program, const hob_blob& blob)> load;
    /// Fills in format, data and reflection, which must stay valid until the link has ended. Can be empty.
    std::function<uint32_t(void* program, hob_program& binary)> get_binary;
};

/// The result of a compile.
struct CompileResult {
    /// Whether it has compiled, or was deferred.
    hob_shader_state state = HOB_SHADER_STATE_NOT_COMPILED;
    /// The number that the compile callback returned. 0 unless it failed.
    uint32_t driver_code = 0;
};

/// The result of a link; see hob_link_result.
struct LinkResult {
    /// How the link ended.
    hob_link_outcome outcome = HOB_LINK_OUTCOME_NONE;
    /// The program's key. Zeros if the link failed.
    Fingerprint key = {};
    /// The number that the failed callback returned. 0 if none failed.
    uint32_t driver_code = 0;
    /// With HOB_LINK_OUTCOME_COMPILE_FAILED: the index of the shader.
    uint32_t failed_shader = 0;
    /// With HOB_LINK_OUTCOME_LOADED: see hob_link_result.first_use. Otherwise empty.
    ProgramUse use;
};

/// Drives the host's compile, link and load; see hob_program_manager.
/// It must not outlive its cache.
///
/// An exception from a callback is rethrown by the call that ran it, also by its try_ form.
class ProgramManager {
public:
#if HOB_EXCEPTIONS
    ProgramManager(const ProgramCache& cache, ProgramCallbacks callbacks)
        : ProgramManager(try_create(cache, std::move(callbacks)).value()) {}
#endif
    static Result<ProgramManager> try_create(const ProgramCache& cache, ProgramCallbacks callbacks) {
        if (!callbacks.compile || !callbacks.link || !callbacks.load)
            return detail::invalid("missing callback: a program manager needs compile, link and load");
        auto pending = std::make_shared<detail::Pending>();
        auto box = std::make_unique<Box>(Box{std::move(callbacks), pending});
        hob_program_callbacks desc = HOB_PROGRAM_CALLBACKS_INIT;
        desc.user_data = box.get();
        desc.compile = &Box::compile;
        desc.link = &Box::link;
        desc.load = &Box::load;
        if (box->callbacks.get_binary) desc.get_binary = &Box::get_binary;
        desc.release = &Box::release;
        hob_program_manager* manager = nullptr;
        const hob_result code = hob_program_manager_create(cache.capi(), &desc, &manager);
        if (code == HOB_RESULT_OK) (void)box.release();  // the manager owns it and calls Box::release
        return detail::result_of(code, ProgramManager(manager, cache.capi(), std::move(pending)));
    }

    /// Adds a shader. `object` is passed to the compile callback.
    Result<hob_shader_id> try_add_shader(uint32_t stage, void* object, std::string_view source) {
        hob_shader_id shader = {0, 0};
        hob_result code = hob_program_manager_add_shader(capi(), stage, object, &shader);
        if (code != HOB_RESULT_OK) return detail::last_failure(code);
        code = hob_program_manager_set_source(capi(), shader, source.data(), source.size());
        if (code == HOB_RESULT_OK) return shader;
        const Failure failure = detail::last_failure(code);
        (void)hob_program_manager_remove_shader(capi(), shader);
        return failure;
    }
    /// Removes a shader.
    Result<void> try_remove_shader(hob_shader_id shader) {
        return detail::result_of(hob_program_manager_remove_shader(capi(), shader));
    }
    /// Replaces the source of a shader.
    Result<void> try_set_source(hob_shader_id shader, std::string_view source) {
        return detail::result_of(hob_program_manager_set_source(capi(), shader, source.data(), source.size()));
    }
    /// Compiles a shader, or defers it if it is known to compile. A shader that does not compile is not a failure.
    Result<CompileResult> try_compile(hob_shader_id shader) {
        hob_shader_state state = HOB_SHADER_STATE_NOT_COMPILED;
        uint32_t driver_code = 0;
        const auto pending = pending_;  // a callback may destroy or move this object
        const hob_result code = hob_program_manager_compile(capi(), shader, &state, &driver_code);
        if (pending) pending->rethrow();
        return detail::result_of(driver_code != 0 ? HOB_RESULT_OK : code,
                                 CompileResult{state, driver_code});
    }
    /// Loads a program from the cache, or builds it. A program that does not link is not a failure.
    ///
    /// `key` holds the inputs of the program beside its stages. `group` is that of hob_program.
    Result<LinkResult> try_link(void* program, ArrayView<hob_shader_id> shaders, const ProgramKey& key = ProgramKey(),
                                uint32_t group = 0) {
        const hob_program_key_desc extra = key.capi();
        hob_program_link_desc desc = HOB_PROGRAM_LINK_DESC_INIT;
        desc.group = group;
        desc.program = program;
        desc.shaders = shaders.data();
        desc.shader_count = shaders.size();
        desc.key = &extra;
        auto linked = detail::sized<hob_link_result>();
        const auto pending = pending_;
        const auto* const cache = cache_;
        const hob_result code = hob_program_manager_link(capi(), &desc, &linked);
        ProgramUse use(cache, linked.first_use);
        if (pending) pending->rethrow();
        return detail::result_of(linked.driver_code != 0 ? HOB_RESULT_OK : code,
                                 LinkResult{linked.outcome, Fingerprint{linked.key},
                                            linked.driver_code, linked.failed_shader, std::move(use)});
    }

#if HOB_EXCEPTIONS
    // The throwing forms.
    hob_shader_id add_shader(uint32_t stage, void* object, std::string_view source) {
        return try_add_shader(stage, object, source).value();
    }
    void remove_shader(hob_shader_id shader) { try_remove_shader(shader).value(); }
    void set_source(hob_shader_id shader, std::string_view source) { try_set_source(shader, source).value(); }
    CompileResult compile(hob_shader_id shader) { return try_compile(shader).value(); }
    LinkResult link(void* program, ArrayView<hob_shader_id> shaders, const ProgramKey& key = ProgramKey(),
                    uint32_t group = 0) {
        return try_link(program, shaders, key, group).value();
    }
#endif

    hob_program_manager* capi() noexcept { return manager_.get(); }
    const hob_program_manager* capi() const noexcept { return manager_.get(); }

private:
    /// The callbacks, which the manager owns.
    struct Box {
        ProgramCallbacks callbacks;
        std::shared_ptr<detail::Pending> pending;

        static Box& of(void* user_data) noexcept { return *static_cast<Box*>(user_data); }
        static void release(void* user_data) noexcept { delete static_cast<Box*>(user_data); }
        template <class Call>
        uint32_t guarded(const Call& call) noexcept {
            uint32_t code = UINT32_MAX;  // after an exception
            pending->guard([&] { code = call(); });
            return code;
        }
        static uint32_t compile(void* user_data, void* shader, uint32_t stage, const void* source,
                                std::size_t size) noexcept {
            const std::string_view text(static_cast<const char*>(source), size);
            return of(user_data).guarded([&] { return of(user_data).callbacks.compile(shader, stage, text); });
        }
        static uint32_t link(void* user_data, void* program) noexcept {
            return of(user_data).guarded([&] { return of(user_data).callbacks.link(program); });
        }
        static uint32_t load(void* user_data, void* program, const hob_blob* blob) noexcept {
            return of(user_data).guarded([&] { return of(user_data).callbacks.load(program, *blob); });
        }
        static uint32_t get_binary(void* user_data, void* program, hob_program* binary) noexcept {
            return of(user_data).guarded([&] { return of(user_data).callbacks.get_binary(program, *binary); });
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
