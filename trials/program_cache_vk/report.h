// The table.
#pragma once

#include "result.h"

namespace program_cache_vk {

void print_head();
void print_row(const StepResult& result);

} // namespace program_cache_vk
