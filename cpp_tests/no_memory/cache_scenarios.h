// The program cache: memory, disk, bundles, strikes, the manager, and a host's file system. MIT OR Apache-2.0.
#pragma once

#include "run.h"

namespace no_memory {

void play_fingerprints(Run& run);
void play_memory_cache(Run& run);
void play_disk_cache(Run& run);
void play_background_cache(Run& run);
void play_host_files(Run& run);
void play_strikes(Run& run);
void play_troubled_cache(Run& run);
void play_bundles(Run& run);
void play_manager(Run& run);

}  // namespace no_memory
