// A file system in memory behind hob_file_io. It fails and gives wrong answers on request. MIT OR Apache-2.0.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support.h"

namespace support {

/// The functions that can fail.
enum class FileCall {
    list, create_directory, open, create, size, read, write, truncate, sync, rename, remove, sync_directory, try_lock
};
constexpr size_t file_calls = 13;

/// Wrong answers of a host.
enum class Lie {
    none, reads_too_much, reads_nothing, reads_zeros, reads_garbage, size_is_huge, size_is_large, size_is_none,
    writes_nothing, writes_elsewhere, truncates_nothing, creates_what_exists, renames_nothing, removes_nothing,
    lists_nothing, lists_twice, lists_nonsense, lists_null, lists_without_end, locks_what_is_locked
};
constexpr int lies = 20;

/// Files by path.
///
/// It must outlive all users of the result of io().
class MemoryFiles {
public:
    using Contents = std::map<std::string, std::string>;

    MemoryFiles() = default;
    /// The files as a process finds them after another one was killed.
    explicit MemoryFiles(const Contents& contents) {
        for (const auto& file : contents) {
            files_[file.first] = std::make_shared<std::string>(file.second);
            for (size_t at = file.first.find('/'); at != std::string::npos; at = file.first.find('/', at + 1))
                directories_.insert(file.first.substr(0, at));
        }
    }
    MemoryFiles(const MemoryFiles&) = delete;

    hob_file_io io(bool has_locks = true) {
        hob_file_io io = HOB_FILE_IO_INIT;
        io.user_data = this;
        io.list = &list;
        io.create_directory = &create_directory;
        io.open = &open;
        io.create = &create;
        io.close = &close;
        io.size = &size;
        io.read = &read;
        io.write = &write;
        io.truncate = &truncate;
        io.sync = &sync;
        io.rename = &rename;
        io.remove = &remove;
        io.sync_directory = &sync_directory;
        if (has_locks) {
            io.try_lock = &try_lock;
            io.unlock = &unlock;
        }
        io.release = &release;
        return io;
    }

    /// Called first inside every call.
    void (*on_call)() = nullptr;

    Contents contents() {
        const Guard guard(mutex_);
        Contents found;
        for (const auto& file : files_) found[file.first] = *file.second;
        return found;
    }

    /// From now on, every `period`th call of that function fails. 0: none fails.
    void fail(FileCall call, uint64_t period, uint32_t code) {
        const Guard guard(mutex_);
        failing_ = call;
        period_ = period;
        code_ = code;
        failed_ = 0;
    }
    void tell(Lie lie) {
        const Guard guard(mutex_);
        lie_ = lie;
    }
    /// Number of failed calls of the failing function.
    uint64_t failed() {
        const Guard guard(mutex_);
        return failed_;
    }
    uint64_t calls(FileCall call) {
        const Guard guard(mutex_);
        return calls_[static_cast<size_t>(call)];
    }
    int releases() {
        const Guard guard(mutex_);
        return releases_;
    }
    /// Files and locks that were handed out and not returned.
    int left_open() {
        const Guard guard(mutex_);
        return open_ + static_cast<int>(locks_.size());
    }

private:
    using Guard = std::lock_guard<std::mutex>;

    struct File {
        std::shared_ptr<std::string> bytes;
        bool writes;
        std::atomic<int> users;
    };

    static MemoryFiles& of(void* self) { return *static_cast<MemoryFiles*>(self); }
    /// Checks that the text is a C string, as a host's own functions would need it.
    static std::string text(hob_str from) {
        EXPECT(from.data[from.len] == '\0' && std::strlen(from.data) == from.len);
        return std::string(from.data, from.len);
    }
    static std::string above(const std::string& path) {
        const size_t slash = path.rfind('/');
        return slash == std::string::npos ? std::string() : path.substr(0, slash);
    }

    uint32_t fate(FileCall call) {
        if (on_call != nullptr) on_call();
        const uint64_t number = ++calls_[static_cast<size_t>(call)];
        if (call != failing_ || period_ == 0 || number % period_ != 0) return HOB_RESULT_OK;
        ++failed_;
        return code_;
    }
    uint32_t give(const std::shared_ptr<std::string>& bytes, bool writes, void** out) {
        ++open_;
        *out = new File{bytes, writes, {0}};
        return HOB_RESULT_OK;
    }
    /// Checks that no two calls on the same file run at the same time.
    class Use {
    public:
        explicit Use(void* file) : file_(*static_cast<File*>(file)) {
            EXPECT(++file_.users == 1);
            std::this_thread::yield();
        }
        Use(const Use&) = delete;
        ~Use() { --file_.users; }
        File* operator->() const { return &file_; }

    private:
        File& file_;
    };

    static uint32_t list(void* self, hob_str directory, hob_result (*add)(void*, hob_str), void* names) {
        MemoryFiles& all = of(self);
        std::vector<std::string> found;
        Lie lie;
        {
            const Guard guard(all.mutex_);
            if (const uint32_t code = all.fate(FileCall::list)) return code;
            const std::string path = text(directory);
            if (all.directories_.count(path) == 0) return HOB_RESULT_NOT_FOUND;
            for (const auto& file : all.files_)
                if (above(file.first) == path) found.push_back(file.first.substr(path.size() + 1));
            lie = all.lie_;
        }
        if (lie == Lie::lists_nothing) return HOB_RESULT_OK;
        if (lie == Lie::lists_null) {
            EXPECT(add(names, hob_str{nullptr, 5}) == HOB_RESULT_INVALID_ARGUMENT);
            EXPECT(add(nullptr, HOB_STR("name")) == HOB_RESULT_INVALID_ARGUMENT);
        }
        for (int n = 0; lie == Lie::lists_without_end && n < 100000; ++n) (void)add(names, HOB_STR("0000000000000001.seg"));
        if (lie == Lie::lists_nonsense) {
            for (const char* name : {"../../etc/passwd", "/0000000000000001.seg", "", ".", "..", "\xff\xfe", "0000000000000002.seg",
                                     "0000000000000003.idx", "ffffffffffffffff.seg", "00000000000000.live", "notes-0000000000000001"})
                EXPECT(add(names, hob_str_from(name)) == HOB_RESULT_OK);
            EXPECT(add(names, support::str(std::string(1 << 20, 'a'))) == HOB_RESULT_OK);
            EXPECT(add(names, hob_str{nullptr, 0}) == HOB_RESULT_OK);
        }
        for (const std::string& name : found) {
            for (int n = 0; n < (lie == Lie::lists_twice ? 2 : 1); ++n)
                if (const hob_result result = add(names, support::str(name)); result != HOB_RESULT_OK && lie == Lie::none)
                    return static_cast<uint32_t>(result);
        }
        if (all.on_call != nullptr) all.on_call();
        return HOB_RESULT_OK;
    }
    static uint32_t create_directory(void* self, hob_str directory) {
        MemoryFiles& all = of(self);
        const Guard guard(all.mutex_);
        if (const uint32_t code = all.fate(FileCall::create_directory)) return code;
        for (std::string path = text(directory); !path.empty(); path = above(path)) all.directories_.insert(path);
        return HOB_RESULT_OK;
    }
    static uint32_t open(void* self, hob_str path, void** out) {
        MemoryFiles& all = of(self);
        const Guard guard(all.mutex_);
        if (const uint32_t code = all.fate(FileCall::open)) return code;
        const auto file = all.files_.find(text(path));
        return file == all.files_.end() ? static_cast<uint32_t>(HOB_RESULT_NOT_FOUND) : all.give(file->second, false, out);
    }
    static uint32_t create(void* self, hob_str path, void** out) {
        MemoryFiles& all = of(self);
        const Guard guard(all.mutex_);
        if (const uint32_t code = all.fate(FileCall::create)) return code;
        const std::string name = text(path);
        if (!above(name).empty() && all.directories_.count(above(name)) == 0) return HOB_RESULT_NOT_FOUND;
        auto& bytes = all.files_[name];
        if (bytes && all.lie_ != Lie::creates_what_exists) return HOB_RESULT_BUSY;
        if (!bytes) bytes = std::make_shared<std::string>();
        return all.give(bytes, true, out);
    }
    static void close(void* self, void* file) {
        const Guard guard(of(self).mutex_);
        --of(self).open_;
        delete static_cast<File*>(file);
    }
    static uint32_t size(void* self, void* file, uint64_t* out) {
        MemoryFiles& all = of(self);
        const Use use(file);
        const Guard guard(all.mutex_);
        if (const uint32_t code = all.fate(FileCall::size)) return code;
        *out = use->bytes->size();
        if (all.lie_ == Lie::size_is_huge) *out = UINT64_MAX;
        if (all.lie_ == Lie::size_is_large) *out += 1 << 20;
        if (all.lie_ == Lie::size_is_none) *out = 0;
        return HOB_RESULT_OK;
    }
    static uint32_t read(void* self, void* file, uint64_t offset, void* data, size_t size, size_t* out) {
        MemoryFiles& all = of(self);
        const Use use(file);
        const Guard guard(all.mutex_);
        if (const uint32_t code = all.fate(FileCall::read)) return code;
        const std::string& bytes = *use->bytes;
        *out = offset < bytes.size() ? std::min(size, bytes.size() - static_cast<size_t>(offset)) : 0;
        if (*out > 0) std::memcpy(data, bytes.data() + offset, *out);
        // Claims the full size, with zeros behind the data.
        if (all.lie_ == Lie::size_is_huge) std::memset(static_cast<char*>(data) + *out, 0, size - *out), *out = size;
        if (all.lie_ == Lie::reads_too_much) *out = size + 1;
        if (all.lie_ == Lie::reads_nothing) *out = 0;
        if (all.lie_ == Lie::reads_zeros) std::memset(data, 0, *out = size);
        if (all.lie_ == Lie::reads_garbage && *out > 0) static_cast<char*>(data)[*out / 2] ^= 1;
        return HOB_RESULT_OK;
    }
    static uint32_t write(void* self, void* file, uint64_t offset, const void* data, size_t size) {
        MemoryFiles& all = of(self);
        const Use use(file);
        const Guard guard(all.mutex_);
        EXPECT(use->writes && (all.lie_ != Lie::none || offset <= use->bytes->size()));
        const uint32_t code = all.fate(FileCall::write);
        if (all.lie_ == Lie::writes_nothing) return code;
        std::string& bytes = *use->bytes;
        size_t at = std::min(static_cast<size_t>(offset), bytes.size());
        if (all.lie_ == Lie::writes_elsewhere) at /= 2;
        // A failed write leaves a part of the data.
        const size_t count = code == HOB_RESULT_OK ? size : size / 2;
        bytes.resize(std::max(bytes.size(), at + count));
        std::memcpy(&bytes[at], data, count);
        return code;
    }
    static uint32_t truncate(void* self, void* file, uint64_t size) {
        MemoryFiles& all = of(self);
        const Use use(file);
        const Guard guard(all.mutex_);
        EXPECT(use->writes);
        if (const uint32_t code = all.fate(FileCall::truncate)) return code;
        if (all.lie_ != Lie::truncates_nothing && size < use->bytes->size()) use->bytes->resize(static_cast<size_t>(size));
        return HOB_RESULT_OK;
    }
    static uint32_t sync(void* self, void* file) {
        const Use use(file);
        const Guard guard(of(self).mutex_);
        return of(self).fate(FileCall::sync);
    }
    static uint32_t rename(void* self, hob_str from, hob_str to) {
        MemoryFiles& all = of(self);
        const Guard guard(all.mutex_);
        if (const uint32_t code = all.fate(FileCall::rename)) return code;
        const auto file = all.files_.find(text(from));
        if (file == all.files_.end()) return HOB_RESULT_NOT_FOUND;
        if (all.lie_ == Lie::renames_nothing) return HOB_RESULT_OK;
        all.files_[text(to)] = file->second;
        all.files_.erase(text(from));
        return HOB_RESULT_OK;
    }
    static uint32_t remove(void* self, hob_str path) {
        MemoryFiles& all = of(self);
        const Guard guard(all.mutex_);
        if (const uint32_t code = all.fate(FileCall::remove)) return code;
        if (all.lie_ == Lie::removes_nothing) return HOB_RESULT_OK;
        return static_cast<uint32_t>(all.files_.erase(text(path)) == 1 ? HOB_RESULT_OK : HOB_RESULT_NOT_FOUND);
    }
    static uint32_t sync_directory(void* self, hob_str directory) {
        const Guard guard(of(self).mutex_);
        (void)text(directory);
        return of(self).fate(FileCall::sync_directory);
    }
    /// Creates a file, as hosts do that lock files.
    static uint32_t try_lock(void* self, hob_str path, void** out) {
        MemoryFiles& all = of(self);
        const Guard guard(all.mutex_);
        if (const uint32_t code = all.fate(FileCall::try_lock)) return code;
        const std::string name = text(path);
        if (all.directories_.count(above(name)) == 0) return HOB_RESULT_NOT_FOUND;
        if (all.locks_.count(name) != 0 && all.lie_ != Lie::locks_what_is_locked) return HOB_RESULT_BUSY;
        if (all.files_.count(name) == 0) all.files_[name] = std::make_shared<std::string>();
        all.locks_.insert(name);
        *out = new std::string(name);
        return HOB_RESULT_OK;
    }
    static void unlock(void* self, void* lock) {
        const Guard guard(of(self).mutex_);
        const std::unique_ptr<std::string> name(static_cast<std::string*>(lock));
        const auto held = of(self).locks_.find(*name);
        EXPECT(held != of(self).locks_.end());
        if (held != of(self).locks_.end()) of(self).locks_.erase(held);
    }
    static void release(void* self) {
        const Guard guard(of(self).mutex_);
        ++of(self).releases_;
    }

    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<std::string>> files_;
    std::set<std::string> directories_;
    std::multiset<std::string> locks_;
    std::array<uint64_t, file_calls> calls_ = {};
    FileCall failing_ = FileCall::list;
    uint64_t period_ = 0, failed_ = 0;
    uint32_t code_ = HOB_RESULT_OK;
    Lie lie_ = Lie::none;
    int open_ = 0, releases_ = 0;
};

}  // namespace support
