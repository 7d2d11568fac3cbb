#include "trial.h"

#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "../common/fields.h"
#include "../common/files.h"
#include "../common/interrupt.h"
#include "../common/process.h"
#include "../common/progress.h"
#include "pipelines.h"
#include "report.h"

namespace pipeline_warmup_vk {

namespace fs = std::filesystem;

namespace {

using trials::count;

constexpr std::size_t least_pipelines = 150;
constexpr double least_ready_percent = 95;
/// Frames over budget of the run that records, over those of the runs with the cache. In run 2, builds and frames share
/// the device: a software driver has one queue, and a first draw holds it up.
constexpr std::size_t least_gain = 2, least_gain_after_loading = 4;

std::string of(std::size_t part, std::size_t all) { return std::to_string(part) + " of " + std::to_string(all); }

std::string percent(double value) {
    char text[20];
    std::snprintf(text, sizeof text, "%.1f %%", value);
    return text;
}

} // namespace

Trial::Trial(const Options& the_options, const std::string& the_self)
    : options(the_options), self(the_self), work(the_options.directory, "pipeline_warmup_vk") {
    trials::expect_writable(options.json_file);
    if (fs::exists(work.path()) && (!fs::is_directory(work.path()) || !fs::is_empty(work.path())))
        throw std::runtime_error("--directory " + work.path() + " is not an empty directory: name a new one");
    fs::create_directories(work.path());
}

void Trial::target(const std::string& sentence, bool is_met, const std::string& found) {
    targets.push_back({sentence, is_met, found});
}

StepResult Trial::step(const std::string& name, const std::vector<std::string>& flags) {
    if (trials::interrupted()) throw Stopped{};
    const std::string result_file = file("result-" + std::to_string(++steps));
    std::vector<std::string> arguments{"--step",   name,           "--result", result_file,
                                       "--device", options.device, "--frames", std::to_string(options.frames_per_area),
                                       "--fps",    std::to_string(options.fps)};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const std::string died = trials::run_self(self, arguments, {});
    StepResult result = trials::from_text<StepResult>(trials::read_file(result_file));
    result.name = name;
    result.died = died;
    results.push_back(result);
    if (trials::Progress().on_terminal()) std::fputs("\r\033[K", stderr); // clears the line of a crashed process
    print_row(result);
    if (result.interrupted != 0) throw Stopped{};
    if (!died.empty()) throw std::runtime_error("the run \"" + name + "\" " + died);
    return result;
}

void Trial::tool(const std::vector<std::string>& arguments, int status) {
    if (trials::interrupted()) throw Stopped{};
    std::string line = "$ hob";
    for (const std::string& argument : arguments) line += " " + argument;
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    const std::string died = trials::run_self(options.tool, arguments, {});
    const std::string wanted = status == 0 ? "" : "ended with status " + std::to_string(status);
    if (died != wanted) throw std::runtime_error("\"" + line.substr(2) + "\" " + (died.empty() ? "ended with status 0" : died));
}

StepResult Trial::record() {
    const StepResult r =
        step("1. record", {"--record", file("run1.rec.hobpipe"), "--keys", file("build1.csv"), "--build", "1"});
    target("the scene needs 150 different pipelines at least", r.first_uses >= least_pipelines,
           count(r.first_uses, "pipelines"));
    target("run 1 knows none of them, and builds each in the frame of its first use",
           r.unknown == r.first_uses && r.built == r.first_uses, of(r.unknown, r.first_uses));
    return r;
}

/// As a build team does it. The recording is of build 1, and the cache for build 2.
void Trial::build_cache() {
    trials::write_file(file("build2.csv"), Scene(2).key_map_csv());
    std::printf("\n");
    for (const std::string build : {"build1", "build2"})
        tool({"pipelines", "keys", "import", file(build + ".csv"), "--out", file(build + ".hobkeys"), "--build", build,
              "--format", shader_format});
    tool({"pipelines", "expand", file("run1.rec.hobpipe"), "--keys", file("build1.hobkeys"), "--out", file("run1.hobstable")});
    tool({"pipelines", "build", file("run1.hobstable"), "--keys", file("build2.hobkeys"), "--project", project, "--format",
          shader_format, "--api", std::to_string(HOB_GRAPHICS_API_VULKAN), "--out", file("shipped.hobpipe")});
    std::printf("\n");
}

StepResult Trial::precompile(const StepResult& recorded) {
    const StepResult r = step("2. precompile",
                              {"--cache", file("shipped.hobpipe"), "--user", file("user"), "--build", "2", "--secrets",
                               "--loading", options.loading_screens ? "each" : "first"});
    const std::size_t secrets = Scene(2).secret_pipelines();
    target("the shipped cache has all recorded pipelines, for a build in which all shaders differ",
           r.opened == recorded.first_uses, of(r.opened, recorded.first_uses));
    target("95 % of run 2's first uses are ready", r.ready_percent() >= least_ready_percent, percent(r.ready_percent()));
    target("run 2 builds in a frame only what the recording did not see", r.unknown == secrets,
           of(r.unknown, secrets));
    if (options.judges_time)
        target("run 2 has at most half of run 1's frames over budget", r.over_budget * least_gain <= recorded.over_budget,
               std::to_string(r.over_budget) + " and " + std::to_string(recorded.over_budget));
    return r;
}

void Trial::play_again(const StepResult& recorded, const StepResult& precompiled) {
    const StepResult r = step("3. shipped and user's cache", {"--cache", file("shipped.hobpipe"), "--user", file("user"), "--build",
                                                              "2", "--secrets", "--loading", "all"});
    target("run 3 has no new pipeline", r.unknown == 0 && r.first_uses == precompiled.first_uses, count(r.unknown, "unknown"));
    target("run 3 misses none", r.late == 0 && r.ready == r.first_uses, count(r.late, "late"));
    target("run 3 hides no object", r.hidden == 0, count(r.hidden, "hidden"));
    if (options.judges_time)
        target("run 3 has at most a quarter of run 1's frames over budget", r.over_budget * least_gain_after_loading <= recorded.over_budget,
               std::to_string(r.over_budget) + " and " + std::to_string(recorded.over_budget));
}

/// Without any pipeline ahead, ready groups have the most to do: each pipeline is requested at its first use.
void Trial::request_all() {
    const StepResult r = step("4. nothing ahead", {"--cache", file("shipped.hobpipe"), "--build", "2", "--secrets"});
    target("run 4 hides objects until all of their passes are ready", r.hidden > 0 && r.partial == 0,
           count(r.hidden, "hidden, ") + count(r.partial, "partial"));
}

/// All pipelines of the cache in child processes. One kills its process, another one blocks it.
void Trial::replay(const StepResult& recorded) {
    const Scene scene(2);
    const std::string crash = hob::hex(scene.pipelines[0].key), hang = hob::hex(scene.pipelines[1].key);
    std::vector<std::string> arguments{"pipelines", "replay", file("shipped.hobpipe"), "--builder", self, "--jobs", "2",
                                       "--timeout", "10", "--bans", file("bans.json"), "--state", file("replay.state")};
    for (const std::string& word : {std::string("--builder"), std::string("--build"), std::string("2"), std::string("--device"),
                                    options.device, std::string("--crash-at"), crash, std::string("--hang-at"), hang}) {
        arguments.push_back("--builder-arg");
        arguments.push_back(word);
    }
    std::printf("\n");
    tool(arguments, 1);
    const std::string bans = trials::read_file(file("bans.json")), state = trials::read_file(file("replay.state"));
    const auto occurrences = [](const std::string& text, const std::string& part) {
        std::size_t found = 0;
        for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
        return found;
    };
    target("the pipelines that kill or block the driver are banned, and no other",
           occurrences(bans, "\"pipeline\"") == 2 && occurrences(bans, crash) == 1 && occurrences(bans, hang) == 1,
           count(occurrences(bans, "\"pipeline\""), "banned"));
    const std::size_t ready = occurrences(state, "\"ready\"");
    target("all others are compiled", ready + 2 == recorded.first_uses, of(ready, recorded.first_uses));
}

/// For the table only.
void Trial::compare() {
    step("(run 4 without groups)", {"--cache", file("shipped.hobpipe"), "--build", "2", "--secrets", "--no-groups"});
    step("(run 2 without first draws)", {"--cache", file("shipped.hobpipe"), "--build", "2", "--secrets", "--loading",
                                         options.loading_screens ? "each" : "first", "--no-first-draw"});
}

bool Trial::run() {
    std::printf("%s\n", Vulkan(options.device, {"pipeline_warmup_vk", VK_QUEUE_GRAPHICS_BIT, true}).identity().description().c_str());
    print_head();
    bool is_complete = true;
    try {
        const StepResult recorded = record();
        build_cache();
        const StepResult precompiled = precompile(recorded);
        play_again(recorded, precompiled);
        request_all();
        replay(recorded);
        const auto sum = [&](std::size_t StepResult::*field) {
            std::size_t total = 0;
            for (const StepResult& result : results) total += result.*field;
            return total;
        };
        target("no object is drawn in only some of its passes", sum(&StepResult::partial) == 0,
               count(sum(&StepResult::partial), "partial"));
        target("the library counts the same as the trial", sum(&StepResult::miscounted) == 0 && sum(&StepResult::failed) == 0);
        if (options.compares) compare();
    } catch (const Stopped&) {
        is_complete = false;
    }
    const bool all_met = trials::print_verdict(targets);
    if (!is_complete) std::printf("(interrupted: results so far)\n");
    if (!options.json_file.empty()) trials::write_json(options.json_file, results, targets);
    return all_met && is_complete;
}

} // namespace pipeline_warmup_vk
