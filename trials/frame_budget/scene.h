// The scene: a lake in the hills at the end of a day, and scripts that change its weight. Everything is a function of
// the seed and of the frame's place in the script, so that all contestants draw exactly the same frames.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mesh.h"

namespace frame_budget {

inline constexpr int fewest_objects = 300;
inline constexpr int most_objects = 3000;
inline constexpr int most_tufts = 9000;
inline constexpr float near_plane = 1.0f;
inline constexpr float far_plane = 400.0f;

struct Camera {
    Vec3 position, right, up, forward;
    float tan_half_height = 0.40f;
};

/// The vertex stage's data per instance.
/// Like Vertex, its layout is declared to GL byte by byte.
struct Instance {
    Vec3 position;
    float scale;
    float turn_cos, turn_sin; ///< Its turn around y.
    Color tint;
};
static_assert(sizeof(Instance) == 28, "the instance layout is told to GL byte by byte");

struct Object {
    Kind kind;
    Instance instance;
};

struct Visible {
    std::uint32_t object;
    float distance;
};

/// The script's demands at one moment.
struct Weight {
    int objects = fewest_objects;
    float mist = 0; ///< The heavy effect, 0 .. 1.
};

/// The events of a scene.
enum class Script {
    crowd, ///< A crowd of objects comes and leaves; mist comes twice.
    walk,  ///< The camera sweeps over a constant crowd.
    cuts,  ///< Another weight and another view every few seconds, at once.
};
inline constexpr std::array<const char*, 3> script_names{"crowd", "walk", "cuts"};

/// The data of one frame for a renderer, before any choice of quality is made.
struct SceneFrame {
    Weight weight;
    float time = 0; ///< Seconds of animation.
    Camera camera;
    std::vector<Visible> visible; ///< Objects inside the view: the host's measure of the frame's weight beforehand.
};

class Scene {
public:
    explicit Scene(std::uint32_t seed);

    /// The frame when `part` of the script (0 .. 1) has passed; `aspect` is the picture's width over its height.
    SceneFrame frame(Script script, float part, float aspect) const;

    /// A frame of fixed weight, for measurements.
    SceneFrame frame_of_weight(const Weight& weight, float aspect) const;

    /// Object `index` as it stands in this frame: objects grow out of the ground, balloons drift.
    Instance instance_of(std::uint32_t index, const SceneFrame& frame) const;

    Vec3 sun_direction() const { return sun; } ///< Towards the sun.
    Mat4 sun_projection() const;               ///< World to the clip space of the shadow map.

    std::vector<Object> objects; ///< `most_objects` of them; a frame draws the first `Weight::objects`.
    std::vector<Instance> tufts; ///< `most_tufts` of them, in random order: any prefix is spread evenly.
    Mesh ground;

private:
    void place_objects(std::uint32_t seed);
    void place_tufts(std::uint32_t seed);
    /// Sets the camera and finds the objects in view. `swing`: -1 .. 1 is a small step to the left or right.
    void look(SceneFrame& frame, float swing, float aspect) const;

    Vec3 sun;
};

/// The script's weight when `part` of it (0 .. 1) has passed.
Weight weight_at(Script script, float part);

/// The mesh level for an object at this distance: the choice's level near the eye, lower ones farther off.
std::size_t mesh_level(int detail, float distance);

/// The ground's height; the lake's surface is at 0.
float ground_height(float x, float z);

} // namespace frame_budget
