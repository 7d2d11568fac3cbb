// The drop-in: a driver that keeps its own shader cache through two function pointers gets ours.
#pragma once

#include "cache.h"
#include "result.h"

namespace program_cache_gl {

/// Throws std::runtime_error when the driver does not offer it.
void bind_egl_blobs(Cache& cache, trials::GlContext& context);

/// Stores the counts of the driver's calls.
void count_egl_blobs(StepResult& result);

} // namespace program_cache_gl
