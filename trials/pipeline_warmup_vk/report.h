// The table.
#pragma once

#include "result.h"

namespace pipeline_warmup_vk {

void print_head();
void print_row(const StepResult& result);

} // namespace pipeline_warmup_vk
