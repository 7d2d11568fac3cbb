#include "shaders.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>

#include "../common/spirv.h"

namespace pipeline_warmup_vk {

namespace {

using A = trials::SpirvAssembler;

constexpr std::uint32_t shader = 1, logical = 0, glsl450 = 1, vertex = 0, fragment = 4, origin_upper_left = 7, location = 30,
                        built_in = 11, position_built_in = 0, block = 2, offset = 35, input = 1, output = 3,
                        push_constant = 9, fract = 10, main_text = 0x6e69616d /* "main" */;
constexpr std::uint32_t vertex_rounds = 1, least_fragment_rounds = 1, more_fragment_rounds = 4;

std::uint32_t bits_of(float number) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

/// Types and constants of a module, and the steps that both stages share.
class Module {
public:
    Module() : glsl(a.new_id()), main(a.new_id()) {}

    /// Capability to memory model, and the entry point with its inputs and outputs.
    void begin(std::uint32_t model, const std::vector<std::uint32_t>& interface) {
        a.emit(A::Capability, {shader});
        // "GLSL.std.450"
        a.emit(A::ExtInstImport, {glsl, 0x4c534c47, 0x6474732e, 0x3035342e, 0});
        a.emit(A::MemoryModel, {logical, glsl450});
        std::vector<std::uint32_t> entry{model, main, main_text, 0};
        entry.insert(entry.end(), interface.begin(), interface.end());
        a.emit_all(A::EntryPoint, entry);
        if (model == fragment) a.emit(A::ExecutionMode, {main, origin_upper_left});
    }

    void define_types() {
        nothing = a.define(A::TypeVoid);
        procedure = a.define(A::TypeFunction, {nothing});
        number = a.define(A::TypeFloat, {32});
        for (std::uint32_t size = 2; size <= 4; ++size) vectors[size] = a.define(A::TypeVector, {number, size});
    }

    std::uint32_t pointer(std::uint32_t storage, std::uint32_t type) { return a.define(A::TypePointer, {storage, type}); }
    std::uint32_t constant(float value) { return a.define_typed(A::Constant, number, {bits_of(value)}); }
    std::uint32_t random_vector(std::mt19937& random) {
        std::uint32_t parts[4];
        for (std::uint32_t& part : parts) part = constant(0.25f + static_cast<float>(random() % 4096) / 2048);
        return a.define_typed(A::ConstantComposite, vectors[4], {parts[0], parts[1], parts[2], parts[3]});
    }
    void define_steps(std::uint32_t rounds, std::mt19937& random) {
        for (std::uint32_t i = 0; i < 2 * rounds; ++i) steps.push_back(random_vector(random));
    }

    void begin_main() {
        a.emit(A::Function, {nothing, main, 0, procedure});
        a.define(A::Label);
    }
    std::uint32_t call(std::uint32_t type, std::uint32_t function, std::uint32_t argument) {
        return a.define_typed(A::ExtInst, type, {glsl, function, argument});
    }
    /// value = fract(value * factor + summand), for each pair of constants.
    std::uint32_t apply_steps(std::uint32_t value) {
        for (std::size_t i = 0; i + 1 < steps.size(); i += 2) {
            value = a.define_typed(A::FMul, vectors[4], {value, steps[i]});
            value = a.define_typed(A::FAdd, vectors[4], {value, steps[i + 1]});
            value = call(vectors[4], fract, value);
        }
        return value;
    }
    void end_main() {
        a.emit(A::Return, {});
        a.emit(A::FunctionEnd, {});
    }

    A a;
    std::uint32_t glsl, main, nothing = 0, procedure = 0, number = 0;
    std::uint32_t vectors[5] = {}; ///< By their size.
    std::vector<std::uint32_t> steps;
};

Shader finish(std::string stable_key, std::uint32_t stage, std::vector<std::uint32_t> words) {
    Shader made;
    made.stable_key = std::move(stable_key);
    made.stage = stage;
    made.words = std::move(words);
    const std::string_view bytes(reinterpret_cast<const char*>(made.words.data()), made.words.size() * sizeof made.words[0]);
    const hob::Fingerprint hash = hob::fingerprint(bytes);
    made.name.stage = stage;
    std::copy_n(hash.bytes, sizeof made.name.hash, made.name.hash);
    return made;
}

const char* name_of(Factory factory) {
    static const char* const names[factories] = {"Rock", "Terrain", "Foliage", "Character", "Particle"};
    return names[static_cast<std::size_t>(factory)];
}

struct VertexInterface {
    std::vector<std::uint32_t> inputs;
    std::uint32_t clip_position = 0, colour = 0, placement = 0;
};

void decorate(Module& m, const VertexInterface& vertex_interface, const std::vector<Attribute>& attributes,
              std::uint32_t record) {
    for (std::size_t i = 0; i < attributes.size(); ++i)
        m.a.emit(A::Decorate, {vertex_interface.inputs[i], location, attributes[i].location});
    m.a.emit(A::Decorate, {vertex_interface.clip_position, built_in, position_built_in});
    if (vertex_interface.colour != 0) m.a.emit(A::Decorate, {vertex_interface.colour, location, 0});
    m.a.emit(A::MemberDecorate, {record, 0, offset, 0});
    m.a.emit(A::Decorate, {record, block});
}

/// Any vector as one of four parts, filled with `filler`.
std::uint32_t widened(Module& m, std::uint32_t value, std::uint32_t components, std::uint32_t filler) {
    std::uint32_t parts[4] = {filler, filler, filler, filler};
    for (std::uint32_t i = 0; i < components; ++i) parts[i] = m.a.define_typed(A::CompositeExtract, m.number, {value, i});
    return m.a.define_typed(A::CompositeConstruct, m.vectors[4], {parts[0], parts[1], parts[2], parts[3]});
}

} // namespace

std::vector<Attribute> attributes_of(Factory factory) {
    // Locations without gaps: in a gap, lavapipe of Mesa 22.3.6 compares undefined bytes, and compiles again.
    switch (factory) {
    case Factory::rock: return {{0, 3}, {1, 3}, {2, 2}};
    case Factory::terrain: return {{0, 3}, {1, 3}};
    case Factory::foliage: return {{0, 3}, {1, 2}, {2, 4}};
    case Factory::character: return {{0, 3}, {1, 3}, {2, 2}, {3, 4}};
    case Factory::particle: break;
    }
    return {{0, 3}, {1, 4}};
}

std::string Shader::hash_text() const {
    static const char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : name.hash) text += {digits[byte >> 4], digits[byte & 15]};
    return text;
}

Shader make_vertex_shader(Factory factory, std::uint32_t detail, bool only_position, std::uint32_t build) {
    std::mt19937 random(build * 7919 + detail * factories + static_cast<std::uint32_t>(factory));
    std::vector<Attribute> attributes = attributes_of(factory);
    if (only_position) attributes.resize(1);
    Module m;
    VertexInterface names;
    for (std::size_t i = 0; i < attributes.size(); ++i) names.inputs.push_back(m.a.new_id());
    names.clip_position = m.a.new_id();
    if (!only_position) names.colour = m.a.new_id();
    names.placement = m.a.new_id();
    const std::uint32_t record = m.a.new_id();
    std::vector<std::uint32_t> interface = names.inputs;
    interface.push_back(names.clip_position);
    if (names.colour != 0) interface.push_back(names.colour);
    m.begin(vertex, interface);
    decorate(m, names, attributes, record);

    m.define_types();
    const std::uint32_t whole = m.a.define(A::TypeInt, {32, 0}), zero = m.a.define_typed(A::Constant, whole, {0});
    const std::uint32_t one = m.constant(1), amplitude = m.constant(0.01f);
    std::vector<std::uint32_t> frequencies;
    for (std::uint32_t i = 0; i <= detail; ++i) frequencies.push_back(m.random_vector(random));
    if (!only_position) m.define_steps(vertex_rounds, random);
    std::uint32_t to_input[5] = {};
    for (std::uint32_t size = 2; size <= 4; ++size) to_input[size] = m.pointer(input, m.vectors[size]);
    const std::uint32_t to_output = m.pointer(output, m.vectors[4]);
    m.a.emit(A::TypeStruct, {record, m.vectors[4]});
    const std::uint32_t to_record = m.pointer(push_constant, record), to_member = m.pointer(push_constant, m.vectors[4]);
    for (std::size_t i = 0; i < attributes.size(); ++i)
        m.a.emit(A::Variable, {to_input[attributes[i].components], names.inputs[i], input});
    m.a.emit(A::Variable, {to_output, names.clip_position, output});
    if (names.colour != 0) m.a.emit(A::Variable, {to_output, names.colour, output});
    m.a.emit(A::Variable, {to_record, names.placement, push_constant});

    m.begin_main();
    std::uint32_t place = widened(m, m.a.define_typed(A::Load, m.vectors[3], {names.inputs[0]}), 3, one);
    const std::uint32_t swing = m.a.define_typed(A::CompositeConstruct, m.vectors[4], {amplitude, amplitude, amplitude, amplitude});
    for (const std::uint32_t frequency : frequencies) {
        const std::uint32_t phase = m.a.define_typed(A::FMul, m.vectors[4], {place, frequency});
        const std::uint32_t wave = m.a.define_typed(A::FMul, m.vectors[4], {m.call(m.vectors[4], fract, phase), swing});
        place = m.a.define_typed(A::FAdd, m.vectors[4], {place, wave});
    }
    // placement: x, y, scale, depth
    const std::uint32_t member = m.a.define_typed(A::AccessChain, to_member, {names.placement, zero}),
                        placement = m.a.define_typed(A::Load, m.vectors[4], {member});
    const auto part = [&](std::uint32_t of, std::uint32_t index) {
        return m.a.define_typed(A::CompositeExtract, m.number, {of, index});
    };
    const std::uint32_t scale = part(placement, 2);
    std::uint32_t clip[2];
    for (std::uint32_t i = 0; i < 2; ++i) {
        const std::uint32_t scaled = m.a.define_typed(A::FMul, m.number, {part(place, i), scale});
        clip[i] = m.a.define_typed(A::FAdd, m.number, {scaled, part(placement, i)});
    }
    m.a.emit(A::Store, {names.clip_position, m.a.define_typed(A::CompositeConstruct, m.vectors[4],
                                                              {clip[0], clip[1], part(placement, 3), one})});
    if (!only_position) {
        std::uint32_t sum = place;
        for (std::size_t i = 1; i < attributes.size(); ++i) {
            const std::uint32_t size = attributes[i].components;
            const std::uint32_t loaded = m.a.define_typed(A::Load, m.vectors[size], {names.inputs[i]});
            sum = m.a.define_typed(A::FAdd, m.vectors[4], {sum, widened(m, loaded, size, amplitude)});
        }
        m.a.emit(A::Store, {names.colour, m.apply_steps(sum)});
    }
    m.end_main();
    const std::string key = std::string(name_of(factory)) + ",Detail" + std::to_string(detail) +
                            (only_position ? ",Position,Vertex" : ",Main,Vertex");
    return finish(key, HOB_SHADER_STAGE_VERTEX, m.a.take());
}

Shader make_fragment_shader(std::uint32_t material, bool is_masked, bool has_colour, std::uint32_t build) {
    std::mt19937 random(build * 104729 + material);
    const std::uint32_t rounds = least_fragment_rounds + random() % more_fragment_rounds;
    Module m;
    const std::uint32_t from_vertex = m.a.new_id(), colour = has_colour ? m.a.new_id() : 0;
    std::vector<std::uint32_t> interface{from_vertex};
    if (has_colour) interface.push_back(colour);
    m.begin(fragment, interface);
    m.a.emit(A::Decorate, {from_vertex, location, 0});
    if (has_colour) m.a.emit(A::Decorate, {colour, location, 0});
    m.define_types();
    const std::uint32_t truth = m.a.define(A::TypeBool), threshold = m.constant(0.2f);
    m.define_steps(rounds, random);
    const std::uint32_t to_input = m.pointer(input, m.vectors[4]), to_output = m.pointer(output, m.vectors[4]);
    m.a.emit(A::Variable, {to_input, from_vertex, input});
    if (has_colour) m.a.emit(A::Variable, {to_output, colour, output});
    m.begin_main();
    const std::uint32_t value = m.apply_steps(m.a.define_typed(A::Load, m.vectors[4], {from_vertex}));
    if (is_masked) {
        const std::uint32_t coverage = m.a.define_typed(A::CompositeExtract, m.number, {value, 3}),
                            is_hole = m.a.define_typed(A::FOrdLessThan, truth, {coverage, threshold}),
                            hole = m.a.new_id(), rest = m.a.new_id();
        m.a.emit(A::SelectionMerge, {rest, 0});
        m.a.emit(A::BranchConditional, {is_hole, hole, rest});
        m.a.emit(A::Label, {hole});
        m.a.emit(A::Kill, {});
        m.a.emit(A::Label, {rest});
    }
    if (has_colour) m.a.emit(A::Store, {colour, value});
    m.end_main();
    const std::string key = "Material" + std::to_string(material) + (has_colour ? ",Main,Pixel" : ",Masked,Pixel");
    return finish(key, HOB_SHADER_STAGE_FRAGMENT, m.a.take());
}

} // namespace pipeline_warmup_vk
