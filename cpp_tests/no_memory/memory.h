// The memory of a program in which allocations fail on request. MIT OR Apache-2.0.
#pragma once

#include <cstdint>

namespace no_memory {

/// The allocations that fail.
enum class Source {
    /// Every malloc of the process: the library's, the standard library's and the C library's own.
    malloc,
    /// The allocator hook: the library's own allocations.
    hook,
};

/// How allocations fail from the chosen one on.
enum class Failure {
    /// One fails.
    once,
    /// All fail, until a call has returned that it is out of memory.
    until_noticed,
    /// All fail, until the scenario has ended.
    for_long,
};

/// A number that no allocation has.
constexpr uint64_t never = UINT64_MAX;
/// Called at the first failure, on the thread that allocates.
extern void (*on_first_failure)();
/// Starts to count allocations from 0: the one with this number fails.
void begin(Source source, Failure failure, uint64_t number);
/// No allocation fails any more.
void heal();
/// Allocations since begin().
uint64_t allocations();
bool has_failed();

/// Sets the allocator hook of the library.
void set_hook();

}  // namespace no_memory
