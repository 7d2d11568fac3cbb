#include "measuring.h"

#include <chrono>
#include <numeric>
#include <random>

namespace frame_budget {

bool measure(Renderer& renderer, std::vector<Stretch>& stretches, const Effort& effort,
             const std::function<bool(double)>& progress) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(effort.enough_seconds);
    std::vector<std::size_t> order(stretches.size());
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 random(1);
    FrameTimes times;
    FrameTag tag;
    // Round -1 makes the driver compile everything that it compiles at the first draw.
    for (int round = -1; round < (Clock::now() > end ? effort.fewest_rounds : effort.most_rounds); ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (std::size_t i = 0; i < order.size(); ++i) {
            Stretch& stretch = stretches[order[i]];
            tag.choices = stretch.choices;
            renderer.prepare(tag.choices);
            for (tag.index = 0; tag.index < (round < 0 ? 1 : effort.frames); ++tag.index)
                renderer.render(stretch.frame, tag.choices, tag);
            renderer.finish();
            while (renderer.poll(times))
                if (round >= 0 && times.tag.index > 0 && !times.is_disjoint) stretch.samples.push_back(times);
            const double done = static_cast<double>(round + 1) + static_cast<double>(i) / static_cast<double>(order.size());
            if (!progress(done / (effort.most_rounds + 1))) return false;
        }
    }
    return true;
}

SwitchBurdens measure_changes(Renderer& renderer, const SceneFrame& frame) {
    SwitchBurdens found{};
    FrameTimes times;
    for (const SettingIndex s : settings_that_take_memory) {
        std::vector<double> samples;
        for (int round = 0; round < 2; ++round)
            for (std::size_t option = 0; option < settings[s].option_count; ++option) {
                FrameTag tag;
                tag.choices[s] = option;
                renderer.prepare(tag.choices);
                tag.choices[s] = (option + 1) % settings[s].option_count;
                renderer.render(frame, tag.choices, tag);
                renderer.finish();
                while (renderer.poll(times)) samples.push_back(times.pass_ms[pass_change]);
            }
        found[s] = median(std::move(samples));
    }
    return found;
}

} // namespace frame_budget
