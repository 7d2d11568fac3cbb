// The rooms that work inside a frame: goblin, balance, knapsack, profile, executor, graph, perception; and panics. MIT OR Apache-2.0.
#pragma once

#include "run.h"

namespace no_memory {

void play_goblin(Run& run);
void play_recording(Run& run);
void play_balance(Run& run);
void play_knapsack(Run& run);
void play_profile(Run& run);
void play_executor(Run& run);
void play_host_jobs(Run& run);
void play_graph(Run& run);
void play_perception(Run& run);
void play_panics(Run& run);

}  // namespace no_memory
