// The table, the verdict and the JSON.
#pragma once

#include <string>
#include <vector>

#include "result.h"

namespace program_cache_gl {

struct Target {
    std::string sentence;
    bool is_met = false;
    std::string found; ///< What was found, where a number says more than yes or no.
};

void print_head(bool egl_blob_cache);
void print_row(const StepResult& result, bool egl_blob_cache);

/// Whether all are met.
bool print_verdict(const std::vector<Target>& targets);

/// Throws std::runtime_error when the file cannot be written.
void write_json(const std::string& path, const std::vector<StepResult>& results, const std::vector<Target>& targets);

} // namespace program_cache_gl
