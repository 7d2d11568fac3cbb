// How often the library asked the C library for memory. MIT OR Apache-2.0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace support {

/// Calls of malloc and its relatives out of the static library (and this program) so far; 0 where nothing counts them.
uint64_t malloc_calls();

/// Bytes from which on a block is large.
constexpr size_t large_block = size_t{1} << 20;

/// Calls of malloc and aligned_alloc for large blocks so far, and of realloc to large ones.
struct LargeBlocks {
    uint64_t allocated, grown;
};
LargeBlocks large_blocks();

}  // namespace support
