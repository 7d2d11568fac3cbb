// Program caches of a client that was compiled with other headers than its library. They keep programs in memory, in a
// directory of the operating system and in a file system of the host's. A manager uses one of them.
#include "client.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace abi {

namespace {

/// Files in memory, by path. One thread at a time uses them.
struct Disk {
    using File = std::shared_ptr<std::string>;

    std::map<std::string, File> files;
    std::set<std::string> locks;
    int released = 0;

    static Disk& of(void* self) { return *static_cast<Disk*>(self); }
    static std::string path_of(hob_str path) { return {path.data, path.len}; }
    static std::string& bytes_of(void* file) { return **static_cast<File*>(file); }

    static uint32_t list(void* self, hob_str directory, hob_result (*add)(void* names, hob_str name), void* names) {
        const std::string start = path_of(directory) + "/";
        for (const auto& file : of(self).files) {
            const std::string& path = file.first;
            if (path.compare(0, start.size(), start) != 0 || path.find('/', start.size()) != std::string::npos) continue;
            if (add(names, hob_str_of(path.data() + start.size(), path.size() - start.size())) != HOB_RESULT_OK) return 1;
        }
        return 0;
    }
    static uint32_t open(void* self, hob_str path, void** out_file) {
        const auto found = of(self).files.find(path_of(path));
        if (found == of(self).files.end()) return 2;
        *out_file = new File(found->second);
        return 0;
    }
    static uint32_t create(void* self, hob_str path, void** out_file) {
        const auto made = of(self).files.emplace(path_of(path), std::make_shared<std::string>());
        if (!made.second) return 17;
        *out_file = new File(made.first->second);
        return 0;
    }
    static void close(void*, void* file) { delete static_cast<File*>(file); }
    static uint32_t size(void*, void* file, uint64_t* out_size) {
        *out_size = bytes_of(file).size();
        return 0;
    }
    static uint32_t read(void*, void* file, uint64_t offset, void* data, size_t size, size_t* out_read) {
        const std::string& bytes = bytes_of(file);
        *out_read = offset < bytes.size() ? bytes.copy(static_cast<char*>(data), size, static_cast<size_t>(offset)) : 0;
        return 0;
    }
    static uint32_t write(void*, void* file, uint64_t offset, const void* data, size_t size) {
        std::string& bytes = bytes_of(file);
        bytes.resize(std::max(bytes.size(), static_cast<size_t>(offset) + size));
        std::memcpy(&bytes[static_cast<size_t>(offset)], data, size);
        return 0;
    }
    static uint32_t truncate(void*, void* file, uint64_t size) {
        bytes_of(file).resize(static_cast<size_t>(size));
        return 0;
    }
    static uint32_t rename(void* self, hob_str from, hob_str to) {
        const auto found = of(self).files.find(path_of(from));
        if (found == of(self).files.end()) return 2;
        const File file = found->second;
        of(self).files.erase(found);
        of(self).files[path_of(to)] = file;
        return 0;
    }
    static uint32_t remove(void* self, hob_str path) { return of(self).files.erase(path_of(path)) == 1 ? 0 : 2; }
    static uint32_t try_lock(void* self, hob_str path, void** out_lock) {
        const auto taken = of(self).locks.insert(path_of(path));
        *out_lock = taken.second ? new std::string(*taken.first) : nullptr;
        return 0;
    }
    static void unlock(void* self, void* lock) {
        const std::unique_ptr<std::string> path(static_cast<std::string*>(lock));
        of(self).locks.erase(*path);
    }
};

void describe(hob_file_io& io, Disk& disk) {
    io.user_data = &disk;
    io.list = &Disk::list;
    io.create_directory = [](void*, hob_str) { return 0u; };
    io.open = &Disk::open;
    io.create = &Disk::create;
    io.close = &Disk::close;
    io.size = &Disk::size;
    io.read = &Disk::read;
    io.write = &Disk::write;
    io.truncate = &Disk::truncate;
    io.sync = [](void*, void*) { return 0u; };
    io.rename = &Disk::rename;
    io.remove = &Disk::remove;
    io.sync_directory = [](void*, hob_str) { return 0u; };
    io.try_lock = &Disk::try_lock;
    io.unlock = &Disk::unlock;
    io.release = [](void* self) { ++Disk::of(self).released; };
}

hob_fingerprint key_of(const char* name) {
    hob_fingerprint key = {};
    CHECK_OK(hob_fingerprint_hash_bytes(name, std::strlen(name), &key));
    return key;
}

void put(const hob_program_cache* cache, const char* name, const char* data) {
    const hob_fingerprint key = key_of(name);
    Guarded<hob_program> program;
    program->format = 7;
    program->data = data;
    program->size = std::strlen(data);
    program->reflection = "map";
    program->reflection_size = 3;
    program->build_us = 1000;
    CHECK_OK(hob_program_cache_put(cache, &key, program.get()));
}

void expect(const hob_program_cache* cache, const char* name, const char* data) {
    const hob_fingerprint key = key_of(name);
    Guarded<hob_blob> blob;
    CHECK_OK(hob_program_cache_get(cache, &key, blob.get()));
    blob.check();
    CHECK(std::string(static_cast<const char*>(blob->data), blob->size) == data);
    CHECK(blob->format == 7 && blob->reflection_size == 3);
    hob_blob_release(blob.get());
    blob.check();
}

void read_statistics(const hob_program_cache* cache, uint64_t puts) {
    Guarded<hob_program_cache_statistics> statistics;
    CHECK_OK(hob_program_cache_get_statistics(cache, statistics.get()));
    statistics.check();
    CHECK(statistics->programs == 1 && statistics->puts == puts && statistics->hits >= 1 && statistics->memory_used > 0);
    Guarded<hob_histogram> histogram;
    CHECK_OK(hob_program_cache_get_histogram(cache, HOB_PROGRAM_CACHE_MEASURE_BINARY_BYTES, histogram.get()));
    histogram.check();
    CHECK(histogram->count == puts && (puts == 0 || histogram->maximum >= 13));
}

void drive_memory() {
    Guarded<hob_program_cache_desc> desc;
    desc->described_keys = 16;
    hob_program_cache* cache = nullptr;
    CHECK_OK(hob_program_cache_create(desc.get(), &cache));
#ifdef HOB_PROBLEM_CALLBACK_INIT  // the previous headers have none
    Guarded<hob_problem_callback> callback;
    int releases = 0;
    callback->user_data = &releases;
    callback->report = [](void*, hob_str) {};
    callback->release = [](void* user_data) { ++*static_cast<int*>(user_data); };
    CHECK_OK(hob_program_cache_set_problem_callback(cache, callback.get()));
    CHECK_OK(hob_program_cache_set_problem_callback(cache, nullptr));
    CHECK(releases == 1);
#endif
    put(cache, "one", "first program");
    expect(cache, "one", "first program");
    read_statistics(cache, 1);
    hob_program_stage stage = {};
    stage.source = "void main() {}";
    stage.size = 14;
    Guarded<hob_program_key_desc> key_desc;
    key_desc->stages = &stage;
    key_desc->stage_stride = sizeof stage;
    key_desc->stage_count = 1;
    hob_fingerprint key = {};
    CHECK_OK(hob_fingerprint_hash_program(key_desc.get(), &key));
    CHECK_OK(hob_program_cache_describe(cache, &key, key_desc.get()));
    Guarded<hob_program_miss> miss;
    stage.size = 13;
    CHECK_OK(hob_program_cache_explain_miss(cache, key_desc.get(), miss.get()));
    miss.check();
    CHECK(miss->difference_count >= 1 && miss->sentence[0] != '\0');
    hob_program_cache_destroy(cache);
}

/// Written by one cache, read by the next one.
void drive_files(hob_file_io* io, const std::string& directory) {
    Guarded<hob_environment> environment;
    environment->driver = text("driver 1");
    Guarded<hob_program_cache_desc> desc;
    desc->directory = hob_str_of(directory.data(), directory.size());
    desc->environment = environment.get();
    desc->file_io = io;
    for (const bool is_written : {false, true}) {
        hob_program_cache* cache = nullptr;
        CHECK_OK(hob_program_cache_create(desc.get(), &cache));
        CHECK_OK(hob_program_cache_wait_idle(cache, UINT64_MAX));
        if (!is_written) put(cache, "one", "first program");
        expect(cache, "one", "first program");
        CHECK_OK(hob_program_cache_flush(cache, UINT64_MAX));
        read_statistics(cache, is_written ? 0 : 1);
        hob_program_cache_destroy(cache);
    }
}

struct Driver {
    int links = 0, loads = 0, released = 0;
};

void describe(hob_program_callbacks& callbacks, Driver& driver) {
    callbacks.user_data = &driver;
    callbacks.compile = [](void*, void*, uint32_t, const void*, size_t) { return 0u; };
    callbacks.link = [](void* self, void*) {
        ++static_cast<Driver*>(self)->links;
        return 0u;
    };
    callbacks.load = [](void* self, void*, const hob_blob* blob) {
        ++static_cast<Driver*>(self)->loads;
        return blob->size == 6 && blob->format == 5 ? 0u : 1u;
    };
    callbacks.get_binary = [](void*, void*, hob_program* binary) {
        binary->format = 5;
        binary->data = "binary";
        binary->size = 6;
        return 0u;
    };
    callbacks.release = [](void* self) { ++static_cast<Driver*>(self)->released; };
}

uint32_t link(hob_program_manager* manager, const hob_shader_id* shader) {
    Guarded<hob_program_link_desc> desc;
    desc->shaders = shader;
    desc->shader_count = 1;
    Guarded<hob_link_result> linked;
    CHECK_OK(hob_program_manager_link(manager, desc.get(), linked.get()));
    linked.check();
    return linked->outcome;
}

void drive_manager() {
    Guarded<hob_program_cache_desc> desc;
    hob_program_cache* cache = nullptr;
    CHECK_OK(hob_program_cache_create(desc.get(), &cache));
    Driver driver;
    Guarded<hob_program_callbacks> callbacks;
    describe(*callbacks.get(), driver);
    hob_program_manager* manager = nullptr;
    CHECK_OK(hob_program_manager_create(cache, callbacks.get(), &manager));
    hob_shader_id shader = {0, 0};
    CHECK_OK(hob_program_manager_add_shader(manager, HOB_SHADER_STAGE_COMPUTE, nullptr, &shader));
    CHECK_OK(hob_program_manager_set_source(manager, shader, "void main() {}", 14));
    CHECK_OK(hob_program_manager_compile(manager, shader, nullptr, nullptr));
    CHECK(link(manager, &shader) == HOB_LINK_OUTCOME_BUILT);
    CHECK(link(manager, &shader) == HOB_LINK_OUTCOME_LOADED);
    CHECK(driver.links == 1 && driver.loads == 1);
    hob_program_manager_destroy(manager);
    CHECK(driver.released == 1);
    hob_program_cache_destroy(cache);
}

}  // namespace

void drive_program_cache() {
    drive_memory();
    drive_manager();
    const char* const scratch = std::getenv("HOB_SCRATCH");
    CHECK(scratch != nullptr);
    drive_files(nullptr, std::string(scratch) + "/cache");
    Disk disk;
    Guarded<hob_file_io> io;
    describe(*io.get(), disk);
    drive_files(io.get(), "save:/cache");
    CHECK(disk.released == 2 && !disk.files.empty() && disk.locks.empty());
}

}  // namespace abi
