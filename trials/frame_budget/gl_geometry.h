// The scene's triangles on the GPU: all meshes in one buffer, and per frame one stream of instances sorted by mesh.
#pragma once

#include <array>
#include <vector>

#include "../common/gl_api.h"
#include "scene.h"

namespace frame_budget {

using namespace trials;

class GlGeometry {
public:
    GlGeometry(const Gl& gl, const Scene& scene);

    /// Uploads this frame's instances.
    /// These are the objects in view at the levels for `detail`, the casters of shadows, and the lake's reflections.
    void prepare(const SceneFrame& frame, int detail, bool with_shadows, bool with_mirror);

    void draw_ground() const;
    void draw_objects() const { draw(view_batches); }
    void draw_casters() const { draw(caster_batches); }
    void draw_mirrored() const { draw(mirrored_batches); }
    void draw_grass(int tufts) const;

private:
    struct MeshRange {
        GLint first = 0;
        GLsizei count = 0;
    };
    /// Instances of one mesh, somewhere in the frame's stream.
    struct Batch {
        MeshRange mesh;
        std::size_t first_instance = 0;
        GLsizei instance_count = 0;
    };
    using Bins = std::array<std::array<std::vector<Instance>, level_count>, kind_count>;

    void draw(const std::vector<Batch>& batches) const;
    void draw_instances(MeshRange mesh, GLuint instances, std::size_t first, GLsizei count) const;
    void append(Bins& bins, std::vector<Batch>& batches);

    const Gl& gl;
    const Scene& scene;
    GLuint vertex_array = 0, object_instances = 0, tuft_instances = 0, one_instance = 0;
    MeshRange ground, grass;
    std::array<std::array<MeshRange, level_count>, kind_count> object_meshes{};
    Bins bins;
    std::vector<Instance> stream;
    std::vector<Batch> view_batches, caster_batches, mirrored_batches;
};

} // namespace frame_budget
