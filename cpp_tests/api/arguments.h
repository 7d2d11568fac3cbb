// The arguments of one call and their memory. MIT OR Apache-2.0.
#pragma once

#include <memory>
#include <vector>

#include "api/types.h"
#include "api/world.h"

namespace api {

/// The generated table.
struct Table {
    const Function* functions;
    size_t function_count;
    const Struct* structs;
    size_t struct_count;
    const Enum* enums;
    const Handle* handles;
    size_t handle_count;
};

/// Memory with a pattern behind it that a call must not change.
class Block {
public:
    explicit Block(size_t size);
    unsigned char* at() const { return bytes_.get(); }
    size_t size() const { return size_; }
    void remember() { before_.assign(bytes_.get(), bytes_.get() + size_); }
    bool is_unchanged() const { return size_ == 0 || std::memcmp(bytes_.get(), before_.data(), size_) == 0; }
    bool has_canary() const;
    /// Shortens the block to `size` bytes. The bytes behind them become canaries.
    void cut(size_t size);

    static constexpr unsigned char canary = 0xa5;

private:
    static constexpr size_t margin = 32;
    size_t size_, whole_;
    std::unique_ptr<unsigned char[]> bytes_;
    std::vector<unsigned char> before_;
};

/// A function with an argument for each parameter, valid at first.
class Call {
public:
    static constexpr size_t most = 16;

    Call(const Table& table, const Function& function, World& world);
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    /// Destroys the handle that the call created, and releases the library's data in structs.
    ~Call();

    Answer make();

    const Function& function() const { return function_; }
    const Param& param(size_t n) const { return function_.params[n]; }
    Arg& arg(size_t n) { return args_[n]; }
    /// Memory behind a pointer parameter. NULL: the memory is not ours.
    Block* block(size_t n) { return blocks_[n].get(); }
    /// Capacity of an array in elements.
    size_t elements(size_t n) const { return elements_[n]; }
    /// The struct that a parameter points to, or NULL.
    const Struct* structure(size_t n) const;
    /// Replaces the memory behind a parameter.
    Block& replace(size_t n, size_t size);
    /// Sets an integer of any size.
    void set_integer(size_t n, uint64_t value);

    /// Takes ownership of the handle that the call created.
    void* take_handle(size_t n);

    /// Whether all bytes that a call may write are unchanged.
    bool is_out_unchanged() const;
    bool has_canaries() const;

    /// Whether the function creates or initialises the target of its first pointer.
    bool is_init() const;
    bool is_destroy() const;

private:
    void make_argument(size_t n);
    void make_array(size_t n, bool is_array);
    bool is_array(size_t n) const;

    const Table& table_;
    const Function& function_;
    World& world_;
    Arg args_[most];
    std::unique_ptr<Block> blocks_[most];
    size_t elements_[most] = {};
    /// A handle for a destroy call.
    void* doomed_ = nullptr;
    bool was_made_ = false;
    hob_result result_ = HOB_RESULT_OK;
};

bool ends_with(const char* name, const char* end);

}  // namespace api
