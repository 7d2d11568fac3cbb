#include "step.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "../common/charge.h"
#include "../common/driver_cache.h"
#include "../common/progress.h"
#include "../common/work_directory.h"
#include "cache.h"
#include "compute.h"

namespace program_cache_vk {

namespace {

using trials::Charge;

using Answer = Found::Answer;

/// Data as a damaged file, another card or another driver would leave them.
Bytes spoiled(std::string_view data, const std::string& what) {
    Bytes bytes;
    bytes.resize(what == "cut" ? std::min<std::size_t>(data.size(), 31) : data.size());
    std::copy_n(data.data(), bytes.size(), bytes.data());
    const auto flip = [&](std::size_t place) {
        if (place < bytes.size()) bytes.data()[place] ^= 0x10;
    };
    if (what == "bit") flip(bytes.size() / 2);
    if (what == "version") flip(4);
    if (what == "vendor") flip(8);
    if (what == "device") flip(12);
    if (what == "uuid") flip(31);
    return bytes;
}

class Step {
public:
    Step(const Options& the_options, const Vulkan& the_vulkan)
        : options(the_options), identity(the_vulkan.identity()), compute(the_vulkan) {}
    StepResult run(const std::vector<Kernel>& kernels);

private:
    void open();
    void begin_pipeline_cache();
    void keep_pipeline_cache();
    void pass_pipeline(const Kernel& kernel, bool runs);
    void pass_shader(const Kernel& kernel, bool runs);
    Loaded load(const Found& found);
    Loaded build(const Kernel& kernel, const hob::Fingerprint& key);
    void try_out(const Loaded& loaded, const Kernel& kernel);
    void count(const std::string& name, Answer answer);

    const Options& options;
    const Identity& identity;
    Compute compute;
    std::unique_ptr<Cache> cache;
    Found kept_pipelines; ///< The VkPipelineCache data that the driver received.
    StepResult result;
};

void Step::open() {
    const Charge charge(result.open_ms);
    cache = std::make_unique<Cache>(options.cache_directory, identity, options.driver_name);
    cache->load();
}

void Step::count(const std::string& name, Answer answer) {
    result.hits += answer == Answer::hit;
    result.misses += answer == Answer::miss;
    result.bans += answer == Answer::banned;
    if (answer == Answer::banned) result.banned += (result.banned.empty() ? "" : ", ") + name;
}

/// Gives the data to the driver, which may crash on them at any pipeline. Their use ends when all pipelines are made
/// and have run.
void Step::begin_pipeline_cache() {
    std::string_view data;
    Bytes changed;
    {
        const Charge charge(result.cache_ms);
        kept_pipelines = cache->find(Cache::pipeline_cache_key());
        count("VkPipelineCache", kept_pipelines.answer());
        if (kept_pipelines.answer() == Answer::hit) data = kept_pipelines.bytes();
        if (!data.empty() && !options.spoil.empty()) {
            changed = spoiled(data, options.spoil);
            data = changed.view();
        }
        if (!data.empty() && !is_pipeline_cache_of(identity, data)) {
            kept_pipelines.reject();
            kept_pipelines = Found();
            ++result.rejects;
            --result.hits;
            data = {};
        }
    }
    const Charge charge(result.driver_ms);
    compute.begin_pipeline_cache(data);
}

void Step::keep_pipeline_cache() {
    const Charge charge(result.cache_ms);
    kept_pipelines.accept();
    const Bytes data = compute.pipeline_cache_data();
    result.kept_bytes = data.size();
    const bool is_banned = kept_pipelines.answer() == Answer::banned;
    if (is_banned || data.view() == kept_pipelines.bytes()) return;
    cache->put(Cache::pipeline_cache_key(), data.view(), static_cast<std::uint64_t>(result.driver_ms * 1000));
}

void Step::try_out(const Loaded& loaded, const Kernel& kernel) {
    const Charge charge(result.run_ms);
    if (!compute.run(loaded, kernel)) ++result.wrong;
    ++result.runs;
}

void Step::pass_pipeline(const Kernel& kernel, bool runs) {
    if (kernel.name == options.dies_at) compute.dies_in_driver();
    const auto make = [&] {
        const Charge charge(result.driver_ms);
        return compute.build_pipeline(kernel);
    };
    const Loaded loaded = make();
    result.compiles += !loaded.was_cached;
    if (runs) try_out(loaded, kernel);
}

Loaded Step::load(const Found& found) {
    const Bytes changed = options.spoil.empty() ? Bytes() : spoiled(found.bytes(), options.spoil);
    const Charge charge(result.driver_ms);
    return compute.load_shader(options.spoil.empty() ? found.bytes() : changed.view());
}

Loaded Step::build(const Kernel& kernel, const hob::Fingerprint& key) {
    double build_ms = 0;
    const auto make = [&] {
        const Charge charge(build_ms);
        return compute.build_shader(kernel);
    };
    Loaded loaded = make();
    result.driver_ms += build_ms;
    ++result.compiles;
    const Charge charge(result.cache_ms);
    // The cache keeps no entry for a banned key.
    cache->put(key, compute.binary_of(loaded).view(), static_cast<std::uint64_t>(build_ms * 1000));
    return loaded;
}

/// A host's use of a binary: give it to the driver, and accept it after its first run.
void Step::pass_shader(const Kernel& kernel, bool runs) {
    if (kernel.name == options.dies_at) compute.dies_in_driver();
    hob::Fingerprint key;
    Found found;
    {
        const Charge charge(result.cache_ms);
        key = Cache::key_of(kernel);
        found = cache->find(key);
    }
    const bool is_found = found.answer() == Answer::hit;
    Loaded loaded = is_found ? load(found) : build(kernel, key);
    const bool is_taken = static_cast<bool>(loaded);
    if (is_taken) {
        count(kernel.name, found.answer());
        if (runs) try_out(loaded, kernel);
        if (runs) found.accept();
        return;
    }
    found.reject();
    ++result.rejects;
    const Loaded built = build(kernel, key);
    if (runs) try_out(built, kernel);
}

StepResult Step::run(const std::vector<Kernel>& kernels) {
    result.name = options.step;
    result.device = identity.description();
    result.kernels = kernels.size();
    open();
    if (options.pipelines) begin_pipeline_cache();
    result.interrupted = trials::visit_all(options.step, kernels, [&](const Kernel& kernel, std::size_t i) {
        options.pipelines ? pass_pipeline(kernel, i < options.runs) : pass_shader(kernel, i < options.runs);
    });
    if (options.pipelines) keep_pipeline_cache();
    cache->flush();
    return result;
}

} // namespace

StepResult run_step(const Options& options) {
    const trials::WorkDirectory work(options.work_directory, "program_cache_vk");
    trials::give_driver_empty_cache(work.path());
    const Vulkan vulkan(options.device, {"program_cache_vk"});
    const std::vector<Kernel> kernels = make_kernels(options.kernels);
    const auto is_victim = [&](const Kernel& kernel) { return kernel.name == options.dies_at; };
    if (!options.dies_at.empty() && std::none_of(kernels.begin(), kernels.end(), is_victim))
        throw std::runtime_error("there is no kernel \"" + options.dies_at + "\": they are mix0, mix1, ...");
    if (!options.pipelines && !vulkan.identity().has_shader_objects)
        throw std::runtime_error("this Vulkan device has no VK_EXT_shader_object: use --pipelines");
    return Step(options, vulkan).run(kernels);
}

} // namespace program_cache_vk
