// program_cache.h: programs that a build machine writes into one file, and a game ships.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "program_cache_support.h"

using namespace support;

namespace {

std::string contents(const std::string& path) {
    FILE* file = std::fopen(path.c_str(), "rb");
    ENSURE(file != nullptr);
    std::string bytes;
    char part[4096];
    for (size_t count; (count = std::fread(part, 1, sizeof part, file)) > 0;) bytes.append(part, count);
    std::fclose(file);
    return bytes;
}

void write(const std::string& path, const std::string& bytes) {
    FILE* file = std::fopen(path.c_str(), "wb");
    ENSURE(file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
    ENSURE(std::fclose(file) == 0);
}

bool exists(const std::string& path) {
    struct stat found;
    return stat(path.c_str(), &found) == 0;
}

/// The bundle of a cache with programs "0" to "n - 1", in memory or on the disk.
uint64_t make_bundle(const hob_program_cache_desc& desc, int n, const std::string& path, hob_bundle_contents what) {
    const Cache cache = opened(desc);
    for (int number = 0; number < n; ++number)
        ENSURE_OK(put(cache.get(), std::to_string(number), "binary " + std::to_string(number)));
    const hob_fingerprint marked[] = {key("3"), key("5"), key("not there")};
    for (const hob_fingerprint& name : marked) ENSURE_OK(hob_program_cache_mark_startup(cache.get(), &name, 1));
    uint64_t programs = 99;
    ENSURE_OK(hob_program_cache_write_bundle(cache.get(), str(path), what, &programs));
    return programs;
}

hob_result add(const Cache& cache, const std::string& path) {
    return hob_program_cache_add_bundle(cache.get(), str(path));
}

}  // namespace

TEST("program_cache: a bundle is read in addition to the directory, and never written") {
    const Directory directory;
    const std::string bundle = directory.inside("bundle"), path = directory.inside("cache");
    ENSURE(make_bundle(desc_of(""), 10, bundle, HOB_BUNDLE_CONTENTS_ALL) == 10);
    const std::string bytes = contents(bundle);
    for (const std::string& where : {std::string(), path}) {
        const Cache cache = open(desc_of(where));
        ENSURE_OK(add(cache, bundle));
        ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
        for (int n = 0; n < 10; ++n) ENSURE(data_of(cache.get(), std::to_string(n)) == "binary " + std::to_string(n));
        Blob blob;
        ENSURE_OK(get(cache.get(), "3", blob));
        ENSURE(blob.view.format == 7 && blob.view.reflection_size == 3);
        ENSURE(statistics(cache.get()).loads == 10 && statistics(cache.get()).puts == 0 && trouble(cache.get()).empty());
        ENSURE_OK(put(cache.get(), "mine", "mine"));
    }
    ENSURE(contents(bundle) == bytes && exists(path) && !exists(bundle + ".new"));
}

TEST("program_cache: a bundle from an archive is read in memory") {
    const Directory directory;
    const std::string bundle = directory.inside("bundle");
    hob_program_cache_desc desc = desc_of("");
    desc.flags = HOB_PROGRAM_CACHE_COMPRESS;
    (void)make_bundle(desc, 10, bundle, HOB_BUNDLE_CONTENTS_ALL);
    std::string bytes = contents(bundle);
    desc.flags = HOB_PROGRAM_CACHE_LOAD_LAZILY;
    const Cache cache = open(desc);
    ENSURE_OK(hob_program_cache_add_bundle_bytes(cache.get(), bytes.data(), bytes.size()));
    bytes.assign(bytes.size(), 'x');  // the cache has a copy
    ENSURE(data_of(cache.get(), "4") == "(none)");
    const hob_fingerprint name = key("5");
    Blob blob;
    ENSURE_OK(hob_program_cache_get_wait(cache.get(), &name, forever, &blob.view));
    ENSURE(blob.data() == "binary 5" && data_of(cache.get(), "4") == "binary 4");
}

TEST("program_cache: the same programs make the same bundle, from memory or from the disk") {
    const Directory directory;
    const std::string a = directory.inside("a"), b = directory.inside("b"), c = directory.inside("c");
    const std::string path = directory.inside("cache");
    (void)make_bundle(desc_of(""), 8, a, HOB_BUNDLE_CONTENTS_ALL);
    (void)make_bundle(desc_of(path), 8, b, HOB_BUNDLE_CONTENTS_ALL);
    hob_program_cache_desc desc = desc_of(path);
    desc.flags = HOB_PROGRAM_CACHE_LOAD_LAZILY;
    ENSURE(make_bundle(desc, 0, c, HOB_BUNDLE_CONTENTS_ALL) == 8);
    ENSURE(contents(a) == contents(b) && contents(a) == contents(c));
}

TEST("program_cache: a start-up bundle holds only the start-up set and is loaded first") {
    const Directory directory;
    const std::string all = directory.inside("all"), some = directory.inside("some");
    ENSURE(make_bundle(desc_of(""), 100, all, HOB_BUNDLE_CONTENTS_ALL) == 100);
    ENSURE(make_bundle(desc_of(""), 100, some, HOB_BUNDLE_CONTENTS_STARTUP_SET) == 2);
    hob_program_cache_desc desc = desc_of("");
    {
        const Cache cache = open(desc);
        ENSURE_OK(add(cache, some));
        ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
        ENSURE(statistics(cache.get()).programs == 2 && knows_program(cache.get(), "5"));
    }
    desc.memory_limit = 100;
    const Cache cache = open(desc);
    ENSURE_OK(add(cache, all));
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    ENSURE(statistics(cache.get()).programs == 2 && knows_program(cache.get(), "3") && knows_program(cache.get(), "5"));
}

TEST("program_cache: a bundle of another environment is a miss") {
    const Directory directory;
    const std::string bundle = directory.inside("bundle");
    const hob_environment first = environment_of("driver 1"), second = environment_of("driver 2");
    hob_program_cache_desc desc = desc_of("");
    desc.environment = &first;
    (void)make_bundle(desc, 5, bundle, HOB_BUNDLE_CONTENTS_ALL);
    desc.environment = &second;
    const Cache cache = open(desc);
    ENSURE_OK(add(cache, bundle));
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    ENSURE(statistics(cache.get()).programs == 0 && data_of(cache.get(), "1") == "(none)");
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    ENSURE(data_of(cache.get(), "1") == "(none)");
}

TEST("program_cache: the directory overrides bundles, and removed programs stay removed") {
    const Directory directory;
    const std::string bundle = directory.inside("bundle"), path = directory.inside("cache");
    (void)make_bundle(desc_of(""), 5, bundle, HOB_BUNDLE_CONTENTS_ALL);
    { ENSURE_OK(put(open(desc_of(path)).get(), "1", "newer")); }
    const Cache cache = open(desc_of(path));
    ENSURE_OK(add(cache, bundle));
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    ENSURE(data_of(cache.get(), "1") == "newer" && data_of(cache.get(), "2") == "binary 2");
    const hob_fingerprint two = key("2");
    hob_use_id use = {};
    ENSURE_OK(hob_program_cache_begin_use(cache.get(), &two, &use));
    ENSURE_OK(hob_program_cache_end_use(cache.get(), use, HOB_USE_OUTCOME_REJECTED));
    for (int n = 0; n < 2; ++n) {
        ENSURE(data_of(cache.get(), "2") == "(none)");
        ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    }
    ENSURE_OK(put(cache.get(), "2", "mine"));
    ENSURE_OK(hob_program_cache_trim(cache.get(), 0));
    ENSURE(data_of(cache.get(), "2") == "(none)");
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    ENSURE(data_of(cache.get(), "2") == "mine");
}

TEST("program_cache: an invalid bundle is rejected and a damaged one loses only damaged programs") {
    const Directory directory;
    const std::string bundle = directory.inside("bundle"), wrong = directory.inside("wrong");
    (void)make_bundle(desc_of(""), 20, bundle, HOB_BUNDLE_CONTENTS_ALL);
    const std::string bytes = contents(bundle);
    const Cache cache = open(desc_of(""));
    ENSURE(add(cache, wrong) == HOB_RESULT_IO && last_error_has("wrong"));
    for (const std::string& spoiled : {std::string(), std::string("short"), std::string(4096, 'x'), bytes.substr(0, 63)}) {
        write(wrong, spoiled);
        ENSURE(add(cache, wrong) == HOB_RESULT_MALFORMED && last_error_has("invalid bundle"));
        ENSURE(hob_program_cache_add_bundle_bytes(cache.get(), spoiled.data(), spoiled.size()) == HOB_RESULT_MALFORMED);
    }
    ENSURE(add(cache, directory.inside(".")) == HOB_RESULT_IO);
    ENSURE(statistics(cache.get()).waiting == 0);
    // One flipped bit in a program, and the last bytes cut off: two programs less.
    std::string damaged = bytes.substr(0, bytes.size() - 7);
    const size_t place = damaged.find("binary 7");
    ENSURE(place != std::string::npos);
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    write(wrong, damaged);
    ENSURE_OK(add(cache, wrong));
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    int served = 0;
    for (int n = 0; n < 20; ++n) {
        const std::string found = data_of(cache.get(), std::to_string(n));
        ENSURE(found == "binary " + std::to_string(n) || found == "(none)");
        served += found == "(none)" ? 0 : 1;
    }
    ENSURE((served == 18 || served == 19) && data_of(cache.get(), "7") == "(none)");
}

TEST("program_cache: a FIFO as a bundle, or as a file of the directory, causes no wait") {
    const Directory directory;
    const std::string fifo = directory.inside("fifo"), path = directory.inside("cache");
    ENSURE(mkfifo(fifo.c_str(), 0600) == 0);
    (void)make_bundle(desc_of(path), 8, directory.inside("bundle"), HOB_BUNDLE_CONTENTS_ALL);
    ENSURE(mkfifo((path + "/0123456789abcdef.seg").c_str(), 0600) == 0);
    const Cache cache = opened(desc_of(path));
    ENSURE(hob_program_cache_add_bundle(cache.get(), str(fifo)) == HOB_RESULT_IO);
    ENSURE(last_error_has("not a regular file"));
    uint64_t count = 7;
    ENSURE(hob_program_cache_write_bundle(cache.get(), str(fifo), HOB_BUNDLE_CONTENTS_ALL, &count) == HOB_RESULT_IO);
    struct stat found;
    ENSURE(lstat(fifo.c_str(), &found) == 0 && S_ISFIFO(found.st_mode));
    ENSURE(data_of(cache.get(), "3") == "binary 3");
    ENSURE(trouble(cache.get()).find("not a regular file") != std::string::npos);
}

TEST("program_cache: a failed bundle write keeps the old file") {
    const Directory directory;
    const std::string bundle = directory.inside("bundle");
    (void)make_bundle(desc_of(""), 5, bundle, HOB_BUNDLE_CONTENTS_ALL);
    const std::string bytes = contents(bundle);
    const Cache empty = open(desc_of(""));
    uint64_t programs = 99;
    ENSURE(hob_program_cache_write_bundle(empty.get(), str(bundle), HOB_BUNDLE_CONTENTS_ALL, &programs) == HOB_RESULT_NOT_FOUND);
    ENSURE(programs == 99 && contents(bundle) == bytes && !exists(bundle + ".new"));
    ENSURE_OK(put(empty.get(), "a", "b"));
    const std::string nowhere = directory.inside("no directory/bundle");
    ENSURE(hob_program_cache_write_bundle(empty.get(), str(nowhere), HOB_BUNDLE_CONTENTS_ALL, nullptr) == HOB_RESULT_IO);
    ENSURE(last_error_has("no directory"));
}

TEST("program_cache: a bundle in the cache's own directory is refused, and nothing is lost") {
    const Directory directory;
    const std::string path = directory.inside("cache"), link = directory.inside("link");
    (void)make_bundle(desc_of(path), 8, directory.inside("bundle"), HOB_BUNDLE_CONTENTS_ALL);
    ENSURE(symlink(path.c_str(), link.c_str()) == 0);
    const Cache cache = opened(desc_of(path));
    for (const std::string& place : {path + "/bundle", path + "//bundle", link + "/0123456789abcdef.seg"}) {
        ENSURE(hob_program_cache_write_bundle(cache.get(), str(place), HOB_BUNDLE_CONTENTS_ALL, nullptr) ==
               HOB_RESULT_INVALID_ARGUMENT);
        ENSURE(last_error_has("in the cache's directory") && !exists(place));
    }
    for (int n = 0; n < 8; ++n) ENSURE(data_of(cache.get(), std::to_string(n)) == "binary " + std::to_string(n));
    // A directory inside it is another one.
    ENSURE(mkdir((path + "/inside").c_str(), 0700) == 0);
    ENSURE_OK(hob_program_cache_write_bundle(cache.get(), str(path + "/inside/bundle"), HOB_BUNDLE_CONTENTS_ALL, nullptr));
}
