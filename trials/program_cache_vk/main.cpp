// program_cache_vk: compute shaders on a real Vulkan driver, whose compiled form is kept. Pipelines go into a
// VkPipelineCache, which is one entry. Shader objects (VK_EXT_shader_object) are one entry each. The trial (trial.cpp)
// runs this same program again and again as new processes. Each process goes through all shaders once (step.cpp). See
// --help (options.cpp) for the flags.
#include <cstdio>
#include <stdexcept>

#include "../common/fields.h"
#include "../common/files.h"
#include "../common/interrupt.h"
#include "../common/vulkan.h"
#include "report.h"
#include "step.h"
#include "trial.h"

namespace program_cache_vk {

namespace {

void run_one_step(const Options& options) {
    const StepResult result = run_step(options);
    if (!options.result_file.empty()) {
        trials::write_file(options.result_file, trials::to_text(result));
        return;
    }
    print_head();
    print_row(result);
}

} // namespace

} // namespace program_cache_vk

int main(int argument_count, char** arguments) {
    using namespace program_cache_vk;
    try {
        const Options options = parse_options(argument_count, arguments);
        if (options.help) {
            std::fputs(usage, stdout);
            return 0;
        }
        if (options.list_devices) {
            for (const std::string& line : trials::Vulkan::list()) std::puts(line.c_str());
            return 0;
        }
        trials::watch_for_interrupt();
        if (!options.step.empty()) {
            run_one_step(options);
            return 0;
        }
        return Trial(options, arguments[0]).run() ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "program_cache_vk: %s\n", error.what());
        return 1;
    }
}
