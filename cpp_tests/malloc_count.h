// Counts the library's calls to allocate memory from the C library. MIT OR Apache-2.0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace support {

/// Calls of malloc and its relatives from the static library (and this program) so far.
///
/// 0 if they are not counted.
uint64_t malloc_calls();

/// Least size in bytes of a large block.
constexpr size_t large_block = size_t{1} << 20;

/// Calls of malloc and aligned_alloc for large blocks so far, and of realloc to large ones.
struct LargeBlocks {
    uint64_t allocated, grown;
};
LargeBlocks large_blocks();

}  // namespace support
