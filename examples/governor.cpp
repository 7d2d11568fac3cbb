// governor.cpp: a frame loop whose quality settings are chosen by a goblin, in C++17 with hobgoblin.hpp.
//
// It is governor.c with less code: objects own their handles, callbacks are lambdas, and every failed call throws
// hob::Error. Where a failure is expected, as with a damaged profile, the try_ form returns it instead. The renderer is
// simulated: replace Renderer by your own.
//
// Build and run it in the repository:
//
//     cargo build --release
//     c++ -std=c++17 -Iinclude examples/governor.cpp -o governor -Ltarget/release -lhobgoblin -Wl,-rpath,target/release
//     ./governor [PROFILE]                      (default: governor.json; delete it to start without a profile)

#include <hobgoblin/hobgoblin.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int frame_count = 1200;
constexpr int gpu_frames_late = 3;
constexpr double gpu_budget_ms = 16.6, game_budget_ms = 5.0;

/// A quality setting of the renderer.
struct Quality {
    const char* name;
    hob::Lane lane;                ///< The resource that it costs.
    std::array<double, 4> value;   ///< Worth of each option to the player, in a unit of your own.
    std::array<double, 4> cost_ms; ///< Only the simulated renderer knows it.
    std::uint32_t applied = 0;     ///< The option that the renderer uses.
    std::uint32_t changes = 0;
    hob::Setting setting = {};
};

/// Stands for an engine: applies choices, and measures what they cost.
class Renderer {
public:
    std::array<Quality, 4> qualities{{
        {"shadows", hob::Lane::gpu, {0, 40, 60, 70}, {0.2, 1.5, 2.8, 4.5}},
        {"reflections", hob::Lane::gpu, {0, 15, 35, 45}, {0.0, 0.9, 2.6, 5.0}},
        {"resolution", hob::Lane::gpu, {0, 50, 80, 100}, {3.5, 5.0, 6.5, 9.0}},
        {"crowd", hob::Lane::game_thread, {0, 10, 20, 30}, {0.5, 1.5, 3.0, 6.0}},
    }};

    /// The milliseconds of a setting in this frame, with 3 % of noise: a stand-in for a timer query or a clock.
    double measure(const Quality& quality, int frame) { return mean_ms(quality, frame) * noise(random); }
    /// In the second half of the frames more objects are in view.
    static double mean_ms(const Quality& quality, int frame) {
        return quality.cost_ms[quality.applied] * (frame < frame_count / 2 ? 1.0 : 1.35);
    }

private:
    std::minstd_rand random{1};
    std::uniform_real_distribution<double> noise{0.97, 1.03};
};

/// A frame that the GPU has not finished yet.
struct FrameInFlight {
    std::uint64_t decision_id = 0;
    std::array<double, 4> ms{}; ///< By setting.
};

hob::Goblin make_goblin(Renderer& renderer) {
    hob::GoblinOptions options;
    options.gpu_ms = gpu_budget_ms;
    options.game_thread_ms = game_budget_ms;
    options.overrun_probability = 0.01; // one frame in a hundred may be late
    hob::Goblin goblin{options};
    for (Quality& quality : renderer.qualities) {
        hob::Callbacks callbacks;
        callbacks.set_choice = [&quality](std::uint32_t choice, std::uint64_t) { // before the frame is drawn
            quality.applied = choice; // in an engine: resize the shadow map, switch the shader, ...
            ++quality.changes;
        };
        std::vector<hob::Option> ladder;
        for (const double value : quality.value) ladder.push_back(hob::option(value));
        quality.setting = goblin.add(quality.name, std::move(callbacks), ladder);
    }
    return goblin;
}

void load_profile(hob::Goblin& goblin, const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::printf("no profile yet: the goblin learns from the start\n");
        return;
    }
    const std::string json{std::istreambuf_iterator<char>(file), {}};
    if (const auto loaded = goblin.try_load_profile(json)) std::printf("loaded the profile %s\n", path.c_str());
    else std::printf("%s is not used: %s\n", path.c_str(), loaded.message());
}

/// A whole file replaces the old one, so that Ctrl-C cannot leave half of it.
void save_profile(const hob::Goblin& goblin, const std::string& path) {
    const std::string beside = path + ".new";
    std::ofstream file(beside, std::ios::binary);
    file << goblin.save_profile();
    file.close();
    if (!file) throw std::runtime_error("cannot write " + beside);
    std::filesystem::rename(beside, path);
}

/// Gives the goblin a sample. A failure must not end the game. NOT_FOUND: the sample is too late.
void sample(hob::Goblin& goblin, std::uint64_t decision_id, const Quality& of, double ms) {
    const auto given = goblin.try_measure(decision_id, of.setting, of.lane, ms);
    if (!given && given.code() != HOB_RESULT_NOT_FOUND) std::fprintf(stderr, "%s\n", given.message());
}

void run_frames(hob::Goblin& goblin, Renderer& renderer) {
    std::array<FrameInFlight, gpu_frames_late> in_flight;
    int late = 0, late_at_end = 0;
    std::uint32_t trials = 0;
    for (int frame = 0; frame < frame_count; ++frame) {
        FrameInFlight& slot = in_flight[static_cast<std::size_t>(frame % gpu_frames_late)];
        if (frame >= gpu_frames_late) // the GPU has finished that frame: its timers have results now
            for (std::size_t i = 0; i < renderer.qualities.size(); ++i)
                if (renderer.qualities[i].lane == hob::Lane::gpu)
                    sample(goblin, slot.decision_id, renderer.qualities[i], slot.ms[i]);
        const hob::Decision decision = goblin.update(); // calls set_choice
        slot.decision_id = decision.id;
        trials += decision.trial_count;
        double gpu_ms = 0;
        for (std::size_t i = 0; i < renderer.qualities.size(); ++i) { // draws the frame
            const Quality& quality = renderer.qualities[i];
            slot.ms[i] = renderer.measure(quality, frame);
            if (quality.lane == hob::Lane::gpu) gpu_ms += slot.ms[i];
            else sample(goblin, decision.id, quality, slot.ms[i]); // the game thread's clock has no delay
        }
        late += gpu_ms > gpu_budget_ms;
        late_at_end += gpu_ms > gpu_budget_ms && frame >= frame_count - 200;
    }
    std::printf("%d frames, %u trials: %d over the GPU budget, %d of them in the last 200\n", frame_count, trials, late,
                late_at_end);
}

void report(const hob::Goblin& goblin, const Renderer& renderer) {
    double gpu_ms = 0, game_ms = 0;
    for (const Quality& quality : renderer.qualities) {
        const double ms = Renderer::mean_ms(quality, frame_count - 1);
        (quality.lane == hob::Lane::gpu ? gpu_ms : game_ms) += ms;
        std::printf("%-12s %u  %4.1f ms  %2u changes  %s\n", quality.name, quality.setting.choice(), ms,
                    quality.changes, goblin.reason_text(quality.setting).c_str());
    }
    std::printf("GPU %.1f of %.1f ms, game thread %.1f of %.1f ms\n", gpu_ms, gpu_budget_ms, game_ms, game_budget_ms);
}

} // namespace

int main(int argument_count, char** arguments) {
    try {
        const std::string path = argument_count > 1 ? arguments[1] : "governor.json";
        Renderer renderer; // outlives the goblin, whose callbacks refer to it
        hob::Goblin goblin = make_goblin(renderer);
        load_profile(goblin, path);
        run_frames(goblin, renderer);
        report(goblin, renderer);
        save_profile(goblin, path);
        return 0;
    } catch (const std::exception& error) { // hob::Error carries the library's sentence
        std::fprintf(stderr, "governor: %s\n", error.what());
        return 1;
    }
}
