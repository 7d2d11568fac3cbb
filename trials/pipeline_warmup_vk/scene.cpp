#include "scene.h"

#include <set>
#include <stdexcept>

namespace pipeline_warmup_vk {

namespace {

constexpr std::uint32_t details = 4;
/// The part of a visit in which new objects appear.
constexpr std::size_t appear_numerator = 3, appear_denominator = 4;

std::string place_of(const hob_pipeline_shader& name) {
    return std::string(reinterpret_cast<const char*>(name.hash), sizeof name.hash) + static_cast<char>(name.stage);
}

State state_of(Pass pass, Factory factory, bool only_position) {
    State state;
    state.pass = pass;
    state.attributes = attributes_of(factory);
    for (const Attribute& attribute : state.attributes)
        state.stride = static_cast<std::uint8_t>(state.stride + attribute.components);
    if (only_position) state.attributes.resize(1);
    return state;
}

} // namespace

std::string State::bytes() const {
    std::string text;
    const auto add = [&](std::size_t byte) { text += static_cast<char>(byte); };
    for (const std::size_t byte : {std::size_t(pass), std::size_t(cull), std::size_t(blend), std::size_t(stride),
                                   attributes.size()})
        add(byte);
    for (const Attribute& attribute : attributes) {
        add(attribute.location);
        add(attribute.components);
    }
    return text;
}

State State::from_bytes(std::string_view bytes) {
    constexpr std::size_t head = 5;
    const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); };
    if (bytes.size() < head || bytes.size() != head + std::size_t{2} * byte(4) || byte(0) >= pass_count || byte(1) > 2 ||
        byte(2) > 2)
        throw std::runtime_error("a pipeline's state has an unknown layout: record again, with this program");
    State state;
    state.pass = static_cast<Pass>(byte(0));
    state.cull = static_cast<Cull>(byte(1));
    state.blend = static_cast<Blend>(byte(2));
    state.stride = byte(3);
    for (std::size_t at = head; at < bytes.size(); at += 2) state.attributes.push_back({byte(at), byte(at + 1)});
    return state;
}

hob::Pipeline ScenePipeline::described() const {
    hob::Pipeline pipeline;
    pipeline.schema = state_schema;
    pipeline.state = state;
    pipeline.shaders = shaders;
    return pipeline;
}

Scene::Scene(std::uint32_t the_build) : build(the_build) {
    for (std::size_t area = 0; area < areas; ++area)
        for (std::size_t number = 0; number < objects_per_area; ++number) add_object(area, number);
}

/// All different in material; layouts, culling, blending and detail differ in all combinations.
void Scene::add_object(std::size_t area, std::size_t number) {
    const std::size_t index = objects.size();
    Object object;
    object.factory = static_cast<Factory>(index % factories);
    object.area = area;
    object.number = number;
    object.is_secret = number + 1 == objects_per_area && (area == 2 || area == 4);
    const float column = static_cast<float>(number % 5), row = static_cast<float>(number) / 5;
    object.placement = {column * 0.4f - 0.8f, row * 0.5f - 0.7f, 0.18f, 0.1f + 0.05f * static_cast<float>(number)};
    const std::uint32_t detail = static_cast<std::uint32_t>(index / factories) % details;
    const std::uint32_t material = static_cast<std::uint32_t>(index);
    const Blend blend = index % 7 == 3 ? Blend::alpha : index % 7 == 5 ? Blend::additive : Blend::opaque;
    const bool is_masked = blend == Blend::opaque && index % 4 == 1;
    const Cull cull = index % 3 == 0 ? Cull::none : Cull::back;
    const std::size_t full = shader(make_vertex_shader(object.factory, detail, false, build));
    const std::size_t only_position = is_masked ? full : shader(make_vertex_shader(object.factory, detail, true, build));
    std::vector<std::size_t> stages{only_position};
    if (is_masked) stages.push_back(shader(make_fragment_shader(material, true, false, build)));
    for (const Pass pass : {Pass::shadow, Pass::depth}) {
        if (pass == Pass::depth && blend != Blend::opaque) continue; // glass hides nothing
        State state = state_of(pass, object.factory, !is_masked);
        state.cull = pass == Pass::shadow && cull == Cull::back ? Cull::front : cull;
        add_part(object, state, stages);
    }
    State state = state_of(Pass::main, object.factory, false);
    state.cull = cull;
    state.blend = blend;
    add_part(object, state, {full, shader(make_fragment_shader(material, is_masked, true, build))});
    objects.push_back(object);
}

std::size_t Scene::shader(Shader made) {
    const auto [found, is_new] = shader_places.emplace(made.stable_key, shaders.size());
    if (is_new) {
        hash_places.emplace(place_of(made.name), shaders.size());
        shaders.push_back(std::move(made));
    }
    return found->second;
}

void Scene::add_part(Object& object, const State& state, const std::vector<std::size_t>& shaders_of_it) {
    ScenePipeline pipeline;
    pipeline.state = state.bytes();
    for (const std::size_t place : shaders_of_it) pipeline.shaders.push_back(shaders[place].name);
    pipeline.key = pipeline.described().key();
    const auto [found, is_new] = pipeline_places.emplace(pipeline.key, pipelines.size());
    object.parts.push_back({state.pass, found->second});
    if (is_new) pipelines.push_back(std::move(pipeline));
}

const Shader* Scene::find_shader(const hob_pipeline_shader& name) const {
    const auto found = hash_places.find(place_of(name));
    return found == hash_places.end() ? nullptr : &shaders[found->second];
}

std::size_t Scene::secret_pipelines() const {
    std::set<std::size_t> secret, open;
    for (const Object& object : objects)
        for (const Object::Part& part : object.parts) (object.is_secret ? secret : open).insert(part.pipeline);
    std::size_t count = 0;
    for (const std::size_t pipeline : secret) count += open.count(pipeline) == 0;
    return count;
}

std::string Scene::key_map_csv() const {
    std::string lines = "hash,stage,key\n";
    for (const Shader& shader : shaders)
        lines += shader.hash_text() + "," + std::to_string(shader.stage) + ",\"" + shader.stable_key + "\"\n";
    return lines;
}

bool Script::is_visible(const Object& object, std::size_t frame) const {
    if (object.area == 0 && object.number == 0) return true;
    if (object.area != area_at(frame)) return false;
    const std::size_t appears =
        object.number * frames_per_area * appear_numerator / (appear_denominator * Scene::objects_per_area);
    return frame % frames_per_area >= appears;
}

} // namespace pipeline_warmup_vk
