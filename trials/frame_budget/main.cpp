// frame_budget: a small world inside a frame budget, drawn by the goblin, by a threshold governor and with fixed settings.
//
// The program measures this machine, derives the budget, plays the scenes to all of them frame by frame in turn, and
// prints the results. With --record-costs it records what the replayed contest plays. See --help (options.cpp).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <stdexcept>

#include "../common/files.h"
#include "../common/gl_api.h"
#include "../common/interrupt.h"
#include "../common/progress.h"
#include "calibration.h"
#include "cost_recording.h"
#include "options.h"
#include "pictures.h"
#include "report.h"

namespace frame_budget {

using namespace trials;

namespace {

/// Share of frames in which the fixed configuration is predicted to be late.
constexpr double late_share_of_fixed = 0.01;

std::unique_ptr<Renderer> make_renderer(const Scene& scene, const Options& options) {
    const RendererOptions renderer_options{options.width, options.height, options.device, options.renderer == "gles",
                                           !options.costs_file.empty()};
    if (options.renderer != "software") {
        std::string reason;
        if (auto renderer = make_gl_renderer(scene, renderer_options, reason)) return renderer;
        if (options.renderer != "auto") throw std::runtime_error("no GL: " + reason);
        std::cout << "no GL: " << reason << "\nusing the built-in software renderer\n";
    }
    return make_soft_renderer(scene, renderer_options);
}

std::string describe(const Choices& choices) {
    std::string text;
    for (std::size_t s = 0; s < setting_count; ++s)
        text += std::string(s > 0 ? ", " : "") + settings[s].name + " " + settings[s].options[choices[s]].name;
    return text;
}

/// The table, rewritten in place on a terminal twice a second.
class LiveTable {
public:
    void show(const std::vector<Player>& players, double budget_ms) {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_shown < std::chrono::milliseconds(500)) return;
        last_shown = now;
        clear();
        const std::string table = table_of(summaries_of(players, budget_ms));
        lines = std::count(table.begin(), table.end(), '\n');
        std::fputs(table.c_str(), stderr);
        std::fflush(stderr);
    }
    void clear() {
        if (lines > 0) std::fprintf(stderr, "\033[%ldA\033[J", static_cast<long>(lines));
        lines = 0;
    }
    static std::vector<Summary> summaries_of(const std::vector<Player>& players, double budget_ms) {
        std::vector<Summary> summaries;
        for (const Player& player : players) summaries.push_back(summarize(player, budget_ms));
        return summaries;
    }

private:
    std::chrono::steady_clock::time_point last_shown;
    std::ptrdiff_t lines = 0;
};

class Program {
public:
    explicit Program(const Options& the_options)
        : options(the_options), scene(options.seed), renderer(make_renderer(scene, options)) {}
    void run();
    void record();

private:
    void measure_machine();
    std::vector<Player> make_players();
    void play(std::vector<Player>& players);

    Options options;
    Scene scene;
    std::unique_ptr<Renderer> renderer;
    Progress progress;
    Calibration calibration;
    RunFacts facts;
};

void Program::measure_machine() {
    std::cout << renderer->description() << "\nframe time: " << renderer->clock() << "\n";
    calibration = calibrate(*renderer, scene, [this](double part) {
        progress.show("measuring the machine", part);
        return !interrupted();
    });
    progress.clear();
    if (interrupted()) throw std::runtime_error("stopped before there was anything to report");
    const bool is_given = options.budget_ms > 0;
    facts.budget_ms = is_given ? options.budget_ms : calibration.derived_budget_ms();
    std::printf("budget: %.2f ms, %s\n", facts.budget_ms,
                is_given ? "as given"
                         : "a third of the way from the lowest to the highest configuration's worst frame");

    facts.renderer = renderer->description();
    facts.clock = renderer->clock();
    facts.seed = options.seed;
}

/// The goblin comes first: the others are compared with it.
std::vector<Player> Program::make_players() {
    const std::vector<Choices> ladder = ladder_by_value(calibration);
    const Script script = options.scripts.front();
    std::size_t first_step = ladder.size() - 1; // the best step that fits the script's first frame
    while (first_step > 0 && calibration.predicted_ms(ladder[first_step], weight_at(script, 0)) > facts.budget_ms)
        --first_step;
    const Choices& fixed =
        ladder[highest_step_within(ladder, calibration, facts.budget_ms, late_share_of_fixed, script)];
    std::cout << "fixed: the highest step predicted to be late in at most 1 % of the frames: " << describe(fixed) << "\n";

    const std::string profile = options.profile_file.empty() ? "" : read_file(options.profile_file);
    if (!profile.empty()) std::cout << "the goblin starts with the profile " << options.profile_file << "\n";
    const GoblinOptions goblin{facts.budget_ms, calibration.antialiasing_factors, calibration.switch_ms, profile,
                               options.record_file};
    std::vector<Player> players;
    players.push_back({"goblin", make_goblin_governor(goblin), {}, {}});
    players.push_back({"threshold", make_threshold_governor(ladder, first_step, facts.budget_ms), {}, {}});
    players.push_back({"fixed", make_fixed_governor(fixed), {}, {}});
    return players;
}

void Program::play(std::vector<Player>& players) {
    Pictures pictures(options.png_directory);
    LiveTable table;
    DemonstrationOptions run;
    run.scripts = options.scripts;
    run.seconds = options.seconds;
    run.progress = [&](double part) {
        if (progress.on_terminal()) table.show(players, facts.budget_ms);
        else progress.show("the run", part);
        return !interrupted();
    };
    run.after_frame = [&](const SceneFrame& frame, std::size_t player, double part) {
        if (player == 0) pictures.take(*renderer, frame, part);
    };
    demonstrate(*renderer, scene, players, run);
    table.clear();
    progress.clear();
}

void Program::run() {
    for (const std::string& path : {options.json_file, options.record_file, options.profile_file}) expect_writable(path);
    measure_machine();
    std::vector<Player> players = make_players();
    std::printf("%.0f seconds, all of them frame by frame in turn\n\n", options.seconds);
    std::fflush(stdout);
    play(players);
    facts.interrupted = interrupted();

    const std::vector<Summary> summaries = LiveTable::summaries_of(players, facts.budget_ms);
    std::cout << table_of(summaries);
    std::printf("(value: at most %.0f; changes without the resolution, which has a column of its own)\n",
                static_cast<double>(value_of(highest_choices)));
    if (facts.interrupted) std::cout << "(interrupted: these are the frames until then)\n";
    if (!options.profile_file.empty()) write_file(options.profile_file, players.front().governor->profile());
    if (!options.json_file.empty()) write_json(options.json_file, facts, summaries, players);
}

void Program::record() {
    expect_writable(options.costs_file);
    std::cout << renderer->description() << "\n";
    CostRequest request;
    request.scripts = options.scripts;
    if (options.is_quick) request.rounds = 1, request.noise_frames = 200;
    request.progress = [this](double part) {
        progress.show("recording costs", part);
        return !interrupted();
    };
    const std::string recording = record_costs(*renderer, scene, request);
    progress.clear();
    if (recording.empty()) throw std::runtime_error("stopped before the recording was complete: nothing is written");
    write_file(options.costs_file, recording);
    std::cout << options.costs_file << ": " << recording.size() / 1024 << " KiB\n";
}

} // namespace

} // namespace frame_budget

int main(int argument_count, char** arguments) {
    using namespace frame_budget;
    try {
        const Options options = parse_options(argument_count, arguments);
        if (options.help) {
            std::fputs(usage, stdout);
            return 0;
        }
        if (options.list_devices) {
            for (const std::string& line : list_gl_devices()) std::puts(line.c_str());
            return 0;
        }
        if (!options.replay_file.empty()) return replay_recording(options.replay_file) ? 0 : 1;
        watch_for_interrupt();
        Program program(options);
        if (options.costs_file.empty()) program.run();
        else program.record();
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "frame_budget: %s\n", error.what());
        return 1;
    }
}
