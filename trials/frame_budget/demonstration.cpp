#include "demonstration.h"

#include <chrono>

namespace frame_budget {

namespace {

using Clock = std::chrono::steady_clock;

void hand_out_times(Renderer& renderer, std::vector<Player>& players) {
    FrameTimes times;
    while (renderer.poll(times)) {
        if (times.tag.contestant >= players.size()) continue; // only for a picture
        Player& owner = players[times.tag.contestant];
        owner.records[static_cast<std::size_t>(times.tag.index)].ms = static_cast<float>(times.total_ms);
        owner.governor->learn(times);
    }
}

void draw(Renderer& renderer, const SceneFrame& frame, Player& player, std::size_t index) {
    // Restores the memory of its last choices, so that it does not pay for the choices of others.
    if (!player.records.empty()) renderer.prepare(player.last_choices);
    const auto start = Clock::now();
    const Decision decision = player.governor->decide(frame);
    const std::chrono::duration<float, std::micro> update = Clock::now() - start;

    FrameRecord record;
    record.value = value_of(decision.choices);
    record.update_us = update.count();
    if (!player.records.empty()) {
        record.new_resolution = decision.choices[resolution] != player.last_choices[resolution];
        for (std::size_t s = 0; s < setting_count; ++s)
            if (s != resolution && decision.choices[s] != player.last_choices[s]) ++record.changes;
    }
    const int frame_index = static_cast<int>(player.records.size());
    player.records.push_back(record);
    player.last_choices = decision.choices;
    renderer.render(frame, decision.choices, {index, frame_index, decision.id, decision.choices});
}

} // namespace

void demonstrate(Renderer& renderer, const Scene& scene, std::vector<Player>& players,
                 const DemonstrationOptions& options) {
    const auto start = Clock::now();
    double part = 0;
    for (std::size_t round = 0; part < 1; ++round) {
        const double at = part * static_cast<double>(options.scripts.size());
        const SceneFrame frame = scene.frame(options.scripts[static_cast<std::size_t>(at)],
                                             static_cast<float>(at - std::floor(at)), renderer.aspect());
        for (std::size_t turn = 0; turn < players.size(); ++turn) {
            const std::size_t index = (round + turn) % players.size(); // no one is always the first
            hand_out_times(renderer, players);
            draw(renderer, frame, players[index], index);
            options.after_frame(frame, index, part);
        }
        const std::chrono::duration<double> elapsed = Clock::now() - start;
        part = elapsed.count() / options.seconds;
        if (!options.progress(std::min(part, 1.0))) break;
    }
    renderer.finish();
    hand_out_times(renderer, players);
}

} // namespace frame_budget
