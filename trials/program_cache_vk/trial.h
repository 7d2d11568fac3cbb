// The whole trial: cold runs, warm ones, and the accidents in between.
#pragma once

#include <string>
#include <vector>

#include "../common/verdict.h"
#include "../common/work_directory.h"
#include "options.h"
#include "result.h"

namespace program_cache_vk {

class Trial {
public:
    Trial(const Options& options, const std::string& self);
    /// Runs the trial and prints its progress; whether all targets are met.
    bool run();

private:
    struct Stopped {}; ///< Thrown on Ctrl-C.

    void run_pipelines();
    void spoil_pipeline_cache();
    void kill_in_driver(const std::string& name, const std::string& from, const std::vector<std::string>& flags,
                        const std::string& banned);
    void run_shader_objects();
    void warm_up(const StepResult& cold);
    void damage_shaders();
    void spoil_shaders();

    /// Runs a step in a new process, prints its row and keeps its result.
    StepResult step(const std::string& name, const std::string& directory, const std::vector<std::string>& flags = {});
    std::string fresh_copy(const std::string& directory);
    void target(const std::string& sentence, bool is_met, const std::string& found = {});

    Options options;
    std::string self;
    trials::WorkDirectory work;
    std::string directory; ///< Of the cold runs.
    std::size_t copies = 0, steps = 0;
    std::vector<StepResult> results;
    std::vector<trials::Target> targets;
};

} // namespace program_cache_vk
