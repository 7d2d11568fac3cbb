// The whole trial: a run that records, the tools that build the shipped cache, runs that use it, and its replay.
#pragma once

#include <string>
#include <vector>

#include "../common/verdict.h"
#include "../common/work_directory.h"
#include "options.h"
#include "result.h"

namespace pipeline_warmup_vk {

class Trial {
public:
    Trial(const Options& options, const std::string& self);
    /// Runs the trial and prints its progress; whether all targets are met.
    bool run();

private:
    struct Stopped {}; ///< Thrown on Ctrl-C.

    StepResult record();
    void build_cache();
    StepResult precompile(const StepResult& recorded);
    void play_again(const StepResult& recorded, const StepResult& precompiled);
    void request_all();
    void replay(const StepResult& recorded);
    void compare();

    /// Runs a step in a new process, prints its row and keeps its result.
    StepResult step(const std::string& name, const std::vector<std::string>& flags);
    /// Runs `hob`. Throws std::runtime_error when it does not end with `status`.
    void tool(const std::vector<std::string>& arguments, int status = 0);
    std::string file(const std::string& name) const { return work.path() + "/" + name; }
    void target(const std::string& sentence, bool is_met, const std::string& found = {});

    Options options;
    std::string self;
    trials::WorkDirectory work;
    std::size_t steps = 0;
    std::vector<StepResult> results;
    std::vector<trials::Target> targets;
};

} // namespace pipeline_warmup_vk
