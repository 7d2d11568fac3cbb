// program_cache_gl: GLSL programs on a real GL driver, compiled once and never again. The trial (trial.cpp) runs this
// same program again and again as new processes. Each process goes through all programs once (step.cpp): cold, warm,
// with another driver, over a damaged cache, or killed inside the driver. See --help (options.cpp) for the flags.
#include <cstdio>
#include <stdexcept>

#include "../common/fields.h"
#include "../common/files.h"
#include "../common/interrupt.h"
#include "report.h"
#include "step.h"
#include "trial.h"

namespace program_cache_gl {

namespace {

void run_one_step(const Options& options) {
    const StepResult result = run_step(options);
    if (!options.result_file.empty()) {
        trials::write_file(options.result_file, trials::to_text(result));
        return;
    }
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

bool run_trial(const Options& options, const char* self) {
    greet_driver(options);
    return Trial(options, self).run();
}

} // namespace

} // namespace program_cache_gl

int main(int argument_count, char** arguments) {
    using namespace program_cache_gl;
    try {
        const Options options = parse_options(argument_count, arguments);
        if (options.help) {
            std::fputs(usage, stdout);
            return 0;
        }
        if (options.list_devices) {
            for (const std::string& line : trials::list_gl_devices()) std::puts(line.c_str());
            return 0;
        }
        trials::watch_for_interrupt();
        if (!options.step.empty()) {
            run_one_step(options);
            return 0;
        }
        return run_trial(options, arguments[0]) ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "program_cache_gl: %s\n", error.what());
        return 1;
    }
}
