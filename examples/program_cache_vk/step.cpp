#include "step.h"

#include <memory>
#include <stdexcept>

#include "../common/charge.h"
#include "../common/driver_cache.h"
#include "../common/interrupt.h"
#include "../common/progress.h"
#include "../common/work_directory.h"
#include "cache.h"
#include "compute.h"

namespace program_cache_vk {

namespace {

using example::Charge;

/// What a damaged file, another card or another driver would have left.
std::string spoiled(std::string_view data, const std::string& what) {
    std::string bytes(data);
    const auto flip = [&](std::size_t place) {
        if (place < bytes.size()) bytes[place] ^= 0x10;
    };
    if (what == "bit") flip(bytes.size() / 2);
    else if (what == "version") flip(4);
    else if (what == "vendor") flip(8);
    else if (what == "device") flip(12);
    else if (what == "uuid") flip(31);
    else if (what == "cut") bytes.resize(31);
    else throw std::runtime_error("--spoil does not know \"" + what + "\" (see --help)");
    return bytes;
}

class Step {
public:
    Step(const Options& the_options, const Vulkan& the_vulkan)
        : options(the_options), identity(the_vulkan.identity()), compute(the_vulkan) {}
    StepResult run();

private:
    void open();
    void begin_pipeline_cache();
    void keep_pipeline_cache();
    void pass_pipeline(const Kernel& kernel, bool runs);
    void pass_shader(const Kernel& kernel, bool runs);
    Answer from_cache(const Kernel& kernel, const hob::Fingerprint& key, bool runs);
    void build(const Kernel& kernel, const hob::Fingerprint* key, bool runs);
    void try_out(const Loaded& loaded, const Kernel& kernel);
    void count(const std::string& name, Answer answer);

    const Options& options;
    const Identity& identity;
    Compute compute;
    std::unique_ptr<Cache> cache;
    std::string began_with; ///< The data of the VkPipelineCache that the driver took.
    double aside_ms = 0;    ///< What is no host's work.
    StepResult result;
};

void Step::open() {
    const Charge charge(result.open_ms);
    cache = std::make_unique<Cache>(options.cache_directory, identity, options.driver_name);
    cache->load();
}

/// Answers about the VkPipelineCache are counted as those about a shader are.
void Step::count(const std::string& name, Answer answer) {
    result.hits += answer == Answer::hit;
    result.misses += answer == Answer::miss;
    result.rejects += answer == Answer::rejected;
    result.bans += answer == Answer::banned;
    if (answer == Answer::banned) result.banned += (result.banned.empty() ? "" : ", ") + name;
}

void Step::begin_pipeline_cache() {
    const Charge charge(result.driver_ms);
    const Answer answer = cache->use(Cache::pipeline_cache_key(), [&](std::string_view kept) {
        const std::string data = options.spoil.empty() ? std::string(kept) : spoiled(kept, options.spoil);
        if (!is_pipeline_cache_of(identity, data)) {
            ++result.unfit;
            return false;
        }
        if (!compute.begin_pipeline_cache(data.data(), data.size())) return false;
        began_with = data;
        return true;
    });
    if (answer != Answer::hit && !compute.begin_pipeline_cache(nullptr, 0))
        throw std::runtime_error("the driver gives no VkPipelineCache");
    count("VkPipelineCache", answer);
}

void Step::keep_pipeline_cache() {
    const std::vector<std::uint8_t> data = compute.pipeline_cache_data();
    const Charge charge(result.cache_ms);
    result.kept_bytes = data.size();
    if (std::string_view(reinterpret_cast<const char*>(data.data()), data.size()) == began_with) return;
    cache->put(Cache::pipeline_cache_key(), data, static_cast<std::uint64_t>(result.driver_ms * 1000));
}

void Step::try_out(const Loaded& loaded, const Kernel& kernel) {
    const Charge charge(result.run_ms);
    if (!compute.run(loaded, kernel)) ++result.wrong;
    ++result.runs;
}

void Step::pass_pipeline(const Kernel& kernel, bool runs) {
    Loaded loaded;
    {
        const Charge charge(result.driver_ms);
        loaded = compute.build_pipeline(kernel);
    }
    ++result.compiles; // as far as the driver tells
    if (runs) try_out(loaded, kernel);
    compute.discard(loaded);
}

/// What a host does with a binary: give it to the driver, and believe in it after its first run.
Answer Step::from_cache(const Kernel& kernel, const hob::Fingerprint& key, bool runs) {
    if (kernel.name == options.dies_at) compute.dies_in_driver();
    return cache->use(key, [&](std::string_view binary) {
        const std::string changed = options.spoil.empty() ? std::string() : spoiled(binary, options.spoil);
        if (!changed.empty()) binary = changed;
        Loaded loaded;
        {
            const Charge charge(result.driver_ms);
            loaded = compute.load_shader(binary.data(), binary.size());
        }
        if (!loaded) return false;
        const Charge charge(aside_ms);
        if (runs) try_out(loaded, kernel);
        compute.discard(loaded);
        return true;
    });
}

void Step::build(const Kernel& kernel, const hob::Fingerprint* key, bool runs) {
    Loaded loaded;
    double build_ms = 0;
    {
        const Charge charge(build_ms);
        loaded = compute.build_shader(kernel);
    }
    result.driver_ms += build_ms;
    ++result.compiles;
    if (key != nullptr) {
        const std::vector<std::uint8_t> binary = compute.binary_of(loaded);
        const Charge charge(result.cache_ms);
        cache->put(*key, binary, static_cast<std::uint64_t>(build_ms * 1000));
    }
    if (runs) try_out(loaded, kernel);
    compute.discard(loaded);
}

void Step::pass_shader(const Kernel& kernel, bool runs) {
    Answer answer = Answer::miss;
    hob::Fingerprint key;
    const double others_before = result.driver_ms + aside_ms;
    double whole_ms = 0;
    {
        const Charge charge(whole_ms);
        key = Cache::key_of(kernel);
        answer = from_cache(kernel, key, runs);
    }
    result.cache_ms += whole_ms - (result.driver_ms + aside_ms - others_before);
    if (answer != Answer::hit) build(kernel, answer == Answer::banned ? nullptr : &key, runs);
    count(kernel.name, answer);
}

StepResult Step::run() {
    const std::vector<Kernel> kernels = make_kernels(options.kernels);
    result.name = options.step;
    result.device = identity.description();
    result.kernels = kernels.size();
    open();
    if (options.pipelines) begin_pipeline_cache();
    example::Progress progress;
    for (std::size_t i = 0; i < kernels.size() && !example::interrupted(); ++i) {
        if (progress.on_terminal())
            progress.show(options.step, static_cast<double>(i) / static_cast<double>(kernels.size()), kernels[i].name);
        options.pipelines ? pass_pipeline(kernels[i], i < options.runs) : pass_shader(kernels[i], i < options.runs);
    }
    result.interrupted = example::interrupted();
    if (options.pipelines) keep_pipeline_cache();
    cache->flush();
    return result;
}

} // namespace

StepResult run_step(const Options& options) {
    const example::WorkDirectory work(options.work_directory, "program_cache_vk");
    example::give_driver_empty_cache(work.path());
    const Vulkan vulkan(options.device);
    if (!options.pipelines && !vulkan.identity().has_shader_objects)
        throw std::runtime_error("this Vulkan device has no VK_EXT_shader_object: use --pipelines");
    return Step(options, vulkan).run();
}

} // namespace program_cache_vk
