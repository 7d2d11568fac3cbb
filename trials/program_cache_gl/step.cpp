#include "step.h"

#include <cstring>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "../common/charge.h"
#include "../common/damage.h"
#include "../common/driver_cache.h"
#include "../common/files.h"
#include "../common/progress.h"
#include "../common/work_directory.h"
#include "egl_blobs.h"
#include "managed.h"

namespace program_cache_gl {

namespace {

using trials::Charge;

/// The accounts of one program's time. The rest of `whole_ms` is the library's.
struct Accounts {
    double whole_ms = 0, driver_ms = 0, draw_ms = 0;
    double aside_ms = 0; ///< Work of the trial alone: comparing, damaging, discarding.
    double cache_ms() const { return whole_ms - driver_ms - draw_ms - aside_ms; }
};

std::uint64_t fnv1a(const void* data, std::size_t size) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (std::size_t i = 0; i < size; ++i)
        hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
    return hash;
}

/// Checksums of all binaries that the compiler ever gave, by program name: a hit must match one of them.
class KnownBinaries {
public:
    explicit KnownBinaries(const std::string& the_path) : path(the_path) {
        std::istringstream in(path.empty() ? "" : trials::read_file(path));
        std::uint64_t sum = 0;
        for (std::string name; in >> sum && std::getline(in >> std::ws, name);) sums.emplace(name, sum);
    }
    void note(const std::string& name, const std::vector<std::uint8_t>& bytes) {
        sums.emplace(name, fnv1a(bytes.data(), bytes.size()));
    }
    bool contradict(const std::string& name, const Binary& binary) const {
        return !path.empty() && sums.count({name, fnv1a(binary.data, binary.size)}) == 0;
    }
    void save() const {
        std::string text;
        for (const auto& [name, sum] : sums) text += std::to_string(sum) + " " + name + "\n";
        if (!path.empty()) trials::write_file(path, text);
    }

private:
    std::string path;
    std::set<std::pair<std::string, std::uint64_t>> sums;
};

class Step {
public:
    Step(const Options& the_options, Driver& the_driver)
        : options(the_options), driver(the_driver), known(the_options.binaries_file) {}
    StepResult run();

private:
    void open();
    void pass(const Program& program, bool draws);
    Answer from_cache(const Program& program, const Key& key, bool draws);
    Taken take(const Program& program, const Binary& binary, bool draws);
    bool build(const Program& program, const Key* key, bool draws);
    void keep(const Program& program, const Key& key, GLuint linked, const std::vector<Sampler>& samplers,
              double build_ms);
    void draw(GLuint program, const std::vector<Sampler>& samplers);
    void count(const Program& program, Answer answer);

    const Options& options;
    Driver& driver;
    KnownBinaries known;
    std::optional<Cache> cache;
    Accounts accounts;
    StepResult result;
};

void Step::open() {
    const Charge charge(result.open_ms);
    Environment environment = driver.environment();
    result.vendor = environment.vendor;
    result.device = environment.device;
    result.driver = environment.driver;
    if (!options.vendor_name.empty()) environment.vendor = options.vendor_name;
    if (!options.device_name.empty()) environment.device = options.device_name;
    if (!options.driver_name.empty()) environment.driver = options.driver_name;
    cache.emplace(options.cache_directory, environment);
    cache->load();
    if (options.egl_blob_cache) bind_egl_blobs(*cache, driver.gl_context());
}

void Step::draw(GLuint program, const std::vector<Sampler>& samplers) {
    const Charge charge(accounts.draw_ms);
    driver.draw(program, samplers);
    ++result.draws;
}

/// A host's use of a binary: give it to the driver, and accept it after the first draw.
Taken Step::take(const Program& program, const Binary& binary, bool draws) {
    std::vector<std::uint8_t> spoiled;
    Binary given = binary;
    {
        const Charge charge(accounts.aside_ms);
        if (known.contradict(program.name, binary)) ++result.wrong;
        if (options.spoil) {
            spoiled = trials::spoiled(binary.data, binary.size);
            given.data = spoiled.data();
        }
    }
    GLuint loaded = 0;
    bool is_taken = false;
    {
        const Charge charge(accounts.driver_ms);
        loaded = driver.make_program();
        is_taken = driver.load(loaded, given);
    }
    if (!is_taken) {
        driver.discard(loaded);
        return Taken::no;
    }
    if (draws) {
        std::vector<Sampler> samplers(binary.reflection_size / sizeof(Sampler));
        if (!samplers.empty()) std::memcpy(samplers.data(), binary.reflection, samplers.size() * sizeof(Sampler));
        draw(loaded, samplers);
    }
    const Charge charge(accounts.aside_ms);
    driver.discard(loaded);
    return draws ? Taken::drawn : Taken::loaded;
}

Answer Step::from_cache(const Program& program, const Key& key, bool draws) {
    const bool is_last = program.name == options.accident_at && options.accident != Accident::none;
    if (is_last && options.accident_outside_driver) die(options.accident);
    Driver::prepare(is_last ? options.accident : Accident::none);
    return cache->use(key, [&](const Binary& binary) { return take(program, binary, draws); });
}

void Step::keep(const Program& program, const Key& key, GLuint linked, const std::vector<Sampler>& samplers,
                double build_ms) {
    std::vector<std::uint8_t> bytes;
    Binary binary;
    if (!driver.binary_of(linked, binary.format, bytes)) throw std::runtime_error(program.name + " has no binary");
    binary.data = bytes.data();
    binary.size = bytes.size();
    binary.reflection = samplers.data();
    binary.reflection_size = samplers.size() * sizeof(Sampler);
    cache->put(key, binary, static_cast<std::uint64_t>(build_ms * 1000));
    const Charge charge(accounts.aside_ms);
    known.note(program.name, bytes);
}

/// Builds a program, and keeps its binary if there is a key. False when the driver does not compile the program.
bool Step::build(const Program& program, const Key* key, bool draws) {
    GLuint linked = 0;
    {
        const Charge charge(accounts.driver_ms);
        linked = driver.build(program);
    }
    if (linked == 0) return false;
    const std::vector<Sampler> samplers = driver.samplers_of(linked);
    if (draws) draw(linked, samplers);
    // The binary also saves the warm-up draw, so a host adds it to the build time.
    if (key != nullptr) keep(program, *key, linked, samplers, accounts.driver_ms + accounts.draw_ms);
    const Charge charge(accounts.aside_ms);
    driver.discard(linked);
    return true;
}

void Step::count(const Program& program, Answer answer) {
    result.hits += answer == Answer::hit;
    result.misses += answer == Answer::miss;
    result.rejects += answer == Answer::rejected;
    result.bans += answer == Answer::banned;
    result.compiles += answer != Answer::hit;
    if (answer == Answer::banned) result.banned += (result.banned.empty() ? "" : ", ") + program.name;
}

void Step::pass(const Program& program, bool draws) {
    accounts = {};
    bool compiles = true;
    Answer answer = Answer::miss;
    {
        const Charge charge(accounts.whole_ms);
        if (options.egl_blob_cache) {
            compiles = build(program, nullptr, draws);
        } else {
            const Key key = cache->key_of(program);
            answer = from_cache(program, key, draws);
            if (answer != Answer::hit) compiles = build(program, answer == Answer::banned ? nullptr : &key, draws);
        }
    }
    if (!compiles) {
        ++result.refused;
        return;
    }
    count(program, answer);
    result.cache_ms += accounts.cache_ms();
    result.driver_ms += accounts.driver_ms;
    result.draw_ms += accounts.draw_ms;
}

StepResult Step::run() {
    const std::vector<Program> programs = programs_of(options.shader_directory, driver.gl_context().is_es);
    result.name = options.step;
    result.programs = programs.size();
    open();
    result.interrupted = trials::visit_all(
        options.step, programs, [&](const Program& program, std::size_t i) { pass(program, i < options.draws); });
    cache->flush();
    count_egl_blobs(result);
    known.save();
    return result;
}

} // namespace

StepResult run_step(const Options& options) {
    const trials::WorkDirectory work(options.work_directory, "program_cache_gl");
    trials::give_driver_empty_cache(work.path());
    Driver driver(options.device, !options.egl_blob_cache);
    if (options.managed) return run_managed_step(options, driver);
    return Step(options, driver).run();
}

} // namespace program_cache_gl
