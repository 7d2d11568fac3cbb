// The names of Vulkan, as this trial uses them.
#pragma once

#include "../common/vulkan.h"

namespace program_cache_vk {

using namespace trials; // NOLINT: all names of Vulkan begin with Vk

} // namespace program_cache_vk
