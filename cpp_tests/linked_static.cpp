// For the program that links the static library with malloc and its relatives wrapped (-Wl,--wrap=malloc,...). Every
// call from the library is counted on its way to the C library.
#include <atomic>
#include <cstddef>

#include "malloc_count.h"
#include "support.h"

namespace {

std::atomic<uint64_t> calls{0}, allocated{0}, grown{0};

}  // namespace

extern "C" {

void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* memory, size_t size);
void __real_free(void* memory);
void* __real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void** memory, size_t alignment, size_t size);

void* __wrap_malloc(size_t size) {
    ++calls;
    if (size >= support::large_block) ++allocated;
    return __real_malloc(size);
}

void* __wrap_calloc(size_t count, size_t size) {
    ++calls;
    return __real_calloc(count, size);
}

void* __wrap_realloc(void* memory, size_t size) {
    ++calls;
    if (size >= support::large_block) ++grown;
    return __real_realloc(memory, size);
}

void __wrap_free(void* memory) {
    if (memory != nullptr) ++calls;
    __real_free(memory);
}

void* __wrap_aligned_alloc(size_t alignment, size_t size) {
    ++calls;
    if (size >= support::large_block) ++allocated;
    return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void** memory, size_t alignment, size_t size) {
    ++calls;
    return __real_posix_memalign(memory, alignment, size);
}

}  // extern "C"

namespace support {

const bool is_static = true;

uint64_t malloc_calls() {
    return calls.load();
}

LargeBlocks large_blocks() {
    return {allocated.load(), grown.load()};
}

}  // namespace support
