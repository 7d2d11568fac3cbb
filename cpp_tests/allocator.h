// An allocator for the library that counts, checks freed blocks, and fails on request. MIT OR Apache-2.0.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace support {

/// The library uses this allocator while the object exists.
///
/// Create and destroy it while no handle is alive.
class HostAllocator {
public:
    HostAllocator();
    HostAllocator(const HostAllocator&) = delete;
    HostAllocator& operator=(const HostAllocator&) = delete;
    ~HostAllocator();

    /// Restores the system's allocator. Returns whether that worked; it fails while a handle is alive.
    bool remove();

    /// Lets the `n`th allocation from now on fail (0 is the next). With `and_all_after`, all later ones fail until
    /// heal().
    void fail_at(uint64_t n, bool and_all_after);
    void heal();
    /// Whether an allocation has failed since fail_at.
    bool has_failed() const { return has_failed_; }

    uint64_t calls() const { return calls_; }
    int64_t live_bytes() const { return live_bytes_; }
    int64_t live_blocks() const { return live_blocks_; }
    /// Number of frees with a wrong size or alignment, or of a block that was never allocated.
    uint64_t mistakes() const { return mistakes_; }

private:
    void* allocate(size_t size, size_t alignment);
    void free(void* memory, size_t size, size_t alignment);
    bool fails_now();

    static constexpr uint64_t never = UINT64_MAX;

    std::atomic<uint64_t> calls_{0}, mistakes_{0};
    std::atomic<int64_t> live_bytes_{0}, live_blocks_{0};
    std::atomic<uint64_t> until_failure_{never};
    std::atomic<bool> fails_on_{false}, has_failed_{false};
    bool is_in_force_ = false;
};

}  // namespace support
