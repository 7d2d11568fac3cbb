#include "trial.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "../common/damage.h"
#include "../common/fields.h"
#include "../common/files.h"
#include "../common/interrupt.h"
#include "../common/process.h"
#include "../common/progress.h"
#include "report.h"
#include "step.h"

namespace program_cache_gl {

namespace fs = std::filesystem;

namespace {

using trials::count;
using trials::times;

constexpr double least_gain = 15; // the cold run's driver time over the warm run's link time
constexpr std::size_t warm_runs = 3;

/// Whether every program that this driver compiles was made from the right bytes or from its source.
bool is_whole(const StepResult& r) {
    return r.died.empty() && r.usable() > 0 && r.hits + r.compiles == r.usable() && r.wrong == 0;
}
bool is_all_hits(const StepResult& r) { return is_whole(r) && r.hits == r.usable() && r.compiles == 0; }
bool is_all_misses(const StepResult& r) { return is_whole(r) && r.misses == r.usable() && r.hits == 0; }

std::string hits_of(const StepResult& r) {
    if (!r.died.empty()) return r.died;
    return std::to_string(r.hits) + " of " + std::to_string(r.usable());
}

} // namespace

Trial::Trial(const Options& the_options, const std::string& the_self)
    : options(the_options), self(the_self), work(the_options.work_directory, "program_cache_gl") {
    trials::expect_writable(options.json_file);
    cold_directory = options.cache_directory.empty() ? work.path() + "/cache" : options.cache_directory;
    if (fs::exists(cold_directory) && (!fs::is_directory(cold_directory) || !fs::is_empty(cold_directory)))
        throw std::runtime_error("--cache " + cold_directory + " is not an empty directory, and a cold run wants one");
    fs::create_directories(cold_directory);
    binaries_file = work.path() + "/binaries";
}

void Trial::target(const std::string& sentence, bool is_met, const std::string& found) {
    targets.push_back({sentence, is_met, found});
}

StepResult Trial::step(const std::string& name, const std::string& directory, const std::vector<std::string>& flags,
                       const std::vector<std::string>& environment) {
    if (trials::interrupted()) throw Stopped{};
    const std::string result_file = work.path() + "/result-" + std::to_string(++steps);
    std::vector<std::string> arguments{"--step",   name,          "--cache",  directory,   "--work",
                                       work.path(), "--result",    result_file, "--binaries", binaries_file,
                                       "--device",  options.device};
    if (!options.shader_directory.empty()) arguments.insert(arguments.end(), {"--shaders", options.shader_directory});
    if (options.egl_blob_cache) arguments.emplace_back("--egl-blob-cache");
    const std::vector<std::string> no_draws = draws(false);
    arguments.insert(arguments.end(), no_draws.begin(), no_draws.end()); // unless a flag says otherwise
    arguments.insert(arguments.end(), flags.begin(), flags.end());

    const std::string died = trials::run_self(self, arguments, environment);
    StepResult result = trials::from_text<StepResult>(trials::read_file(result_file));
    result.name = name;
    result.died = died;
    results.push_back(result);
    if (trials::Progress().on_terminal()) std::fputs("\r\033[K", stderr); // clears the line of a crashed process
    print_row(result, options.egl_blob_cache);
    if (result.interrupted != 0) throw Stopped{};
    return result;
}

std::vector<std::string> Trial::draws(bool wanted) const {
    return {"--draw", std::to_string(wanted ? options.draws : 0)};
}

std::string Trial::fresh_copy() {
    const std::string copy = work.path() + "/copy-" + std::to_string(++copies);
    trials::copy_directory(cold_directory, copy);
    return copy;
}

std::string Trial::some_program(double part) const {
    std::istringstream in(trials::read_file(binaries_file));
    std::vector<std::string> names;
    std::string sum, name;
    while (in >> sum && std::getline(in >> std::ws, name))
        if (names.empty() || names.back() != name) names.push_back(name);
    if (names.empty()) throw std::runtime_error("the cold run kept no program");
    return names[static_cast<std::size_t>(part * static_cast<double>(names.size() - 1))];
}

StepResult Trial::run_cold() {
    const StepResult first = step("cold", cold_directory, draws(true));
    if (!first.died.empty()) throw std::runtime_error("the cold run " + first.died);
    if (first.refused > 0) std::printf("%34s (%zu more do not compile on this driver)\n", "", first.refused);
    return first;
}

void Trial::warm_up() {
    std::size_t compiles = 0, whole = 0;
    double best_ms = 0; // of several runs: other work on the machine only adds to them
    for (std::size_t run = 0; run < warm_runs; ++run) {
        const StepResult warm = step("warm, a new process", cold_directory, draws(run == 0));
        compiles += warm.compiles;
        whole += is_all_hits(warm) ? 1 : 0;
        if (run == 0 || warm.link_ms() < best_ms) best_ms = warm.link_ms();
    }
    const bool is_warm = whole == warm_runs;
    target("a warm run in a new process compiles none", is_warm, count(compiles, "compiles"));
    target("its link time, with all that the cache takes, is at most a 15th of the cold run's",
           is_warm && (!options.judges_time || best_ms * least_gain <= cold.driver_ms), times(cold.driver_ms, best_ms));
}

void Trial::change_driver() {
    const std::string directory = fresh_copy();
    const StepResult other = step("another driver (by name)", directory, {"--driver-name", "another driver 1.0"});
    const StepResult back = step("the first driver again", directory);
    target("after a change of the driver nothing is found, and nothing is loaded", is_all_misses(other),
           hits_of(other) + " found");
    target("and the first driver finds everything again", is_all_hits(back), hits_of(back));
}

void Trial::change_driver_really() {
    const StepResult other = step("another driver (real)", fresh_copy(), {}, options.other_driver);
    target("a real other driver, " + other.driver + ", finds nothing",
           is_all_misses(other) && other.driver != cold.driver, hits_of(other) + " found");
    const StepResult fooled = step(
        "the same under the first one's name", fresh_copy(),
        {"--vendor-name", cold.vendor, "--device-name", cold.device, "--driver-name", cold.driver}, options.other_driver);
    target("given the first one's binaries all the same, it refuses them and all are compiled",
           is_whole(fooled) && fooled.hits == 0 && fooled.rejects == fooled.usable(),
           count(fooled.rejects, "refused"));
}

void Trial::damage() {
    std::size_t changes = 0, hits = 0, misses = 0, wrong = 0, died = 0, whole = 0;
    std::string directory;
    for (std::size_t run = 0; run < options.damaged_runs; ++run) {
        directory = fresh_copy();
        const auto seed = static_cast<std::uint32_t>(options.seed + run);
        const bool cuts = run % 3 == 2;
        const std::size_t bytes_per_flip = run % 3 == 0 ? 32768 : 2048;
        changes += cuts ? trials::cut_files(directory, seed) : trials::flip_bits(directory, seed, bytes_per_flip);
        const std::string name = cuts ? "files cut off" : "a bit flipped per " + count(bytes_per_flip, "B");
        const StepResult r = step(name, directory);
        hits += r.hits;
        misses += r.misses;
        wrong += r.wrong;
        died += r.died.empty() ? 0 : 1;
        whole += is_whole(r) && r.rejects == 0 && r.bans == 0 ? 1 : 0;
    }
    if (options.damaged_runs == 0) return;
    target("a damaged cache gives correct binaries or a miss, and never ends the process",
           whole == options.damaged_runs,
           count(changes, "damages: ") + count(hits, "hits, ") + count(misses, "misses, ") + count(wrong, "wrong, ") +
               count(died, "deaths"));
    const StepResult healed = step("the last of them once more", directory);
    target("the run over the damaged cache has mended it", is_all_hits(healed), hits_of(healed));
}

/// NVIDIA's 580.159 dies of a damaged binary.
bool Trial::driver_checks_binaries() const {
    return cold.driver.find("Mesa") != std::string::npos;
}

void Trial::damage_behind_cache() {
    if (!driver_checks_binaries()) {
        std::printf("(no runs with binaries damaged behind the cache: only Mesa is known to check what it is given)\n");
        return;
    }
    const std::string directory = fresh_copy();
    const StepResult refused = step("binaries damaged behind the cache", directory, {"--spoil"});
    const StepResult after = step("after that", directory);
    target("binaries that the driver refuses are compiled and replaced",
           is_whole(refused) && refused.rejects == refused.usable() && is_all_hits(after),
           count(refused.rejects, "refused"));
}

void Trial::kill_in_driver() {
    const std::string directory = fresh_copy(), victim = some_program(0.5);
    const StepResult killed = step("killed in the driver", directory, {"--die-in-driver", victim});
    const StepResult aborted = step("aborted in the driver", directory, {"--abort-in-driver", victim});
    const StepResult after = step("after two deaths", directory);
    const StepResult later = step("and once more", directory);
    const auto bans_victim = [&](const StepResult& r) {
        return is_whole(r) && r.bans == 1 && r.banned == victim && r.compiles == 1 && r.hits + 1 == r.usable();
    };
    target("two deaths in the driver call on one program ban its binary, and no other",
           !killed.died.empty() && !aborted.died.empty() && bans_victim(after) && bans_victim(later),
           after.banned.empty() ? "nothing banned" : after.banned);
}

void Trial::kill_elsewhere() {
    const std::string directory = fresh_copy();
    const StepResult inside = step("killed in the driver once", directory, {"--die-in-driver", some_program(0.7)});
    const StepResult outside = step("killed elsewhere once", directory, {"--die-before", some_program(0.3)});
    const StepResult after = step("after these", directory);
    target("one death in the driver and one elsewhere ban nothing",
           !inside.died.empty() && !outside.died.empty() && is_all_hits(after), count(after.bans, "bans"));
}

void Trial::let_manager_work() {
    const std::string directory = work.path() + "/managed", flag = "--managed";
    fs::create_directories(directory);
    const StepResult first = step("managed: cold", directory, {flag});
    const StepResult second = step("managed: a new process", directory, {flag});
    target("by the manager: a shader is compiled once, and none for a program that is cached",
           is_all_misses(first) && first.shader_compiles == first.shaders && is_all_hits(second) &&
               second.shader_compiles <= 2 * second.refused,
           std::to_string(first.shader_compiles) + " and " + count(second.shader_compiles, "shaders"));
    const StepResult edited = step("managed: one shader edited", directory, {flag, "--edit", some_program(0.5)});
    target("an edited program has only its own two shaders compiled",
           is_whole(edited) && edited.compiles == 1 && edited.shader_compiles == second.shader_compiles + 2,
           count(edited.shader_compiles, "shaders"));
    if (!driver_checks_binaries()) return;
    const StepResult refused = step("managed: binaries damaged", directory, {flag, "--spoil"});
    const StepResult after = step("managed: after that", directory, {flag});
    target("binaries that the driver refuses are built from their deferred sources and saved",
           is_whole(refused) && refused.rejects == refused.usable() && refused.shader_compiles == refused.shaders &&
               is_all_hits(after),
           count(refused.rejects, "refused"));
}

void Trial::run_program_binaries() {
    cold = run_cold();
    target("the cold run compiles every program", is_all_misses(cold), count(cold.compiles, "compiles"));
    warm_up();
    change_driver();
    if (!options.other_driver.empty()) change_driver_really();
    damage();
    damage_behind_cache();
    kill_in_driver();
    kill_elsewhere();
    let_manager_work();
}

/// Keeps the driver's own cache in ours: nothing else in these processes knows about a cache.
void Trial::run_egl_blobs() {
    cold = run_cold();
    target("the driver puts its blobs into our cache", cold.blob_sets > 0, count(cold.blob_sets, "sets"));
    const StepResult warm = step("warm, a new process", cold_directory, draws(true));
    // Not all: Mesa names a few of its blobs differently in every process.
    target("a new process gets nine of ten blobs that it asks for, or more",
           warm.died.empty() && warm.blob_hits > 0 && warm.blob_hits * 10 >= warm.blob_gets * 9,
           std::to_string(warm.blob_hits) + " of " + count(warm.blob_gets, "gets"));
    target("it links and draws in less time than the first",
           warm.died.empty() && warm.driver_ms + warm.draw_ms < cold.driver_ms + cold.draw_ms,
           "link " + times(cold.driver_ms, warm.driver_ms) + ", first draw " + times(cold.draw_ms, warm.draw_ms));
    const std::string directory = fresh_copy();
    trials::flip_bits(directory, options.seed, 2048);
    const StepResult damaged = step("a bit flipped per 2048 B", directory, draws(true));
    target("a damaged cache costs it blobs, and nothing else",
           damaged.died.empty() && damaged.usable() == cold.usable() && damaged.blob_hits < damaged.blob_gets,
           std::to_string(damaged.blob_hits) + " of " + count(damaged.blob_gets, "gets"));
}

bool Trial::run() {
    print_head(options.egl_blob_cache);
    bool is_complete = true;
    try {
        options.egl_blob_cache ? run_egl_blobs() : run_program_binaries();
    } catch (const Stopped&) {
        is_complete = false;
    }
    bool all_met = trials::print_verdict(targets);
    if (!is_complete) std::printf("(interrupted: results so far)\n");
    if (!options.json_file.empty()) trials::write_json(options.json_file, results, targets);
    return all_met && is_complete;
}

} // namespace program_cache_gl
