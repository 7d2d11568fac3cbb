// The example's own compute shaders, as SPIR-V that it writes itself, and what each must compute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace program_cache_vk {

/// Mixes each of the 32-bit numbers of a buffer (set 0, binding 0) by a long chain of whole-number steps of its own, in
/// groups of `group_size`.
struct Kernel {
    static constexpr std::uint32_t group_size = 64;

    std::string name;
    std::vector<std::uint32_t> words; ///< SPIR-V 1.0.
    std::vector<std::uint32_t> steps; ///< The factors and summands of the chain.

    /// What the shader makes of `number`.
    std::uint32_t operator()(std::uint32_t number) const;
};

/// `count` kernels, the same in every run.
std::vector<Kernel> make_kernels(std::size_t count);

} // namespace program_cache_vk
