// The allocation functions of the C library, which this program replaces. Calls of the C library itself come here, too.
#include "memory.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include <hobgoblin/base.h>

extern "C" {
// The C library's own functions, by their other names.
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace no_memory {

void (*on_first_failure)() = nullptr;

namespace {

std::atomic<bool> is_counting{false};
std::atomic<uint64_t> count{0}, failed{0};
Source failing_source = Source::malloc;
Failure how = Failure::once;
uint64_t chosen = never;

/// Counts an allocation. Returns whether it fails.
bool fails(Source source) {
    if (!is_counting.load(std::memory_order_relaxed) || source != failing_source) return false;
    const uint64_t number = count.fetch_add(1, std::memory_order_relaxed);
    const bool is_chosen = how == Failure::once ? number == chosen : number >= chosen;
    if (!is_chosen) return false;
    if (failed.fetch_add(1, std::memory_order_relaxed) == 0 && on_first_failure != nullptr) on_first_failure();
    errno = ENOMEM;
    return true;
}

void* hook_allocate(void*, size_t size, size_t alignment) {
    if (fails(Source::hook)) return nullptr;
    return __libc_memalign(alignment < sizeof(void*) ? sizeof(void*) : alignment, size);
}

void hook_free(void*, void* memory, size_t, size_t) {
    std::free(memory);
}

}  // namespace

void begin(Source source, Failure failure, uint64_t number) {
    failing_source = source;
    how = failure;
    chosen = number;
    count = 0;
    failed = 0;
    is_counting = true;
}

void heal() {
    is_counting = false;
}

uint64_t allocations() {
    return count;
}

bool has_failed() {
    return failed != 0;
}

void set_hook() {
    hob_allocator_hook hook = HOB_ALLOCATOR_HOOK_INIT;
    hook.allocate = &hook_allocate;
    hook.free = &hook_free;
    if (hob_set_allocator_hook(&hook) != HOB_RESULT_OK) std::abort();
}

}  // namespace no_memory

using no_memory::Source;

extern "C" void* malloc(size_t size) {
    return no_memory::fails(Source::malloc) ? nullptr : __libc_malloc(size);
}

extern "C" void* calloc(size_t count, size_t size) {
    return no_memory::fails(Source::malloc) ? nullptr : __libc_calloc(count, size);
}

extern "C" void* realloc(void* memory, size_t size) {
    return no_memory::fails(Source::malloc) ? nullptr : __libc_realloc(memory, size);
}

extern "C" void* memalign(size_t alignment, size_t size) {
    return no_memory::fails(Source::malloc) ? nullptr : __libc_memalign(alignment, size);
}

extern "C" void* aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

extern "C" int posix_memalign(void** out, size_t alignment, size_t size) {
    void* const memory = memalign(alignment, size);
    if (memory == nullptr) return ENOMEM;
    *out = memory;
    return 0;
}
