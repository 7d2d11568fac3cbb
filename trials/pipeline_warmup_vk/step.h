// One run through the scene.
#pragma once

#include "options.h"
#include "result.h"

namespace pipeline_warmup_vk {

/// Throws std::runtime_error when there is no Vulkan device, or when the driver fails.
StepResult run_step(const Options& options);

} // namespace pipeline_warmup_vk
