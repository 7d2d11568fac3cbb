// Goblins for tests: samples for the latest choice, and lessons until every option is known. MIT OR Apache-2.0.
#pragma once

#include <limits>
#include <vector>

#include "support.h"

namespace support {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr hob_setting_id none = {0, 0};

inline void measure(hob_goblin* goblin, uint64_t decision, hob_setting_id setting, double burden) {
    ENSURE_OK(hob_goblin_measure(goblin, decision, setting, HOB_LANE_GPU, burden, HOB_SAMPLE_QUALITY_OK));
}

/// Decides and measures until every option of a setting is known.
///
/// Option n costs `burdens[n]`.
inline void teach(hob_goblin* goblin, hob_setting_id setting, const std::vector<double>& burdens, int samples = 40) {
    for (int n = 0; n < samples; ++n) {
        for (uint32_t option = 0; option < burdens.size(); ++option) {
            (void)update(goblin);
            ENSURE_OK(hob_goblin_report_applied(goblin, HOB_DECISION_LATEST, setting, option));
            measure(goblin, HOB_DECISION_LATEST, setting, burdens[option]);
        }
    }
}

}  // namespace support
