// The allocator of the library while its API is misused on purpose. MIT OR Apache-2.0.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>

#include <hobgoblin/hobgoblin.h>

namespace api {

/// An allocator for misuse tests.
///
/// It keeps freed blocks for a while, so that a destroyed handle can be passed in without a read of freed memory. It
/// refuses large blocks, so that no argument requests gigabytes. It can call back from inside an allocation.
class Memory {
public:
    static Memory& get() {
        // Never destroyed, so that the blocks that it keeps are not reported as leaks.
        static Memory& memory = *new Memory;
        return memory;
    }

    /// The hook. Set it while no handle is alive.
    static hob_allocator_hook hook() {
        hob_allocator_hook hook = HOB_ALLOCATOR_HOOK_INIT;
        hook.user_data = &get();
        hook.allocate = [](void* self, size_t size, size_t alignment) {
            return static_cast<Memory*>(self)->allocate(size, alignment);
        };
        hook.free = [](void* self, void* at, size_t size, size_t) { static_cast<Memory*>(self)->free(at, size); };
        return hook;
    }

    /// Calls `run(data)` from inside the next allocation on this thread.
    static void call_inside(void (*run)(void*), void* data) { pending() = {run, data}; }
    /// Cancels that call. Returns whether it took place before.
    static bool end_inside() {
        const bool was_called = pending().run == nullptr;
        pending() = {};
        return was_called;
    }

    /// Number of blocks freed so far.
    uint64_t freed() const { return freed_; }
    /// Whether a block that was freed then is still readable.
    bool keeps(uint64_t freed_then) const { return freed_ - freed_then < kept_blocks / 2; }
    uint64_t live_bytes() const { return live_bytes_; }

private:
    static constexpr size_t largest = 64u << 20, kept_blocks = 4096, most_bytes = 1u << 30;

    struct Pending {
        void (*run)(void*) = nullptr;
        void* data = nullptr;
    };
    static Pending& pending() {
        thread_local Pending one;
        return one;
    }

    void* allocate(size_t size, size_t alignment) {
        const Pending now = pending();
        if (now.run != nullptr) {
            pending() = {};
            now.run(now.data);
        }
        if (size > largest || live_bytes_ + size > most_bytes) return nullptr;
        void* at = nullptr;
        if (posix_memalign(&at, alignment < sizeof(void*) ? sizeof(void*) : alignment, size) != 0) return nullptr;
        live_bytes_ += size;
        return at;
    }

    void free(void* at, size_t size) {
        live_bytes_ -= size;
        void* oldest = nullptr;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            freed_++;
            if (size > 16384) {
                oldest = at;
            } else {
                kept_.push_back(at);
                if (kept_.size() > kept_blocks) {
                    oldest = kept_.front();
                    kept_.pop_front();
                }
            }
        }
        std::free(oldest);
    }

    std::mutex mutex_;
    std::deque<void*> kept_;
    std::atomic<uint64_t> freed_{0}, live_bytes_{0};
};

}  // namespace api
