// Tests of invalid input: extreme numbers, and a goblin whose visible state must not change. MIT OR Apache-2.0.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "support.h"

namespace support {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline const double nan_value = std::nan("");
inline constexpr uint32_t huge = UINT32_MAX;

/// The visible state of a goblin, without the count of refused samples.
inline std::string state(const hob_goblin* goblin, hob_setting_id setting) {
    hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
    ENSURE_OK(hob_goblin_get_desc(goblin, &desc));
    hob_goblin_statistics found = statistics(goblin);
    found.refused = 0;
    found.memory_used = 0;
    std::string all = saved(goblin);
    all.append(reinterpret_cast<const char*>(&desc), sizeof desc);
    all.append(reinterpret_cast<const char*>(&found), sizeof found);
    return all + std::to_string(hob_goblin_choice(goblin, setting)) + std::to_string(estimate(goblin, setting, 1).mean);
}

/// A goblin with some estimates, and a check of refused calls.
struct Fixture {
    Goblin goblin = make_goblin(16);
    hob_setting_id setting = add_array(goblin.get(), "shadows", {0, 4});

    Fixture() {
        for (int n = 0; n < 20; ++n) {
            (void)update(goblin.get());
            ENSURE_OK(hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, setting, HOB_LANE_GPU, 2, HOB_SAMPLE_QUALITY_OK));
        }
    }

    /// Expects this result and a message with `part`, without a visible change.
    template <class Make>
    void refuses(hob_result expected, std::string_view part, const Make& make) const {
        const std::string before = state(goblin.get(), setting);
        const hob_result result = make(goblin.get());
        if (result != expected || !last_error_has(part)) {
            const std::string what = std::string("gave ") + hob_result_name(result) + ", not " +
                                     hob_result_name(expected) + " with '" + std::string(part) + "'";
            harness::note(__FILE__, __LINE__, what.c_str());
        }
        ENSURE(state(goblin.get(), setting) == before);
    }
};

inline hob_result add(hob_goblin* goblin, const hob_setting_desc& desc) {
    hob_setting_id id = {0, 0};
    const hob_result result = hob_goblin_add_setting(goblin, &desc, &id);
    EXPECT(id.index1 == 0);
    return result;
}

inline const auto options_of_two = worth({0, 1});

}  // namespace support
