#include "contest.h"

#include <chrono>

namespace frame_budget {

namespace {

int count_changes(const Choices& a, const Choices& b) {
    int changes = 0;
    for (std::size_t s = 0; s < setting_count; ++s) changes += a[s] != b[s] ? 1 : 0;
    return changes;
}

void hand_out_times(Renderer& renderer, std::vector<Contestant>& contestants) {
    FrameTimes times;
    while (renderer.poll(times)) {
        Contestant& owner = contestants[times.tag.contestant];
        owner.records[static_cast<std::size_t>(times.tag.index)].ms = static_cast<float>(times.total_ms);
        owner.governor->learn(times);
    }
}

} // namespace

void run_contest(Renderer& renderer, const Scene& scene, std::vector<Contestant>& contestants,
                 const ContestOptions& options) {
    using Clock = std::chrono::steady_clock;
    const double all_frames = static_cast<double>(options.frame_count) * static_cast<double>(contestants.size());
    double frames_done = 0;
    bool go_on = true;
    for (int slice = 0; slice < options.frame_count && go_on; slice += options.slice_frames)
        for (std::size_t c = 0; c < contestants.size() && go_on; ++c) {
            Contestant& contestant = contestants[c];
            // Restores the memory of its last choices, so that it does not pay for the choices of other contestants.
            if (!contestant.records.empty()) renderer.prepare(contestant.last_choices);
            for (int index = slice; index < std::min(slice + options.slice_frames, options.frame_count) && go_on;
                 ++index) {
                const SceneFrame frame = scene.frame(index, options.frame_count, renderer.aspect());
                hand_out_times(renderer, contestants);

                const auto start = Clock::now();
                const Decision decision = contestant.governor->decide(frame);
                const std::chrono::duration<float, std::micro> update = Clock::now() - start;

                FrameRecord record;
                record.value = value_of(decision.choices);
                record.update_us = update.count();
                record.changes =
                    contestant.records.empty() ? 0 : count_changes(decision.choices, contestant.last_choices);
                contestant.records.push_back(record);
                contestant.last_choices = decision.choices;
                renderer.render(frame, decision.choices, {c, index, decision.id, decision.choices});
                if (options.after_frame) options.after_frame(c, index);
                ++frames_done;
                go_on = options.progress(frames_done / all_frames, contestant.name);
            }
        }
    renderer.finish();
    hand_out_times(renderer, contestants);
}

} // namespace frame_budget
