// program_cache_gl: GLSL programs on a real GL driver, compiled once and never again. The trial (trial.cpp) runs this
// same program again and again as new processes. Each process goes through all programs once (step.cpp): cold, warm,
// with another driver, over a damaged cache, or killed inside the driver. See --help (options.cpp) for the flags.
#include <cstdio>
#include <stdexcept>

#include "../common/program.h"
#include "report.h"
#include "step.h"
#include "trial.h"

namespace program_cache_gl {

namespace {

void run_one_step(const Options& options) {
    const StepResult result = run_step(options);
    if (trials::wrote_result(options, result)) return;
    print_head(options.egl_blob_cache);
    print_row(result, options.egl_blob_cache);
}

/// Prints the driver. It only has to exist here: each step of the trial opens the driver again.
void greet_driver(const Options& options) {
    const Driver driver(options.device, !options.egl_blob_cache);
    const trials::GlContext& context = driver.gl_context();
    std::printf("%s\n", context.description.c_str());
    std::fflush(stdout);
    if (options.egl_blob_cache && !context.offers_blob_cache())
        throw std::runtime_error("this EGL does not offer EGL_ANDROID_blob_cache on this display "
                                 "(Mesa 22 does on graphics cards, Mesa 25 in software too)");
}

bool run_trial(const Options& options, const std::string& self) {
    greet_driver(options);
    return Trial(options, self).run();
}

} // namespace

} // namespace program_cache_gl

int main(int count, char** arguments) {
    using namespace program_cache_gl;
    const trials::Program<Options> program{"program_cache_gl", usage, parse_options, trials::list_gl_devices, run_one_step,
                                           run_trial};
    return program.run(count, arguments);
}
