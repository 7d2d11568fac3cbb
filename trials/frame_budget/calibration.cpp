#include "calibration.h"

#include "measuring.h"

namespace frame_budget {

namespace {

/// Three frames a visit; a slow machine gets two rounds.
constexpr Effort effort{2, 6, 10, 3};

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

/// Configurations that show each option's cost, since each setting has passes of its own. Only resolution has more
/// options than there are levels; the costs of those between are interpolated.
constexpr std::size_t steps_measured = 4;

/// Every setting at `level` of `steps_measured`, spread over its options.
Choices choices_at(std::size_t level) {
    Choices choices;
    for (std::size_t s = 0; s < setting_count; ++s)
        choices[s] = (level * (settings[s].option_count - 1) + 1) / (steps_measured - 1);
    return choices;
}

} // namespace

Calibration calibrate(Renderer& renderer, const Scene& scene, const std::function<bool(double)>& progress) {
    const std::array<SceneFrame, weight_count> frames{scene.frame_of_weight({fewest_objects, 0}, renderer.aspect()),
                                                      scene.frame_of_weight({most_objects, 0}, renderer.aspect())};
    const SceneFrame worst = scene.frame_of_weight({most_objects, 1}, renderer.aspect());
    std::vector<Stretch> stretches;
    for (std::size_t level = 0; level < steps_measured; ++level)
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
    if (!measure(renderer, stretches, effort, progress)) return result;
    result.switch_ms = measure_changes(renderer, frames[light]);

    for (std::size_t option = 1; option < settings[antialiasing].option_count; ++option)
        result.antialiasing_factors[option] = std::max(1.0, geometry_ms(stretches[first_antialiased + option]) /
                                                                geometry_ms(stretches[first_antialiased]));
    const auto burdens = [&](const FrameTimes& times) { return burdens_of(times, result.antialiasing_factors); };
    for (std::size_t level = 0; level < steps_measured; ++level)
        for (std::size_t weight = 0; weight < weight_count; ++weight) {
            const Stretch& stretch = stretches[level * weight_count + weight];
            for (std::size_t s = 0; s < setting_count; ++s)
                result.option_ms[weight][s][stretch.choices[s]] =
                    median_of(stretch, [&](const FrameTimes& t) { return burdens(t).setting_ms[s]; });
            result.rest_ms[weight] = median_of(stretch, [&](const FrameTimes& t) { return burdens(t).rest_ms; });
        }
    for (auto& of_settings : result.option_ms)
        for (std::size_t level = 0; level + 1 < steps_measured; ++level) {
            const std::size_t low = choices_at(level)[resolution], high = choices_at(level + 1)[resolution];
            auto& ms = of_settings[resolution];
            for (std::size_t option = low + 1; option < high; ++option)
                ms[option] = ms[low] + (ms[high] - ms[low]) * static_cast<double>(option - low) / static_cast<double>(high - low);
        }
    for (std::size_t weight = 0; weight < weight_count; ++weight) {
        result.lowest_ms[weight] = total_ms(stretches[weight]);
        result.highest_ms[weight] = total_ms(stretches[(steps_measured - 1) * weight_count + weight]);
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

std::size_t highest_step_within(const std::vector<Choices>& ladder, const Calibration& calibration, double budget_ms,
                                double late_part, Script script) {
    constexpr int moments = 400;
    const auto late_at = [&](const Choices& choices) {
        int late = 0;
        for (int i = 0; i < moments; ++i) {
            const Weight weight = weight_at(script, (static_cast<float>(i) + 0.5f) / moments);
            late += calibration.predicted_ms(choices, weight) > budget_ms ? 1 : 0;
        }
        return late;
    };
    std::size_t step = ladder.size() - 1;
    while (step > 0 && late_at(ladder[step]) > static_cast<int>(late_part * moments)) --step;
    return step;
}

} // namespace frame_budget
