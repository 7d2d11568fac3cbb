// The whole trial: a cold run, a warm one, and the accidents of a cache in between.
#pragma once

#include <string>
#include <vector>

#include "../common/verdict.h"
#include "../common/work_directory.h"
#include "options.h"
#include "result.h"

namespace program_cache_gl {

class Trial {
public:
    Trial(const Options& options, const std::string& self);
    /// Runs the trial and prints its progress; whether all targets are met.
    bool run();

private:
    struct Stopped {}; ///< Thrown on Ctrl-C.

    void run_program_binaries();
    void run_egl_blobs();

    StepResult run_cold();
    void warm_up();
    void change_driver();
    void change_driver_really();
    void damage();
    bool driver_checks_binaries() const;
    void damage_behind_cache();
    void kill_in_driver();
    void kill_elsewhere();
    void let_manager_work();

    /// Runs a step in a new process, prints its row and keeps its result.
    StepResult step(const std::string& name, const std::string& directory, const std::vector<std::string>& flags = {},
                    const std::vector<std::string>& environment = {});
    /// The flags that turn first draws on or off.
    /// First draws cost far more than links on a software driver: only the steps about draws turn them on.
    std::vector<std::string> draws(bool wanted) const;
    /// Copies the cold run's directory for the next accident.
    std::string fresh_copy();
    /// The name of a program that the driver compiles; `part` selects it, from 0 (the first) to 1.
    std::string some_program(double part) const;
    void target(const std::string& sentence, bool is_met, const std::string& found = {});

    Options options;
    std::string self;
    trials::WorkDirectory work;
    std::string cold_directory, binaries_file;
    std::size_t copies = 0, steps = 0;
    std::vector<StepResult> results;
    std::vector<trials::Target> targets;
    StepResult cold;
};

} // namespace program_cache_gl
