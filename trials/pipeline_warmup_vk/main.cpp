// pipeline_warmup_vk: the pipelines of a game on a real Vulkan driver, recorded in one run and compiled ahead in the
// next. The trial (trial.cpp) runs this same program as new processes, with the tool `hob` between them. Each process
// goes through the scene once (step.cpp), or compiles the pipelines that `hob pipelines replay` sends (builder.cpp).
// pipelines.cpp holds the code that a host has to write. See --help (options.cpp) for the flags.
#include "../common/program.h"
#include "../common/vulkan.h"
#include "builder.h"
#include "report.h"
#include "step.h"
#include "trial.h"

namespace pipeline_warmup_vk {

namespace {

void run_in_process(const Options& options) {
    if (options.is_builder) {
        run_builder(options);
        return;
    }
    const StepResult result = run_step(options);
    if (trials::wrote_result(options, result)) return;
    print_head();
    print_row(result);
}

bool run_trial(const Options& options, const std::string& self) { return Trial(options, self).run(); }

} // namespace

} // namespace pipeline_warmup_vk

int main(int count, char** arguments) {
    using namespace pipeline_warmup_vk;
    const trials::Program<Options> program{"pipeline_warmup_vk", usage, parse_options, trials::Vulkan::list, run_in_process,
                                           run_trial};
    return program.run(count, arguments);
}
