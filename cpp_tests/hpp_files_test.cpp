// hobgoblin.hpp: a program cache on a host's own file system, here in memory.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>

#include <hobgoblin/program_cache.hpp>

#include "program_cache_support.h"

namespace {

using Bytes = std::shared_ptr<std::string>;

/// Throws on request.
struct Temper {
    bool throws = false;
    void lose() const {
        if (throws) throw std::runtime_error("the host's files are in a bad mood");
    }
};

class MemoryFile : public hob::File {
public:
    MemoryFile(Bytes bytes, std::shared_ptr<Temper> temper) : bytes_(std::move(bytes)), temper_(std::move(temper)) {}
    hob_result size(uint64_t& size) override {
        temper_->lose();
        size = bytes_->size();
        return HOB_RESULT_OK;
    }
    hob_result read(uint64_t offset, void* data, size_t size, size_t& count) override {
        temper_->lose();
        count = offset < bytes_->size() ? std::min(size, bytes_->size() - static_cast<size_t>(offset)) : 0;
        if (count > 0) std::memcpy(data, bytes_->data() + offset, count);
        return HOB_RESULT_OK;
    }
    hob_result write(uint64_t offset, const void* data, size_t size) override {
        temper_->lose();
        bytes_->resize(std::max(bytes_->size(), static_cast<size_t>(offset) + size));
        std::memcpy(&(*bytes_)[static_cast<size_t>(offset)], data, size);
        return HOB_RESULT_OK;
    }
    hob_result truncate(uint64_t size) override {
        temper_->lose();
        bytes_->resize(static_cast<size_t>(size));
        return HOB_RESULT_OK;
    }
    hob_result sync() override {
        temper_->lose();
        return HOB_RESULT_OK;
    }

private:
    Bytes bytes_;
    std::shared_ptr<Temper> temper_;
};

class MemoryFiles : public hob::FileSystem {
public:
    hob_result list(std::string_view directory, std::vector<std::string>& names) override {
        temper->lose();
        const std::string begin = std::string(directory) + "/";
        for (const auto& file : files)
            if (file.first.find(begin) == 0) names.push_back(file.first.substr(begin.size()));
        return HOB_RESULT_OK;
    }
    hob_result create_directory(std::string_view) override {
        temper->lose();
        return HOB_RESULT_OK;
    }
    hob_result open(std::string_view path, std::unique_ptr<hob::File>& file) override {
        temper->lose();
        const auto found = files.find(std::string(path));
        if (found == files.end()) return HOB_RESULT_NOT_FOUND;
        file = std::make_unique<MemoryFile>(found->second, temper);
        return HOB_RESULT_OK;
    }
    hob_result create(std::string_view path, std::unique_ptr<hob::File>& file) override {
        temper->lose();
        Bytes& bytes = files[std::string(path)];
        if (bytes != nullptr) return HOB_RESULT_BUSY;
        bytes = std::make_shared<std::string>();
        file = std::make_unique<MemoryFile>(bytes, temper);
        return HOB_RESULT_OK;
    }
    hob_result rename(std::string_view from, std::string_view to) override {
        temper->lose();
        const auto found = files.find(std::string(from));
        if (found == files.end()) return HOB_RESULT_NOT_FOUND;
        files[std::string(to)] = found->second;
        files.erase(std::string(from));
        return HOB_RESULT_OK;
    }
    hob_result remove(std::string_view path) override {
        temper->lose();
        return files.erase(std::string(path)) == 1 ? HOB_RESULT_OK : HOB_RESULT_NOT_FOUND;
    }

    std::map<std::string, Bytes> files;
    std::shared_ptr<Temper> temper = std::make_shared<Temper>();
};

hob::ProgramCacheOptions on(const std::shared_ptr<MemoryFiles>& files) {
    hob::ProgramCacheOptions options;
    options.directory = "no such directory";
    options.files = files;
    return options;
}

hob::Program program_of(std::string_view data) {
    hob::Program program;
    program.data = data;
    return program;
}

}  // namespace

TEST("hpp: a cache keeps the host's file system alive") {
    const auto files = std::make_shared<MemoryFiles>();
    const hob_fingerprint one = support::key("one"), other = support::key("other");
    {
        const hob::ProgramCache cache(on(files)), another(on(files));
        ENSURE(files.use_count() == 3);
        cache.put(one, program_of("binary"));
        another.put(other, program_of("another"));
        cache.flush();
        another.flush();
        hob::ProgramUse use = cache.begin_use(one);
        // Locks show which caches are alive, although the host has none.
        ENSURE(hob::ProgramCache(on(files)).strikes(one) == 0);
        use.end();
    }
    ENSURE(files.use_count() == 1 && !files->files.empty());
    const hob::ProgramCache cache(on(files));
    ENSURE(cache.get_wait(one).data() == "binary" && cache.get_wait(other).data() == "another");
    ENSURE(cache.problem().empty() && !std::filesystem::exists("no such directory"));
    cache.write_bundle("bundle");
    const hob::ProgramCache reader = [&] {
        hob::ProgramCacheOptions options = on(files);
        options.directory.clear();
        return hob::ProgramCache(options);
    }();
    reader.add_bundle("bundle");
    ENSURE(reader.get_wait(one).data() == "binary");
}

TEST("hpp: an exception from the host's file system fails only that call") {
    const auto files = std::make_shared<MemoryFiles>();
    const hob_fingerprint one = support::key("one"), other = support::key("other");
    { hob::ProgramCache(on(files)).put(one, program_of("binary")); }
    {
        const hob::ProgramCache cache(on(files));
        ENSURE(cache.get_wait(one).data() == "binary");
        files->temper->throws = true;
        cache.put(other, program_of("lost"));
        hob_result code = HOB_RESULT_OK;
        try {
            cache.flush();
        } catch (const hob::Error& error) {
            code = error.code();
        }
        ENSURE(code == HOB_RESULT_IO && !cache.problem().empty());
        cache.begin_use(one).end();
        ENSURE(cache.get(other).data() == "lost");  // in memory
    }
    files->temper->throws = false;
    const hob::ProgramCache cache(on(files));
    ENSURE(cache.get_wait(one).data() == "binary" && !cache.get_wait(other));
    // A refused call keeps no object of the host.
    hob::ProgramCacheOptions wrong = on(files);
    wrong.desc.flags = 1u << 31;
    const long users = files.use_count();
    bool is_refused = false;
    try {
        const hob::ProgramCache none(wrong);
    } catch (const hob::Error&) {
        is_refused = true;
    }
    ENSURE(is_refused && files.use_count() == users);
}
