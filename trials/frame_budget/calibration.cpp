#include "calibration.h"

#include <cstdio>

namespace frame_budget {

namespace {

/// One stretch: a configuration at a weight. Stretches take turns, so that a slow moment affects all alike.
struct Stretch {
    SceneFrame frame;
    Choices choices;
    std::vector<FrameTimes> samples;
};

constexpr int rounds = 6, frames_per_round = 3; // the first frame of each round only warms the caches

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

template <typename Value> double median_of(const Stretch& stretch, const Value& value) {
    std::vector<double> values;
    for (const FrameTimes& times : stretch.samples) values.push_back(value(times));
    return median(std::move(values));
}

double total_ms(const Stretch& stretch) {
    return median_of(stretch, [](const FrameTimes& times) { return times.total_ms; });
}

double geometry_ms(const Stretch& stretch) {
    return median_of(stretch, [](const FrameTimes& t) {
        return t.pass_ms[pass_ground] + t.pass_ms[pass_objects] + t.pass_ms[pass_grass];
    });
}

/// Every setting at option `level`, or at its best where it has fewer. A handful of these configurations shows each
/// option's cost, since each setting has passes of its own.
Choices choices_at(std::size_t level) {
    Choices choices;
    for (std::size_t s = 0; s < setting_count; ++s) choices[s] = std::min(level, settings[s].option_count - 1);
    return choices;
}

bool measure(Renderer& renderer, std::vector<Stretch>& stretches, const std::function<bool(double)>& progress) {
    FrameTimes times;
    FrameTag tag;
    // Round -1 makes the driver compile everything that it compiles at the first draw.
    for (int round = -1; round < rounds; ++round)
        for (std::size_t i = 0; i < stretches.size(); ++i) {
            tag.contestant = i;
            tag.choices = stretches[i].choices;
            for (tag.index = 0; tag.index < frames_per_round; ++tag.index)
                renderer.render(stretches[i].frame, tag.choices, tag);
            renderer.finish();
            while (renderer.poll(times))
                if (round >= 0 && times.tag.index > 0) stretches[times.tag.contestant].samples.push_back(times);
            const double done =
                static_cast<double>(round + 1) + static_cast<double>(i) / static_cast<double>(stretches.size());
            if (!progress(done / (rounds + 1))) return false;
        }
    return true;
}

/// The cost of changing each setting, measured on frames that change it: the median over its options, each changed from
/// the one before it.
SwitchBurdens measure_changes(Renderer& renderer, const SceneFrame& frame) {
    SwitchBurdens found{};
    FrameTimes times;
    for (const SettingIndex s : settings_that_take_memory) {
        std::vector<double> samples;
        for (int round = 0; round < rounds; ++round)
            for (std::size_t option = 0; option < settings[s].option_count; ++option) {
                FrameTag tag;
                tag.choices = choices_at(1);
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

} // namespace

Calibration calibrate(Renderer& renderer, const Scene& scene, const std::function<bool(double)>& progress) {
    const std::array<SceneFrame, weight_count> frames{scene.frame_of_weight({fewest_objects, 0}, renderer.aspect()),
                                                      scene.frame_of_weight({most_objects, 0}, renderer.aspect())};
    const SceneFrame worst = scene.frame_of_weight({most_objects, 1}, renderer.aspect());
    std::vector<Stretch> stretches;
    for (std::size_t level = 0; level < max_options; ++level)
        for (const SceneFrame& frame : frames) stretches.push_back({frame, choices_at(level), {}});
    const std::size_t first_worst = stretches.size();
    stretches.push_back({worst, lowest_choices, {}});
    stretches.push_back({worst, highest_choices, {}});
    const std::size_t first_antialiased = stretches.size();
    for (std::size_t option = 0; option < settings[antialiasing].option_count; ++option) {
        Choices choices = choices_at(2);
        choices[antialiasing] = option;
        stretches.push_back({frames[heavy], choices, {}});
    }
    for (float mist : {0.2f, 0.4f, 0.6f}) // only to compile the programs of the mist
        stretches.push_back({scene.frame_of_weight({fewest_objects, mist}, renderer.aspect()), lowest_choices, {}});

    Calibration result;
    result.antialiasing_factors.fill(1);
    if (!measure(renderer, stretches, progress)) return result;
    result.switch_ms = measure_changes(renderer, frames[light]);

    for (std::size_t option = 1; option < settings[antialiasing].option_count; ++option)
        result.antialiasing_factors[option] = std::max(1.0, geometry_ms(stretches[first_antialiased + option]) /
                                                                geometry_ms(stretches[first_antialiased]));
    const auto burdens = [&](const FrameTimes& times) { return burdens_of(times, result.antialiasing_factors); };
    for (std::size_t level = 0; level < max_options; ++level)
        for (std::size_t weight = 0; weight < weight_count; ++weight) {
            const Stretch& stretch = stretches[level * weight_count + weight];
            for (std::size_t s = 0; s < setting_count; ++s)
                if (level < settings[s].option_count)
                    result.option_ms[weight][s][level] =
                        median_of(stretch, [&](const FrameTimes& t) { return burdens(t).setting_ms[s]; });
            result.rest_ms[weight] = median_of(stretch, [&](const FrameTimes& t) { return burdens(t).rest_ms; });
        }
    for (std::size_t weight = 0; weight < weight_count; ++weight) {
        result.lowest_ms[weight] = total_ms(stretches[weight]);
        result.highest_ms[weight] = total_ms(stretches[(max_options - 1) * weight_count + weight]);
    }
    result.lowest_worst_ms = total_ms(stretches[first_worst]);
    result.highest_worst_ms = total_ms(stretches[first_worst + 1]);
    result.mist_ms = median_of(stretches[first_worst + 1], [](const FrameTimes& t) { return t.pass_ms[pass_mist]; });
    return result;
}

double Calibration::predicted_ms(const Choices& choices, const Weight& weight) const {
    const double crowd = static_cast<double>(weight.objects - fewest_objects) / (most_objects - fewest_objects);
    double sum = mist_ms * mist_work_of(weight);
    for (std::size_t w = 0; w < weight_count; ++w) {
        const double part = w == heavy ? crowd : 1 - crowd;
        sum += part * rest_ms[w];
        for (std::size_t s = 0; s < setting_count; ++s) sum += part * option_ms[w][s][choices[s]];
    }
    return sum;
}

std::string describe(const Calibration& calibration) {
    std::string text;
    std::array<char, 160> line;
    const auto add = [&](auto... arguments) {
        std::snprintf(line.data(), line.size(), arguments...);
        text += line.data();
    };
    add("  %-24s %10s %10s %8s\n", "ms per frame at", "300 obj.", "3000 obj.", "value");
    for (std::size_t s = 0; s < setting_count; ++s)
        for (std::size_t option = 0; option < settings[s].option_count; ++option)
            add("  %-13s %-10s %10.2f %10.2f %8.0f\n", option == 0 ? settings[s].name : "",
                settings[s].options[option].name, calibration.option_ms[light][s][option],
                calibration.option_ms[heavy][s][option], static_cast<double>(settings[s].options[option].value));
    add("  %-24s %10.2f %10.2f\n", "mist (when it is there)", calibration.mist_ms, calibration.mist_ms);
    add("  %-24s %10.2f %10.2f\n", "rest", calibration.rest_ms[light], calibration.rest_ms[heavy]);
    add("  %-24s %10.2f %10.2f %8.0f\n", "fixed lowest, whole frame", calibration.lowest_ms[light],
        calibration.lowest_ms[heavy], static_cast<double>(value_of(lowest_choices)));
    add("  %-24s %10.2f %10.2f %8.0f\n", "fixed highest", calibration.highest_ms[light], calibration.highest_ms[heavy],
        static_cast<double>(value_of(highest_choices)));
    for (const SettingIndex s : settings_that_take_memory)
        add("  changing %-15s %10.2f\n", settings[s].name, calibration.switch_ms[s]);
    add("  at worst (3000 objects and mist): lowest %.2f, highest %.2f\n", calibration.lowest_worst_ms,
        calibration.highest_worst_ms);
    return text;
}

std::vector<Choices> ladder_by_value(const Calibration& calibration) {
    std::vector<Choices> ladder{lowest_choices};
    while (ladder.back() != highest_choices) {
        Choices best{};
        double best_rate = -1;
        for (std::size_t s = 0; s < setting_count; ++s) {
            Choices next = ladder.back();
            if (++next[s] == settings[s].option_count) continue;
            const double cost = calibration.predicted_ms(next, {most_objects, 0}) -
                                calibration.predicted_ms(ladder.back(), {most_objects, 0});
            const double rate = static_cast<double>(value_of(next) - value_of(ladder.back())) / std::max(cost, 0.01);
            if (rate > best_rate) {
                best_rate = rate;
                best = next;
            }
        }
        ladder.push_back(best);
    }
    return ladder;
}

std::vector<Choices> promising_configurations(const Calibration& calibration, double budget_ms, double late_part) {
    std::vector<Choices> all{lowest_choices};
    for (std::size_t s = 0; s < setting_count; ++s) {
        const std::size_t count = all.size();
        for (std::size_t option = 1; option < settings[s].option_count; ++option)
            for (std::size_t i = 0; i < count; ++i) {
                all.push_back(all[i]);
                all.back()[s] = option;
            }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Choices& a, const Choices& b) { return value_of(a) > value_of(b); });

    std::vector<Choices> found;
    constexpr int moments = 400;
    const int most_late = static_cast<int>(late_part * moments);
    for (double spare : {1.0, 0.93, 0.86, 0.78, 0.7}) {
        const auto holds = [&](const Choices& choices) {
            int late = 0;
            for (int i = 0; i < moments; ++i)
                if (calibration.predicted_ms(choices, weight_at((static_cast<float>(i) + 0.5f) / moments)) >
                        budget_ms * spare &&
                    ++late > most_late)
                    return false;
            return true;
        };
        const auto best = std::find_if(all.begin(), all.end(), holds);
        if (best != all.end() && std::find(found.begin(), found.end(), *best) == found.end()) found.push_back(*best);
    }
    return found;
}

} // namespace frame_budget
