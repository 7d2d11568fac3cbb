// hobgoblin/store.hpp: the host's own file system for caches. Part of hobgoblin.hpp. MIT OR Apache-2.0.
#ifndef HOBGOBLIN_STORE_HPP
#define HOBGOBLIN_STORE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base.hpp"
#include "store.h"

HOB_NAMESPACE_BEGIN

/// An open file of a FileSystem.
/// The destructor closes it. hob_file_io describes each function and its results.
class File {
public:
    virtual ~File() = default;
    /// Gets the size in bytes.
    virtual hob_result size(uint64_t& size) = 0;
    /// Reads up to `size` bytes at `offset`. `count` is smaller at the end of the file.
    virtual hob_result read(uint64_t offset, void* data, size_t size, size_t& count) = 0;
    /// Writes all bytes at `offset`, which is at most the size.
    virtual hob_result write(uint64_t offset, const void* data, size_t size) = 0;
    /// Cuts the file to `size` bytes.
    virtual hob_result truncate(uint64_t size) = 0;
    /// Waits until the written bytes survive a loss of power.
    virtual hob_result sync() = 0;
};

/// A file system of the host's; hob_file_io describes each function and its results.
///
/// An exception from a function counts as HOB_RESULT_IO and is dropped: a background thread has no caller to throw to.
class FileSystem {
public:
    virtual ~FileSystem() = default;
    /// Lists the names of the files in a directory.
    virtual hob_result list(std::string_view directory, std::vector<std::string>& names) = 0;
    /// Creates a directory and all missing directories above it.
    virtual hob_result create_directory(std::string_view directory) = 0;
    /// Opens an existing file for reading.
    virtual hob_result open(std::string_view path, std::unique_ptr<File>& file) = 0;
    /// Creates a new file for reading and writing. HOB_RESULT_BUSY if it exists.
    virtual hob_result create(std::string_view path, std::unique_ptr<File>& file) = 0;
    /// Renames a file and replaces `to` if it exists.
    virtual hob_result rename(std::string_view from, std::string_view to) = 0;
    /// Deletes a file.
    virtual hob_result remove(std::string_view path) = 0;
    /// Like File::sync, for the names of a directory. The default does nothing.
    virtual hob_result sync_directory(std::string_view) { return HOB_RESULT_OK; }
    /// Takes a lock without waiting. Destroying `lock` releases it. The default assumes that no other process uses the
    /// directory.
    virtual hob_result try_lock(std::string_view path, std::shared_ptr<void>& lock) {
        auto name = std::make_shared<std::string>(path);
        {
            const std::lock_guard<std::mutex> guard(held_->mutex);
            if (!held_->names.insert(*name).second) return HOB_RESULT_BUSY;
        }
        lock = std::shared_ptr<void>(name.get(), [name, held = held_](void*) {
            const std::lock_guard<std::mutex> inner(held->mutex);
            held->names.erase(*name);
        });
        return HOB_RESULT_OK;
    }

private:
    struct Held {
        std::mutex mutex;
        std::set<std::string> names;
    };
    std::shared_ptr<Held> held_ = std::make_shared<Held>();
};

namespace detail {

/// Adapts a FileSystem to hob_file_io, which owns this.
struct HostFiles {
    std::shared_ptr<FileSystem> files;

    hob_file_io io() noexcept {
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
        io.try_lock = &try_lock;
        io.unlock = &unlock;
        io.release = &release;
        return io;
    }

private:
    using Lock = std::shared_ptr<void>;

    static FileSystem& of(void* self) noexcept { return *static_cast<HostFiles*>(self)->files; }
    static File& file_of(void* file) noexcept { return *static_cast<File*>(file); }

    template <class Call>
    static uint32_t guarded(const Call& call) noexcept {
#if HOB_EXCEPTIONS
        try {
            return static_cast<uint32_t>(call());
        } catch (const std::bad_alloc&) {
            return HOB_RESULT_OUT_OF_MEMORY;
        } catch (...) {
            return HOB_RESULT_IO;
        }
#else
        return static_cast<uint32_t>(call());
#endif
    }
    template <class Call>
    static uint32_t give(void** out, const Call& call) noexcept {
        return guarded([&] {
            std::unique_ptr<File> file;
            const hob_result result = call(file);
            if (result == HOB_RESULT_OK && file == nullptr) return HOB_RESULT_IO;
            if (result == HOB_RESULT_OK) *out = file.release();  // the library owns it and calls close
            return result;
        });
    }

    static uint32_t list(void* self, hob_str directory, hob_result (*add)(void*, hob_str), void* names) noexcept {
        return guarded([&] {
            std::vector<std::string> found;
            hob_result result = of(self).list(view(directory), found);
            for (size_t at = 0; result == HOB_RESULT_OK && at < found.size(); ++at) result = add(names, text(found[at]));
            return result;
        });
    }
    static uint32_t create_directory(void* self, hob_str directory) noexcept {
        return guarded([&] { return of(self).create_directory(view(directory)); });
    }
    static uint32_t open(void* self, hob_str path, void** out) noexcept {
        return give(out, [&](std::unique_ptr<File>& file) { return of(self).open(view(path), file); });
    }
    static uint32_t create(void* self, hob_str path, void** out) noexcept {
        return give(out, [&](std::unique_ptr<File>& file) { return of(self).create(view(path), file); });
    }
    static void close(void*, void* file) noexcept { delete static_cast<File*>(file); }
    static uint32_t size(void*, void* file, uint64_t* out) noexcept {
        return guarded([&] { return file_of(file).size(*out); });
    }
    static uint32_t read(void*, void* file, uint64_t offset, void* data, size_t size, size_t* out) noexcept {
        return guarded([&] { return file_of(file).read(offset, data, size, *out); });
    }
    static uint32_t write(void*, void* file, uint64_t offset, const void* data, size_t size) noexcept {
        return guarded([&] { return file_of(file).write(offset, data, size); });
    }
    static uint32_t truncate(void*, void* file, uint64_t size) noexcept {
        return guarded([&] { return file_of(file).truncate(size); });
    }
    static uint32_t sync(void*, void* file) noexcept {
        return guarded([&] { return file_of(file).sync(); });
    }
    static uint32_t rename(void* self, hob_str from, hob_str to) noexcept {
        return guarded([&] { return of(self).rename(view(from), view(to)); });
    }
    static uint32_t remove(void* self, hob_str path) noexcept {
        return guarded([&] { return of(self).remove(view(path)); });
    }
    static uint32_t sync_directory(void* self, hob_str directory) noexcept {
        return guarded([&] { return of(self).sync_directory(view(directory)); });
    }
    static uint32_t try_lock(void* self, hob_str path, void** out) noexcept {
        return guarded([&] {
            auto lock = std::make_unique<Lock>();
            const hob_result result = of(self).try_lock(view(path), *lock);
            if (result == HOB_RESULT_OK) *out = lock.release();
            return result;
        });
    }
    static void unlock(void*, void* lock) noexcept { delete static_cast<Lock*>(lock); }
    static void release(void* self) noexcept { delete static_cast<HostFiles*>(self); }
};

}  // namespace detail

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_STORE_HPP
