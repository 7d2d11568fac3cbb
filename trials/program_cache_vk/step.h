// One run through all kernels.
#pragma once

#include "options.h"
#include "result.h"

namespace program_cache_vk {

/// Throws std::runtime_error when there is no Vulkan device, or when the driver fails.
StepResult run_step(const Options& options);

} // namespace program_cache_vk
