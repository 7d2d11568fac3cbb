#include "allocator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "support.h"

namespace support {

namespace {

/// Header in front of every block.
struct Label {
    void* start;
    size_t size, alignment;
    uint64_t seal;
};

constexpr uint64_t alive = 0x616c697665616c69, freed = 0x6672656564667265;

Label* label_of(void* memory) {
    return reinterpret_cast<Label*>(static_cast<char*>(memory) - sizeof(Label));
}

}  // namespace

HostAllocator::HostAllocator() {
    hob_allocator_hook hook = HOB_ALLOCATOR_HOOK_INIT;
    hook.user_data = this;
    hook.allocate = [](void* self, size_t size, size_t alignment) {
        return static_cast<HostAllocator*>(self)->allocate(size, alignment);
    };
    hook.free = [](void* self, void* memory, size_t size, size_t alignment) {
        static_cast<HostAllocator*>(self)->free(memory, size, alignment);
    };
    ENSURE_OK(hob_set_allocator_hook(&hook));
    is_in_force_ = true;
}

HostAllocator::~HostAllocator() {
    EXPECT(remove());
}

bool HostAllocator::remove() {
    if (is_in_force_) is_in_force_ = hob_set_allocator_hook(nullptr) != HOB_RESULT_OK;
    return !is_in_force_;
}

void HostAllocator::fail_at(uint64_t n, bool and_all_after) {
    fails_on_ = and_all_after;
    has_failed_ = false;
    until_failure_ = n;
}

void HostAllocator::heal() {
    until_failure_ = never;
}

bool HostAllocator::fails_now() {
    if (until_failure_ == never) return false;
    if (until_failure_ > 0) {
        --until_failure_;
        return false;
    }
    if (!fails_on_) until_failure_ = never;
    has_failed_ = true;
    return true;
}

void* HostAllocator::allocate(size_t size, size_t alignment) {
    ++calls_;
    EXPECT(size > 0 && alignment > 0 && (alignment & (alignment - 1)) == 0);
    if (fails_now()) return nullptr;
    // Exactly the requested alignment, not a stricter one by chance.
    const size_t step = std::max(alignment, alignof(Label)), twice = 2 * step;
    const size_t before = (sizeof(Label) + twice - 1) / twice * twice + step;
    void* const start = std::aligned_alloc(twice, (before + size + twice - 1) / twice * twice);
    if (start == nullptr) return nullptr;
    char* const memory = static_cast<char*>(start) + before;
    *label_of(memory) = {start, size, alignment, alive};
    std::memset(memory, 0xdd, size);
    live_bytes_ += static_cast<int64_t>(size);
    ++live_blocks_;
    return memory;
}

void HostAllocator::free(void* memory, size_t size, size_t alignment) {
    ++calls_;
    Label* const label = label_of(memory);
    if (label->seal != alive || label->size != size || label->alignment != alignment) {
        ++mistakes_;
        return;
    }
    label->seal = freed;
    std::memset(memory, 0xee, size);
    live_bytes_ -= static_cast<int64_t>(size);
    --live_blocks_;
    std::free(label->start);
}

}  // namespace support
