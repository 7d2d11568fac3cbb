// The library at work: all that a host has to write. Settings and their values go in once; each frame says how much
// work it brings, gets its choices, and some frames later tells what they have cost.
#include <hobgoblin/hobgoblin.hpp>

#include "governors.h"

namespace frame_budget {

namespace {

class GoblinGovernor final : public Governor {
public:
    GoblinGovernor(double budget_ms, const AntialiasingFactors& antialiasing_factors, const std::string& past)
        : goblin(options_for(budget_ms)), factors(antialiasing_factors) {
        for (std::size_t s = 0; s < setting_count; ++s) {
            std::vector<double> values;
            for (std::size_t option = 0; option < settings[s].option_count; ++option)
                values.push_back(static_cast<double>(settings[s].options[option].value));
            handles[s] = goblin.add(settings[s].name, values);
        }
        mist = goblin.add_fixed_burden("mist");
        rest = goblin.add_fixed_burden("rest");
        if (!past.empty()) goblin.load_profile(past);
    }

    Decision decide(const SceneFrame& frame) override {
        for (std::size_t s = 0; s < setting_count; ++s)
            goblin.set_work(handles[s], work_of(static_cast<SettingIndex>(s), frame));
        goblin.set_work(mist, std::max(mist_work_of(frame.weight), no_work));

        Decision decision;
        decision.id = goblin.update().id;
        for (std::size_t s = 0; s < setting_count; ++s) decision.choices[s] = handles[s].choice();
        return decision;
    }

    void learn(const FrameTimes& times) override {
        const Burdens burdens = burdens_of(times, factors);
        const std::uint64_t frame = times.tag.decision;
        const hob::Sample kind = times.is_disjoint ? hob::Sample::hitch : hob::Sample::ok;
        const auto measure = [&](hob::Setting setting, double ms) {
            goblin.measure(frame, setting, hob::Lane::gpu, std::max(ms, 0.0), kind);
        };
        for (std::size_t s = 0; s < setting_count; ++s) measure(handles[s], burdens.setting_ms[s]);
        if (burdens.mist_ms > 0) measure(mist, burdens.mist_ms);
        measure(rest, burdens.rest_ms);
        goblin.measure_total(frame, hob::Lane::gpu, times.total_ms, kind);
    }

    std::string profile() const override { return goblin.save_profile(); }

private:
    static constexpr double no_work = 1e-9; // works are above 0: mist that is not there costs nothing

    static hob::GoblinOptions options_for(double budget_ms) {
        hob::GoblinOptions options;
        options.gpu_ms = budget_ms;
        options.overrun_probability = 0.01; // one frame in a hundred may be late
        return options;
    }

    hob::Goblin goblin;
    std::array<hob::Setting, setting_count> handles;
    hob::Setting mist, rest;
    AntialiasingFactors factors;
};

} // namespace

std::unique_ptr<Governor> make_goblin_governor(double budget_ms, const AntialiasingFactors& factors,
                                               const std::string& profile) {
    return std::make_unique<GoblinGovernor>(budget_ms, factors, profile);
}

} // namespace frame_budget
