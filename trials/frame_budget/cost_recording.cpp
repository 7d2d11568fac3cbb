#include "cost_recording.h"

#include <cstdio>
#include <map>
#include <numeric>
#include <sstream>

#include "../common/files.h"
#include "measuring.h"

namespace frame_budget {

namespace {

constexpr std::array<int, 4> work_levels{fewest_objects, 1200, 2100, most_objects};
constexpr std::size_t levels_measured = 4; // of the settings that move together
constexpr int points_of_script = 900;

/// The settings that a pass's time depends on. The first one is charged with it; without one it is a fixed burden.
struct PassOwner {
    PassIndex pass;
    const char* work; ///< What its time follows: "all" objects, objects in "view", "mist" or "none".
    std::vector<SettingIndex> settings;
};

const std::vector<PassOwner>& owners() {
    static const std::vector<PassOwner> all{
        {pass_shadow, "all", {shadows}},
        {pass_ground, "none", {resolution, antialiasing}},
        {pass_objects, "view", {detail, resolution, antialiasing}},
        {pass_grass, "none", {grass, resolution, antialiasing}},
        {pass_resolve, "none", {antialiasing, resolution}},
        {pass_occlusion, "none", {occlusion}},
        {pass_mirror, "view", {reflections}},
        {pass_lighting, "none", {resolution}},
        {pass_mist, "mist", {}},
        {pass_glow, "none", {glow}},
        {pass_composite, "none", {}},
    };
    return all;
}

/// Each pass depends on resolution, antialiasing and one other setting at most. So all settings but these two move
/// together, and each configuration shows an option of each.
std::vector<Stretch> make_stretches(const Scene& scene, float aspect) {
    std::vector<Stretch> stretches;
    for (const int objects : work_levels)
        for (std::size_t level = 0; level < levels_measured; ++level)
            for (std::size_t size = 0; size < settings[resolution].option_count; ++size)
                for (std::size_t samples = 0; samples < settings[antialiasing].option_count; ++samples) {
                    Choices choices;
                    for (std::size_t s = 0; s < setting_count; ++s)
                        choices[s] = std::min(level, settings[s].option_count - 1);
                    choices[resolution] = size;
                    choices[antialiasing] = samples;
                    stretches.push_back({scene.frame_of_weight({objects, 0}, aspect), choices, {}});
                }
    for (std::size_t step = 0; step < mist_steps.size(); ++step) {
        const Weight weight{fewest_objects, 0.1f + 0.25f * static_cast<float>(step)};
        stretches.push_back({scene.frame_of_weight(weight, aspect), lowest_choices, {}});
    }
    return stretches;
}

/// Time outside of all passes.
double rest_ms(const FrameTimes& times) {
    return std::max(std::accumulate(times.pass_ms.begin(), times.pass_ms.end(), times.total_ms, std::minus<>()), 0.0);
}

void write_line(std::ostream& out, const char* format, double value) {
    std::array<char, 48> text;
    std::snprintf(text.data(), text.size(), format, value);
    out << text.data();
}

void write_settings(std::ostream& out) {
    for (const Setting& setting : settings) {
        out << "setting " << setting.name;
        for (std::size_t option = 0; option < setting.option_count; ++option) {
            out << ' ' << setting.options[option].name << '=';
            write_line(out, "%g", static_cast<double>(setting.options[option].value));
        }
        out << '\n';
    }
}

/// The median over all frames with this work and these options of the owner's settings.
void write_costs(std::ostream& out, const std::vector<Stretch>& stretches, const PassOwner& owner) {
    out << "pass " << pass_names[owner.pass] << ' ' << owner.work;
    for (const SettingIndex s : owner.settings) out << ' ' << settings[s].name;
    out << '\n';
    std::map<std::vector<std::size_t>, std::vector<double>> by_options; // work level first, then options
    for (const Stretch& stretch : stretches) {
        const bool has_mist = stretch.frame.weight.mist > 0, is_mist = owner.pass == pass_mist;
        if (has_mist != is_mist) continue;
        std::vector<std::size_t> key;
        if (is_mist) key.push_back(static_cast<std::size_t>(mist_step_count(stretch.frame.weight.mist)));
        else if (std::string(owner.work) != "none") key.push_back(static_cast<std::size_t>(stretch.frame.weight.objects));
        for (const SettingIndex s : owner.settings) key.push_back(stretch.choices[s]);
        auto& samples = by_options[key];
        for (const FrameTimes& times : stretch.samples) samples.push_back(times.pass_ms[owner.pass]);
    }
    for (auto& [key, samples] : by_options) write_line(out, "%.4f\n", median(std::move(samples)));
}

void write_scripts(std::ostream& out, const Scene& scene, const std::vector<Script>& scripts, float aspect) {
    for (const Script script : scripts) {
        out << "script " << script_names[static_cast<std::size_t>(script)] << ' ' << points_of_script << '\n';
        for (int point = 0; point < points_of_script; ++point) {
            const SceneFrame frame = scene.frame(script, (static_cast<float>(point) + 0.5f) / points_of_script, aspect);
            out << frame.weight.objects << ' ' << frame.visible.size() << ' ' << mist_step_count(frame.weight.mist)
                << '\n';
        }
    }
}

/// Draws one configuration without a pause: the work is constant, so all variation is noise.
bool write_noise(std::ostream& out, Renderer& renderer, const Scene& scene, int count,
                 const std::function<bool(double)>& progress) {
    Choices choices;
    for (std::size_t s = 0; s < setting_count; ++s) choices[s] = settings[s].option_count / 2;
    const SceneFrame still = scene.frame_of_weight({(fewest_objects + most_objects) / 2, 0.6f}, renderer.aspect());
    renderer.prepare(choices);
    std::vector<FrameTimes> frames;
    FrameTimes times;
    for (int index = 0; index < count; ++index) {
        renderer.render(still, choices, {0, index, 0, choices});
        if (index + 1 == count) renderer.finish();
        while (renderer.poll(times)) frames.push_back(times);
        if (!progress(static_cast<double>(index) / count)) return false;
    }
    out << "noise " << frames.size();
    for (const PassOwner& owner : owners()) out << ' ' << pass_names[owner.pass];
    out << " rest\n";
    std::vector<std::vector<double>> columns;
    for (const PassOwner& owner : owners()) {
        columns.emplace_back();
        for (const FrameTimes& frame : frames) columns.back().push_back(frame.pass_ms[owner.pass]);
    }
    columns.emplace_back();
    for (const FrameTimes& frame : frames) columns.back().push_back(rest_ms(frame));
    for (auto& column : columns) {
        const double middle = median(column);
        for (double& ms : column) ms = 1000 * std::log(middle > 0 ? std::max(ms / middle, 0.05) : 1);
    }
    for (std::size_t frame = 0; frame < frames.size(); ++frame)
        for (std::size_t c = 0; c < columns.size(); ++c)
            out << std::lround(columns[c][frame]) << (c + 1 < columns.size() ? ' ' : '\n');
    return true;
}

/// The first number of Linux's load average, as text; "unknown" elsewhere.
std::string machine_load() {
    std::string load = trials::read_file("/proc/loadavg");
    load.resize(std::min(load.find(' '), load.size()));
    return load.empty() ? "unknown" : load;
}

} // namespace

std::string record_costs(Renderer& renderer, const Scene& scene, const CostRequest& request) {
    std::string load = machine_load();
    std::vector<Stretch> stretches = make_stretches(scene, renderer.aspect());
    if (!measure(renderer, stretches, {request.rounds, request.rounds, 0, 2},
                 [&](double part) { return request.progress(part / 2); }))
        return {};
    const SwitchBurdens changes = measure_changes(renderer, scene.frame_of_weight({fewest_objects, 0}, renderer.aspect()));
    std::ostringstream noise;
    load += ", " + machine_load();
    if (!write_noise(noise, renderer, scene, request.noise_frames,
                     [&](double part) { return request.progress(0.5 + part / 2); }))
        return {};
    load += ", " + machine_load();

    std::ostringstream out;
    out << "hobgoblin frame costs 1\nrenderer " << renderer.description() << "\nclock " << renderer.clock()
        << "\nload " << load << '\n';
    write_settings(out);
    out << "work";
    for (const int objects : work_levels)
        out << ' ' << objects << '/' << scene.frame_of_weight({objects, 0}, renderer.aspect()).visible.size();
    out << "\nmist";
    for (const int steps : mist_steps) out << ' ' << steps;
    out << '\n';
    for (const PassOwner& owner : owners()) write_costs(out, stretches, owner);
    std::vector<double> rest;
    for (const Stretch& stretch : stretches)
        for (const FrameTimes& times : stretch.samples) rest.push_back(rest_ms(times));
    out << "pass rest none\n";
    write_line(out, "%.4f\n", median(std::move(rest)));
    for (const SettingIndex s : settings_that_take_memory) {
        out << "change " << settings[s].name << ' ';
        write_line(out, "%.4f\n", changes[s]);
    }
    write_scripts(out, scene, request.scripts, renderer.aspect());
    out << noise.str();
    return out.str();
}

} // namespace frame_budget
