// program_cache_vk: compute shaders on a real Vulkan driver, whose compiled form is kept. Pipelines go into a
// VkPipelineCache, which is one entry. Shader objects (VK_EXT_shader_object) are one entry each. The trial (trial.cpp)
// runs this same program again and again as new processes. Each process goes through all shaders once (step.cpp). See
// --help (options.cpp) for the flags.
#include "../common/program.h"
#include "../common/vulkan.h"
#include "report.h"
#include "step.h"
#include "trial.h"

namespace program_cache_vk {

namespace {

void run_one_step(const Options& options) {
    const StepResult result = run_step(options);
    if (trials::wrote_result(options, result)) return;
    print_head();
    print_row(result);
}

bool run_trial(const Options& options, const std::string& self) { return Trial(options, self).run(); }

} // namespace

} // namespace program_cache_vk

int main(int count, char** arguments) {
    using namespace program_cache_vk;
    const trials::Program<Options> program{"program_cache_vk", usage, parse_options, trials::Vulkan::list, run_one_step,
                                           run_trial};
    return program.run(count, arguments);
}
