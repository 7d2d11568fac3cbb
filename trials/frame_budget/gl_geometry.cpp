#include "gl_geometry.h"

namespace frame_budget {

namespace {

// Shadows and reflections look the same at every `detail`, so that their costs do not depend on it.
constexpr std::size_t caster_level = 0, mirrored_level = 0;

const void* offset_in_buffer(std::size_t bytes) { return reinterpret_cast<const void*>(bytes); }

template <typename T> GLuint make_buffer(const Gl& gl, const std::vector<T>& data) {
    GLuint buffer = 0;
    gl.GenBuffers(1, &buffer);
    gl.BindBuffer(GL_ARRAY_BUFFER, buffer);
    gl.BufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(data.size() * sizeof(T)), data.data(), GL_STATIC_DRAW);
    return buffer;
}

} // namespace

GlGeometry::GlGeometry(const Gl& the_gl, const Scene& the_scene) : gl(the_gl), scene(the_scene) {
    Mesh all;
    const auto add = [&all](const Mesh& mesh) {
        const MeshRange range{static_cast<GLint>(all.size()), static_cast<GLsizei>(mesh.size())};
        all.insert(all.end(), mesh.begin(), mesh.end());
        return range;
    };
    ground = add(scene.ground);
    grass = add(make_grass_mesh());
    for (std::size_t kind = 0; kind < kind_count; ++kind)
        for (std::size_t level = 0; level < level_count; ++level)
            object_meshes[kind][level] = add(make_object_mesh(static_cast<Kind>(kind), level));

    gl.GenVertexArrays(1, &vertex_array);
    gl.BindVertexArray(vertex_array);
    tuft_instances = make_buffer(gl, scene.tufts);
    one_instance = make_buffer(gl, std::vector<Instance>{{{0, 0, 0}, 1, 1, 0, {}}});
    object_instances = make_buffer(gl, std::vector<Instance>{});
    make_buffer(gl, all); // the vertex array keeps it
    gl.VertexAttribPointer(0, 3, GL_FLOAT, 0, sizeof(Vertex), offset_in_buffer(offsetof(Vertex, position)));
    gl.VertexAttribPointer(1, 3, GL_FLOAT, 0, sizeof(Vertex), offset_in_buffer(offsetof(Vertex, normal)));
    gl.VertexAttribPointer(2, 4, GL_UNSIGNED_BYTE, 1, sizeof(Vertex), offset_in_buffer(offsetof(Vertex, color)));
    for (GLuint attribute = 0; attribute < 6; ++attribute) gl.EnableVertexAttribArray(attribute);
    for (GLuint attribute = 3; attribute < 6; ++attribute) gl.VertexAttribDivisor(attribute, 1);
}

void GlGeometry::prepare(const SceneFrame& frame, int detail, bool with_shadows, bool with_mirror) {
    stream.clear();
    for (const Visible& visible : frame.visible) {
        const auto kind = static_cast<std::size_t>(scene.objects[visible.object].kind);
        bins[kind][mesh_level(detail, visible.distance)].push_back(scene.instance_of(visible.object, frame));
    }
    append(bins, view_batches);
    for (std::uint32_t i = 0; with_shadows && i < static_cast<std::uint32_t>(frame.weight.objects); ++i)
        if (scene.objects[i].kind != Kind::balloon) // up there the sun's disc blurs their shadows away
            bins[static_cast<std::size_t>(scene.objects[i].kind)][caster_level].push_back(scene.instance_of(i, frame));
    append(bins, caster_batches);
    for (std::size_t i = 0; with_mirror && i < frame.visible.size(); ++i) {
        const std::uint32_t object = frame.visible[i].object;
        bins[static_cast<std::size_t>(scene.objects[object].kind)][mirrored_level].push_back(
            scene.instance_of(object, frame));
    }
    append(bins, mirrored_batches);
    // Each frame has a buffer of its own: the driver need not wait for the last one.
    gl.BindBuffer(GL_ARRAY_BUFFER, object_instances);
    gl.BufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(stream.size() * sizeof(Instance)), stream.data(),
                  GL_STREAM_DRAW);
}

void GlGeometry::append(Bins& full, std::vector<Batch>& batches) {
    batches.clear();
    for (std::size_t kind = 0; kind < kind_count; ++kind)
        for (std::size_t level = 0; level < level_count; ++level) {
            std::vector<Instance>& bin = full[kind][level];
            if (bin.empty()) continue;
            batches.push_back({object_meshes[kind][level], stream.size(), static_cast<GLsizei>(bin.size())});
            stream.insert(stream.end(), bin.begin(), bin.end());
            bin.clear();
        }
}

void GlGeometry::draw_instances(MeshRange mesh, GLuint instances, std::size_t first, GLsizei count) const {
    const std::size_t start = first * sizeof(Instance);
    gl.BindBuffer(GL_ARRAY_BUFFER, instances);
    gl.VertexAttribPointer(3, 4, GL_FLOAT, 0, sizeof(Instance), offset_in_buffer(start + offsetof(Instance, position)));
    gl.VertexAttribPointer(4, 2, GL_FLOAT, 0, sizeof(Instance), offset_in_buffer(start + offsetof(Instance, turn_cos)));
    gl.VertexAttribPointer(5, 4, GL_UNSIGNED_BYTE, 1, sizeof(Instance),
                           offset_in_buffer(start + offsetof(Instance, tint)));
    gl.DrawArraysInstanced(GL_TRIANGLES, mesh.first, mesh.count, count);
}

void GlGeometry::draw(const std::vector<Batch>& batches) const {
    gl.BindVertexArray(vertex_array);
    for (const Batch& batch : batches)
        draw_instances(batch.mesh, object_instances, batch.first_instance, batch.instance_count);
}

void GlGeometry::draw_ground() const {
    gl.BindVertexArray(vertex_array);
    draw_instances(ground, one_instance, 0, 1);
}

void GlGeometry::draw_grass(int tufts) const {
    gl.BindVertexArray(vertex_array);
    draw_instances(grass, tuft_instances, 0, std::min(tufts, static_cast<int>(scene.tufts.size())));
}

} // namespace frame_budget
