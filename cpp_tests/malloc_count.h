// How often the library asked the C library for memory. MIT OR Apache-2.0.
#pragma once

#include <cstdint>

namespace support {

/// Calls of malloc and its relatives out of the static library (and this program) so far; 0 where nothing counts them.
uint64_t malloc_calls();

}  // namespace support
