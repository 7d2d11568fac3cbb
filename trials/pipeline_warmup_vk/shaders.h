// The shaders of the scene, written as SPIR-V: no compiler for shaders is needed, and each variant has bytes of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hobgoblin/hobgoblin.hpp>

namespace pipeline_warmup_vk {

/// The vertex layouts, as engines call them: each has vertices and a vertex shader of its own.
enum class Factory : std::uint8_t { rock, terrain, foliage, character, particle };
inline constexpr std::uint32_t factories = 5;

/// An attribute of a vertex, of floats.
struct Attribute {
    std::uint8_t location = 0, components = 0;
};
/// The attributes of a layout, one after the other without gaps.
/// The first is the position.
std::vector<Attribute> attributes_of(Factory factory);

struct Shader {
    std::string stable_key; ///< Such as "Rock,Detail2,Main,Vertex": the same in all builds of the game.
    std::uint32_t stage = HOB_SHADER_STAGE_VERTEX;
    std::vector<std::uint32_t> words; ///< SPIR-V 1.0.
    hob_pipeline_shader name{};       ///< Stage and hash.

    std::string hash_text() const;
};

/// A vertex shader.
/// With `only_position` it writes nothing else, as passes without colour want it.
/// Another `build` of the game has other bytes for the same stable key.
Shader make_vertex_shader(Factory factory, std::uint32_t detail, bool only_position, std::uint32_t build);

/// A fragment shader.
/// A masked one discards fragments; without colour that is all that it does.
Shader make_fragment_shader(std::uint32_t material, bool is_masked, bool has_colour, std::uint32_t build);

} // namespace pipeline_warmup_vk
