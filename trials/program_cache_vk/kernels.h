// The built-in compute shaders, written as SPIR-V, and their expected results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace program_cache_vk {

/// Mixes each of the 32-bit numbers of a buffer (set 0, binding 0).
/// Each kernel has its own long chain of whole-number steps, and runs in groups of `group_size`.
struct Kernel {
    static constexpr std::uint32_t group_size = 64;

    std::string name;
    std::vector<std::uint32_t> words; ///< SPIR-V 1.0.
    std::vector<std::uint32_t> steps; ///< The factors and summands of the chain.

    /// The shader's result for `number`.
    std::uint32_t operator()(std::uint32_t number) const;
};

/// `count` kernels, the same in every run.
std::vector<Kernel> make_kernels(std::size_t count);

} // namespace program_cache_vk
