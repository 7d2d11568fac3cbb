// One run through all programs: the library's manager decides when to compile, link and load.
#pragma once

#include "options.h"
#include "result.h"

namespace program_cache_gl {

/// Throws std::runtime_error when the cache cannot be used.
StepResult run_managed_step(const Options& options, Driver& driver);

} // namespace program_cache_gl
