#include "trial.h"

#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "../common/damage.h"
#include "../common/fields.h"
#include "../common/files.h"
#include "../common/interrupt.h"
#include "../common/process.h"
#include "../common/progress.h"
#include "report.h"
#include "vulkan_names.h"

namespace program_cache_vk {

namespace fs = std::filesystem;

namespace {

using trials::count;
using trials::times;

constexpr double least_gain = 3; // the cold run's driver time over the warm run's load time
constexpr std::size_t warm_runs = 3, header_bytes = 32; // a VkPipelineCache of that size is empty

/// Whether the kernels that ran computed the right results; for `is_whole`, whether every kernel was also available.
bool is_right(const StepResult& r) { return r.died.empty() && r.kernels > 0 && r.wrong == 0 && r.runs > 0; }
bool is_whole(const StepResult& r) { return is_right(r) && r.hits + r.compiles == r.kernels; }
bool is_all_hits(const StepResult& r) { return is_whole(r) && r.hits == r.kernels; }
bool is_all_misses(const StepResult& r) { return is_whole(r) && r.misses == r.kernels; }

std::string hits_of(const StepResult& r) {
    return r.died.empty() ? std::to_string(r.hits) + " of " + std::to_string(r.kernels) : r.died;
}

} // namespace

Trial::Trial(const Options& the_options, const std::string& the_self)
    : options(the_options), self(the_self), work(the_options.work_directory, "program_cache_vk") {
    trials::expect_writable(options.json_file);
    directory = options.cache_directory.empty() ? work.path() + "/cache" : options.cache_directory;
    if (fs::exists(directory) && (!fs::is_directory(directory) || !fs::is_empty(directory)))
        throw std::runtime_error("--cache " + directory + " is not an empty directory, and a cold run wants one");
    fs::create_directories(directory);
}

void Trial::target(const std::string& sentence, bool is_met, const std::string& found) {
    targets.push_back({sentence, is_met, found});
}

StepResult Trial::step(const std::string& name, const std::string& where, const std::vector<std::string>& flags) {
    if (trials::interrupted()) throw Stopped{};
    const std::string result_file = work.path() + "/result-" + std::to_string(++steps);
    std::vector<std::string> arguments{"--step",   name,           "--cache",  where,
                                       "--work",   work.path(),    "--result", result_file,
                                       "--device", options.device, "--kernels", std::to_string(options.kernels),
                                       "--run",    std::to_string(options.runs)};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const std::string died = trials::run_self(self, arguments, {});
    StepResult result = trials::from_text<StepResult>(trials::read_file(result_file));
    result.name = name;
    result.died = died;
    results.push_back(result);
    if (trials::Progress().on_terminal()) std::fputs("\r\033[K", stderr); // clears the line of a crashed process
    print_row(result);
    if (result.interrupted != 0) throw Stopped{};
    return result;
}

std::string Trial::fresh_copy(const std::string& of) {
    const std::string copy = work.path() + "/copy-" + std::to_string(++copies);
    trials::copy_directory(of, copy);
    return copy;
}

void Trial::run_pipelines() {
    const std::string flag = "--pipelines";
    const StepResult cold = step("VkPipelineCache, cold", directory, {flag});
    if (!cold.died.empty()) throw std::runtime_error("the cold run " + cold.died);
    const StepResult warm = step("the same, a new process", directory, {flag});
    target("a new process begins with the VkPipelineCache of the first, and computes the same",
           is_right(cold) && cold.misses == 1 && is_right(warm) && warm.hits == 1, count(warm.kept_bytes, "bytes"));
    if (cold.kept_bytes > header_bytes)
        target("it finds its pipelines there", warm.compiles == 0, count(warm.compiles, "compiles"));
    else
        std::printf("(this driver keeps nothing in its VkPipelineCache but a header: pipelines are compiled again)\n");
    const StepResult other = step("another driver (by name)", fresh_copy(directory), {flag, "--driver-name", "another"});
    target("after a change of the driver it is not found", is_right(other) && other.misses == 1);
    spoil_pipeline_cache();
    kill_in_driver("pipelines", directory, {flag}, "VkPipelineCache");
}

void Trial::spoil_pipeline_cache() {
    std::size_t kept_away = 0, mended = 0;
    const std::vector<std::string> ways{"vendor", "device", "uuid", "version", "cut"};
    for (const std::string& way : ways) {
        const std::string copy = fresh_copy(directory);
        const StepResult spoiled = step("its " + way + " spoiled", copy, {"--pipelines", "--spoil", way});
        kept_away += is_right(spoiled) && spoiled.hits == 0 && spoiled.rejects == 1;
        const StepResult after = step("after that", copy, {"--pipelines"});
        mended += is_right(after) && after.hits == 1;
    }
    target("data of another device, driver or version, or cut off, never reach the driver", kept_away == ways.size(),
           std::to_string(kept_away) + " of " + std::to_string(ways.size()));
    target("and are replaced", mended == ways.size(), std::to_string(mended) + " of " + std::to_string(ways.size()));
}

void Trial::warm_up(const StepResult& cold) {
    std::size_t whole = 0;
    double best_ms = 0; // of several runs: other work on the machine only adds to them
    for (std::size_t run = 0; run < warm_runs; ++run) {
        const StepResult warm = step("the same, a new process", directory);
        whole += is_all_hits(warm);
        if (run == 0 || warm.load_ms() < best_ms) best_ms = warm.load_ms();
    }
    target("a new process compiles none, and computes the same", whole == warm_runs);
    target("it loads them, with all that the cache takes, in at most a third of the cold run's time",
           whole == warm_runs && (!options.judges_time || best_ms * least_gain <= cold.driver_ms),
           times(cold.driver_ms, best_ms));
}

void Trial::damage_shaders() {
    const std::string damaged = fresh_copy(directory);
    const std::size_t flips = trials::flip_bits(damaged, 7, 4096);
    const StepResult after = step("files with flipped bits", damaged);
    const StepResult healed = step("the same once more", damaged);
    target("damaged files cost compiles, and nothing else; then all is mended",
           is_whole(after) && after.hits < after.kernels && after.rejects == 0 && is_all_hits(healed),
           count(flips, "flips: ") + hits_of(after) + " hits");
}

/// Runs on Mesa only: other drivers may crash on such binaries.
void Trial::spoil_shaders() {
    const std::string copy = fresh_copy(directory);
    const StepResult refused = step("binaries damaged behind the cache", copy, {"--spoil", "bit"});
    const StepResult mended = step("after that", copy);
    target("binaries that the driver refuses are compiled and replaced",
           is_whole(refused) && refused.rejects == refused.kernels && is_all_hits(mended), count(refused.rejects, "refused"));
}

void Trial::kill_in_driver(const std::string& what, const std::string& from, const std::vector<std::string>& flags,
                           const std::string& banned) {
    const std::string copy = fresh_copy(from), victim = "mix" + std::to_string(options.kernels / 2);
    std::vector<std::string> dying = flags;
    dying.insert(dying.end(), {"--die-in-driver", victim});
    const StepResult first = step(what + ": killed in the driver", copy, dying);
    const StepResult second = step("and again", copy, dying);
    const StepResult after = step("after two deaths", copy, flags);
    const std::string killed = "ended by signal 9", expected = banned.empty() ? victim : banned;
    target("two deaths in the driver ban " + (banned.empty() ? "that one shader" : banned) + ", and nothing else",
           first.died == killed && second.died == killed && is_right(after) && after.bans == 1 && after.banned == expected,
           after.banned.empty() ? "nothing banned" : after.banned);
}

void Trial::run_shader_objects() {
    const StepResult cold = step("shader objects, cold", directory);
    if (!cold.died.empty()) throw std::runtime_error("the cold run " + cold.died);
    target("the cold run compiles every shader", is_all_misses(cold), count(cold.compiles, "compiles"));
    warm_up(cold);
    const StepResult other = step("another driver (by name)", fresh_copy(directory), {"--driver-name", "another"});
    target("after a change of the driver nothing is found", is_all_misses(other), hits_of(other) + " found");
    damage_shaders();
    if (cold.device.find("Mesa") != std::string::npos) spoil_shaders();
    else std::printf("(no run with binaries damaged behind the cache: only Mesa is known to check what it is given)\n");
    kill_in_driver("shaders", directory, {}, "");
}

bool Trial::run() {
    const Identity identity = Vulkan(options.device, {"program_cache_vk"}).identity();
    std::printf("%s\n", identity.description().c_str());
    print_head();
    bool is_complete = true;
    try {
        run_pipelines();
        if (identity.has_shader_objects) run_shader_objects();
        else std::printf("(no shader objects: this device does not offer VK_EXT_shader_object)\n");
    } catch (const Stopped&) {
        is_complete = false;
    }
    const bool all_met = trials::print_verdict(targets);
    if (!is_complete) std::printf("(interrupted: results so far)\n");
    if (!options.json_file.empty()) trials::write_json(options.json_file, results, targets);
    return all_met && is_complete;
}

} // namespace program_cache_vk
