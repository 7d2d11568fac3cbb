// The table.
#pragma once

#include "result.h"

namespace program_cache_gl {

void print_head(bool egl_blob_cache);
void print_row(const StepResult& result, bool egl_blob_cache);

} // namespace program_cache_gl
