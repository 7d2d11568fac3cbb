// pipeline_warmup_vk: the pipelines of a game on a real Vulkan driver, recorded in one run and compiled ahead in the
// next. The trial (trial.cpp) runs this same program as new processes, with the tool `hob` between them. Each process
// goes through the scene once (step.cpp). pipelines.cpp holds the code that a host has to write. See --help (options.cpp)
// for the flags.
#include <cstdio>
#include <stdexcept>

#include "../common/fields.h"
#include "../common/files.h"
#include "../common/interrupt.h"
#include "../common/vulkan.h"
#include "report.h"
#include "step.h"
#include "trial.h"

namespace pipeline_warmup_vk {

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

} // namespace pipeline_warmup_vk

int main(int argument_count, char** arguments) {
    using namespace pipeline_warmup_vk;
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
        std::fprintf(stderr, "pipeline_warmup_vk: %s\n", error.what());
        return 1;
    }
}
