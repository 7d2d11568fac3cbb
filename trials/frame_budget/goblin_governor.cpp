// The library in use: all the code that a host has to write. Settings and their values are added once. Each frame
// declares its work, gets its choices, and some frames later reports its costs.
#include <hobgoblin/hobgoblin.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "governors.h"

namespace frame_budget {

namespace {

class GoblinGovernor final : public Governor {
public:
    explicit GoblinGovernor(const GoblinOptions& given)
        : tape(std::make_shared<std::ofstream>()), goblin(options_for(given.budget_ms)), factors(given.factors) {
        if (!given.record_file.empty()) record(given.record_file);
        for (std::size_t s = 0; s < setting_count; ++s) {
            std::vector<hob::Option> options;
            for (std::size_t option = 0; option < settings[s].option_count; ++option)
                options.push_back(hob::option(static_cast<double>(settings[s].options[option].value)));
            hob::SettingOptions how;
            how.switch_burden = given.switch_ms[s]; // memory is allocated on the frame of the change
            how.trim = s == resolution;             // takes up the last slack; the others stay put
            handles[s] = goblin.add(settings[s].name, options, how);
        }
        mist = goblin.add_fixed_burden("mist");
        rest = goblin.add_fixed_burden("rest");
        if (!given.profile.empty()) goblin.load_profile(given.profile);
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
        const hob::SampleQuality quality = times.is_disjoint ? hob::SampleQuality::hitch : hob::SampleQuality::ok;
        const auto measure = [&](hob::Setting setting, double ms) {
            goblin.measure(frame, setting, hob::Lane::gpu, std::max(ms, 0.0), quality);
        };
        for (std::size_t s = 0; s < setting_count; ++s) measure(handles[s], burdens.setting_ms[s]);
        if (burdens.mist_ms > 0) measure(mist, burdens.mist_ms);
        measure(rest, burdens.rest_ms);
        goblin.measure_total(frame, hob::Lane::gpu, times.total_ms, quality);
    }

    std::string profile() const override { return goblin.save_profile(); }

private:
    static constexpr double no_work = 1e-9; // works are above 0: absent mist costs nothing

    /// Records the whole run from here on. A studio with a problem sends the recording.
    void record(const std::string& file) {
        tape->open(file, std::ios::binary);
        if (!*tape) throw std::runtime_error("cannot write " + file);
        goblin.start_recording([tape = tape](std::string_view bytes) {
            tape->write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        });
    }

    static hob::GoblinOptions options_for(double budget_ms) {
        hob::GoblinOptions options;
        options.gpu_ms = budget_ms;
        options.overrun_probability = 0.01; // one frame in a hundred may be late
        options.desc.decisions_per_second = 1000 / budget_ms;
        return options;
    }

    std::shared_ptr<std::ofstream> tape;
    hob::Goblin goblin;
    std::array<hob::Setting, setting_count> handles;
    hob::Setting mist, rest;
    AntialiasingFactors factors;
};

} // namespace

std::unique_ptr<Governor> make_goblin_governor(const GoblinOptions& options) {
    return std::make_unique<GoblinGovernor>(options);
}

bool replay_recording(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + file);
    const std::string recording{std::istreambuf_iterator<char>(in), {}};
    const hob_replay_report report = hob::replay(recording);
    std::printf("%llu decisions and %llu calls replayed: ", static_cast<unsigned long long>(report.decisions),
                static_cast<unsigned long long>(report.calls));
    if (report.different == 0) std::puts("all choices are identical");
    else
        std::printf("%llu decisions differ, first decision %llu: setting %u was %u, is %u\n",
                    static_cast<unsigned long long>(report.different), static_cast<unsigned long long>(report.first_different),
                    report.setting.index1, report.recorded, report.replayed);
    constexpr const char* ends[] = {"", "cut off", "damaged", "not to be continued (out of memory then)", "refused"};
    if (report.end != HOB_REPLAY_END_COMPLETE)
        std::printf("at byte %llu the recording is %s\n", static_cast<unsigned long long>(report.bytes),
                    report.end < std::size(ends) ? ends[report.end] : "at an end");
    return report.different == 0 && report.end == HOB_REPLAY_END_COMPLETE;
}

} // namespace frame_budget
