// goblin.h with product settings: resolution and samples in one setting, learned through their shared factors.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "support.h"

using namespace support;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr hob_setting_id none = {0, 0};

/// Resolutions with known megapixels. The cost of samples must be measured.
const std::vector<double> megapixels = {0.5, 1, 2, 4}, of_resolution = {0, 5, 8, 10};
const std::vector<double> of_samples = {0, 3, 5}, ms_per_megapixel = {1, 1.75, 3};

hob_setting_id add_product(hob_goblin* goblin, uint32_t flags = 0) {
    const auto count = [](const std::vector<double>& list) { return static_cast<uint32_t>(list.size()); };
    const hob_product_axis axes[] = {{of_resolution.data(), megapixels.data(), count(of_resolution), 1},
                                     {of_samples.data(), nullptr, count(of_samples), 0}};
    hob_product_desc desc = HOB_PRODUCT_DESC_INIT;
    desc.id = HOB_STR("picture");
    desc.axes = axes;
    desc.axis_stride = sizeof axes[0];
    desc.axis_count = 2;
    desc.flags = flags;
    hob_setting_id setting = none;
    ENSURE_OK(hob_goblin_add_product(goblin, &desc, &setting));
    return setting;
}

struct Picture {
    uint32_t resolution, samples;
    double value() const { return of_resolution[resolution] + of_samples[samples]; }
    double burden() const { return megapixels[resolution] * ms_per_megapixel[samples]; }
};

Picture picture(const hob_goblin* goblin, hob_setting_id setting, uint32_t choice) {
    return {hob_goblin_product_index(goblin, setting, choice, 0), hob_goblin_product_index(goblin, setting, choice, 1)};
}

uint32_t choice_at(const hob_goblin* goblin, hob_setting_id setting, uint32_t resolution, uint32_t samples) {
    const uint32_t indices[] = {resolution, samples};
    uint32_t choice = 99;
    ENSURE_OK(hob_goblin_get_product_choice(goblin, setting, indices, 2, &choice));
    return choice;
}

double best_value(double limit) {
    double best = -infinity;
    for (uint32_t n = 0; n < 12; ++n) {
        const Picture one = {n / 3, n % 3};
        if (one.burden() <= limit) best = std::max(best, one.value());
    }
    return best;
}

}  // namespace

TEST("goblin: a product begins at its default with choices numbered as documented") {
    const Goblin goblin = make_goblin(10);
    const hob_setting_id setting = add_product(goblin.get());
    const Picture first = picture(goblin.get(), setting, hob_goblin_choice(goblin.get(), setting));
    ENSURE(first.resolution == 1 && first.samples == 0);
    for (uint32_t choice = 0; choice < 12; ++choice) {
        // The axis of samples is measured, so it is outermost.
        const Picture one = picture(goblin.get(), setting, choice);
        ENSURE(one.samples == choice / 4 && one.resolution == choice % 4);
        ENSURE(choice_at(goblin.get(), setting, one.resolution, one.samples) == choice);
    }
}

TEST("goblin: a product is decided as the table of all its combinations") {
    const Goblin goblin = make_goblin(exact(10));
    Knowledge().add("picture", ms_per_megapixel).add("s", {1, 2}).give(goblin.get());
    const hob_setting_id product = add_product(goblin.get()), other = add_array(goblin.get(), "s", {0, 2});
    for (double limit = 1.5; limit < 16; limit += 0.25) {
        set_desc(goblin.get(), exact(limit));
        const hob_decision_details decision = update_details(goblin.get());
        ENSURE(decision.feasible == 1 && decision.value == std::max(best_value(limit - 1), best_value(limit - 2) + 2));
        const Picture chosen = picture(goblin.get(), product, hob_goblin_choice(goblin.get(), product));
        const double burden = chosen.burden() + 1 + hob_goblin_choice(goblin.get(), other);
        ENSURE(close(decision.lanes[HOB_LANE_GPU].mean, burden) && burden <= limit);
    }
}

TEST("goblin: a burden measured at one resolution predicts the others") {
    const Goblin goblin = make_goblin(exact(100));
    const hob_setting_id product = add_product(goblin.get());
    for (uint32_t samples = 0; samples < 3; ++samples) {
        (void)update(goblin.get());
        const Picture one = {2, samples};
        ENSURE_OK(hob_goblin_report_applied(goblin.get(), HOB_DECISION_LATEST, product, choice_at(goblin.get(), product, 2, samples)));
        ENSURE_OK(hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, product, HOB_LANE_GPU, one.burden(), HOB_SAMPLE_QUALITY_OK));
    }
    for (uint32_t choice = 0; choice < 12; ++choice) {
        const hob_estimate found = estimate(goblin.get(), product, choice);
        ENSURE(close(found.mean, picture(goblin.get(), product, choice).burden()) && found.count == 1);
    }
    const Profile kept = make_profile(saved(goblin.get()));
    ENSURE(hob_profile_task_count(kept.get()) == 1 && close(known(kept.get(), "picture", 2).mean, 3));
    hob_estimate beyond = HOB_ESTIMATE_INIT;
    ENSURE(hob_profile_get_estimate(kept.get(), HOB_STR("picture"), 3, &beyond) == HOB_RESULT_NOT_FOUND);
}

TEST("goblin: a product of twelve combinations is learned from three trials") {
    Budget budget = tunable(6.5);
    budget.tuning.sigmas = no_sigmas;
    const Goblin goblin = make_goblin(budget);
    const hob_setting_id product = add_product(goblin.get());
    uint32_t trials = 0;
    double over = 0;
    hob_decision decision = HOB_DECISION_INIT;
    for (int n = 0; n < 300; ++n) {
        decision = update(goblin.get());
        const Picture now = picture(goblin.get(), product, hob_goblin_choice(goblin.get(), product));
        ENSURE_OK(hob_goblin_measure(goblin.get(), decision.id, product, HOB_LANE_GPU, now.burden(), HOB_SAMPLE_QUALITY_OK));
        trials += decision.trial_count;
        over += now.burden() > 6.5 ? 1 : 0;
    }
    ENSURE(decision.value == best_value(6.5) && over <= 3);
    // At most three samples of each cell that the first choice does not have, and a few more.
    ENSURE(trials <= 9);
    for (uint32_t choice = 0; choice < 12; ++choice) {
        const hob_estimate found = estimate(goblin.get(), product, choice);
        ENSURE(close(found.mean, picture(goblin.get(), product, choice).burden(), 1e-6) && found.count > 0);
    }
}

TEST("goblin: a product with replaced values keeps its works and its count") {
    const Goblin goblin = make_goblin(exact(8));
    Knowledge().add("picture", ms_per_megapixel).give(goblin.get());
    const hob_setting_id product = add_product(goblin.get());
    std::vector<hob_option> options(12, hob_option{0, 0, 0, 0});
    const uint32_t favourite = choice_at(goblin.get(), product, 2, 2);
    options[favourite].value = 7;
    ENSURE_OK(hob_goblin_set_options(goblin.get(), product, options.data(), sizeof options[0], 12));
    ENSURE(update(goblin.get()).value == 7 && hob_goblin_choice(goblin.get(), product) == favourite);
    ENSURE(close(estimate(goblin.get(), product, favourite).mean, 6));
    for (const uint32_t count : {0u, 11u}) {
        ENSURE(hob_goblin_set_options(goblin.get(), product, options.data(), sizeof options[0], count) ==
               HOB_RESULT_INVALID_ARGUMENT);
        ENSURE(last_error_has("a product keeps its 12 combinations"));
    }
    ENSURE_OK(hob_goblin_set_ready(goblin.get(), product, favourite, 0));
    ENSURE(update(goblin.get()).value == 0 && hob_goblin_choice(goblin.get(), product) != favourite);
}

TEST("goblin: a product can be pinned, scaled by work, and used as the trim") {
    Budget budget = exact(8);
    budget.desc.patience = 1;
    const Goblin goblin = make_goblin(budget);
    Knowledge().add("picture", ms_per_megapixel).give(goblin.get());
    const hob_setting_id product = add_product(goblin.get(), HOB_SETTING_TRIM);
    for (const double work : {1.0, 2.0, 0.5, 1.25}) {
        ENSURE_OK(hob_goblin_set_work(goblin.get(), product, work));
        ENSURE(update(goblin.get()).value == best_value(8 / work));
        ENSURE(reason(goblin.get(), product).why == HOB_WHY_TRIM);
    }
    const uint32_t wished = choice_at(goblin.get(), product, 0, 1);
    ENSURE_OK(hob_goblin_pin(goblin.get(), product, wished));
    (void)update(goblin.get());
    ENSURE(hob_goblin_choice(goblin.get(), product) == wished);
}

TEST("goblin: without a common unit of work a product is a plain table") {
    const Goblin goblin = make_goblin(exact(5));
    const double values[] = {0, 1}, burdens[] = {1, 2, 3, 9};
    const hob_product_axis axes[] = {{values, nullptr, 2, 0}, {values, nullptr, 2, 0}};
    hob_product_desc desc = HOB_PRODUCT_DESC_INIT;
    desc.id = HOB_STR("table");
    desc.axes = axes;
    desc.axis_count = 2;
    hob_setting_id product = none;
    ENSURE_OK(hob_goblin_add_product(goblin.get(), &desc, &product));
    Knowledge().add("table", {burdens[0], burdens[1], burdens[2], burdens[3]}).give(goblin.get());
    for (uint32_t choice = 0; choice < 4; ++choice) {
        ENSURE(estimate(goblin.get(), product, choice).mean == burdens[choice]);
        ENSURE(hob_goblin_product_index(goblin.get(), product, choice, 0) == choice / 2);
    }
    ENSURE(update(goblin.get()).value == 1);
}
