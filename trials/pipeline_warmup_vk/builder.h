// A builder for `hob pipelines replay`.
#pragma once

#include "options.h"

namespace pipeline_warmup_vk {

/// Compiles the pipelines that come on standard input, until it ends.
/// docs/replay.md has the protocol.
/// Throws std::runtime_error when there is no Vulkan device, or when the input breaks the protocol.
void run_builder(const Options& options);

} // namespace pipeline_warmup_vk
