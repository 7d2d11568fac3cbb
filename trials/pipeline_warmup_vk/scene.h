// The scene: areas with objects, which are drawn in several passes with a pipeline each.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <hobgoblin/hobgoblin.hpp>

#include "shaders.h"

namespace pipeline_warmup_vk {

enum class Pass : std::uint8_t { shadow, depth, main };
inline constexpr std::size_t pass_count = 3;
enum class Blend : std::uint8_t { opaque, alpha, additive };
enum class Cull : std::uint8_t { none, front, back };

/// All of a pipeline but its shaders.
struct State {
    Pass pass = Pass::main;
    Cull cull = Cull::none;
    Blend blend = Blend::opaque;
    std::uint8_t stride = 0;           ///< Floats of a vertex.
    std::vector<Attribute> attributes; ///< In the order of their floats, the position first.

    /// The bytes for hob_pipeline_desc.state.
    std::string bytes() const;
    /// Throws std::runtime_error when the bytes are not those of a state.
    static State from_bytes(std::string_view bytes);
};
inline constexpr std::uint32_t state_schema = 1; ///< Changes with the layout of the bytes.

/// A pipeline as the game describes it.
struct ScenePipeline {
    std::string state;
    std::vector<hob_pipeline_shader> shaders;
    hob::Fingerprint key;

    /// Valid as long as this object.
    hob::Pipeline described() const;
};

struct Object {
    struct Part {
        Pass pass;
        std::size_t pipeline; ///< Index in Scene::pipelines.
    };
    Factory factory = Factory::rock;
    std::size_t area = 0, number = 0; ///< Its number within the area: smaller ones appear earlier.
    bool is_secret = false;           ///< The play-through that records does not see it.
    std::array<float, 4> placement{}; ///< x, y, scale, depth.
    std::vector<Part> parts;          ///< One for each of its passes.
};

class Scene {
public:
    static constexpr std::size_t areas = 6, objects_per_area = 14;

    /// The scene as a build of the game has it: with other bytes in all shaders than other builds.
    explicit Scene(std::uint32_t build);

    std::vector<Shader> shaders;
    std::vector<ScenePipeline> pipelines; ///< All different.
    std::vector<Object> objects;

    /// The shader with a stage and hash; null: none.
    const Shader* find_shader(const hob_pipeline_shader& name) const;
    /// The number of pipelines that only secret objects have.
    std::size_t secret_pipelines() const;
    /// Lines `hash,stage,key`, for `hob pipelines keys import`.
    std::string key_map_csv() const;

private:
    struct Material;
    void add_object(std::size_t area, std::size_t number);
    std::size_t shader(Shader made);
    void add_part(Object& object, const State& state, const std::vector<std::size_t>& shaders_of_it);

    std::uint32_t build;
    std::map<std::string, std::size_t> shader_places;        ///< By stable key.
    std::map<std::string, std::size_t> hash_places;          ///< By stage and hash.
    std::map<hob::Fingerprint, std::size_t> pipeline_places; ///< By key.
};

/// The way through the areas, in frames.
struct Script {
    std::vector<std::size_t> route; ///< Areas in the order of the visits.
    std::size_t frames_per_area = 0;

    std::size_t frames() const { return route.size() * frames_per_area; }
    std::size_t area_at(std::size_t frame) const { return route[frame / frames_per_area]; }
    /// Whether an object is in view. Those of an area appear one after the other, the first object is always there.
    bool is_visible(const Object& object, std::size_t frame) const;
};

} // namespace pipeline_warmup_vk
