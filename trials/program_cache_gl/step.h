// One pass over all programs in this process, each from the cache or from the compiler.
#pragma once

#include "options.h"
#include "result.h"

namespace program_cache_gl {

/// Throws std::runtime_error when there is no GL driver, or the cache's directory cannot be used.
StepResult run_step(const Options& options);

} // namespace program_cache_gl
