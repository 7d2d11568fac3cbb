// Bytes with the alignment that Vulkan requires of a shader's binary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace program_cache_vk {

/// A buffer that begins at a multiple of 16.
class Bytes {
public:
    void resize(std::size_t size) {
        blocks.resize((size + sizeof(Block) - 1) / sizeof(Block));
        count = size;
    }
    std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(blocks.data()); }
    std::size_t size() const { return count; }
    std::string_view view() const { return {reinterpret_cast<const char*>(blocks.data()), count}; }

private:
    struct alignas(16) Block {
        std::uint8_t bytes[16];
    };
    std::vector<Block> blocks;
    std::size_t count = 0;
};

} // namespace program_cache_vk
