#include "managed.h"

#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "../common/charge.h"
#include "../common/damage.h"
#include "../common/progress.h"

namespace program_cache_gl {

namespace {

using trials::Charge;

class ManagedStep {
public:
    ManagedStep(const Options& the_options, Driver& the_driver) : options(the_options), driver(the_driver) {}
    StepResult run();

private:
    struct Shader {
        GLuint object = 0;
        Manager::Shader managed;
        Manager::Compiled compiled = Manager::Compiled::never;
    };

    void open();
    ManagedDriver driver_calls();
    bool load(GLuint program, const Binary& binary);
    bool binary(GLuint program, Binary& binary);
    const Shader& shader_of(bool is_vertex, const std::string& source);
    void pass(const Program& program, bool draws);

    const Options& options;
    Driver& driver;
    std::optional<Cache> cache;
    std::optional<Manager> manager;
    std::map<std::pair<bool, std::string>, Shader> shaders; ///< Programs share shaders with the same source.
    std::vector<std::uint8_t> bytes;
    std::vector<Sampler> samplers; ///< Of the program that is being linked.
    bool was_rejected = false;
    StepResult result;
};

bool ManagedStep::load(GLuint program, const Binary& binary) {
    bytes.clear();
    Binary given = binary;
    if (options.spoil) {
        bytes = trials::spoiled(binary.data, binary.size);
        given.data = bytes.data();
    }
    const Charge charge(result.driver_ms);
    was_rejected = !driver.load(program, given);
    samplers.resize(binary.reflection_size / sizeof(Sampler));
    if (!samplers.empty()) std::memcpy(samplers.data(), binary.reflection, samplers.size() * sizeof(Sampler));
    return !was_rejected;
}

bool ManagedStep::binary(GLuint program, Binary& binary) {
    samplers = driver.samplers_of(program);
    if (!driver.binary_of(program, binary.format, bytes)) return false;
    binary.data = bytes.data();
    binary.size = bytes.size();
    binary.reflection = samplers.data();
    binary.reflection_size = samplers.size() * sizeof(Sampler);
    return true;
}

ManagedDriver ManagedStep::driver_calls() {
    ManagedDriver calls;
    calls.compile = [this](GLuint shader, std::string_view source) {
        ++result.shader_compiles;
        const Charge charge(result.driver_ms);
        return driver.compile(shader, source);
    };
    calls.link = [this](GLuint program) {
        const Charge charge(result.driver_ms);
        return driver.link(program);
    };
    calls.load = [this](GLuint program, const Binary& kept) { return load(program, kept); };
    calls.binary = [this](GLuint program, Binary& kept) { return binary(program, kept); };
    return calls;
}

void ManagedStep::open() {
    const Charge charge(result.open_ms);
    cache.emplace(options.cache_directory, driver.environment());
    cache->load();
    manager.emplace(*cache, driver_calls());
}

const ManagedStep::Shader& ManagedStep::shader_of(bool is_vertex, const std::string& source) {
    const auto [place, is_new] = shaders.try_emplace({is_vertex, source});
    Shader& shader = place->second;
    if (is_new) {
        shader.object = driver.make_shader(is_vertex ? trials::GL_VERTEX_SHADER : trials::GL_FRAGMENT_SHADER);
        shader.managed = manager->add(is_vertex, shader.object, source);
        shader.compiled = manager->compile(shader.managed);
    }
    return shader;
}

void ManagedStep::pass(const Program& program, bool draws) {
    const double driver_ms_before = result.driver_ms;
    double whole_ms = 0;
    Manager::Linked linked = Manager::Linked::never;
    GLuint object = 0;
    was_rejected = false;
    {
        const Charge charge(whole_ms);
        const Shader &vertex = shader_of(true, program.vertex), &fragment = shader_of(false, program.fragment);
        object = driver.make_program({vertex.object, fragment.object});
        const bool is_whole =
            vertex.compiled != Manager::Compiled::never && fragment.compiled != Manager::Compiled::never;
        if (is_whole) linked = manager->link(object, vertex.managed, fragment.managed);
    }
    result.cache_ms += whole_ms - (result.driver_ms - driver_ms_before);
    if (linked == Manager::Linked::never) {
        ++result.refused;
    } else {
        result.hits += linked == Manager::Linked::from_cache;
        result.compiles += linked == Manager::Linked::from_sources;
        result.rejects += was_rejected;
        result.misses += linked == Manager::Linked::from_sources && !was_rejected;
        if (draws) {
            const Charge charge(result.draw_ms);
            driver.draw(object, samplers);
            manager->drawn();
            ++result.draws;
        }
    }
    driver.discard(object);
}

StepResult ManagedStep::run() {
    std::vector<Program> programs = programs_of(options.shader_directory, driver.gl_context().is_es);
    for (Program& program : programs)
        if (program.name == options.edited) program.fragment += "\n// edited\n";
    result.name = options.step;
    result.programs = programs.size();
    open();
    result.interrupted = trials::visit_all(
        options.step, programs, [&](const Program& program, std::size_t i) { pass(program, i < options.draws); });
    result.shaders = shaders.size();
    manager.reset();
    cache->flush();
    for (const auto& [source, shader] : shaders) driver.discard_shader(shader.object);
    return result;
}

} // namespace

StepResult run_managed_step(const Options& options, Driver& driver) { return ManagedStep(options, driver).run(); }

} // namespace program_cache_gl
