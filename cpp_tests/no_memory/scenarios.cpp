// The list of scenarios.
#include "cache_scenarios.h"
#include "frame_scenarios.h"

namespace no_memory {

const Scenario scenarios[] = {
    {"goblin", &play_goblin},
    {"recording", &play_recording},
    {"balance", &play_balance},
    {"knapsack", &play_knapsack},
    {"profile", &play_profile},
    {"executor", &play_executor},
    {"host_jobs", &play_host_jobs},
    {"panics", &play_panics},
    {"graph", &play_graph},
    {"perception", &play_perception},
    {"fingerprints", &play_fingerprints},
    {"memory_cache", &play_memory_cache},
    {"disk_cache", &play_disk_cache},
    {"background_cache", &play_background_cache},
    {"host_files", &play_host_files},
    {"strikes", &play_strikes},
    {"troubled_cache", &play_troubled_cache},
    {"bundles", &play_bundles},
    {"manager", &play_manager},
};
const int scenario_count = sizeof scenarios / sizeof scenarios[0];

}  // namespace no_memory
