// frame_budget: six ways of drawing the same script of a small world inside a frame budget. Two of them are the
// goblin's: the second starts with the saved profile of the first.
//
// The program measures this machine, derives the budget, and runs all contestants over the same script in turn. It runs
// the goblin once more with its profile, and prints the results. See --help (options.cpp) for the flags.
#include <cstdio>
#include <iostream>
#include <stdexcept>

#include "../common/files.h"
#include "../common/gl_api.h"
#include "../common/interrupt.h"
#include "../common/progress.h"
#include "calibration.h"
#include "options.h"
#include "pictures.h"
#include "report.h"

namespace frame_budget {

using namespace trials;

namespace {

constexpr double late_share_allowed = 0.05; // most late frames of the "best fixed configuration", as a part of all
constexpr double warmup_seconds = 2, slice_seconds = 0.5;
constexpr std::size_t enough_frames = 100; // for a verdict: one late frame is one percent

std::unique_ptr<Renderer> make_renderer(const Scene& scene, const Options& options) {
    const RendererOptions renderer_options{options.width, options.height, options.device, options.renderer == "gles"};
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

/// The rule of "best in hindsight", over the fixed configurations that were run: the highest value among those late in
/// at most 5 % of their frames. If all are late more often, the rule takes the one with the fewest late frames.
std::size_t best_fixed(const std::vector<Summary>& summaries, std::size_t fixed_count) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < fixed_count; ++i) {
        const Summary &a = summaries[i], &b = summaries[best];
        const bool a_holds = a.late_percent <= late_share_allowed * 100,
                   b_holds = b.late_percent <= late_share_allowed * 100;
        if (a_holds != b_holds ? a_holds : a_holds ? a.mean_value > b.mean_value : a.late_percent < b.late_percent)
            best = i;
    }
    return best;
}

/// Prints the claims of this trial, with yes or no.
void print_verdict(const Summary& highest, const Summary& best, const Summary& threshold, const Summary& goblin) {
    const auto beats = [&](const Summary& other) {
        return goblin.mean_value > other.mean_value && goblin.late_percent <= other.late_percent;
    };
    const auto say = [](const char* sentence, bool is_true) {
        std::printf("  %-74s %s\n", sentence, is_true ? "yes" : "no");
    };
    std::printf("verdict:\n");
    say("the highest configuration is over budget in 40 % of its frames or more", highest.late_percent >= 40);
    say("the goblin in 5 % or less", goblin.late_percent <= 5);
    say("it has more value than the best fixed one, and is not late more often", beats(best));
    say("it has more value than the threshold governor, and is not late more often", beats(threshold));
}

class Program {
public:
    explicit Program(const Options& the_options)
        : options(the_options), scene(options.seed), renderer(make_renderer(scene, options)) {}
    void run();

private:
    void measure_machine();
    std::vector<Contestant> make_contestants();
    GoblinOptions goblin_options(const std::string& profile, const std::string& record_file) const {
        return {facts.budget_ms, calibration.antialiasing_factors, calibration.switch_ms, profile, record_file};
    }
    void run_script(std::vector<Contestant>& contestants, const std::string& stage, Pictures& pictures);
    void print_results(const std::vector<Summary>& summaries) const;

    Options options;
    Scene scene;
    std::unique_ptr<Renderer> renderer;
    Progress progress;
    Calibration calibration;
    RunFacts facts;
    int slice_frames = 1;
    std::size_t fixed_count = 0, threshold_index = 0, goblin_index = 0;
    std::vector<Choices> fixed_choices;
};

void Program::measure_machine() {
    std::cout << renderer->description() << "\nframe time: " << renderer->clock() << "\n";
    calibration = calibrate(*renderer, scene, [this](double part) {
        progress.show("measuring the machine", part);
        return !interrupted();
    });
    progress.clear();
    if (interrupted()) throw std::runtime_error("stopped before there was anything to report");
    std::cout << describe(calibration);
    const bool is_given = options.budget_ms > 0;
    facts.budget_ms = is_given ? options.budget_ms : calibration.derived_budget_ms();
    std::printf("budget: %.2f ms, %s\n", facts.budget_ms,
                is_given ? "as given"
                         : "a third of the way from the lowest to the highest configuration's worst frame");

    const double seconds = options.seconds > 0 ? options.seconds : 12, frames_per_second = 1000 / facts.budget_ms;
    facts.renderer = renderer->description();
    facts.clock = renderer->clock();
    facts.seed = options.seed;
    facts.frame_count = std::max(static_cast<int>(seconds * frames_per_second), 20);
    facts.warmup_frames =
        static_cast<std::size_t>(std::min(warmup_seconds * frames_per_second, facts.frame_count / 2.0));
    slice_frames = std::max(static_cast<int>(slice_seconds * frames_per_second), 1);
}

std::vector<Contestant> Program::make_contestants() {
    std::vector<Contestant> contestants;
    const auto add = [&](const std::string& name, std::unique_ptr<Governor> governor) {
        contestants.push_back({name, std::move(governor), {}, {}});
        return contestants.size() - 1;
    };
    const auto add_fixed = [&](const std::string& name, const Choices& choices) {
        add(name, make_fixed_governor(choices));
        fixed_choices.push_back(choices);
    };
    add_fixed("fixed lowest", lowest_choices);
    add_fixed("fixed highest", highest_choices);
    for (const Choices& choices : promising_configurations(calibration, facts.budget_ms, late_share_allowed))
        add_fixed("fixed candidate " + std::to_string(contestants.size() - 1), choices);
    fixed_count = contestants.size();

    const std::vector<Choices> ladder = ladder_by_value(calibration);
    std::size_t first_step = 0; // the best step that fits the script's first frame
    while (first_step + 1 < ladder.size() &&
           calibration.predicted_ms(ladder[first_step + 1], weight_at(0)) <= facts.budget_ms)
        ++first_step;
    threshold_index = add("threshold governor", make_threshold_governor(ladder, first_step, facts.budget_ms));

    const std::string profile = options.profile_file.empty() ? "" : read_file(options.profile_file);
    if (!profile.empty()) std::cout << "the goblin starts with the profile " << options.profile_file << "\n";
    goblin_index = add("goblin", make_goblin_governor(goblin_options(profile, options.record_file)));
    return contestants;
}

void Program::run_script(std::vector<Contestant>& contestants, const std::string& stage, Pictures& pictures) {
    ContestOptions contest;
    contest.frame_count = facts.frame_count;
    contest.slice_frames = slice_frames;
    contest.progress = [&](double part, const std::string& name) {
        progress.show(stage, part, name);
        return !interrupted();
    };
    contest.after_frame = [&](std::size_t contestant, int frame) {
        pictures.take(*renderer, frame, contestants[contestant].name);
    };
    run_contest(*renderer, scene, contestants, contest);
    progress.clear();
}

void Program::print_results(const std::vector<Summary>& summaries) const {
    const std::size_t best = best_fixed(summaries, fixed_count);
    std::vector<Summary> shown{summaries[0], summaries[1], summaries[best], summaries[threshold_index],
                               summaries[goblin_index]};
    shown[2].name = "best fixed in hindsight";
    if (summaries.size() > goblin_index + 1) shown.push_back(summaries.back());
    std::cout << "\n";
    print_table(std::cout, shown, facts.budget_ms);
    std::cout << "best fixed: of all " << fixed_count
              << " that were run, the highest value at <= 5 % over budget: " << describe(fixed_choices[best]) << "\n";
    for (std::size_t i = 2; i < fixed_count; ++i)
        if (i != best)
            std::printf("  also run: value %.0f, %.1f %% over budget\n", summaries[i].mean_value,
                        summaries[i].late_percent);
    const std::size_t judged = static_cast<std::size_t>(facts.frame_count) - facts.warmup_frames;
    if (judged < enough_frames)
        std::printf("no verdict: %zu frames after the first ones are too few (see --seconds)\n", judged);
    else print_verdict(summaries[1], summaries[best], summaries[threshold_index], summaries[goblin_index]);
    if (facts.interrupted) std::cout << "(interrupted: these are the frames until then)\n";
}

void Program::run() {
    for (const std::string& path : {options.json_file, options.record_file, options.profile_file}) expect_writable(path);
    measure_machine();
    std::vector<Contestant> contestants = make_contestants();
    std::printf("script: %d frames for each of %zu contestants, in turn\n\n", facts.frame_count, contestants.size());
    std::fflush(stdout);
    Pictures pictures(options.png_directory, facts.frame_count);
    run_script(contestants, "the contest", pictures);

    const std::string profile = contestants[goblin_index].governor->profile();
    if (!options.profile_file.empty()) write_file(options.profile_file, profile);
    if (!interrupted()) {
        std::vector<Contestant> again;
        again.push_back({"goblin with its saved profile",
                         make_goblin_governor(goblin_options(profile, "")),
                         {},
                         {}});
        run_script(again, "the goblin once more", pictures);
        contestants.push_back(std::move(again.front()));
    }
    facts.interrupted = interrupted();

    std::vector<Summary> summaries;
    for (const Contestant& contestant : contestants)
        summaries.push_back(summarize(contestant, facts.warmup_frames, facts.budget_ms));
    print_results(summaries);
    pictures.write_strips("fixed lowest", "goblin", "fixed highest");
    if (!options.json_file.empty()) write_json(options.json_file, facts, summaries, contestants);
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
        Program(options).run();
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "frame_budget: %s\n", error.what());
        return 1;
    }
}
