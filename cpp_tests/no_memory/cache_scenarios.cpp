// The program cache. Nothing here allocates, except in a child process.
#include "cache_scenarios.h"

#include <fcntl.h>
#include <dirent.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace no_memory {
namespace {

hob_str str(const char* text) {
    return hob_str_of(text, std::strlen(text));
}

/// A path inside the run's directory.
struct Path {
    char text[500];
    Path(const Run& run, const char* name) { std::snprintf(text, sizeof text, "%s/%s", run.directory(), name); }
    hob_str str() const { return no_memory::str(text); }
};

hob_fingerprint key(int number) {
    hob_fingerprint found = {};
    (void)hob_fingerprint_hash_bytes(&number, sizeof number, &found);
    return found;
}

constexpr size_t program_size = 600;
char bytes_of_program[program_size];

hob_result put(const hob_program_cache* cache, int number) {
    const hob_fingerprint name = key(number), shaders[] = {key(1000 + number), key(2000)};
    hob_program program = HOB_PROGRAM_INIT;
    std::memset(bytes_of_program, number, program_size);
    program.format = 7;
    program.data = bytes_of_program;
    program.size = program_size;
    program.reflection = "map";
    program.reflection_size = 3;
    program.shaders = shaders;
    program.shader_count = 2;
    program.build_us = 1000;
    program.group = static_cast<uint32_t>(number % 3);
    return hob_program_cache_put(cache, &name, &program);
}

/// Releases the program that was found. Its bytes must be those that were put.
void check_blob(Run& run, hob_result result, hob_blob& blob, int number) {
    if (result == HOB_RESULT_OK) {
        const char* const bytes = static_cast<const char*>(blob.data);
        run.expect("a program has its bytes", blob.size == program_size && bytes[0] == number && bytes[program_size - 1] == number);
    }
    hob_blob_release(&blob);
}

hob_result get(Run& run, const hob_program_cache* cache, int number) {
    const hob_fingerprint name = key(number);
    hob_blob blob = HOB_BLOB_INIT;
    const hob_result result = hob_program_cache_get(cache, &name, &blob);
    check_blob(run, result, blob, number);
    return result;
}

hob_result get_wait(Run& run, const hob_program_cache* cache, int number) {
    const hob_fingerprint name = key(number);
    hob_blob blob = HOB_BLOB_INIT;
    const hob_result result = hob_program_cache_get_wait(cache, &name, UINT64_MAX, &blob);
    check_blob(run, result, blob, number);
    return result;
}

/// Uses a program, unless it is banned or missing.
hob_result use(const hob_program_cache* cache, int number, hob_use_outcome outcome) {
    const hob_fingerprint name = key(number);
    hob_use_id id = {};
    const hob_result result = hob_program_cache_begin_use(cache, &name, &id);
    return result == HOB_RESULT_OK ? hob_program_cache_end_use(cache, id, outcome) : result;
}

/// The inputs of a program.
struct Inputs {
    char defines[32];
    hob_program_stage stages[2] = {};
    hob_attribute_binding attributes[2] = {};
    hob_program_key_desc desc = HOB_PROGRAM_KEY_DESC_INIT;

    explicit Inputs(int number) {
        std::snprintf(defines, sizeof defines, "#define N %d", number);
        stages[0].stage = HOB_SHADER_STAGE_VERTEX;
        stages[0].source = "vertex";
        stages[0].size = 6;
        stages[1].stage = HOB_SHADER_STAGE_FRAGMENT;
        stages[1].source = defines;
        stages[1].size = std::strlen(defines);
        attributes[0].name = HOB_STR("position");
        attributes[1].name = HOB_STR("normal");
        attributes[1].location = 1;
        desc.stages = stages;
        desc.stage_count = 2;
        desc.attributes = attributes;
        desc.attribute_count = 2;
        desc.defines = defines;
        desc.defines_size = std::strlen(defines);
    }
    Inputs(const Inputs&) = delete;
};

/// Every query of a cache.
void query(Run& run, const hob_program_cache* cache) {
    char text[16384];
    size_t size = 0;
    hob_program_cache_statistics found = HOB_PROGRAM_CACHE_STATISTICS_INIT;
    run("get_statistics", [&] { return hob_program_cache_get_statistics(cache, &found); });
    run("get_report", [&] { return hob_program_cache_get_report(cache, text, sizeof text, &size); });
    run("get_problem", [&] { return hob_program_cache_get_problem(cache, text, sizeof text, &size); });
    const hob_fingerprint name = key(3);
    uint32_t places = 0;
    run("contains", [&] { return hob_program_cache_contains(cache, &name, UINT64_MAX, &places); });
    hob_program_info page[8];
    run("list", [&] { return hob_program_cache_list(cache, nullptr, UINT64_MAX, page, sizeof page[0], 8, &size); });
    run("list the rest", [&] { return hob_program_cache_list(cache, &name, UINT64_MAX, page, sizeof page[0], 8, &size); });
    hob_problem_callback callback = HOB_PROBLEM_CALLBACK_INIT;
    callback.report = [](void*, hob_str) {};
    run("set_problem_callback", [&] { return hob_program_cache_set_problem_callback(cache, &callback); });
    hob_histogram histogram = HOB_HISTOGRAM_INIT;
    run("add_measurement", [&] { return hob_program_cache_add_measurement(cache, HOB_PROGRAM_CACHE_MEASURE_HIT_US, 70); });
    run("get_histogram", [&] { return hob_program_cache_get_histogram(cache, HOB_PROGRAM_CACHE_MEASURE_HIT_US, &histogram); });
    hob_histogram_bucket buckets[400];
    run("get_histogram_buckets", [&] {
        return hob_program_cache_get_histogram_buckets(cache, HOB_PROGRAM_CACHE_MEASURE_HIT_US, buckets, sizeof buckets[0], 400, &size);
    });
    uint32_t known = 0;
    const hob_fingerprint shader = key(2000);
    run("report_shader_compiled", [&] { return hob_program_cache_report_shader_compiled(cache, &shader); });
    run("get_shader_status", [&] { return hob_program_cache_get_shader_status(cache, &shader, &known); });
    run("get_program_status", [&] { return hob_program_cache_get_program_status(cache, &shader, &known); });
    run("get_strikes", [&] { return hob_program_cache_get_strikes(cache, &shader, &known); });
}

hob_program_cache_desc desc_of(const Path& directory) {
    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    desc.directory = directory.str();
    desc.described_keys = 8;
    return desc;
}

hob_program_cache* open(Run& run, const hob_program_cache_desc& desc) {
    hob_program_cache* cache = nullptr;
    run("create a cache", [&] { return hob_program_cache_create(&desc, &cache); });
    return cache;
}

constexpr auto missing = HOB_RESULT_NOT_FOUND;
constexpr auto banned = HOB_RESULT_BANNED;
constexpr int programs = 12;

/// Writes programs, uses them, and reads them again.
void fill(Run& run, const hob_program_cache* cache) {
    for (int n = 0; n < programs; ++n) {
        const Inputs inputs(n);
        run("put", [&] { return put(cache, n); });
        run("describe", [&] { return hob_program_cache_describe(cache, nullptr, &inputs.desc); });
    }
    for (int n = 0; n < programs; n += 3) {
        run("get", [&] { return get(run, cache, n); }, {missing});
        run("use", [&] { return use(cache, n, n == 0 ? HOB_USE_OUTCOME_REJECTED : HOB_USE_OUTCOME_OK); }, {missing, banned});
    }
    const hob_fingerprint marked = key(4);
    run("mark_startup", [&] { return hob_program_cache_mark_startup(cache, &marked, 1); }, {missing});
}

/// Programs can be put, read back and used.
void check(Run& run, const hob_program_cache* cache) {
    if (cache == nullptr) return;
    run.works("put with memory", [&] { return put(cache, 99); });
    run.works("get with memory", [&] { return get(run, cache, 99); });
    run.works("use with memory", [&] { return use(cache, 99, HOB_USE_OUTCOME_OK); });
}

}  // namespace

void play_fingerprints(Run& run) {
    const Inputs inputs(1);
    hob_fingerprint found = {};
    char hex[80];
    hob_fingerprint_part parts[32];
    size_t size = 0;
    run("hash_program", [&] { return hob_fingerprint_hash_program(&inputs.desc, &found); });
    run("get_hex", [&] { return hob_fingerprint_get_hex(&found, hex, sizeof hex, &size); });
    run("get_program_parts", [&] { return hob_fingerprint_get_program_parts(&inputs.desc, parts, sizeof parts[0], 32, &size); });
    hob_environment environment = HOB_ENVIRONMENT_INIT;
    environment.driver = HOB_STR("driver");
    uint64_t id = 0;
    run("environment_get_id", [&] { return hob_environment_get_id(&environment, &id); });
    run("environment_get_parts", [&] { return hob_environment_get_parts(&environment, parts, sizeof parts[0], 32, &size); });
}

void play_memory_cache(Run& run) {
    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    desc.memory_limit = 8000;
    desc.eviction = HOB_EVICTION_GROUPS;
    desc.described_keys = 8;
    hob_program_cache* const cache = open(run, desc);
    fill(run, cache);
    for (int n = 0; n < 40; ++n) run("put", [&] { return put(cache, n); });
    query(run, cache);
    hob_program_miss miss = HOB_PROGRAM_MISS_INIT;
    const Inputs inputs(77);
    run("explain_miss", [&] { return hob_program_cache_explain_miss(cache, &inputs.desc, &miss); }, {missing});
    const hob_fingerprint name = key(39);
    run("remove", [&] { return hob_program_cache_remove(cache, &name); }, {missing});
    run("set_memory_limit", [&] { return hob_program_cache_set_memory_limit(cache, 20000); });
    run("report_memory_pressure", [&] { return hob_program_cache_report_memory_pressure(cache, HOB_MEMORY_PRESSURE_MODERATE); });
    run("report_memory_pressure", [&] { return hob_program_cache_report_memory_pressure(cache, HOB_MEMORY_PRESSURE_NONE); });
    run("trim", [&] { return hob_program_cache_trim(cache, 3000); });
    char value[100] = {};
    if (cache != nullptr) {
        hob_dawn_blob_store("key", 3, value, sizeof value, cache);
        (void)hob_dawn_blob_load("key", 3, value, sizeof value, cache);
        run("bind_egl", [&] { return hob_program_cache_bind_egl(cache); });
        hob_egl_blob_set("egl", 3, value, sizeof value);
        (void)hob_egl_blob_get("egl", 3, value, sizeof value);
        run("bind_egl to none", [&] { return hob_program_cache_bind_egl(nullptr); });
    }
    run("clear", [&] { return hob_program_cache_clear(cache, 1); });
    run.heal();
    check(run, cache);
    hob_program_cache_destroy(cache);
}

namespace {

/// Two processes' worth of a cache on the disk, with a limit that makes it evict.
void use_disk(Run& run, hob_program_cache_desc desc) {
    desc.flags |= HOB_PROGRAM_CACHE_COMPRESS;
    hob_program_cache* cache = open(run, desc);
    run("wait_idle", [&] { return hob_program_cache_wait_idle(cache, UINT64_MAX); });
    fill(run, cache);
    // A program that could not be written is reported by the flush.
    run("flush", [&] { return hob_program_cache_flush(cache, UINT64_MAX); }, {HOB_RESULT_IO, HOB_RESULT_OUT_OF_MEMORY});
    hob_program_cache_destroy(cache);

    cache = open(run, desc);
    uint64_t done = 0, total = 0;
    run("get_loading_progress", [&] { return hob_program_cache_get_loading_progress(cache, &done, &total); });
    for (int n = 1; n < programs; n += 2) run("get_wait", [&] { return get_wait(run, cache, n); }, {missing, banned});
    run("wait_idle", [&] { return hob_program_cache_wait_idle(cache, UINT64_MAX); });
    const hob_fingerprint third = key(3);
    hob_blob blob = HOB_BLOB_INIT;
    run("get_for_group", [&] { return hob_program_cache_get_for_group(cache, &third, 7, &blob); }, {missing, banned});
    hob_blob_release(&blob);
    hob_program_miss miss = HOB_PROGRAM_MISS_INIT;
    const Inputs inputs(77);
    run("explain_miss", [&] { return hob_program_cache_explain_miss(cache, &inputs.desc, &miss); }, {missing});
    const hob_fingerprint name = key(5);
    run("remove", [&] { return hob_program_cache_remove(cache, &name); }, {missing});
    run("clear_strikes", [&] { return hob_program_cache_clear_strikes(cache, nullptr); });
    run("set_disk_limit", [&] { return hob_program_cache_set_disk_limit(cache, 300000); });
    for (int n = 20; n < 30; ++n) run("put", [&] { return put(cache, n); });
    query(run, cache);
    run("flush", [&] { return hob_program_cache_flush(cache, UINT64_MAX); }, {HOB_RESULT_IO, HOB_RESULT_OUT_OF_MEMORY});
    run("clear", [&] { return hob_program_cache_clear(cache, 1); }, {HOB_RESULT_IO});
    run("put", [&] { return put(cache, 3); });
    run("clear_directory", [&] { return hob_program_cache_clear_directory(cache); }, {HOB_RESULT_IO});
    run.heal();
    check(run, cache);
    if (cache != nullptr) {
        // It may still report the programs that were lost before, once.
        (void)hob_program_cache_flush(cache, UINT64_MAX);
        run.works("put again with memory", [&] { return put(cache, 98); });
        run.works("flush with memory", [&] { return hob_program_cache_flush(cache, UINT64_MAX); });
    }
    hob_program_cache_destroy(cache);

    // The directory is whole: with memory, everything in it can be read.
    const bool had_cache = cache != nullptr;
    cache = nullptr;
    run.works("create with memory", [&] { return hob_program_cache_create(&desc, &cache); });
    run.works("wait_idle with memory", [&] { return hob_program_cache_wait_idle(cache, UINT64_MAX); });
    if (had_cache) run.works("get_wait with memory", [&] { return get_wait(run, cache, 98); });
    check(run, cache);
    run.works("flush with memory", [&] { return hob_program_cache_flush(cache, UINT64_MAX); });
    hob_program_cache_destroy(cache);
}

}  // namespace

void play_disk_cache(Run& run) {
    const Path directory(run, "cache");
    use_disk(run, desc_of(directory));
}

void play_background_cache(Run& run) {
    hob_executor* executor = nullptr;
    hob_executor_desc threads = HOB_EXECUTOR_DESC_INIT;
    threads.background = HOB_BACKGROUND_THREAD;
    run("create an executor", [&] { return hob_executor_create(&threads, &executor); }, {HOB_RESULT_UNSUPPORTED});
    const Path directory(run, "cache");
    hob_program_cache_desc desc = desc_of(directory);
    desc.executor = executor;
    use_disk(run, desc);
    hob_executor_destroy(executor);
}

namespace {

// A host's file system: the operating system's, called from here. Files are descriptors.

uint32_t code() {
    switch (errno) {
        case ENOENT: return HOB_RESULT_NOT_FOUND;
        case EEXIST: return HOB_RESULT_BUSY;
        default: return HOB_RESULT_IO;
    }
}

uint32_t done(bool is_done) {
    return is_done ? static_cast<uint32_t>(HOB_RESULT_OK) : code();
}

int number(void* file) {
    return static_cast<int>(reinterpret_cast<intptr_t>(file)) - 1;
}

uint32_t give(int descriptor, void** out) {
    *out = reinterpret_cast<void*>(static_cast<intptr_t>(descriptor + 1));
    return done(descriptor >= 0);
}

uint32_t list(void*, hob_str directory, hob_result (*add)(void*, hob_str), void* names) {
    DIR* const folder = opendir(directory.data);
    if (folder == nullptr) return errno == ENOMEM ? static_cast<uint32_t>(HOB_RESULT_OUT_OF_MEMORY) : code();
    uint32_t result = HOB_RESULT_OK;
    while (const dirent* const entry = readdir(folder)) {
        if (entry->d_name[0] == '.' || result != HOB_RESULT_OK) continue;
        result = static_cast<uint32_t>(add(names, str(entry->d_name)));
    }
    closedir(folder);
    return result;
}

uint32_t create_directory(void*, hob_str directory) {
    char path[500];
    std::snprintf(path, sizeof path, "%s", directory.data);
    for (char* at = path + 1; *at != 0; ++at) {
        if (*at != '/') continue;
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    return done(mkdir(path, 0700) == 0 || errno == EEXIST);
}

hob_file_io host_files() {
    hob_file_io io = HOB_FILE_IO_INIT;
    static int identity;
    io.user_data = &identity;
    io.list = &list;
    io.create_directory = &create_directory;
    io.open = [](void*, hob_str path, void** out) { return give(::open(path.data, O_RDONLY | O_CLOEXEC), out); };
    io.create = [](void*, hob_str path, void** out) {
        return give(::open(path.data, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), out);
    };
    io.close = [](void*, void* file) { ::close(number(file)); };
    io.size = [](void*, void* file, uint64_t* out) {
        struct stat found = {};
        const bool is_found = fstat(number(file), &found) == 0;
        *out = static_cast<uint64_t>(found.st_size);
        return done(is_found);
    };
    io.read = [](void*, void* file, uint64_t offset, void* data, size_t size, size_t* out) {
        const ssize_t count = pread(number(file), data, size, static_cast<off_t>(offset));
        *out = count > 0 ? static_cast<size_t>(count) : 0;
        return done(count >= 0);
    };
    io.write = [](void*, void* file, uint64_t offset, const void* data, size_t size) {
        return done(pwrite(number(file), data, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size));
    };
    io.truncate = [](void*, void* file, uint64_t size) { return done(ftruncate(number(file), static_cast<off_t>(size)) == 0); };
    io.sync = [](void*, void*) { return uint32_t{HOB_RESULT_OK}; };
    io.rename = [](void*, hob_str from, hob_str to) { return done(std::rename(from.data, to.data) == 0); };
    io.remove = [](void*, hob_str path) { return done(unlink(path.data) == 0); };
    io.try_lock = [](void*, hob_str path, void** out) -> uint32_t {
        const int file = ::open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file < 0) return code();
        if (flock(file, LOCK_EX | LOCK_NB) == 0) return give(file, out);
        ::close(file);
        return HOB_RESULT_BUSY;
    };
    io.unlock = [](void*, void* lock) { ::close(number(lock)); };
    return io;
}

}  // namespace

void play_host_files(Run& run) {
    const Path directory(run, "cache");
    hob_program_cache_desc desc = desc_of(directory);
    const hob_file_io io = host_files();
    desc.file_io = &io;
    use_disk(run, desc);
}

void play_strikes(Run& run) {
    const Path directory(run, "cache");
    // Two processes die with open uses, so that the next one finds notes and strikes.
    for (int death = 0; death < 3; ++death) {
        const pid_t child = fork();
        if (child == 0) {
            heal();
            die_with_open_uses(directory.text);
        }
        run.expect("a child process starts", child > 0);
        int status = 0;
        waitpid(child, &status, 0);
        run.expect("a child process is killed", WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    const hob_program_cache_desc desc = desc_of(directory);
    hob_program_cache* const cache = open(run, desc);
    uint32_t strikes = 0;
    const hob_fingerprint guilty = key(1);
    run("get_strikes", [&] { return hob_program_cache_get_strikes(cache, &guilty, &strikes); });
    for (int n = 10; n < 80; ++n) run("use", [&] { return use(cache, n, HOB_USE_OUTCOME_OK); }, {missing, banned});
    run("clear_strikes", [&] { return hob_program_cache_clear_strikes(cache, &guilty); }, {HOB_RESULT_IO});
    run("clear_strikes", [&] { return hob_program_cache_clear_strikes(cache, nullptr); }, {HOB_RESULT_IO});
    query(run, cache);
    run.heal();
    check(run, cache);
    hob_program_cache_destroy(cache);
}

namespace {

char long_blob[80000];

/// Stores blobs, and loads them. Four of them take more than the disk may hold.
void use_blobs(Run& run, hob_program_cache* cache, char first, char last) {
    char loaded[sizeof long_blob];
    run("track_blob_uses", [&] { return hob_program_cache_track_blob_uses(cache, 1); });
    for (char key = first; key <= last && cache != nullptr; ++key) {
        std::memset(long_blob, key, sizeof long_blob);
        hob_dawn_blob_store(&key, 1, long_blob, sizeof long_blob, cache);
        const size_t size = hob_dawn_blob_load(&key, 1, loaded, sizeof loaded, cache);
        run.expect("a blob has its bytes", size == 0 || std::memcmp(loaded, long_blob, sizeof loaded) == 0);
    }
    run("end_blob_uses", [&] { return hob_program_cache_end_blob_uses(cache, HOB_USE_OUTCOME_OK); });
}

}  // namespace

/// A cache with a secret, whose disk holds less than is stored, and whose directory is moved away.
void play_troubled_cache(Run& run) {
    const Path directory(run, "cache"), elsewhere(run, "elsewhere");
    hob_program_cache_desc desc = desc_of(directory);
    desc.secret = HOB_STR("a secret of the host");
    desc.disk_limit = 256 << 10;
    const auto flush = [](const hob_program_cache* cache) {
        const hob_result result = hob_program_cache_flush(cache, UINT64_MAX);
        // Values were lost with the directory, or for lack of memory.
        return result == HOB_RESULT_IO ? HOB_RESULT_OK : result;
    };
    hob_program_cache* cache = open(run, desc);
    use_blobs(run, cache, 'A', 'D');
    run("flush", [&] { return flush(cache); });
    (void)std::rename(directory.text, elsewhere.text);
    run("use", [&] { return use(cache, 1, HOB_USE_OUTCOME_OK); });
    use_blobs(run, cache, 'X', 'X');
    hob_program_cache_destroy(cache);
    cache = open(run, desc);
    run("wait_idle", [&] { return hob_program_cache_wait_idle(cache, UINT64_MAX); });
    run("clear_directory", [&] { return hob_program_cache_clear_directory(cache); }, {HOB_RESULT_IO});
    run.heal();
    check(run, cache);
    hob_program_cache_destroy(cache);
}

void play_bundles(Run& run) {
    const Path directory(run, "cache"), bundle(run, "bundle");
    hob_program_cache* cache = open(run, desc_of(directory));
    fill(run, cache);
    uint64_t written = 0;
    run("write_bundle", [&] { return hob_program_cache_write_bundle(cache, bundle.str(), HOB_BUNDLE_CONTENTS_ALL, &written); },
        {HOB_RESULT_IO});
    run("write_bundle", [&] { return hob_program_cache_write_bundle(cache, bundle.str(), HOB_BUNDLE_CONTENTS_ALL, &written); },
        {HOB_RESULT_IO});
    hob_program_cache_destroy(cache);
    static char bytes[65536];
    size_t size = 0;
    const int file = ::open(bundle.text, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        const ssize_t count = ::read(file, bytes, sizeof bytes);
        size = count > 0 ? static_cast<size_t>(count) : 0;
        ::close(file);
    }

    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    for (int kind = 0; kind < 2; ++kind) {
        cache = open(run, desc);
        if (kind == 0) run("add_bundle", [&] { return hob_program_cache_add_bundle(cache, bundle.str()); }, {missing, HOB_RESULT_IO});
        else run("add_bundle_bytes", [&] { return hob_program_cache_add_bundle_bytes(cache, bytes, size); }, {HOB_RESULT_MALFORMED});
        run("wait_idle", [&] { return hob_program_cache_wait_idle(cache, UINT64_MAX); });
        for (int n = 1; n < programs; n += 2) run("get_wait", [&] { return get_wait(run, cache, n); }, {missing});
        if (kind == 0) hob_program_cache_destroy(cache);
    }
    run.heal();
    check(run, cache);
    hob_program_cache_destroy(cache);
}

namespace {

/// A driver that accepts everything.
hob_program_callbacks driver() {
    hob_program_callbacks callbacks = HOB_PROGRAM_CALLBACKS_INIT;
    callbacks.compile = [](void*, void*, uint32_t, const void*, size_t) { return uint32_t{0}; };
    callbacks.link = [](void*, void*) { return uint32_t{0}; };
    callbacks.load = [](void*, void*, const hob_blob*) { return uint32_t{0}; };
    callbacks.get_binary = [](void*, void*, hob_program* binary) {
        binary->format = 5;
        binary->data = bytes_of_program;
        binary->size = program_size;
        return uint32_t{0};
    };
    return callbacks;
}

hob_result link(Run& run, const hob_program_cache* cache, hob_program_manager* manager, const char* fragment) {
    hob_shader_id shaders[2] = {};
    const char* const sources[] = {"vertex", fragment};
    for (int n = 0; n < 2; ++n) {
        const uint32_t stage = n == 0 ? HOB_SHADER_STAGE_VERTEX : HOB_SHADER_STAGE_FRAGMENT;
        run("add_shader", [&] { return hob_program_manager_add_shader(manager, stage, nullptr, &shaders[n]); });
        run("set_source", [&] { return hob_program_manager_set_source(manager, shaders[n], sources[n], std::strlen(sources[n])); });
        hob_shader_state state = HOB_SHADER_STATE_NOT_COMPILED;
        uint32_t driver_code = 0;
        run("compile", [&] { return hob_program_manager_compile(manager, shaders[n], &state, &driver_code); });
    }
    hob_program_link_desc desc = HOB_PROGRAM_LINK_DESC_INIT;
    desc.shaders = shaders;
    desc.shader_count = 2;
    hob_link_result linked = HOB_LINK_RESULT_INIT;
    const hob_result result = hob_program_manager_link(manager, &desc, &linked);
    if (result == HOB_RESULT_OK && linked.outcome == HOB_LINK_OUTCOME_LOADED)
        run("end_use", [&] { return hob_program_cache_end_use(cache, linked.first_use, HOB_USE_OUTCOME_OK); });
    for (const hob_shader_id shader : shaders)
        if (shader.index1 != 0) run("remove_shader", [&] { return hob_program_manager_remove_shader(manager, shader); });
    return result;
}

}  // namespace

void play_manager(Run& run) {
    const Path directory(run, "cache");
    hob_program_cache* const cache = open(run, desc_of(directory));
    hob_program_manager* manager = nullptr;
    const hob_program_callbacks callbacks = driver();
    run("create a manager", [&] { return hob_program_manager_create(cache, &callbacks, &manager); });
    for (int n = 0; n < 4; ++n)
        run("link", [&] { return link(run, cache, manager, n % 2 == 0 ? "fragment" : "another fragment"); });
    run("flush", [&] { return hob_program_cache_flush(cache, UINT64_MAX); }, {HOB_RESULT_IO, HOB_RESULT_OUT_OF_MEMORY});
    run.heal();
    if (manager != nullptr) run.works("link with memory", [&] { return link(run, cache, manager, "fragment"); });
    check(run, cache);
    hob_program_manager_destroy(manager);
    hob_program_cache_destroy(cache);
}

void die_with_open_uses(const char* directory) {
    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    desc.directory = str(directory);
    hob_program_cache* cache = nullptr;
    if (hob_program_cache_create(&desc, &cache) != HOB_RESULT_OK) _exit(2);
    for (const int number : {1, 2, 3}) {
        const hob_fingerprint name = key(number);
        hob_use_id id = {};
        const hob_result result = hob_program_cache_begin_use(cache, &name, &id);
        if (result != HOB_RESULT_OK && result != HOB_RESULT_BANNED) _exit(3);
    }
    ::kill(getpid(), SIGKILL);
    _exit(4);
}

}  // namespace no_memory
